"""Return freed memory to the system instead of keeping it in per-thread heaps."""

import ctypes
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pandas as pd

from kbdash.cache import BYTES
from kbdash.web.weight import parts_of

# Parameters of mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
ARENAS = 2
LARGE_BYTES = 256 << 10
"""Blocks of this size, such as a decoded page or a message, get their own mmap, which avoids fragmentation."""
SPARE_BYTES = 16 << 20
NOTES_SECONDS, TRIM_SECONDS = 15.0, 60.0


def keep_flat() -> bool:
    """Let malloc share a few heaps among all threads and return free memory; returns whether it does (only glibc).

    Every script run has its own thread. By default there are eight heaps (arenas) per processor, and memory freed in
    one is not available to the others.
    """
    libc = ctypes.CDLL(None)
    wanted = ((_ARENA_MAX, ARENAS), (_MMAP_THRESHOLD, LARGE_BYTES), (_TRIM_THRESHOLD, SPARE_BYTES))
    with suppress(AttributeError):
        trim = libc.malloc_trim
        threading.Thread(target=_trim_now_and_then, args=(trim,), daemon=True, name="kbdash-trim").start()
        return all(libc.mallopt(parameter, value) for parameter, value in wanted)
    return False


def forget_dead_views() -> None:
    """Make pandas drop its references to views that no longer exist.

    It keeps up to 500 per column, so the cached frames, which all readers share, would grow each time they are used.
    (`gc.get_objects` is no way to find the frames: it also returns objects that another thread is still constructing,
    and Python cannot complete a tuple that has a second reference.)
    """
    for frame in _frames_in(BYTES.values()):
        for block in frame._mgr.blocks:
            block.refs.has_reference()  # counts the live references, and keeps only those


def _frames_in(value: object) -> Iterator[Any]:
    """The frames that a value is or holds."""
    if isinstance(value, pd.DataFrame):
        yield value
    for part in parts_of(value):
        if not isinstance(part, str | int | float):  # most of what there is
            yield from _frames_in(part)


def _trim_now_and_then(trim: "ctypes._NamedFuncPointer") -> None:
    pause, trimmed_at = threading.Event(), time.monotonic()
    while not pause.wait(NOTES_SECONDS):
        # Under fifty readers these references took 16 to 21 MB, although dropped once a minute.
        forget_dead_views()
        if time.monotonic() - trimmed_at >= TRIM_SECONDS:
            # A script run leaves reference cycles. With so many live objects, Python runs a full collection ever less
            # often: after a few thousand runs a fifth of all objects was garbage.
            gc.collect()
            trim(0)
            trimmed_at = time.monotonic()
