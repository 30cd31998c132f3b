"""Stream the pages of a column in file order, locating them on the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.code.parquet import ByteSource, PageDirectory
from kbdash.code.parquet.as_parquet import ColumnType
from kbdash.code.parquet.decode import (
    ArrowValues,
    Values,
    check_large,
    decode_data_page,
    decode_dictionary,
    open_data_page,
)
from kbdash.code.parquet.directory import Page, PageGroup, empty_directory
from kbdash.code.parquet.footer import read_footer
from kbdash.code.parquet.page_scan import extend
from kbdash.code.parquet.pages import MAX_HEADER_BYTES, MAX_PAGE_BYTES, PageHeader, Physical, read_page_header
from kbdash.code.parquet.plain import PlainTexts
from kbdash.dataset.http import damage_named
from kbdash.errors import CorruptData, DataUnavailable

_LENGTH_BYTES = 4  # before each text of a page in the encoding PLAIN


@dataclass(frozen=True)
class RawPage:
    """The undecoded values of some rows of a file; `first_row` counts from the file's first."""

    first_row: int
    group: int
    page: Page
    data: bytes
    dictionary: pa.Array | None


@dataclass(frozen=True)
class RawTexts:
    """The texts of a page where they lie: `body` from `starts` to `ends`; and the text of each row, -1 for null."""

    body: pa.Buffer
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    of_row: npt.NDArray[np.int32]


class PageStream:
    """A column, page by page. `directory` grows while pages are read, and is complete at the end."""

    def __init__(
        self, source: ByteSource, column: str, *, kinds: tuple[Physical, ...] = (Physical.BYTE_ARRAY,)
    ) -> None:
        self._source = source
        with damage_named(source):
            found = read_footer(source).column(column)
        if found.physical not in kinds:
            raise DataUnavailable(
                f"Column {column} of {source.name} is of the type {found.physical.name}, which does not fit.",
                advice="Check which dataset is read.",
            )
        self.directory = empty_directory(source.name, source.version, source.size, found)

    @property
    def end(self) -> int:
        """The offset after the last page."""
        return max((group.end for group in self.directory.groups), default=0)

    @property
    def size_bytes(self) -> int:
        """Bytes of all pages."""
        return sum(group.end - group.start for group in self.directory.groups)

    def pages(self, reader: ByteSource, first_row: int = 0) -> Iterator[RawPage]:
        """The pages from the one that begins with this row; `reader` provides the bytes, sequentially."""
        row = 0
        for number in range(len(self.directory.groups)):
            group = self.directory.groups[number]
            if row + group.rows > first_row:
                yield from self._group_pages(reader, number, row, first_row)
            row += group.rows

    def values(self, reader: ByteSource) -> pa.ChunkedArray:
        """The whole column; meant for narrow ones."""
        chunks = []
        for raw in self.pages(reader):
            values, numbers = self.decode(raw)
            chunks.append(values if numbers is None else values.take(numbers))
        return pa.chunked_array(chunks or [pa.array([], pa.int64())])

    def resume(self, directory: PageDirectory) -> None:
        """Continue with the directory that an earlier reader of the same version built."""
        known = [(each.rows, each.start, each.end) for each in directory.groups]
        if known == [(each.rows, each.start, each.end) for each in self.directory.groups]:
            self.directory = directory

    def decode(self, raw: RawPage) -> tuple[pa.Array, pa.Array | None]:
        """The distinct or plain values of a page; with a dictionary also the value's number per row."""
        found, coded = self._decoded(raw)
        return _looked_up(_array(found), raw.dictionary) if coded else (_array(found), None)

    def texts(self, raw: RawPage) -> RawTexts:
        """The texts of a page; those of a plain page are not copied."""
        found, coded = self._decoded(raw)
        if isinstance(found, PlainTexts) and not coded:
            places = np.frombuffer(found.places, np.int64)
            of_row = np.arange(len(places) - 1, dtype=np.int32) if found.ranks is None else found.ranks
            return RawTexts(pa.py_buffer(found.body), places[:-1] + _LENGTH_BYTES, places[1:], of_row)
        values, numbers = _looked_up(_array(found), raw.dictionary) if coded else (_array(found), None)
        if numbers is None:
            of_row = np.where(values.is_valid().to_numpy(zero_copy_only=False), np.arange(len(values)), -1)
        else:
            of_row = numbers.fill_null(-1).to_numpy(zero_copy_only=False)
        _, offsets, body = values.buffers()
        bounds = np.zeros(1, np.int64)
        if len(values):
            bounds = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
        return RawTexts(pa.py_buffer(b"") if body is None else body, bounds[:-1], bounds[1:], of_row.astype(np.int32))

    def _decoded(self, raw: RawPage) -> tuple[Values, bool]:
        """The values of a page, and whether they are numbers of a dictionary."""
        column = ColumnType(self.directory.physical, self.directory.optional)
        with damage_named(self._source):
            header, payload = _split(raw.data, self._source.name)
            if not raw.page.agrees_with(header):
                raise CorruptData(f"{self._source.name} has another page at byte {raw.page.offset} than expected.")
            if header.is_large:
                check_large(header, column)
            entries = len(raw.dictionary) if header.needs_dictionary and raw.dictionary is not None else None
            opened = open_data_page(header, payload, column, self.directory.groups[raw.group].codec)
            return decode_data_page(opened, column, entries), entries is not None

    def _group_pages(self, reader: ByteSource, number: int, start_row: int, first_row: int) -> Iterator[RawPage]:
        at, dictionary = 0, None
        while True:
            group = self.directory.groups[number]
            if at == len(group.pages):
                if group.complete:
                    return
                group = self._extended(reader, number)
            if dictionary is None and group.dictionary is not None:
                dictionary = self._dictionary(reader, group)
            while at < len(group.pages):
                page = group.pages[at]
                at += 1
                row = start_row + page.first_row
                if row >= first_row:
                    yield RawPage(row, number, page, _read(reader, page.offset, page.total), dictionary)

    def _extended(self, reader: ByteSource, number: int) -> PageGroup:
        with damage_named(self._source):
            group = extend(reader, self.directory.groups[number], optional=self.directory.optional, requests=1)
        groups = list(self.directory.groups)
        groups[number] = group
        self.directory = replace(self.directory, groups=tuple(groups))
        return group

    def _dictionary(self, reader: ByteSource, group: PageGroup) -> pa.Array:
        offset, total = group.dictionary or (0, 0)
        with damage_named(self._source):
            header, payload = _split(_read(reader, offset, total), self._source.name)
            return _array(decode_dictionary(header, payload, self.directory.physical, group.codec))


def _looked_up(numbers: pa.Array, dictionary: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The entries of a dictionary that a page uses, and which of them each row has."""
    coded = pc.dictionary_encode(numbers)
    return dictionary.take(coded.dictionary), coded.indices


def _array(values: Values) -> pa.Array:
    """Decoded values as an Arrow array; for texts, the lengths between them are removed."""
    if isinstance(values, ArrowValues):
        return values.array.combine_chunks()
    places = np.frombuffer(values.places, np.int64)
    starts, ends = places[:-1] + _LENGTH_BYTES, places[1:]
    body = memoryview(values.body)
    data = b"".join([body[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)])
    offsets = np.concatenate(([0], np.cumsum(ends - starts)))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    texts = pa.Array.from_buffers(pa.large_binary(), len(starts), buffers)
    return texts if values.ranks is None else texts.take(pa.array(values.ranks, mask=values.ranks < 0))


def _read(reader: ByteSource, offset: int, total: int) -> bytes:
    if total > MAX_PAGE_BYTES + MAX_HEADER_BYTES:
        raise CorruptData(f"A page of {reader.name} claims to be {total >> 20} MB long.")
    return reader.read(offset, total)


def _split(data: bytes, name: str) -> tuple[PageHeader, memoryview]:
    if not data:
        raise CorruptData(f"A page of {name} is empty.")
    header = read_page_header(data)
    return header, memoryview(data)[header.size :]
