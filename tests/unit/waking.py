"""How late threads wake up on a busy machine, so that tests of deadlines can be as strict as the machine allows."""

import threading
import time
from typing import Self

_SLEEP = 0.01
_WAKE_UPS = 4  # of threads one after the other: of who reads, who interrupts, who tells and who waits


class Waking:
    """Watches, while the block runs, how late a thread wakes up that does nothing but sleep."""

    def __enter__(self) -> Self:
        self._latest = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def end_of(self, limit: float) -> float:
        """Seconds in which a question has to end: its limit and a second, and what the machine held it up."""
        return limit + 1 + _WAKE_UPS * self._latest

    def _watch(self) -> None:
        while not self._over.is_set():
            begin = time.monotonic()
            time.sleep(_SLEEP)
            self._latest = max(self._latest, time.monotonic() - begin - _SLEEP)
