"""A disk cache of fetched ranges, so that a restarted server need not fetch them again.

A range is stored under the digest of its file's content, with a checksum before its bytes. Every disk error counts as
a cache miss. Several processes may share the folder.
"""

import logging
import os
import tempfile
import threading
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from kbdash.dataset.http.plan import Span

_log = logging.getLogger(__name__)
_CHECK_BYTES = 16
_FILL = 0.8  # share of the limit that is left after a clean-up


class RangeStore:
    """An LRU cache on disk, at most `limit` bytes, keyed by content and range."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._lock = threading.Lock()
        self._held: int | None = None  # bytes in the folder, to the knowledge of this process
        self._warned = False

    def get(self, content: str, span: Span) -> bytes | None:
        """The bytes of that range, if they are cached and intact."""
        path = self._path(content, span)
        try:
            kept = path.read_bytes()
        except OSError:
            return None
        data = kept[_CHECK_BYTES:]
        if len(data) != span[1] - span[0] or kept[:_CHECK_BYTES] != _checksum(data):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return data

    def put(self, content: str, span: Span, data: bytes) -> None:
        """Keep the bytes of that range, if the disk allows it."""
        path = self._path(content, span)
        if len(data) > self._limit:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                try:
                    file.write(_checksum(data) + data)
                    file.close()
                    Path(file.name).replace(path)
                except OSError:
                    Path(file.name).unlink(missing_ok=True)
                    raise
            self._make_room(len(data))
        except OSError as error:
            if not self._warned:
                self._warned = True
                _log.warning("Fetched ranges are not kept in %s: %s", self._folder, error)

    def forget(self, content: str) -> None:
        """Drop everything of that file."""
        with suppress(OSError):
            for path in self._path(content, (0, 0)).parent.iterdir():
                path.unlink(missing_ok=True)

    def _path(self, content: str, span: Span) -> Path:
        name = blake2b(content.encode(), digest_size=20).hexdigest()
        return self._folder / name / f"{span[0]}-{span[1]}"

    def _make_room(self, added: int) -> None:
        with self._lock:
            if self._held is not None:
                self._held += added
            if self._held is None or self._held > self._limit:
                self._held = _swept(self._folder, self._limit)


def _swept(folder: Path, limit: int) -> int:
    """Bytes left in the folder, after deleting the least recently used if there were more than `limit`."""
    files = []
    for path in folder.glob("*/*"):
        with suppress(OSError):
            facts = path.stat()
            files.append((facts.st_mtime_ns, facts.st_size, path))
    total = sum(size for _, size, _ in files)
    target = limit if total <= limit else limit * _FILL
    for _, size, path in sorted(files):
        if total <= target:
            break
        with suppress(OSError):
            path.unlink()
        total -= size
    return total


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECK_BYTES).digest()
