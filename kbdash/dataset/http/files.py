"""The bytes of the files of one open source, shared by DuckDB and by the page reader."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from urllib.parse import quote, urlsplit

from kbdash.dataset.http.client import HttpClient, closed_source
from kbdash.dataset.http.ranges import CHANGED_ADVICE, ByteSource, LocalBytes
from kbdash.dataset.http.readahead import HeldRanges, ReadAhead
from kbdash.dataset.http.remote import EarlyLink, HttpBytes
from kbdash.dataset.http.store import RangeStore
from kbdash.dataset.model import DataFile
from kbdash.errors import ContentChanged, DataUnavailable

RANGES = "ranges"
"""The folder of fetched ranges inside the cache folder."""
_HELD_BYTES = 64 << 20


@dataclass(frozen=True)
class Remote:
    """How to read the files of a source at the Hub: the client, the token, the folder of kept ranges and its limit
    in bytes."""

    client: HttpClient
    token: str | None = field(repr=False)
    cache: Path
    cache_bytes: int
    early: Mapping[str, EarlyLink] = field(default_factory=dict, repr=False)


class SourceFiles:
    """One ByteSource per file, created lazily; closed with the source."""

    def __init__(self, files: Mapping[str, DataFile], remote: Remote | None = None) -> None:
        self._files = dict(files)
        self._remote = remote
        self._held = HeldRanges(_HELD_BYTES)
        self._store = RangeStore(remote.cache / RANGES, remote.cache_bytes) if remote else None
        self._open: dict[str, ByteSource] = {}
        self._forgotten: dict[str, int] = {}
        self._by_address = {address_of(file): file.name for file in files.values()}
        self._lock = Lock()
        self._closed = False

    @property
    def addresses(self) -> tuple[str, ...]:
        """The address of each file, as SQL names it. Nothing else can be read."""
        return tuple(self._by_address)

    def open(self, name: str) -> ByteSource:
        """The bytes of the file of that name."""
        with self._lock:
            if self._closed:
                raise closed_source()
            if name not in self._open:
                if name not in self._files:
                    raise DataUnavailable(f"{name} is not part of this dataset.", advice="Reload the page.")
                self._open[name] = self._opened(self._files[name])
            return self._open[name]

    def at(self, address: str) -> DataFile | None:
        """The file with exactly this address."""
        name = self._by_address.get(address)
        return None if name is None else self._files[name]

    def listed_again(self, name: str) -> DataFile:
        """The file as it is now. A local file may have been replaced; a Hub file is pinned to its commit."""
        file = self._files[name]
        if self._remote is not None:
            return file
        try:
            now = local_file(Path(file.location))
        except OSError as error:
            raise DataUnavailable(f"{name} is no longer there.", advice="Put it back, or reload.") from error
        if now.version != file.version:
            with self._lock:
                self._files[name] = now
                self._open.pop(name, None)
        return now

    def forget(self, name: str) -> None:
        """Drop the cached ranges of a damaged file: the next read fetches them again."""
        with self._lock:
            self._forgotten[name] = self._forgotten.get(name, 0) + 1
            file = self._open.get(name)
        if isinstance(file, ReadAhead):
            file.forget()

    def stamp(self, name: str) -> str:
        """A version text; it changes whenever earlier reads of the file become invalid."""
        return f"{self._files[name].version} {self._forgotten.get(name, 0)}"

    def bytes_moved(self) -> int:
        """Bytes that came over the network since the source was opened."""
        return sum(file.bytes_read for file in self._opened_so_far() if not isinstance(file, LocalBytes))

    def close(self) -> None:
        """Close the connections; later reads fail and say that the source was closed."""
        with self._lock:
            self._closed = True
        if self._remote:
            self._remote.client.close()

    def _opened_so_far(self) -> list[ByteSource]:
        with self._lock:
            return list(self._open.values())

    def _opened(self, file: DataFile) -> ByteSource:
        if self._remote is None or self._store is None:
            local = LocalBytes(file.location, name=file.name)
            if local.version != file.version:
                raise ContentChanged(f"{file.name} was changed since it was listed.", advice=CHANGED_ADVICE)
            return local
        remote = HttpBytes(
            file.location,
            name=file.name,
            size=file.size,
            version=file.version,
            client=self._remote.client,
            token=self._remote.token,
            early=self._remote.early.get(file.name),
        )
        # A mirror may claim any digest, so its bytes are cached under its own host only.
        content = f"{urlsplit(file.location).netloc} {file.name} {file.version}"
        return ReadAhead(remote, content, self._held, self._store)


def local_file(path: Path) -> DataFile:
    """A file in a local folder; its version changes whenever it is written.

    A broken link is listed too: reading it fails with the reason.
    """
    try:
        facts = path.stat()
    except OSError:
        facts = path.lstat()
    return DataFile(path.name, str(path), facts.st_size, f"{facts.st_size}-{facts.st_mtime_ns}")


def address_of(file: DataFile) -> str:
    """The name of a file in SQL: a URL, escaped so that DuckDB takes no character for a glob pattern."""
    if file.location.startswith(("https://", "http://")):
        return file.location
    return "file://" + quote(file.location)
