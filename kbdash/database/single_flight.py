"""Single-flight: of several callers that ask the same for the first time, one asks and the others wait for it."""

import copy
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

from kbdash.errors import DataUnavailable

Key = TypeVar("Key", bound=Hashable)
T = TypeVar("T")


class SingleFlight(Generic[Key]):
    """Remembers the keys that were answered. Their bytes are cached, so later callers need not wait for each other."""

    def __init__(self) -> None:
        self._answered: set[Key] = set()
        self._flights: dict[Key, Future[None]] = {}
        self._lock = Lock()

    def run(self, key: Key, ask: Callable[[], T], deadline: float) -> T:
        """The answer of `ask`. A caller that waited for another shares its failure instead of retrying."""
        if key in self._answered:
            return ask()
        with self._lock:
            flight = self._flights.get(key)
            if flight is None:
                mine = self._flights[key] = Future()
        if flight is None:
            return self._lead(key, ask, mine)
        try:
            failure = flight.exception(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            failure = None  # past the deadline: `ask` will say so
        if isinstance(failure, DataUnavailable):
            raise copy.copy(failure)
        return ask()

    def _lead(self, key: Key, ask: Callable[[], T], flight: Future[None]) -> T:
        try:
            answer = ask()
        except BaseException as error:
            self._land(key)
            flight.set_exception(error)
            raise
        with self._lock:
            self._answered = self._answered | {key}
        self._land(key)
        flight.set_result(None)
        return answer

    def _land(self, key: Key) -> None:
        with self._lock:
            del self._flights[key]
