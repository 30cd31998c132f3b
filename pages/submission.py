"""One submission and its source code."""

from kbdash.web.code import submission

submission.show()
