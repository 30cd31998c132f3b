"""Limit how many pages are computed at once; the others wait for a slot, up to a limit."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kbdash.errors import QueryTimeout

AT_ONCE = 24
"""More would only compete for the processor; fewer would let pages that wait for the Hub block the others."""
PATIENCE_SECONDS = 20.0

_free = threading.BoundedSemaphore(AT_ONCE)
_mine = threading.local()


@contextmanager
def run_slot() -> Iterator[None]:
    """Hold a slot while computing something for a reader; reentrant."""
    if getattr(_mine, "taken", False):
        yield
        return
    if not _free.acquire(timeout=PATIENCE_SECONDS):
        raise QueryTimeout("Many readers ask at once.", advice="Try again in a moment.")
    _mine.taken = True
    try:
        yield
    finally:
        _mine.taken = False
        _free.release()
