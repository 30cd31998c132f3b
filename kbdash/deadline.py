"""The deadline of a question, and the failure that ended its reads.

A question has many steps: it finds a board, and waits for files, caches and locks. DuckDB calls our filesystem in
the middle of a statement; it passes no deadline down, and passes only the text of an exception up. So the deadline and
the failure are kept in a context variable of the asking thread, and everything that waits looks there.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from kbdash.errors import DataUnavailable, KbdashError

_current: ContextVar["Reading | None"] = ContextVar("kbdash_reading", default=None)


@dataclass
class Reading:
    """The reads of one question: `expires` is the deadline (time.monotonic()), `each` the longest that a single read
    may take, `failure` the error once a read has failed."""

    expires: float
    each: float = math.inf
    failure: KbdashError | None = None


@contextmanager
def reading(seconds: float, each: float = math.inf) -> Iterator[Reading]:
    """Limit all reads in this block to `seconds`, and each of them to `each`; limits of outer blocks still hold."""
    outer = _current.get() or Reading(math.inf)
    mine = Reading(min(time.monotonic() + seconds, outer.expires), min(each, outer.each))
    token = _current.set(mine)
    try:
        yield mine
    finally:
        _current.reset(token)


def current() -> Reading | None:
    """The Reading of this thread, if a deadline was set."""
    return _current.get()


def deadline_within(seconds: float) -> float:
    """The deadline of work that starts now and may take `seconds`: that of the question, if it is earlier."""
    mine = _current.get()
    return min(time.monotonic() + seconds, math.inf if mine is None else mine.expires)


def read_deadline(seconds: float) -> float:
    """The deadline of a read that starts now: that of the question and its reads, or `seconds` from now without one."""
    mine = _current.get()
    now = time.monotonic()
    return now + seconds if mine is None else min(mine.expires, now + mine.each)


def seconds_left() -> float | None:
    """Seconds until the deadline of this thread, at least 0; None when none was set."""
    mine = _current.get()
    return None if mine is None or mine.expires == math.inf else max(0.0, mine.expires - time.monotonic())


def all_but(seconds: float) -> float:
    """How long work may take so that `seconds` are left after it, or half of the time if that is less."""
    left = seconds_left()
    return math.inf if left is None else max(left - seconds, left / 2)


@contextmanager
def acquired(lock: Lock) -> Iterator[None]:
    """Hold a lock that others hold while they read; DataUnavailable if it is not free by the deadline."""
    left = seconds_left()
    if not lock.acquire(timeout=-1 if left is None else left):
        raise waited_in_vain()
    try:
        yield
    finally:
        lock.release()


def waited_in_vain() -> DataUnavailable:
    """The error for a question whose deadline passed while it waited for data that another question reads."""
    return DataUnavailable("What another reader is fetching did not arrive in time.", advice="Retry in a moment.")
