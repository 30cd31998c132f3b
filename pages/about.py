"""What the data are, how they are ranked, and how to do it yourself."""

from kbdash.web import about

about.show()
