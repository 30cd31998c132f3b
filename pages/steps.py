"""The largest improvements of all users."""

from kbdash.web.inside import steps

steps.show()
