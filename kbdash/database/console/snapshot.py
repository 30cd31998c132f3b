"""A snapshot of the canonical rows of a source in one local DuckDB file, on which readers' SQL runs."""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from threading import Lock

import duckdb
import pyarrow as pa

from kbdash.database.competition_views import part_and_slug, rule_views, shapes_view, submissions_view
from kbdash.database.rules import catalog_statements
from kbdash.database.workers import in_parallel
from kbdash.deadline import acquired
from kbdash.errors import KbdashError

_KEPT_FILES = 2
_FOLDER = "sql"
SHAPES = "shapes"
_log = logging.getLogger(__name__)


class NotInSnapshot(Exception):
    """The rows of these views cannot be read now, each with its error."""

    def __init__(self, errors: Mapping[str, KbdashError]) -> None:
        super().__init__(", ".join(errors))
        self.errors = errors


class Snapshots:
    """Writes a snapshot of what can be read now, and a new one when a file appears, disappears or changes."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._made: dict[str, Path] = {}
        self._spare: tempfile.TemporaryDirectory[str] | None = None
        self._lock = Lock()

    def of(self, views: Mapping[str, str], fetch: Callable[[str], pa.Table]) -> Path:
        """The snapshot of these views (name -> version of their rows); written only if it does not exist."""
        key = _key(views)
        with acquired(self._lock):
            path = self._made.get(key) or self._folder() / f"{key}.duckdb"
            if not path.exists():
                path = self._written(_fetched(views, fetch), path)
            self._made[key] = path
            return path

    def _written(self, tables: Mapping[str, pa.Table], path: Path) -> Path:
        """The path of the snapshot: as given, or in a temporary folder when the disk of the cache is full."""
        try:
            _write(tables, path)
        except (OSError, duckdb.Error) as error:
            path = self._spare_folder(path.parent, error) / path.name
            _write(tables, path)
        _forget_old(path)
        return path

    def close(self) -> None:
        """Remove the temporary folder, if one was used."""
        if self._spare:
            self._spare.cleanup()

    def _folder(self) -> Path:
        """The cache folder, or a temporary one where that cannot be written."""
        folder = self._cache / _FOLDER
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError as error:
            return self._spare_folder(folder, error)

    def _spare_folder(self, folder: Path, error: Exception) -> Path:
        _log.warning("%s cannot be written (%s): rows for SQL are kept in a temporary folder", folder, error)
        self._spare = self._spare or tempfile.TemporaryDirectory(prefix="kbdash-sql-")
        return Path(self._spare.name)


def _fetched(views: Iterable[str], fetch: Callable[[str], pa.Table]) -> dict[str, pa.Table]:
    """The rows of all views, fetched at once; NotInSnapshot with those that failed."""
    tables: dict[str, pa.Table] = {}
    errors: dict[str, KbdashError] = {}
    flights = in_parallel([partial(fetch, view) for view in views])
    for view, flight in zip(views, flights, strict=True):
        try:
            tables[view] = flight.result()
        except KbdashError as error:
            errors[view] = error
    if errors:
        raise NotInSnapshot(errors)
    return tables


def _key(views: Mapping[str, str]) -> str:
    """A key of all that a snapshot is made from: the rows and every statement that is run over them."""
    versions = (f"{view}:{version}" for view, version in views.items())
    parts = (duckdb.__version__, *catalog_statements(), *_views_over(views), *versions)
    return blake2b("|".join(parts).encode(), digest_size=12).hexdigest()


def _write(tables: Mapping[str, pa.Table], path: Path) -> None:
    """Write to a temporary name, then rename, so that nobody opens half a file."""
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        with duckdb.connect(str(draft)) as connection:
            connection.execute("set global TimeZone = 'UTC'")
            for statement in catalog_statements():
                connection.execute(statement)
            for view, table in tables.items():
                connection.register("rows_in_memory", table)
                connection.execute(f"create table {view} as from rows_in_memory")
                connection.unregister("rows_in_memory")
            for statement in _views_over(tables):
                connection.execute(statement)
        draft.replace(path)


def _views_over(tables: Iterable[str]) -> Iterator[str]:
    """The SQL of the views over these tables: those of the ranking rule, and over all submissions and all shapes."""
    found = [(*part_and_slug(table), table) for table in tables]
    yield from chain.from_iterable(rule_views(slug) for part, slug, _ in found if part == "submissions")
    yield submissions_view(table for part, _, table in found if part == "submissions")
    yield shapes_view(table for part, _, table in found if part == "shapes")


def _forget_old(path: Path) -> None:
    """Delete all but the newest few; a process that still reads a deleted file keeps it until it closes it."""
    files = sorted(path.parent.glob("*.duckdb"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for old in files[_KEPT_FILES:]:
        with suppress(OSError):
            old.unlink()
