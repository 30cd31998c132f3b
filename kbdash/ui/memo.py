"""What is made once and shared by all readers: the engine's answers, and the tables and figures made of them.

Nothing is copied on the way out, so that a page seen before costs hardly more than sending it. Whoever gets a shared
thing leaves it as it is.
"""

import pickle
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

import pandas as pd

# As bytes on disk would count; Python's own objects take several times as much.
MOST_BYTES = 48 * 2**20

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class _Kept:
    value: Any
    size: int


class Memo:
    """Values by key, at most so many bytes of them: the one that was not used for longest goes first.

    Of several threads that miss the same key one makes the value and the others wait for it. Failures are not kept.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._making: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._kept

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made now unless it is there or being made."""
        with self._lock:
            if kept := self._kept.get(key):
                self._kept.move_to_end(key)
                return cast(T, kept.value)
            others = self._making.get(key)
            mine = self._making[key] = others or Future()
        return cast(T, others.result()) if others else self._made(key, make, mine)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _made(self, key: Hashable, make: Callable[[], T], waited_for: Future[T]) -> T:
        try:
            value = make()
            kept = _Kept(value, len(pickle.dumps(value)))
        except BaseException as error:
            with self._lock:
                del self._making[key]
            waited_for.set_exception(error)
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, kept)
        waited_for.set_result(value)
        return value

    def _keep(self, key: Hashable, kept: _Kept) -> None:
        self._kept[key] = kept
        self._bytes += kept.size
        while self._bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.size


class _Same:
    """A frame as part of a key: equal to nothing but that very frame, and not kept alive by it."""

    __slots__ = ("_frame", "_hash")

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = weakref.ref(frame)
        self._hash = id(frame)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        frame = self._frame()
        return isinstance(other, _Same) and frame is not None and frame is other._frame()


shared = Memo()


def made(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a pure function makes of its arguments: made once per arguments, shared by all readers.

    Frames among the arguments are told apart by identity, so they should be shared ones themselves; everything else
    must be hashable.
    """
    return shared.get(key_of(function, *args, *sorted(kwargs.items())), lambda: function(*args, **kwargs))


def key_of(*parts: Any) -> Hashable:
    """What tells these apart from others: frames by identity, everything else by value."""
    return tuple(_Same(part) if isinstance(part, pd.DataFrame) else part for part in parts)
