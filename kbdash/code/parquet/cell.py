"""Single cells of large parquet files: one page is fetched, decoded and cached for the next reader."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from kbdash.cache import BYTES, SharedCache
from kbdash.code.parquet.decode import (
    Values,
    check_large,
    decode_data_page,
    decode_dictionary,
    open_data_page,
)
from kbdash.code.parquet.directories import PageDirectories, Place
from kbdash.code.parquet.pages import MAX_HEADER_BYTES, MAX_PAGE_BYTES, PageHeader, read_page_header
from kbdash.code.parquet.plain import MAX_TEXT_BYTES
from kbdash.dataset.http import CHANGED_ADVICE, ByteSource, damage_named
from kbdash.deadline import acquired
from kbdash.errors import CorruptData

Cell = bytes | int | float | None
PAGE_CACHE_BYTES = BYTES.limit
# A few threads of our own decode pages: decoding takes memory beyond the cache, and allocators keep some of it
# for every thread that ever did it. Pages are fetched by the threads that ask, because a fetch may take long.
_DECODERS = 2
_RELEASE_BYTES = 1 << 20
_LONG_FETCH_BYTES = 24 << 20


class _StaleDirectory(CorruptData):
    """The file has another page at that offset than the directory says."""


@dataclass(frozen=True, slots=True)
class _Decoded:
    """The values of a page, or their dictionary indices."""

    values: Values
    by_dictionary: bool = False

    @property
    def size(self) -> int:
        """Bytes held in memory."""
        return self.values.size


@dataclass(frozen=True, slots=True)
class _Packed:
    """A page too large to cache decompressed; it is cached as fetched."""

    header: PageHeader
    payload: memoryview

    @property
    def size(self) -> int:
        """Bytes held in memory."""
        return len(self.payload)


class CellReader:
    """Cells by file, column and row. Thread-safe; share one, because it has the cache.

    A page, or a text of a large page, is fetched and decoded once however many ask for it (single-flight). Large pages
    are fetched one at a time from each file, and have a thread of their own: only one is decompressed at a time, and
    readers of ordinary pages do not wait for it.
    """

    def __init__(self, directories: PageDirectories, *, cache_bytes: int = PAGE_CACHE_BYTES) -> None:
        self.directories = directories
        self._pages: SharedCache[tuple[str, str, int], _Decoded | _Packed]
        self._pages = SharedCache(cache_bytes, lambda page: page.size, BYTES)
        self._texts: SharedCache[tuple[str, str, int, int], Cell]  # texts of large pages
        self._texts = SharedCache(2 * MAX_TEXT_BYTES, lambda text: len(text) if isinstance(text, bytes) else 0, BYTES)
        self._decoders = ThreadPoolExecutor(_DECODERS, "kbdash-pages")
        self._large_decoder = ThreadPoolExecutor(1, "kbdash-large-pages")
        self._large_fetches: defaultdict[str, Lock] = defaultdict(Lock)

    def read(self, source: ByteSource, column: str, row: int) -> Cell:
        """The value of a column in a row of the file, counted from 0; texts as raw bytes."""
        with damage_named(source):
            try:
                return self._read(source, column, row)
            except _StaleDirectory:
                self.directories.forget(source, column)
                return self._read(source, column, row)

    def _read(self, source: ByteSource, column: str, row: int) -> Cell:
        place = self.directories.place(source, column, row)
        page = self._page(source, place)
        if isinstance(page, _Packed):
            return self._texts.get(
                (source.name, source.version, place.page.offset, place.page_row),
                lambda: self._large_decoder.submit(_text_of_large, page, place).result(),
            )
        value = page.values.cell(place.page_row)
        if page.by_dictionary and isinstance(value, int):
            return self._dictionary(source, place).cell(value)
        return value

    def _page(self, source: ByteSource, place: Place) -> _Decoded | _Packed:
        key = (source.name, source.version, place.page.offset)
        return self._pages.get(key, lambda: self._make_page(source, place))

    def _make_page(self, source: ByteSource, place: Place) -> _Decoded | _Packed:
        page = place.page
        with acquired(self._large_fetches[source.name]) if page.total > _LONG_FETCH_BYTES else nullcontext():
            header, payload = fetch_page(source, page.offset, page.total)
        if not page.agrees_with(header):
            raise _StaleDirectory(
                f"{source.name} has another page at byte {page.offset} than expected.", advice=CHANGED_ADVICE
            )
        if header.is_large:
            check_large(header, place.column)
            return _Packed(header, payload)
        entries = len(self._dictionary(source, place)) if header.needs_dictionary else None
        taken = [payload]
        del payload  # ten megabytes or more that decoding does not need
        return self._decoders.submit(_decode_page, header, taken, place, entries).result()

    def _dictionary(self, source: ByteSource, place: Place) -> Values:
        if place.group.dictionary is None:
            raise CorruptData(f"A page of {source.name} needs a dictionary, but there is none.")
        offset, total = place.group.dictionary
        page = self._pages.get(
            (source.name, source.version, offset),
            lambda: self._decoders.submit(_decode_dictionary, *fetch_page(source, offset, total), place).result(),
        )
        if isinstance(page, _Packed):
            raise CorruptData(f"A page of {source.name} stands where a dictionary should be.")
        return page.values


def fetch_page(source: ByteSource, offset: int, total: int) -> tuple[PageHeader, memoryview]:
    """Header and payload of the page at an offset."""
    if total > MAX_PAGE_BYTES + MAX_HEADER_BYTES:
        raise CorruptData(f"A page of {source.name} claims to be {total >> 20} MB long.")
    data = source.read(offset, total)
    header = read_page_header(data)
    return header, memoryview(data)[header.size :]


def _decode_page(header: PageHeader, taken: list[memoryview], place: Place, entries: int | None) -> _Decoded:
    """The values of a page; takes its payload out of the list, so that it can be freed while values are decoded."""
    opened = open_data_page(header, taken.pop(), place.column, place.group.codec)
    values = decode_data_page(opened, place.column, entries)
    del opened
    _release(values.size)
    return _Decoded(values, header.needs_dictionary)


def _decode_dictionary(header: PageHeader, payload: memoryview, place: Place) -> _Decoded:
    values = decode_dictionary(header, payload, place.column.physical, place.group.codec)
    _release(values.size)
    return _Decoded(values)


def _text_of_large(page: _Packed, place: Place) -> Cell:
    """One text of a large page; frees the rest of the page before it returns."""
    opened = open_data_page(page.header, page.payload, place.column, place.group.codec)
    values = decode_data_page(opened, place.column, None)
    text = values.cell(place.page_row)
    size = values.size
    del opened, values
    _release(size)
    return text


def _release(size: int) -> None:
    """Return the memory that decoding a page of this size took to the system."""
    if size > _RELEASE_BYTES:
        pa.default_memory_pool().release_unused()
