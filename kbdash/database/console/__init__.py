"""SQL that readers type: run in a separate process, over a local snapshot of the rows, limited by the system."""

from kbdash.database.console.asking import MOST_ROWS, Answer, Bounds, Console
from kbdash.database.console.content import PREFIX as CONTENT_PREFIX
from kbdash.database.console.snapshot import SHAPES, NotInSnapshot, Snapshots

__all__ = ["CONTENT_PREFIX", "MOST_ROWS", "SHAPES", "Answer", "Bounds", "Console", "NotInSnapshot", "Snapshots"]
