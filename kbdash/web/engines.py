"""The engines of this process: the current one, and replaced ones until nobody uses them."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import cast

import kbdash
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError

REOPEN_SECONDS = 10.0
"""Least seconds between two attempts to open the source, however many readers ask."""
STAND_IN_SECONDS = 30.0
"""Seconds that the sample stands in for an unreachable Hub before the Hub is tried again."""
UNUSED_SECONDS = 600.0
"""Seconds that an engine of an older revision is kept for readers who still use it."""
LAST_ANSWER_SECONDS = 60.0
"""Seconds that a replaced engine stays open for answers in progress."""
SWEEP_SECONDS = 65.0
MOST_REPLACED = 2

_numbers = count(1)


@dataclass(eq=False)
class Opened:
    """An engine with its number, and when it was opened and last used (monotonic seconds)."""

    kb: KernelBot
    number: int = field(default_factory=lambda: next(_numbers))
    opened_at: float = field(default_factory=time.monotonic)
    used_at: float = field(default_factory=time.monotonic)

    def used(self) -> "Opened":
        """This engine, marked as used now."""
        self.used_at = time.monotonic()
        return self

    def is_stand_in(self) -> bool:
        """Whether it is the sample, in place of an unreachable Hub."""
        return self.kb.source.notice is not None


class Engines:
    """Opens the source for all readers, and closes replaced engines. Thread-safe."""

    def __init__(self) -> None:
        self._opening = threading.Lock()
        self._current: Opened | None = None
        self._replaced: list[Opened] = []
        self._failure: KbdashError | None = None
        self._tried_at = float("-inf")

    def get(self, number: int | None, asked_at: float | None = None) -> Opened:
        """The engine with that number, or the current one if that is closed or the current one reads the same data.

        `asked_at` is when a reader asked to reopen the source: the engine is at least as new as that.
        """
        if asked_at is None and (mine := self._mine(number)):
            return mine.used()
        with self._opening:
            if not self._is_fresh(asked_at):
                self._open()
            # Single-flight: all who waited for this attempt share its result or failure; none of them retries.
            if self._failure is not None and (self._current is None or asked_at is not None):
                raise self._failure
            return cast(Opened, self._current).used()

    def close_unused(self) -> None:
        """Close the replaced engines that nobody needs any more, and schedule the next check."""
        with self._opening:
            unused = [old for old in self._replaced if self._is_unused(old)]
            self._replaced = [old for old in self._replaced if old not in unused]
            for old in unused:
                old.kb.close()
            if self._replaced:
                _later(SWEEP_SECONDS, self.close_unused)

    def _mine(self, number: int | None) -> Opened | None:
        """The engine a reader has been using, unless the current one reads the same data."""
        current = self._current
        if current is not None and current.number == number:
            return current
        old = next((item for item in self._replaced if item.number == number), None)
        return None if old is None or self._reads_the_same(old) else old

    def _reads_the_same(self, old: Opened) -> bool:
        return self._current is not None and self._current.kb.source.version == old.kb.source.version

    def _is_unused(self, old: Opened) -> bool:
        patience = LAST_ANSWER_SECONDS if self._reads_the_same(old) else UNUSED_SECONDS
        return time.monotonic() - old.used_at > patience

    def _is_fresh(self, asked_at: float | None) -> bool:
        if asked_at is not None:
            return self._tried_at >= asked_at
        if self._current is None:
            return time.monotonic() - self._tried_at < REOPEN_SECONDS
        return not self._current.is_stand_in() or time.monotonic() - self._current.opened_at < STAND_IN_SECONDS

    def _open(self) -> None:
        # Requests shortly after the last attempt wait together for the next one.
        time.sleep(max(0.0, self._tried_at + REOPEN_SECONDS - time.monotonic()))
        try:
            opened = Opened(kbdash.connect())
        except KbdashError as error:
            self._failure = error
        else:
            self._failure = None
            self._take(opened)
        finally:
            self._tried_at = time.monotonic()

    def _take(self, opened: Opened) -> None:
        """Make an engine the current one; the sample never replaces real data."""
        before = self._current
        if before is not None and opened.is_stand_in() and not before.is_stand_in():
            opened.kb.close()
            return
        self._current = opened
        if before is not None:
            latest_first = sorted((*self._replaced, before), key=lambda item: item.used_at, reverse=True)
            self._replaced = latest_first[:MOST_REPLACED]
            for old in latest_first[MOST_REPLACED:]:
                _later(LAST_ANSWER_SECONDS, old.kb.close)
            _later(SWEEP_SECONDS, self.close_unused)


def _later(seconds: float, function: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.start()
