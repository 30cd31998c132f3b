"""The values of one page out of its raw bytes, with every byte of it accounted for.

A page that is read under wrong assumptions (a column taken for required that is not, a count that is off)
can decode without an error into values of the wrong rows. So the parts of a page must add up exactly.
"""

from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from kbdash.errors import CorruptData, DataUnavailable
from kbdash.parquet.pages import DICTIONARY_ENCODINGS, Codec, Encoding, PageHeader, PageKind, Physical
from kbdash.parquet.runs import check_indices, count_ones, delta_end
from kbdash.parquet.wrap import Bytes, ColumnType, OpenPage, decode, decode_indices, unpack

_VALUE_BYTES = {Physical.INT32: 4, Physical.INT64: 8, Physical.FLOAT: 4, Physical.DOUBLE: 8}
_DELTAS = (Encoding.DELTA_BINARY_PACKED, Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.DELTA_BYTE_ARRAY)
_FIXED_ENCODINGS = (Encoding.PLAIN, Encoding.BYTE_STREAM_SPLIT)


def open_data_page(header: PageHeader, payload: Bytes, column: ColumnType, codec: Codec) -> OpenPage:
    """The page decompressed and taken apart, with all its parts checked."""
    if header.kind not in (PageKind.DATA, PageKind.DATA_V2):
        raise CorruptData(f"A page of type {header.kind.name} stands where data should be.")
    _check_payload(header, payload)
    page = _open(header, payload, column.optional, codec)
    _check_body(page, column.physical)
    return page


def decode_data_page(page: OpenPage, column: ColumnType, entries: int | None) -> pa.ChunkedArray:
    """One value per row of the page; where it goes by a dictionary of `entries`, the entry's number."""
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
    return array


def decode_dictionary(header: PageHeader, payload: Bytes, physical: Physical, codec: Codec) -> pa.ChunkedArray:
    """The entries of a dictionary page."""
    if header.kind is not PageKind.DICTIONARY:
        raise CorruptData(f"A page of type {header.kind.name} stands where a dictionary should be.")
    if header.encoding not in (Encoding.PLAIN, Encoding.PLAIN_DICTIONARY):
        raise CorruptData(f"A dictionary is encoded as {header.encoding.name}, which is not allowed.")
    _check_payload(header, payload)
    body = unpack(payload, codec, header.uncompressed)
    page = OpenPage(Encoding.PLAIN, header.values, 0, b"", body)
    _check_body(page, physical)
    array = decode(ColumnType(physical), page)
    if physical is Physical.BYTE_ARRAY:
        _check_texts(array, page)
    if len(array) != header.values:
        raise CorruptData(f"A dictionary holds {len(array)} entries where its header says {header.values}.")
    return array


def _check_payload(header: PageHeader, payload: Bytes) -> None:
    if len(payload) != header.compressed:
        raise CorruptData(f"A page has {len(payload)} bytes where its header says {header.compressed}.")
    if header.crc is not None and crc32(payload) != header.crc:
        raise CorruptData("A page does not match its checksum.")


def _open(header: PageHeader, payload: Bytes, optional: bool, codec: Codec) -> OpenPage:
    """The page taken apart; its nulls are counted in the levels, whatever the header says."""
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
        raise DataUnavailable(f"Definition levels encoded as {header.level_encoding.name} cannot be read.")
    end = 4 + int.from_bytes(raw[:4], "little")
    if not 4 <= end <= len(raw):
        raise CorruptData("The definition levels of a page are longer than the page.")
    return raw[4:end], raw[end:]


def _check_body(page: OpenPage, physical: Physical) -> None:
    """Raise unless the encoded values are as many, or as long, as the page's values that are not null."""
    present = page.values - page.nulls
    if page.encoding in DICTIONARY_ENCODINGS:
        check_indices(page.body, present)
    elif page.encoding in _DELTAS:
        _check_deltas(page, present)
    elif page.encoding not in _FIXED_ENCODINGS:
        raise DataUnavailable(f"Pages encoded as {page.encoding.name} cannot be read.")
    elif physical in _VALUE_BYTES:
        if len(page.body) != present * _VALUE_BYTES[physical]:
            raise CorruptData(f"A page has {len(page.body)} bytes for {present} values of fixed length.")
    elif physical is not Physical.BYTE_ARRAY:
        raise DataUnavailable(f"Columns of the type {physical.name} cannot be read by the cell.")


def _check_deltas(page: OpenPage, present: int) -> None:
    """Raise unless a delta-encoded page holds the numbers it needs (values, lengths, or shared prefixes)."""
    if not present:
        return
    end = delta_end(page.body, 0, present)
    if page.encoding is Encoding.DELTA_BYTE_ARRAY:
        delta_end(page.body, end, present)
    elif page.encoding is Encoding.DELTA_BINARY_PACKED and end != len(page.body):
        raise CorruptData("A page goes on behind its last number.")


def _check_texts(array: pa.ChunkedArray, page: OpenPage) -> None:
    """Raise unless texts fill the page to its end, each behind its length or all behind theirs."""
    present = page.values - page.nulls
    if page.encoding is Encoding.PLAIN:
        lengths = 4 * present
    elif page.encoding is Encoding.DELTA_LENGTH_BYTE_ARRAY and present:
        lengths = delta_end(page.body, 0, present)
    else:
        return
    used = (pc.sum(pc.binary_length(array)).as_py() or 0) + lengths
    if used != len(page.body):
        raise CorruptData(f"The texts of a page take {used} bytes of its {len(page.body)}.")
