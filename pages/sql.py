"""SQL that a reader types."""

from kbdash.web import console

console.show()
