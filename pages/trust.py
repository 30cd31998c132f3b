"""Reasons to doubt results, and measurement noise."""

from kbdash.web.inside import trust

trust.show()
