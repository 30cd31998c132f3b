"""The read-only filesystem through which DuckDB reads: exactly the files of one source.

DuckDB calls it from inside a statement. A read ends by the deadline of `reading(…)` and leaves its failure there,
because DuckDB passes on only the text of an exception:

>>> with reading(20.0) as asked:
...     try:
...         cursor.execute(…)
...     except duckdb.Error as error:
...         raise asked.failure or explained(error)
"""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn
from zlib import crc32

from fsspec import AbstractFileSystem

from kbdash.dataset.http.files import SourceFiles
from kbdash.dataset.http.ranges import ByteSource
from kbdash.dataset.http.readahead import ReadAhead
from kbdash.deadline import Reading, current
from kbdash.errors import KbdashError

_UNCHANGED = datetime(2000, 1, 1, tzinfo=UTC)


class SourceFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """An fsspec filesystem for `register_filesystem`. It claims every http and file URL: no other one is asked."""

    protocol = ("http", "https", "file")
    cachable = False

    def __init__(self, files: SourceFiles) -> None:
        super().__init__(skip_instance_cache=True)
        self._files = files

    def open(self, path: str, mode: str = "rb", **_: Any) -> "OpenFile":
        """A file of the source, for reading."""
        if mode != "rb":
            raise PermissionError("The dataset can only be read.")
        name = self._known(path)
        asked = current()
        try:
            return OpenFile(self._files.open(name), asked)
        except KbdashError as error:
            if asked is not None:
                asked.failure = error
            raise

    def size(self, path: str) -> int:
        """Bytes of the file according to the listing; sends no request."""
        file = self._files.at(path)
        if file is None:
            raise FileNotFoundError("Only the files of the dataset can be read.")
        return file.size

    def glob(self, path: str, **_: Any) -> list[str]:
        """The path itself: names are literal, without glob patterns."""
        return [path] if self._files.at(path) else []

    def isfile(self, path: str) -> bool:
        """Whether it is an address of a file of the source."""
        return self._files.at(path) is not None

    def exists(self, path: str, **_: Any) -> bool:
        """Whether it is an address of a file of the source."""
        return self.isfile(path)

    def isdir(self, path: str) -> bool:
        """False: there are no folders."""
        return False

    def modified(self, path: str) -> datetime:
        """A time derived from the version: DuckDB reads the footer again when it changes."""
        return _UNCHANGED + timedelta(seconds=crc32(self._files.stamp(self._known(path)).encode()))

    def unstrip_protocol(self, name: str) -> str:
        """The name: it is a full URL already."""
        return name

    def _known(self, path: str) -> str:
        file = self._files.at(path)
        if file is None:
            raise FileNotFoundError("Only the files of the dataset can be read.")
        return file.name

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise PermissionError("The dataset can only be read.")

    ls = find = walk = info = _refused
    mkdir = makedirs = rm = rm_file = rmdir = mv = cp_file = touch = pipe_file = put_file = _refused


class OpenFile:
    """An open file for DuckDB, which seeks, then reads; so each thread has a position of its own."""

    def __init__(self, file: ByteSource, asked: Reading | None) -> None:
        self._read = file.read_ahead if isinstance(file, ReadAhead) else file.read
        self._size = file.size
        self._asked = asked
        self._position = threading.local()

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set where the next read of this thread begins."""
        if whence != 0:
            raise PermissionError("Only positions from the start of the file are known.")
        self._position.at = offset
        return offset

    def tell(self) -> int:
        """Where the next read of this thread begins."""
        return int(getattr(self._position, "at", 0))

    def read(self, length: int = -1) -> bytes:
        """The next bytes; fewer only at the end of the file."""
        offset = self.tell()
        left = max(0, self._size - offset)
        length = left if length < 0 else min(length, left)
        try:
            data = self._read(offset, length)
        except KbdashError as error:
            asked = current() or self._asked
            if asked is not None:
                asked.failure = error
            raise
        self._position.at = offset + length
        return data

    def close(self) -> None:
        """Nothing to do: the file is shared."""
