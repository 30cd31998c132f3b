"""One person across competitions."""

from kbdash.web import user

user.show()
