"""Two submissions and what changed between them."""

from kbdash.ui.code import compare

compare.show()
