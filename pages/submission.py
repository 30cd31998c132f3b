"""One submission and its source code."""

from kbdash.ui.code import submission

submission.show()
