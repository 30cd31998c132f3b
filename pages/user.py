"""One person across competitions."""

from kbdash.ui import user

user.show()
