"""The size of a value in memory, for caches that are bounded in bytes."""

import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd

_COLUMN_BYTES = 1_500
"""Bytes that pandas needs for a column beside its values: block, array, type, position and references; measured."""


def bytes_of(value: object) -> int:
    """Bytes of a value with everything it holds. An object that several parts share is counted in each of them."""
    if isinstance(value, pd.DataFrame):
        return _bytes_of_frame(value)
    own = value.nbytes if isinstance(value, np.ndarray) else 0  # for a view of a larger array, nbytes of the view only
    return max(own, sys.getsizeof(value)) + sum(map(bytes_of, parts_of(value)))


def parts_of(value: object) -> Iterable[object]:
    """What a dictionary, a sequence, a set or a dataclass holds; nothing for everything else."""
    if isinstance(value, dict):
        return (*value, *value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if is_dataclass(value):
        return tuple(getattr(value, field.name) for field in fields(value))
    return ()


def _bytes_of_frame(frame: pd.DataFrame) -> int:
    # Column by column: the frame's own count makes a frame of its numbers, which takes three times as long, and would
    # stop at a list in a cell.
    columns = [column for _, column in frame.items()]
    inside = sum(bytes_of(value) for column in columns if column.dtype == object for value in column)
    own = int(frame.index.memory_usage()) + sum(column.nbytes for column in columns)
    return _COLUMN_BYTES * len(columns) + own + inside + bytes_of(frame.attrs)
