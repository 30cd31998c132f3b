"""How one person got fast on a board."""

from kbdash.web.code import ladder

ladder.show()
