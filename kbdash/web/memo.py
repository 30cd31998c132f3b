"""Memoise what all readers share: the engine's answers, and the tables and figures made of them.

Nothing is copied on return, so a page seen before costs hardly more than sending it. Callers must not modify what
they get.
"""

import weakref
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar, cast

import pandas as pd
import plotly.graph_objects as go

from kbdash import charts
from kbdash.cache import BYTES, SharedCache
from kbdash.web.weight import bytes_of

MOST_BYTES = 96 * 2**20
_KEY_BYTES = 1_000
"""Bytes that a key and its entry in the cache take; measured."""

P = ParamSpec("P")
T = TypeVar("T")


class IdentityKey:
    """A frame as part of a key: compared by identity, with a weak reference."""

    __slots__ = ("_frame", "_hash")

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = weakref.ref(frame)
        self._hash = id(frame)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        frame = self._frame()
        return isinstance(other, IdentityKey) and frame is not None and frame is other._frame()


def _size(value: object) -> int:
    return _KEY_BYTES + bytes_of(value)


shared: SharedCache[Hashable, Any] = SharedCache(MOST_BYTES, _size, BYTES)


def memoise(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Memoise a pure function: its result is computed once per arguments and shared by all readers.

    A figure is kept, and returned, as browsers get it.

    Frames among the arguments are compared by identity, so they should be shared ones themselves; everything else
    must be hashable.
    """
    key = key_of(function, *args, *sorted(kwargs.items()))
    return cast(T, shared.get(key, lambda: _light(function(*args, **kwargs))))


def _light(value: object) -> object:
    return charts.Sent(value) if isinstance(value, go.Figure) else value


def key_of(*parts: Any) -> Hashable:
    """The cache key of these arguments: frames by identity, everything else by value."""
    return tuple(IdentityKey(part) if isinstance(part, pd.DataFrame) else part for part in parts)
