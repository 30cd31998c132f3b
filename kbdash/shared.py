"""A cache for many readers at once: bounded, and each value is made once however many ask for it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

from kbdash.errors import DataUnavailable

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SharedCache(Generic[Key, Value]):
    """Values by key, the least recently used dropped when their weights exceed the limit.

    A value that alone exceeds the limit is handed out and not kept. Failures are not kept either: all who
    wait for the value get the error, and the next one to ask tries again.
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int]) -> None:
        self.limit = limit
        self.weight = 0
        self._weigh = weigh
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._making: dict[Key, Future[Value]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of that key, made by this caller if nobody has it or is at it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
            future = self._making.get(key)
            is_mine = future is None
            if future is None:
                future = self._making[key] = Future()
        return self._make(key, make, future) if is_mine else future.result()

    def drop(self, key: Key) -> None:
        """Forget the value of that key."""
        with self._lock:
            _, weight = self._kept.pop(key, (None, 0))
            self.weight -= weight

    def clear(self) -> None:
        """Forget every value."""
        with self._lock:
            self._kept.clear()
            self.weight = 0

    def _make(self, key: Key, make: Callable[[], Value], future: Future[Value]) -> Value:
        try:
            value = make()
            weight = self._weigh(value)  # which may take long, so not while others are kept waiting
        except BaseException as problem:
            with self._lock:
                del self._making[key]
            future.set_exception(_for_others(problem))
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, value, weight)
        future.set_result(value)
        return value

    def _keep(self, key: Key, value: Value, weight: int) -> None:
        if weight > self.limit:
            return
        self._kept[key] = (value, weight)
        self.weight += weight
        while self.weight > self.limit:
            _, (_, dropped) = self._kept.popitem(last=False)
            self.weight -= dropped


def _for_others(problem: BaseException) -> Exception:
    """What those who wait are told; an interruption is the maker's own affair."""
    if isinstance(problem, Exception):
        return problem
    return DataUnavailable("Reading was interrupted.", advice="Try again.")
