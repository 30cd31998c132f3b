"""Search through all source texts."""

from kbdash.web.content import search

search.show()
