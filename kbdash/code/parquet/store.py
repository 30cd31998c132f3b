"""Page directories on disk: small files that may be deleted at any time."""

import json
import logging
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from kbdash.code.parquet.directory import Page, PageDirectory, PageGroup
from kbdash.code.parquet.pages import Codec, Encoding, PageKind, Physical
from kbdash.dataset.http import ByteSource

# Raise this when the meaning of a field changes. Adding fields does not need it: unknown ones are ignored,
# so a finer directory (compressed blocks within a page) can be added beside "pages".
_FORMAT = "kbdash pages 2"
_MAX_FILE_BYTES = 64 << 20
_log = logging.getLogger(__name__)


class DirectoryStore:
    """A disk cache of directories in one folder, limited in number; a folder that is not writable is no error."""

    def __init__(self, folder: Path, keep: int = 64) -> None:
        self._folder = folder
        self._keep = keep

    def load(self, source: ByteSource, column: str) -> PageDirectory | None:
        """The stored directory of this column of exactly this file; None for anything else."""
        path = self._path(source, column)
        try:
            if path.stat().st_size > _MAX_FILE_BYTES:
                return None
            directory = _parse(path.read_bytes())
        except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
            return None
        expected = (source.name, source.version, source.size, column)
        if (directory.file, directory.version, directory.size, directory.column) != expected:
            return None
        with suppress(OSError):
            os.utime(path)  # pruning goes by the time of last use
        return directory

    def save(self, source: ByteSource, directory: PageDirectory) -> None:
        """Store the directory atomically."""
        path = self._path(source, directory.column)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_serialise(directory))
                Path(draft).replace(path)
            except BaseException:
                Path(draft).unlink(missing_ok=True)
                raise
            self._prune()
        except OSError as error:
            _log.warning("Page directory not kept in %s: %s", self._folder, error)

    def drop(self, source: ByteSource, column: str) -> None:
        """Delete the stored directory of this column."""
        with suppress(OSError):
            self._path(source, column).unlink(missing_ok=True)

    def _path(self, source: ByteSource, column: str) -> Path:
        key = json.dumps([source.name, source.version, column])
        return self._folder / f"{sha256(key.encode()).hexdigest()[:32]}.json"

    def _prune(self) -> None:
        by_age = sorted(self._folder.glob("*.json"), key=_last_used)
        for path in by_age[: -self._keep]:
            path.unlink(missing_ok=True)


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process pruned it
        return 0.0


def _serialise(directory: PageDirectory) -> bytes:
    body: dict[str, Any] = asdict(directory)
    for group in body["groups"]:
        group["pages"] = [list(page.values()) for page in group["pages"]]
    return _dumps({"format": _FORMAT, "sha256": _digest(body), "directory": body})


def _parse(data: bytes) -> PageDirectory:
    whole = json.loads(data)
    body = whole["directory"]
    if whole["format"] != _FORMAT or whole["sha256"] != _digest(body):
        raise ValueError("not a page directory as it was written")
    return PageDirectory(
        **_known(body, "file", "version", "size", "column", "optional"),
        physical=Physical(body["physical"]),
        groups=tuple(_group(each) for each in body["groups"]),
    )


def _group(body: dict[str, Any]) -> PageGroup:
    return PageGroup(
        **_known(body, "rows", "start", "data_start", "end", "position"),
        codec=Codec(body["codec"]),
        index=_span(body["index"]),
        dictionary=_span(body["dictionary"]),
        pages=tuple(_page(*each[:9]) for each in body["pages"]),
    )


def _page(offset: int, total: int, first_row: int, rows: int, *header: int | None) -> Page:
    header_bytes, uncompressed, encoding, kind, counted = header
    return Page(
        offset,
        total,
        first_row,
        rows,
        header_bytes,
        uncompressed,
        None if encoding is None else Encoding(encoding),
        None if kind is None else PageKind(kind),
        bool(counted),
    )


def _span(pair: list[int] | None) -> tuple[int, int] | None:
    return None if pair is None else (pair[0], pair[1])


def _known(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: body[name] for name in names}


def _digest(body: dict[str, Any]) -> str:
    return sha256(_dumps(body)).hexdigest()


def _dumps(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
