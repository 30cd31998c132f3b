"""Exact byte ranges of one file, which must not change while it is read."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from kbdash.errors import ContentChanged, CorruptData, DataUnavailable, UnsupportedFormat

_TAIL_BYTES = 64 << 10
CHANGED_ADVICE = "Reload the dashboard so that it reads the file as it is now."


class ByteSource(ABC):
    """One file of known size and version. Thread-safe."""

    def __init__(self, name: str, size: int, version: str) -> None:
        self.name = name
        self.size = size
        self.version = version
        self._received = 0
        self._requests = 0
        self._counting = Lock()

    @property
    def bytes_read(self) -> int:
        """Bytes transferred so far."""
        return self._received

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._requests

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset` on."""
        self.check_inside(offset, length)
        return self._fetch(offset, length) if length else b""

    @property
    def tail_bytes(self) -> int:
        """How much of the end to read first: usually enough for the whole footer."""
        return min(self.size, _TAIL_BYTES)

    def read_ahead(self, offset: int, length: int) -> bytes:
        """As `read`, for sequential readers: may prefetch what comes next."""
        return self.read(offset, length)

    def begin(self) -> None:
        """A question is about to be asked: may prefetch what it will read."""
        return

    def check_inside(self, offset: int, length: int) -> None:
        """Raise unless the file holds all of these bytes."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise CorruptData(
                f"{self.name} points to bytes {offset} to {offset + length}, outside its {self.size} bytes.",
                advice=CHANGED_ADVICE,
            )

    @abstractmethod
    def _fetch(self, offset: int, length: int) -> bytes:
        """Exactly `length` (> 0) bytes from `offset` on, both inside the file."""

    def _count(self, *, requests: int = 0, received: int = 0) -> None:
        with self._counting:
            self._requests += requests
            self._received += received


class LocalBytes(ByteSource):
    """A local file; its version is its size and mtime unless one is given."""

    def __init__(self, path: Path | str, *, name: str | None = None, version: str | None = None) -> None:
        self._path = Path(path)
        try:
            self._seen = _fingerprint(self._path.stat())
        except OSError as error:
            raise _unreadable(self._path.name, error) from error
        size, changed_ns = self._seen
        super().__init__(name or self._path.name, size, version or f"{size}-{changed_ns}")

    def _fetch(self, offset: int, length: int) -> bytes:
        # Opened for each read: nothing to close, no shared position, and a replaced file is noticed.
        try:
            with self._path.open("rb", buffering=0) as file:
                if _fingerprint(os.fstat(file.fileno())) != self._seen:
                    raise ContentChanged(f"{self.name} was changed while it was read.", advice=CHANGED_ADVICE)
                file.seek(offset)
                data = file.read(length)
        except OSError as error:
            raise _unreadable(self.name, error) from error
        self._count(requests=1, received=len(data))
        if len(data) != length:
            raise ContentChanged(f"{self.name} was cut while it was read.", advice=CHANGED_ADVICE)
        return data


@contextmanager
def damage_named(source: ByteSource) -> Iterator[None]:
    """Add the name of the file to errors of this block about damaged bytes, or about bytes that cannot be decoded."""
    try:
        yield
    except UnsupportedFormat as error:
        raise UnsupportedFormat(f"{source.name}: {error}", advice=error.advice) from error
    except CorruptData as error:
        what = str(error)
        if source.name in what:
            raise
        raise type(error)(
            f"{source.name} is damaged: {what[:1].lower()}{what[1:]}",
            advice=error.advice or "Retry. If it fails again, the file itself is damaged.",
        ) from error


def _fingerprint(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def _unreadable(name: str, error: OSError) -> DataUnavailable:
    reason = error.strerror or type(error).__name__
    return DataUnavailable(f"{name} cannot be read: {reason}.", advice="Check the folder and its permissions.")
