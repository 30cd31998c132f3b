"""Where bytes come from: exact ranges of one file that does not change while it is read."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from kbdash.errors import CorruptData, DataUnavailable

CHANGED_ADVICE = "Reload the dashboard so that it reads the file as it is now."


class ByteSource(ABC):
    """One file of a known size and version; may be shared by threads.

    `bytes_read` and `requests` count what reading has cost so far.
    """

    def __init__(self, name: str, size: int, version: str) -> None:
        self.name = name
        self.size = size
        self.version = version
        self.bytes_read = 0
        self.requests = 0
        self._counting = Lock()

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset` on."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise CorruptData(
                f"{self.name} points to bytes {offset} to {offset + length}, outside its {self.size} bytes.",
                advice=CHANGED_ADVICE,
            )
        return self._fetch(offset, length) if length else b""

    @abstractmethod
    def _fetch(self, offset: int, length: int) -> bytes:
        """Exactly `length` (> 0) bytes from `offset` on, both inside the file."""

    def _count(self, *, requests: int = 0, received: int = 0) -> None:
        with self._counting:
            self.requests += requests
            self.bytes_read += received


class LocalBytes(ByteSource):
    """A file on this machine; its version is its size and time of change unless one is given."""

    def __init__(self, path: Path | str, *, name: str | None = None, version: str | None = None) -> None:
        self._path = Path(path)
        try:
            self._seen = _fingerprint(self._path.stat())
        except OSError as problem:
            raise _unreadable(self._path.name, problem) from problem
        size, changed_ns = self._seen
        super().__init__(name or self._path.name, size, version or f"{size}-{changed_ns}")

    def _fetch(self, offset: int, length: int) -> bytes:
        # Opened anew each time: nothing to close, no position to share, and a replaced file is noticed.
        try:
            with self._path.open("rb", buffering=0) as file:
                if _fingerprint(os.fstat(file.fileno())) != self._seen:
                    raise CorruptData(f"{self.name} was changed while it was read.", advice=CHANGED_ADVICE)
                file.seek(offset)
                data = file.read(length)
        except OSError as problem:
            raise _unreadable(self.name, problem) from problem
        self._count(requests=1, received=len(data))
        if len(data) != length:
            raise CorruptData(f"{self.name} was cut while it was read.", advice=CHANGED_ADVICE)
        return data


@contextmanager
def damage_named(source: ByteSource) -> Iterator[None]:
    """Errors about bytes that make no sense leave this block with the name of the file they came from."""
    try:
        yield
    except CorruptData as problem:
        what = str(problem)
        if source.name in what:
            raise
        raise CorruptData(
            f"{source.name} is damaged: {what[:1].lower()}{what[1:]}",
            advice=problem.advice or "Try again; if it stays so, the file itself is damaged.",
        ) from problem


def _fingerprint(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def _unreadable(name: str, problem: OSError) -> DataUnavailable:
    reason = problem.strerror or type(problem).__name__
    return DataUnavailable(f"{name} cannot be read: {reason}.", advice="Check the folder and its permissions.")
