"""Thread-safe LRU caches with single-flight: each value is made once, however many ask for it. All share one budget."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from itertools import count
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from kbdash.deadline import seconds_left, waited_in_vain
from kbdash.errors import DataUnavailable

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Budget:
    """One limit for several caches.

    Over the limit, the least recently used values of all caches are compared, and the one with the largest waste
    (weight x time unused) is evicted. So a page of source texts that was read once is evicted before a hundred answers
    that are asked again and again.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._caches: WeakSet[SharedCache[Any, Any]] = WeakSet()
        self._lock = Lock()

    def join(self, cache: "SharedCache[Any, Any]") -> None:
        """Count this cache towards the limit from now on."""
        with self._lock:
            self._caches.add(cache)

    def values(self) -> list[Any]:
        """All values in all caches."""
        with self._lock:
            caches = list(self._caches)
        return [value for cache in caches for value in cache.values()]

    def evict(self) -> None:
        """Drop values until all caches together are within the limit."""
        with self._lock:
            caches = list(self._caches)
            while any(caches) and sum(cache.weight for cache in caches) > self.limit:
                now = next(_uses)
                max(caches, key=lambda cache: cache.waste(now)).drop_oldest()


BYTES = Budget(192 << 20)
"""The budget of all caches whose values are weighed in bytes. DuckDB's own memory is not counted."""
_uses = count()


class SharedCache(Generic[Key, Value]):
    """An LRU cache with single-flight: the least recently used values are dropped when all weights exceed the limit.

    With a budget, they are also dropped when all caches of the budget together exceed its limit.

    A value that alone exceeds the limit is returned but not kept. Failures are not kept either: every caller that
    waits for the value gets the error, and the next caller retries.
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int], budget: Budget | None = None) -> None:
        self.limit = limit
        self.weight = 0
        self._weigh = weigh
        self._budget = budget
        self._kept: OrderedDict[Key, tuple[Value, int, int]] = OrderedDict()
        self._making: dict[Key, Future[Value]] = {}
        self._lock = Lock()
        if budget:
            budget.join(self)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of that key; this caller makes it if it is neither cached nor being made."""
        with self._lock:
            if key in self._kept:
                value, weight, _ = self._kept.pop(key)
                self._kept[key] = (value, weight, next(_uses))
                return value
            future = self._making.get(key)
            is_mine = future is None
            if future is None:
                future = self._making[key] = Future()
        if is_mine:
            return self._make(key, make, future)
        try:
            return future.result(seconds_left())
        except TimeoutError:
            raise waited_in_vain() from None

    def values(self) -> list[Value]:
        """All values, the least recently used first."""
        with self._lock:
            return [value for value, _, _ in self._kept.values()]

    def drop(self, key: Key) -> None:
        """Forget the value of that key."""
        with self._lock:
            _, weight, _ = self._kept.pop(key, (None, 0, 0))
            self.weight -= weight

    def waste(self, now: int) -> int:
        """Weight of the least recently used value times the uses of any cache since its last; -1 for an empty cache."""
        with self._lock:
            return next((weight * (now - used) for _, weight, used in self._kept.values()), -1)

    def drop_oldest(self) -> None:
        """Forget the least recently used value."""
        with self._lock:
            if self._kept:
                _, (_, weight, _) = self._kept.popitem(last=False)
                self.weight -= weight

    def _make(self, key: Key, make: Callable[[], Value], future: Future[Value]) -> Value:
        try:
            value = make()
            weight = self._weigh(value)  # outside the lock: this can be slow
        except BaseException as error:
            with self._lock:
                del self._making[key]
            future.set_exception(_for_others(error))
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, value, weight)
        future.set_result(value)
        if self._budget:
            self._budget.evict()
        return value

    def _keep(self, key: Key, value: Value, weight: int) -> None:
        if weight > self.limit:
            return
        self._kept[key] = (value, weight, next(_uses))
        self.weight += weight
        while self.weight > self.limit:
            _, (_, dropped, _) = self._kept.popitem(last=False)
            self.weight -= dropped


def _for_others(error: BaseException) -> Exception:
    """The error for the threads that wait; an interruption (Ctrl-C) is raised only in the thread it interrupted."""
    if isinstance(error, Exception):
        return error
    return DataUnavailable("Reading was interrupted.", advice="Try again.")
