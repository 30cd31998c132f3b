"""The largest improvements of all users."""

from kbdash.web.content import steps

steps.show()
