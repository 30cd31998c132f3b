"""Wrap a single page into a whole parquet file in memory, so that pyarrow can decode it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.code.parquet.footer import MAGIC
from kbdash.code.parquet.pages import ORDINARY_PAGE_BYTES, Codec, Encoding, PageKind, Physical
from kbdash.code.parquet.rle import read_varint
from kbdash.code.parquet.thrift import Field, binary, boolean, i32, i64, listed, struct_of
from kbdash.errors import CorruptData, UnsupportedFormat

Bytes = bytes | memoryview
_STREAMS = {Codec.GZIP: "gzip", Codec.BROTLI: "brotli", Codec.ZSTD: "zstd"}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a page's values; `length` is the bytes of a value of a fixed-length type."""

    physical: Physical
    optional: bool = False
    length: int | None = None


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A decompressed data page, split into definition levels and encoded values."""

    encoding: Encoding
    values: int
    nulls: int
    levels: Bytes
    body: Bytes

    @property
    def size(self) -> int:
        """Bytes of levels and values."""
        return len(self.levels) + len(self.body)


def unpack(payload: Bytes, codec: Codec, size: int) -> memoryview:
    """The payload decompressed: exactly `size` bytes."""
    if codec is Codec.UNCOMPRESSED:
        if len(payload) != size:
            raise CorruptData(f"A page that is not compressed has {len(payload)} bytes instead of {size}.")
        return memoryview(payload)
    if codec is Codec.LZO:
        raise UnsupportedFormat("Pages compressed with LZO cannot be read.", advice="Write the file with zstd.")
    if size == 0:
        return memoryview(b"")
    try:
        if codec is Codec.SNAPPY:
            return _unpack_snappy(payload, size)
        if codec in _STREAMS:
            return _unpack_stream(payload, _STREAMS[codec], size)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptData("A page cannot be decompressed.") from error
    if size > ORDINARY_PAGE_BYTES:
        raise UnsupportedFormat(f"Pages of {size >> 20} MB compressed with {codec.name} cannot be read.")
    return _unpack_by_parquet(payload, codec, size)


def _unpack_snappy(payload: Bytes, size: int) -> memoryview:
    promised, _ = read_varint(payload, 0)
    if promised != size:
        raise CorruptData(f"A page decompresses to {promised} bytes where its header says {size}.")
    return memoryview(pa.Codec("snappy").decompress(pa.py_buffer(payload), size)).cast("B")


def _unpack_stream(payload: Bytes, codec: str, size: int) -> memoryview:
    stream = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(payload)), codec)
    page = stream.read_buffer(size + 1)  # one more, to check that there is none
    if page.size != size:
        raise CorruptData(f"A page decompresses to more or fewer bytes than the {size} its header says.")
    return memoryview(page).cast("B")


def _unpack_by_parquet(payload: Bytes, codec: Codec, size: int) -> memoryview:
    # Declare the page as one value of that many bytes: the parquet library then decompresses it and checks
    # the size, which pyarrow's bare codecs do not.
    facts = {1: i32(1), 2: i32(Encoding.PLAIN), 3: i32(Encoding.RLE), 4: i32(Encoding.RLE)}
    header = _header(PageKind.DATA, size, len(payload), {5: struct_of(facts)})
    column = ColumnType(Physical.FIXED_LEN_BYTE_ARRAY, length=size)
    page = _read(_file(column, codec, 1, [header, payload]))
    return memoryview(page.chunk(0).buffers()[1]).cast("B")[:size]  # pyarrow returns signed bytes


def decode(column: ColumnType, page: OpenPage) -> pa.ChunkedArray:
    """The values of a page that needs no dictionary."""
    file = _file(column, Codec.UNCOMPRESSED, page.values, [_data_header(page), page.levels, page.body])
    if page.encoding is not Encoding.DELTA_BYTE_ARRAY:
        return _read(file)
    # Front coding can blow up, because each value may repeat the whole previous one: read in steps too
    # small to exceed the bound.
    return _read(file, rows=max(1, ORDINARY_PAGE_BYTES // max(1, page.size)))


def decode_indices(optional: bool, page: OpenPage, entries: int) -> pa.ChunkedArray:
    """The dictionary index of each value of a dictionary-encoded page with that many entries.

    pyarrow gets the indices themselves as the dictionary, so that the real entries, which may be large,
    are neither needed here nor repeated for every row; indices beyond the last entry are refused.
    """
    numbers = np.arange(entries, dtype="<i4").tobytes()
    facts = {1: i32(entries), 2: i32(Encoding.PLAIN)}
    first = _header(PageKind.DICTIONARY, 4 * entries, 4 * entries, {7: struct_of(facts)})
    parts: list[Bytes] = [first, numbers, _data_header(page), page.levels, page.body]
    column = ColumnType(Physical.INT32, optional)
    return _read(_file(column, Codec.UNCOMPRESSED, page.values, parts, data_at=len(first) + 4 * entries))


def _data_header(page: OpenPage) -> bytes:
    facts = {
        1: i32(page.values),
        2: i32(page.nulls),
        3: i32(page.values),
        4: i32(page.encoding),
        5: i32(len(page.levels)),
        6: i32(0),
        7: boolean(False),
    }
    return _header(PageKind.DATA_V2, page.size, page.size, {8: struct_of(facts)})


def _header(kind: PageKind, uncompressed: int, compressed: int, facts: Mapping[int, Field]) -> bytes:
    return struct_of({1: i32(kind), 2: i32(uncompressed), 3: i32(compressed), **facts})[1]


def _file(column: ColumnType, codec: Codec, values: int, parts: Sequence[Bytes], data_at: int = 0) -> bytes:
    """A file with one column of one chunk; if the data do not begin at once, a dictionary precedes them."""
    length = sum(len(part) for part in parts)
    footer = _footer(column, values, _chunk(column, codec, values, length, data_at))
    return b"".join([MAGIC, *parts, footer, len(footer).to_bytes(4, "little"), MAGIC])


def _chunk(column: ColumnType, codec: Codec, values: int, length: int, data_at: int) -> Field:
    facts = {
        1: i32(column.physical),
        2: listed([i32(Encoding.PLAIN), i32(Encoding.RLE)]),
        3: listed([binary(b"c")]),
        4: i32(codec),
        5: i64(values),
        6: i64(length),
        7: i64(length),
        9: i64(len(MAGIC) + data_at),
    }
    if data_at:
        facts[11] = i64(len(MAGIC))
    return struct_of({2: i64(len(MAGIC)), 3: struct_of(facts)})


def _footer(column: ColumnType, rows: int, chunk: Field) -> bytes:
    leaf = {1: i32(column.physical), 3: i32(int(column.optional)), 4: binary(b"c")}
    if column.length is not None:
        leaf = {1: leaf[1], 2: i32(column.length), 3: leaf[3], 4: leaf[4]}
    root = {4: binary(b"page"), 5: i32(1)}
    group = {1: listed([chunk]), 2: i64(0), 3: i64(rows)}
    facts = {
        1: i32(2),
        2: listed([struct_of(root), struct_of(leaf)]),
        3: i64(rows),
        4: listed([struct_of(group)]),
    }
    return struct_of(facts)[1]


def _read(file: bytes, rows: int | None = None) -> pa.ChunkedArray:
    """The only column of a file, read whole or in steps of this many rows."""
    try:
        parquet = pq.ParquetFile(pa.BufferReader(file), pre_buffer=False, binary_type=pa.large_binary())
        if rows is None:
            return parquet.read(use_threads=False).column(0)
        return _read_in_steps(parquet, rows)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise CorruptData("A page does not hold what its header says.") from error


def _read_in_steps(parquet: pq.ParquetFile, rows: int) -> pa.ChunkedArray:
    parts: list[pa.Array] = []
    size = 0
    for batch in parquet.iter_batches(batch_size=rows, use_threads=False):
        parts.append(batch.column(0))
        size += batch.nbytes
        if size > ORDINARY_PAGE_BYTES:
            raise CorruptData(f"A page unfolds to more than {ORDINARY_PAGE_BYTES >> 20} MB.")
    return pa.chunked_array(parts, pa.large_binary())
