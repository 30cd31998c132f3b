"""Columns of a store unpacked into files without a name, which are gone when nobody uses them any more.

A column is decoded batch by batch, so that opening a store never has a long one in memory twice. What is read by
position stays in its file; what is looked through is mapped: memory that the system can take back.
"""

import mmap
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
_BATCH_ROWS = 1 << 17


class IntRows:
    """Rows of a parquet file whose columns are int32, read a few at a time; none of them stays in memory."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._width = len(columns)
        self._file = _nameless(path.parent)
        for batch in _batches(path, columns):
            self._file.write(np.column_stack([column.to_numpy() for column in batch]).data)
        self._file.flush()

    def read(self, first: int, count: int) -> Ints:
        """These rows, one array per row."""
        size = 4 * self._width
        return np.frombuffer(os.pread(self._file.fileno(), size * count, size * first), np.int32).reshape(
            -1, self._width
        )


def numbers(path: Path, column: str) -> npt.NDArray[Any]:
    """A column of numbers of a parquet file, mapped and read-only."""
    kind = np.dtype(np.int32)
    with _nameless(path.parent) as file:
        for (values,) in _batches(path, [column]):
            kind = values.to_numpy().dtype
            file.write(values.to_numpy().data)
        file.flush()
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b"", kind)


def joined_bytes(path: Path, column: str) -> tuple[bytes, Longs]:
    """All values of a column of bytes as one stretch, and where each begins."""
    lengths = [np.zeros(1, np.int64)]
    with _nameless(path.parent) as file:
        for (values,) in _batches(path, [column]):
            _, offsets, data = values.buffers()
            bounds = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
            file.write(memoryview(data or b"")[bounds[0] : bounds[-1]])
            lengths.append(np.diff(bounds))
        file.seek(0)
        return file.read(), np.cumsum(np.concatenate(lengths))


def _batches(path: Path, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
            yield batch.columns
    pa.default_memory_pool().release_unused()  # Arrow keeps what was freed


def _nameless(folder: Path) -> IO[bytes]:
    """A file beside the store, or where temporary files are if nothing can be written there."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:
        return tempfile.TemporaryFile()
