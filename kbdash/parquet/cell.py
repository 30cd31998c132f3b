"""Single cells out of large parquet files: one page is fetched, decoded and kept for the next reader."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from kbdash.errors import CorruptData
from kbdash.parquet.decode import decode_data_page, decode_dictionary, open_data_page
from kbdash.parquet.directories import PageDirectories, Place
from kbdash.parquet.pages import MAX_HEADER_BYTES, MAX_PAGE_BYTES, PageHeader, read_page_header
from kbdash.parquet.ranges import CHANGED_ADVICE, ByteSource, damage_named
from kbdash.parquet.wrap import ColumnType
from kbdash.shared import SharedCache

Cell = bytes | int | float | None
PAGE_CACHE_BYTES = 192 << 20
# Pages are made by a few threads of our own: they take memory beside the cache while they are made, and
# allocators keep some of it for every thread that ever made one.
_PAGE_MAKERS = 2
_LARGE_BYTES = 1 << 20


class _StaleDirectory(CorruptData):
    """The file holds another page than the directory says."""


@dataclass(frozen=True, slots=True)
class _Decoded:
    """The values of a page, or the numbers of their dictionary entries."""

    values: pa.ChunkedArray
    by_dictionary: bool = False

    @property
    def size(self) -> int:
        """Bytes held in memory."""
        return int(self.values.get_total_buffer_size())


class CellReader:
    """Cells by file, column and row; may be shared by threads, and should be, for the sake of its cache."""

    def __init__(self, directories: PageDirectories, *, cache_bytes: int = PAGE_CACHE_BYTES) -> None:
        self.directories = directories
        self._pages: SharedCache[tuple[str, str, int], _Decoded] = SharedCache(cache_bytes, lambda page: page.size)
        self._page_makers = ThreadPoolExecutor(_PAGE_MAKERS, "kbdash-pages")
        # Makers of pages may wait for a dictionary, so its maker must never wait for one of them.
        self._dictionary_maker = ThreadPoolExecutor(1, "kbdash-dictionaries")

    @property
    def cached_bytes(self) -> int:
        """Bytes of decoded pages kept now."""
        return self._pages.weight

    def read(self, source: ByteSource, column: str, row: int) -> Cell:
        """The value of a column in a row of the file, counted from 0; texts come as their raw bytes."""
        with damage_named(source):
            try:
                return self._read(source, column, row)
            except _StaleDirectory:
                self.directories.forget(source, column)
                return self._read(source, column, row)

    def read_many(self, source: ByteSource, column: str, rows: Iterable[int]) -> list[Cell]:
        """The values of a column in several rows, in the order asked for."""
        wanted = list(rows)
        # In the order of the file, so that a page is not fetched again after others drove it out.
        cells = {row: self.read(source, column, row) for row in sorted(set(wanted))}
        return [cells[row] for row in wanted]

    def _read(self, source: ByteSource, column: str, row: int) -> Cell:
        place = self.directories.place(source, column, row)
        page = self._pages.get(
            (source.name, source.version, place.page.offset),
            lambda: self._page_makers.submit(self._make_page, source, place).result(),
        )
        value: Cell = page.values[place.page_row].as_py()
        if page.by_dictionary and isinstance(value, int):
            entry: Cell = self._dictionary(source, place).values[value].as_py()
            return entry
        return value

    def _make_page(self, source: ByteSource, place: Place) -> _Decoded:
        directory, page = place.directory, place.page
        header, payload = _fetch(source, page.offset, page.total)
        if not page.agrees_with(header):
            raise _StaleDirectory(
                f"{source.name} has another page at byte {page.offset} than expected.", advice=CHANGED_ADVICE
            )
        entries = len(self._dictionary(source, place).values) if header.needs_dictionary else None
        column = ColumnType(directory.physical, directory.optional)
        opened = open_data_page(header, payload, column, place.group.codec)
        del payload  # ten megabytes or more that decoding does without
        values = decode_data_page(opened, column, entries)
        del opened
        return _settled(_Decoded(values, header.needs_dictionary))

    def _dictionary(self, source: ByteSource, place: Place) -> _Decoded:
        if place.group.dictionary is None:
            raise CorruptData(f"A page of {source.name} needs a dictionary, but there is none.")
        offset, total = place.group.dictionary
        return self._pages.get(
            (source.name, source.version, offset),
            lambda: self._dictionary_maker.submit(_make_dictionary, source, place, offset, total).result(),
        )


def _make_dictionary(source: ByteSource, place: Place, offset: int, total: int) -> _Decoded:
    header, payload = _fetch(source, offset, total)
    values = decode_dictionary(header, payload, place.directory.physical, place.group.codec)
    return _settled(_Decoded(values))


def _fetch(source: ByteSource, offset: int, total: int) -> tuple[PageHeader, memoryview]:
    """Header and payload of the page at an offset."""
    if total > MAX_PAGE_BYTES + MAX_HEADER_BYTES:
        raise CorruptData(f"A page of {source.name} claims to be {total >> 20} MB long.")
    data = source.read(offset, total)
    header = read_page_header(data)
    return header, memoryview(data)[header.size :]


def _settled(page: _Decoded) -> _Decoded:
    """The page, after giving back to the system what decoding a large one took."""
    if page.size > _LARGE_BYTES:
        pa.default_memory_pool().release_unused()
    return page
