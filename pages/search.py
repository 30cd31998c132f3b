"""Search through all source texts."""

from kbdash.web.inside import search

search.show()
