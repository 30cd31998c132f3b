"""Return freed memory to the system instead of keeping it in per-thread heaps."""

import ctypes
import threading
from contextlib import suppress

# Parameters of mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
ARENAS = 2
LARGE_BYTES = 256 << 10
"""Blocks of this size, such as a decoded page or a message, get their own mmap, which avoids fragmentation."""
SPARE_BYTES = 16 << 20
TRIM_SECONDS = 60.0


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


def _trim_now_and_then(trim: "ctypes._NamedFuncPointer") -> None:
    pause = threading.Event()
    while not pause.wait(TRIM_SECONDS):
        trim(0)
