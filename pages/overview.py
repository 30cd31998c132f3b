"""Every competition at a glance."""

from kbdash.ui import overview

overview.show()
