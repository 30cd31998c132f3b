"""How one person got fast on a board."""

from kbdash.ui.code import ladder

ladder.show()
