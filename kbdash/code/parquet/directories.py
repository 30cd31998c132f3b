"""The page directories of all open files: built once, shared by all readers, cached on disk."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock

from kbdash.cache import SharedCache
from kbdash.code.parquet.as_parquet import ColumnType
from kbdash.code.parquet.directory import Page, PageDirectory, PageGroup, empty_directory
from kbdash.code.parquet.footer import Footer, read_footer
from kbdash.code.parquet.page_scan import extend
from kbdash.code.parquet.store import DirectoryStore
from kbdash.dataset.http import ByteSource, damage_named
from kbdash.deadline import acquired

Progress = Callable[[int, int], None]  # rows whose page is known, rows of the file
_REQUESTS_PER_TURN = 8  # then other threads that wait for the same directory get a turn
_PAGES_PER_SAVE = 32


@dataclass(frozen=True, slots=True)
class Place:
    """The page that holds a row, the group of that page, and the row's position in it."""

    directory: PageDirectory
    group: PageGroup
    page: Page
    page_row: int

    @property
    def column(self) -> ColumnType:
        """The type of the page's values."""
        return ColumnType(self.directory.physical, self.directory.optional)


@dataclass(slots=True)
class _Entry:
    """One directory and its lock; `saved` pages of it are on disk."""

    directory: PageDirectory
    saved: int
    lock: Lock = field(default_factory=Lock)


class PageDirectories:
    """Page directories by file and column. Thread-safe.

    To locate a row outside the known pages, the calling thread scans for the missing pages. It takes turns
    with other threads that scan the same directory, so that no header is read twice.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self._store = DirectoryStore(cache / "pages") if cache else None
        self._footers: SharedCache[tuple[str, str], Footer] = SharedCache(16, lambda _: 1)
        self._entries: SharedCache[tuple[str, str, str], _Entry] = SharedCache(128, lambda _: 1)

    def footer(self, source: ByteSource) -> Footer:
        """The footer of a file, read once."""
        with damage_named(source):
            return self._footers.get((source.name, source.version), lambda: read_footer(source))

    def place(self, source: ByteSource, column: str, row: int) -> Place:
        """Where a row of the file is."""
        entry = self._entry(source, column)
        number, group_row = entry.directory.locate(row)
        while (page := entry.directory.groups[number].page_of(group_row)) is None:
            self._extend(source, entry, number, group_row)
        return Place(entry.directory, entry.directory.groups[number], page, group_row - page.first_row)

    def known_page(self, source: ByteSource, column: str, row: int) -> Page | None:
        """The page with a row of the file, if it is known; fetches nothing but the footer."""
        directory = self._entry(source, column).directory
        number, group_row = directory.locate(row)
        return directory.groups[number].page_of(group_row)

    def build(
        self,
        source: ByteSource,
        column: str,
        *,
        progress: Progress | None = None,
        cancel: Event | None = None,
    ) -> PageDirectory:
        """The whole directory, or what there is of it when the build is cancelled."""
        entry = self._entry(source, column)
        for number in range(len(entry.directory.groups)):
            while not entry.directory.groups[number].complete and not (cancel and cancel.is_set()):
                self._extend(source, entry, number, None)
                if progress:
                    progress(entry.directory.known_rows, entry.directory.rows)
        with entry.lock:
            self._save(source, entry)
        return entry.directory

    def forget(self, source: ByteSource, column: str) -> None:
        """Drop a directory that does not fit the file, in memory and on disk."""
        self._entries.drop((source.name, source.version, column))
        if self._store:
            self._store.drop(source, column)

    def _entry(self, source: ByteSource, column: str) -> _Entry:
        return self._entries.get((source.name, source.version, column), lambda: self._open(source, column))

    def _open(self, source: ByteSource, column: str) -> _Entry:
        stored = self._store.load(source, column) if self._store else None
        if stored is not None:
            return _Entry(stored, saved=_count_pages(stored))
        blank = empty_directory(source.name, source.version, source.size, self.footer(source).column(column))
        return _Entry(blank, saved=0)

    def _extend(self, source: ByteSource, entry: _Entry, number: int, row: int | None) -> None:
        """Scan for more pages of a row group, for one turn: for all of them, or up to the page of a row."""
        with acquired(entry.lock):
            groups = list(entry.directory.groups)
            group = groups[number]
            if group.complete or (row is not None and group.page_of(row)):
                return
            # If the row's page is found but not yet certain, the whole group is needed.
            until = row if row is not None and row >= group.known_rows else None
            try:
                with damage_named(source):
                    optional = entry.directory.optional
                    groups[number] = extend(source, group, optional=optional, requests=_REQUESTS_PER_TURN, row=until)
            except BaseException:
                self._save(source, entry)
                raise
            entry.directory = replace(entry.directory, groups=tuple(groups))
            unsaved = _count_pages(entry.directory) - entry.saved
            if unsaved >= max(_PAGES_PER_SAVE, entry.saved // 8) or entry.directory.complete:
                self._save(source, entry)

    def _save(self, source: ByteSource, entry: _Entry) -> None:
        count = _count_pages(entry.directory)
        if self._store and count > entry.saved:
            self._store.save(source, entry.directory)
            entry.saved = count


def _count_pages(directory: PageDirectory) -> int:
    return sum(len(group.pages) for group in directory.groups)
