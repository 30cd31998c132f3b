"""Finding pages: from an offset index, or by hopping from page header to page header."""

from dataclasses import replace
from itertools import pairwise

from kbdash.code.parquet.directory import Page, PageGroup
from kbdash.code.parquet.level_count import count_by_levels
from kbdash.code.parquet.pages import (
    MAX_HEADER_BYTES,
    Codec,
    PageHeader,
    PageKind,
    PageLocation,
    read_offset_index,
    read_page_header,
)
from kbdash.code.parquet.thrift import Truncated
from kbdash.dataset.http import ByteSource
from kbdash.errors import CorruptData

_FIRST_LOOK_BYTES = 8 << 10  # enough for a header with the statistics that writers add by default
_LEVEL_BYTES = 4 << 10  # enough for the levels of some thousand values with nulls
_SMALL_PAGE_BYTES = 64 << 10
_SWEEP_BYTES = 256 << 10  # for small pages, reading on is cheaper than a request per header
_MAX_INDEX_BYTES = 16 << 20
_MAX_PAGES = 1 << 20


def extend(source: ByteSource, group: PageGroup, *, optional: bool, requests: int, row: int | None = None) -> PageGroup:
    """The group with more pages: all of them, or what this many requests find, or up to the page of the row.

    `optional` says whether the column may hold nulls, so that its pages begin with definition levels.
    """
    if group.index is not None and not group.pages and group.rows:
        return _from_index(source, group)
    look = _Look(source, group.end)
    walk = _Walk(group, optional)
    while not walk.complete and look.requests < requests and not (row is not None and walk.known_rows > row):
        header = look.header_at(walk.position)
        walk.add(header, look.behind(walk.position + header.size))
    return walk.group()


class _Walk:
    """The pages of a group while they are collected."""

    def __init__(self, group: PageGroup, optional: bool) -> None:
        self._group = group
        self._optional = optional
        self._pages = list(group.pages)
        self._dictionary = group.dictionary
        self.position = group.position
        self.known_rows = group.known_rows

    @property
    def complete(self) -> bool:
        return self.known_rows == self._group.rows

    def add(self, header: PageHeader, start: bytes) -> None:
        """Record the page at the position from its header and first bytes, and move on to the next."""
        here, self.position = self.position, self.position + header.total
        if self.position > self._group.end or len(self._pages) >= _MAX_PAGES:
            raise CorruptData("A page reaches beyond its column chunk.")
        if self._group.codec is Codec.UNCOMPRESSED and header.compressed != header.uncompressed:
            raise CorruptData("A page that is not compressed gives two different sizes.")
        if header.kind is PageKind.DICTIONARY:
            self._add_dictionary(here, header)
        else:
            self._add_page(here, header, start)

    def _add_dictionary(self, offset: int, header: PageHeader) -> None:
        if self._dictionary is not None or self._pages:
            raise CorruptData("A column chunk has a second dictionary.")
        self._dictionary = (offset, header.total)

    def _add_page(self, offset: int, header: PageHeader, start: bytes) -> None:
        data_start = self._group.data_start
        # Writers that omit the dictionary's offset give it as the offset of the data.
        if not self._pages and data_start not in (offset, self._group.start):
            raise CorruptData("A column chunk does not begin where the footer says.")
        counted = count_by_levels(header, start, self._group.codec) if self._optional else None
        if counted not in (None, header.values):
            raise CorruptData(f"A page holds {counted} values where its header says {header.values}.")
        page = Page(
            offset,
            header.total,
            self.known_rows,
            header.values,
            header.size,
            header.uncompressed,
            header.encoding,
            header.kind,
            counted is not None,
        )
        self._pages.append(page)
        self.known_rows += header.values
        rows_left = self._group.rows - self.known_rows
        if rows_left < 0 or (rows_left == 0) != (self.position == self._group.end):
            raise CorruptData("The pages of a column chunk do not add up to its rows and bytes.")

    def group(self) -> PageGroup:
        """The group with the pages found so far."""
        return replace(self._group, position=self.position, dictionary=self._dictionary, pages=tuple(self._pages))


class _Look:
    """A window on the file that moves from header to header."""

    def __init__(self, source: ByteSource, end: int) -> None:
        self.requests = 0
        self._source = source
        self._end = end
        self._data = b""
        self._start = 0
        self._last: PageHeader | None = None

    def header_at(self, offset: int) -> PageHeader:
        """The page header at an offset, from the window if it is there."""
        at = offset - self._start
        if not 0 <= at < len(self._data):
            self._move(offset)
        while True:
            try:
                self._last = read_page_header(self._data, offset - self._start)
            except Truncated:
                self._widen(offset)
            else:
                return self._last

    def behind(self, offset: int) -> bytes:
        """The bytes of the window from an offset on."""
        at = offset - self._start
        return self._data[at : at + _LEVEL_BYTES]

    def _move(self, offset: int) -> None:
        small = self._last is not None and self._last.total < _SMALL_PAGE_BYTES
        wanted = _SWEEP_BYTES if small else _FIRST_LOOK_BYTES
        self._data, self._start = self._read(offset, wanted), offset

    def _widen(self, offset: int) -> None:
        """Keep the bytes from the offset on, and read three times as many after them."""
        kept = self._data[offset - self._start :]
        if len(kept) >= MAX_HEADER_BYTES:
            raise CorruptData("A page header is longer than 2 MB.")
        more = self._read(offset + len(kept), max(_FIRST_LOOK_BYTES, 3 * len(kept)))
        if not more:
            raise CorruptData("A column chunk ends within a page header.")
        self._data, self._start = kept + more, offset

    def _read(self, offset: int, wanted: int) -> bytes:
        self.requests += 1
        return self._source.read(offset, max(0, min(wanted, self._end - offset)))


def _from_index(source: ByteSource, group: PageGroup) -> PageGroup:
    """The whole group from its offset index, checked against the footer."""
    offset, length = group.index or (0, 0)
    if not 0 < length <= _MAX_INDEX_BYTES:
        raise CorruptData(f"An offset index cannot be {length} bytes long.")
    locations = read_offset_index(source.read(offset, length))
    _check_locations(locations, group)
    ends = [*(each.first_row for each in locations[1:]), group.rows]
    pages = tuple(
        Page(each.offset, each.total, each.first_row, end - each.first_row)
        for each, end in zip(locations, ends, strict=True)
    )
    gap = locations[0].offset - group.start  # anything before the data is the dictionary
    return replace(group, position=group.end, dictionary=(group.start, gap) if gap else None, pages=pages)


def _check_locations(locations: tuple[PageLocation, ...], group: PageGroup) -> None:
    behind = PageLocation(group.end, 0, group.rows)
    fits = bool(locations) and locations[0].first_row == 0 and locations[0].offset >= group.start
    for here, there in pairwise((*locations, behind)):
        fits = fits and here.total > 0 and here.offset + here.total <= there.offset and here.first_row < there.first_row
    if not fits:
        raise CorruptData("An offset index does not fit its column chunk.")
