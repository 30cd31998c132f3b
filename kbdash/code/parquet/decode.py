"""Decode the values of one page, and account for every byte of it.

A page that is read under wrong assumptions (an optional column taken for a required one, a wrong count) can
decode without an error into values of the wrong rows. So the parts of a page must add up exactly.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.code.parquet.as_parquet import Bytes, ColumnType, OpenPage, decode, decode_indices, unpack
from kbdash.code.parquet.pages import (
    DICTIONARY_ENCODINGS,
    MAX_LARGE_RATIO,
    Codec,
    Encoding,
    PageHeader,
    PageKind,
    Physical,
)
from kbdash.code.parquet.plain import PlainTexts, check_length, find_texts
from kbdash.code.parquet.rle import check_indices, count_ones, delta_end
from kbdash.errors import CorruptData, DataUnavailable, UnsupportedFormat

_VALUE_BYTES = {Physical.INT32: 4, Physical.INT64: 8, Physical.FLOAT: 4, Physical.DOUBLE: 8}
_DELTAS = (Encoding.DELTA_BINARY_PACKED, Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.DELTA_BYTE_ARRAY)
_FIXED_ENCODINGS = (Encoding.PLAIN, Encoding.BYTE_STREAM_SPLIT)


@dataclass(frozen=True, slots=True)
class ArrowValues:
    """The values of a page, decoded by pyarrow."""

    array: pa.ChunkedArray

    def __len__(self) -> int:
        return len(self.array)

    @property
    def size(self) -> int:
        """Bytes held in memory."""
        return int(self.array.get_total_buffer_size())

    def cell(self, row: int) -> bytes | int | float | None:
        """The value of a row of the page."""
        value: bytes | int | float | None = self.array[row].as_py()
        if isinstance(value, bytes):
            check_length(len(value))
        return value


Values = ArrowValues | PlainTexts


def check_large(header: PageHeader, column: ColumnType) -> None:
    """Raise unless the texts of a page too large to cache can be read one by one."""
    if header.uncompressed > MAX_LARGE_RATIO * header.compressed:
        raise CorruptData(
            f"A page of {header.compressed:,} bytes claims to hold {header.uncompressed >> 20} MB.",
            advice="No valid page is compressed that much; the text in it cannot be shown.",
        )
    if header.encoding is not Encoding.PLAIN or column.physical is not Physical.BYTE_ARRAY:
        raise DataUnavailable(
            f"A page of {header.uncompressed >> 20} MB is too large to be read in the encoding {header.encoding.name}.",
            advice="Write the file with smaller pages.",
        )


def open_data_page(header: PageHeader, payload: Bytes, column: ColumnType, codec: Codec) -> OpenPage:
    """The page, decompressed and split, with all its parts checked."""
    if header.kind not in (PageKind.DATA, PageKind.DATA_V2):
        raise CorruptData(f"A page of type {header.kind.name} stands where data should be.")
    _check_payload(header, payload)
    page = _open(header, payload, column.optional, codec)
    _check_body(page, column.physical)
    return page


def decode_data_page(page: OpenPage, column: ColumnType, entries: int | None) -> Values:
    """One value per row of the page; its dictionary index if the page uses a dictionary of `entries`."""
    if page.encoding is Encoding.PLAIN and column.physical is Physical.BYTE_ARRAY:
        return _plain_texts(page)
    if page.encoding in DICTIONARY_ENCODINGS:
        if entries is None:
            raise CorruptData("A page needs a dictionary, but its column chunk has none.")
        array = decode_indices(column.optional, page, entries)
    else:
        array = decode(column, page)
        if column.physical is Physical.BYTE_ARRAY:
            _check_texts(array, page)
    if len(array) != page.values or array.null_count != page.nulls:
        raise CorruptData(f"A page holds {len(array)} values where its header says {page.values}.")
    return ArrowValues(array)


def _plain_texts(page: OpenPage) -> PlainTexts:
    present = page.values - page.nulls
    places = find_texts(page.body, present)
    if not page.nulls:
        return PlainTexts(page.body, places)
    # To learn which rows are null, decode a page of zeros with the same levels.
    zeros = OpenPage(Encoding.PLAIN, page.values, page.nulls, page.levels, bytes(4 * present))
    valid = decode(ColumnType(Physical.INT32, optional=True), zeros).is_valid().to_numpy()
    if len(valid) != page.values or int(valid.sum()) != present:
        raise CorruptData(f"A page holds {len(valid)} values where its header says {page.values}.")
    return PlainTexts(page.body, places, np.where(valid, np.cumsum(valid) - 1, -1).astype(np.int32))


def decode_dictionary(header: PageHeader, payload: Bytes, physical: Physical, codec: Codec) -> Values:
    """The entries of a dictionary page."""
    if header.kind is not PageKind.DICTIONARY:
        raise CorruptData(f"A page of type {header.kind.name} stands where a dictionary should be.")
    if header.encoding not in (Encoding.PLAIN, Encoding.PLAIN_DICTIONARY):
        raise CorruptData(f"A dictionary is encoded as {header.encoding.name}, which is not allowed.")
    if header.is_large:
        raise DataUnavailable(f"A dictionary of {header.uncompressed >> 20} MB is too large to be read.")
    _check_payload(header, payload)
    body = unpack(payload, codec, header.uncompressed)
    page = OpenPage(Encoding.PLAIN, header.values, 0, b"", body)
    _check_body(page, physical)
    return decode_data_page(page, ColumnType(physical), None)


def _check_payload(header: PageHeader, payload: Bytes) -> None:
    if len(payload) != header.compressed:
        raise CorruptData(f"A page has {len(payload)} bytes where its header says {header.compressed}.")
    if header.crc is not None and crc32(payload) != header.crc:
        raise CorruptData("A page does not match its checksum.")


def _open(header: PageHeader, payload: Bytes, optional: bool, codec: Codec) -> OpenPage:
    """The page, split; nulls are counted in the levels, whatever the header says."""
    if header.kind is PageKind.DATA:
        levels, body = _split_levels(unpack(payload, codec, header.uncompressed), header, optional)
    else:
        levels = memoryview(payload)[: header.level_bytes]
        packed = memoryview(payload)[header.level_bytes :]
        body = unpack(packed, codec if header.packed else Codec.UNCOMPRESSED, header.uncompressed - header.level_bytes)
    if not optional and len(levels):
        raise CorruptData("A page of a column without nulls has definition levels.")
    nulls = header.values - count_ones(levels, header.values) if optional else 0
    if header.kind is PageKind.DATA_V2 and nulls != header.nulls:
        raise CorruptData(f"A page holds {nulls} nulls where its header says {header.nulls}.")
    return OpenPage(header.encoding, header.values, nulls, levels, body)


def _split_levels(raw: memoryview, header: PageHeader, optional: bool) -> tuple[memoryview, memoryview]:
    if not optional:
        return raw[:0], raw
    if header.level_encoding is not Encoding.RLE:
        raise UnsupportedFormat(f"Definition levels encoded as {header.level_encoding.name} cannot be read.")
    end = 4 + int.from_bytes(raw[:4], "little")
    if not 4 <= end <= len(raw):
        raise CorruptData("The definition levels of a page are longer than the page.")
    return raw[4:end], raw[end:]


def _check_body(page: OpenPage, physical: Physical) -> None:
    """Raise unless the number, or length, of the encoded values matches the page's non-null values."""
    present = page.values - page.nulls
    if page.encoding in DICTIONARY_ENCODINGS:
        check_indices(page.body, present)
    elif page.encoding in _DELTAS:
        _check_deltas(page, present)
    elif page.encoding not in _FIXED_ENCODINGS:
        raise UnsupportedFormat(f"Pages encoded as {page.encoding.name} cannot be read.")
    elif physical in _VALUE_BYTES:
        if len(page.body) != present * _VALUE_BYTES[physical]:
            raise CorruptData(f"A page has {len(page.body)} bytes for {present} values of fixed length.")
    elif physical is not Physical.BYTE_ARRAY:
        raise DataUnavailable(f"Single cells of columns of the type {physical.name} cannot be read.")


def _check_deltas(page: OpenPage, present: int) -> None:
    """Raise unless a delta-encoded page has all its numbers (values, lengths, or shared prefixes)."""
    if not present:
        return
    end = delta_end(page.body, 0, present)
    if page.encoding is Encoding.DELTA_BYTE_ARRAY:
        delta_end(page.body, end, present)
    elif page.encoding is Encoding.DELTA_BINARY_PACKED and end != len(page.body):
        raise CorruptData("A page continues after its last number.")


def _check_texts(array: pa.ChunkedArray, page: OpenPage) -> None:
    """Raise unless the texts after their lengths fill the page exactly; front coding does not allow this check."""
    present = page.values - page.nulls
    if page.encoding is not Encoding.DELTA_LENGTH_BYTE_ARRAY or not present:
        return
    used = (pc.sum(pc.binary_length(array)).as_py() or 0) + delta_end(page.body, 0, present)
    if used != len(page.body):
        raise CorruptData(f"The texts of a page take {used} bytes of its {len(page.body)}.")
