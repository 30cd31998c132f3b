"""Every competition at a glance."""

from kbdash.web import overview

overview.show()
