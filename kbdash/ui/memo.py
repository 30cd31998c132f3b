"""What is made once and shared by all readers: the engine's answers, and the tables and figures made of them.

Nothing is copied on the way out, so that a page seen before costs hardly more than sending it. Whoever gets a shared
thing leaves it as it is.
"""

import pickle
import weakref
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar, cast

import pandas as pd

from kbdash.shared import SharedCache

MOST_BYTES = 48 * 2**20

P = ParamSpec("P")
T = TypeVar("T")


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


def _size(value: object) -> int:
    """Bytes of a value as a file would hold it; Python's own objects take several times as much."""
    return len(pickle.dumps(value))


shared: SharedCache[Hashable, Any] = SharedCache(MOST_BYTES, _size)


def made(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a pure function makes of its arguments: made once per arguments, shared by all readers.

    Frames among the arguments are told apart by identity, so they should be shared ones themselves; everything else
    must be hashable.
    """
    key = key_of(function, *args, *sorted(kwargs.items()))
    return cast(T, shared.get(key, lambda: function(*args, **kwargs)))


def key_of(*parts: Any) -> Hashable:
    """What tells these apart from others: frames by identity, everything else by value."""
    return tuple(_Same(part) if isinstance(part, pd.DataFrame) else part for part in parts)
