"""Read a finished store in place."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from errno import ENOSPC
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.cache import SharedCache
from kbdash.content.store import flat
from kbdash.content.store.layout import NO_TEXT, TABLES, Manifest, folder_name, table_path
from kbdash.content.store.line_use import LineUse
from kbdash.content.store.runs import unfolded
from kbdash.dataset.model import DataFile
from kbdash.errors import CorruptData, DataUnavailable

Ints = npt.NDArray[np.int32]
Derived = TypeVar("Derived")
_MOST_DERIVED = 8
_UNPACKED, _ROW_BYTES = 3, 400  # memory per byte on disk, and per row of the file; measured
_DAMAGED = "Delete that folder and build it again: python -m kbdash.content build."


class Store:
    """The tables of one store, each loaded lazily and kept."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._derived: SharedCache[type, Any] = SharedCache(_MOST_DERIVED, lambda _: 1)

    def derived(self, kind: type[Derived], make: Callable[[], Derived]) -> Derived:
        """The one object of this kind that is derived from the store; made once, and freed together with it."""
        value: Derived = self._derived.get(kind, make)
        return value

    @property
    def size_bytes(self) -> int:
        """Bytes of all tables on disk."""
        try:
            return sum(table_path(self.folder, table).stat().st_size for table in TABLES)
        except FileNotFoundError as error:
            raise DataUnavailable(f"{self.folder.name}: a table is missing.", advice=_DAMAGED) from error

    @property
    def memory_bytes(self) -> int:
        """About how much memory the store takes once all questions were asked."""
        return _UNPACKED * self.size_bytes + _ROW_BYTES * self.manifest.rows

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """A table, or some of its columns."""
        with self._reading(name):
            # (Threads that decode columns side by side were slower here, and took twice the memory.)
            return pq.read_table(table_path(self.folder, name), columns=columns, use_threads=False, pre_buffer=False)

    @contextmanager
    def _reading(self, table: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == ENOSPC:
                raise DataUnavailable(f"No disk space to open {self.folder.name}.", advice="Free some.") from error
            raise CorruptData(f"{self.folder.name}: the table {table} cannot be read.", advice=_DAMAGED) from error
        except pa.ArrowException as error:
            raise CorruptData(f"{self.folder.name}: the table {table} cannot be read.", advice=_DAMAGED) from error

    def _column(self, table: str, name: str) -> Ints:
        with self._reading(table):
            return flat.numbers(table_path(self.folder, table), name)

    @contextmanager
    def reading_ahead(self) -> Iterator[None]:
        """Read what searching needs while the caller does something else; ends when all is read."""
        with ThreadPoolExecutor(1, "kbdash-content-open") as pool:
            names = ("line_bytes", "_runs", "_runs_of_text", "line_use", "same")
            tables = [pool.submit(getattr, self, name) for name in names]
            yield
            for table in tables:
                table.result()

    @cached_property
    def text_of_row(self) -> Ints:
        """The text of each row of the file; NO_TEXT for null."""
        column = self.table("rows", ["text_id"]).column(0)
        texts: Ints = column.fill_null(NO_TEXT).to_numpy().astype(np.int32)
        return texts

    @cached_property
    def submission_of_row(self) -> npt.NDArray[np.int64]:
        """The submission id of each row of the file; -1 for null."""
        answer: npt.NDArray[np.int64] = self.table("rows", ["submission_id"]).column(0).fill_null(-1).to_numpy()
        return answer

    @cached_property
    def lines(self) -> pa.Array:
        """Every line as bytes, by its id."""
        return self.line_bytes[1]

    @cached_property
    def line_bytes(self) -> tuple[bytes, pa.Array]:
        """All lines as one stretch of bytes, and the lines as views into it."""
        with self._reading("lines"):
            blob, bounds = flat.joined_bytes(table_path(self.folder, "lines"), "line")
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(blob)]
        return blob, pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, buffers)

    @cached_property
    def same(self) -> Ints:
        """Per line the first one that is equal after stripping."""
        return self._column("lines", "same")

    @cached_property
    def texts(self) -> pa.Table:
        """The table texts."""
        return self.table("texts").combine_chunks()

    @cached_property
    def line_use(self) -> LineUse:
        """Which texts hold which line."""
        line, text, length = (self._column("line_use", name) for name in ("line_id", "text_id", "length"))
        return LineUse.of(line, text, length, self.manifest.lines)

    @cached_property
    def _runs(self) -> flat.IntRows:
        with self._reading("runs"):
            return flat.IntRows(table_path(self.folder, "runs"), ["line_id", "length"])

    @cached_property
    def _runs_of_text(self) -> tuple[npt.NDArray[np.int64], Ints]:
        first, count = (self.texts.column(name).to_numpy() for name in ("first", "count"))
        return first, count

    def line_ids(self, text: int) -> Ints:
        """The lines of a text, in order."""
        first, count = self._runs_of_text
        return unfolded(*self._runs.read(int(first[text]), int(count[text])).T)

    def text(self, text: int) -> bytes:
        """The exact text; CorruptData when its sha256 does not match."""
        data = b"\n".join(self.lines.take(pa.array(self.line_ids(text))).to_pylist())
        if sha256(data).digest() != self.texts.column("sha256")[text].as_py():
            raise CorruptData(f"A text of {self.folder.name} does not match its sha256.", advice=_DAMAGED)
        return data

    def check_row(self, file_row: int, submission_id: int) -> None:
        """CorruptData unless that row of the file is the submission's."""
        if not 0 <= file_row < len(self.text_of_row) or self.submission_of_row[file_row] != submission_id:
            raise CorruptData(
                f"Row {file_row} of {self.manifest.file} is not submission {submission_id} in the content store.",
                advice=_DAMAGED,
            )

    def cell(self, file_row: int, submission_id: int) -> bytes | None:
        """The source text in a row of the file, which must be that submission's; None for null."""
        self.check_row(file_row, submission_id)
        text = int(self.text_of_row[file_row])
        return None if text == NO_TEXT else self.text(text)


def find_store(root: Path, file: DataFile) -> Store | None:
    """The store of exactly this version of a file, if there is one under the folder that is like those of today."""
    folder = root / folder_name(file)
    manifest = Manifest.read(folder)
    return Store(folder, manifest) if manifest and manifest.fits(file) else None
