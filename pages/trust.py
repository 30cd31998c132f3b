"""Reasons to doubt results, and measurement noise."""

from kbdash.web.content import trust

trust.show()
