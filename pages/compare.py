"""Two submissions and what changed between them."""

from kbdash.web.code import compare

compare.show()
