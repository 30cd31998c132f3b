"""Single pages made into whole parquet files in memory, so that pyarrow decodes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.errors import CorruptData, DataUnavailable
from kbdash.parquet.footer import MAGIC
from kbdash.parquet.pages import MAX_PAGE_BYTES, Codec, Encoding, PageKind, Physical
from kbdash.parquet.thrift import Field, binary, boolean, i32, i64, listed, struct_of

Bytes = bytes | memoryview


@dataclass(frozen=True, slots=True)
class ColumnType:
    """What a page holds; `length` is the bytes of a value where that is part of the type."""

    physical: Physical
    optional: bool = False
    length: int | None = None


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A data page taken apart and decompressed: definition levels and encoded values."""

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
    """The `size` bytes that a compressed payload stands for."""
    if codec is Codec.UNCOMPRESSED:
        if len(payload) != size:
            raise CorruptData(f"A page that is not compressed has {len(payload)} bytes instead of {size}.")
        return memoryview(payload)
    if codec is Codec.LZO:
        raise DataUnavailable("Pages compressed with LZO cannot be read.", advice="Write the file with zstd.")
    if size == 0:
        return memoryview(b"")
    # To parquet any page is one value of that many bytes; reading it so makes the library decompress it
    # and insist on the size, which pyarrow's bare codecs do not.
    facts = {1: i32(1), 2: i32(Encoding.PLAIN), 3: i32(Encoding.RLE), 4: i32(Encoding.RLE)}
    header = _header(PageKind.DATA, size, len(payload), {5: struct_of(facts)})
    column = ColumnType(Physical.FIXED_LEN_BYTE_ARRAY, length=size)
    page = _read(_file(column, codec, 1, [header, payload]))
    return memoryview(page.chunk(0).buffers()[1]).cast("B")[:size]  # pyarrow hands out signed bytes


def decode(column: ColumnType, page: OpenPage) -> pa.ChunkedArray:
    """The values of a page that needs no dictionary."""
    file = _file(column, Codec.UNCOMPRESSED, page.values, [_data_header(page), page.levels, page.body])
    if page.encoding is not Encoding.DELTA_BYTE_ARRAY:
        return _read(file)
    # Front coding can blow up, as each value may repeat the whole of the one before: read in steps that
    # cannot exceed the bound by themselves.
    return _read(file, rows=max(1, MAX_PAGE_BYTES // max(1, page.size)))


def decode_indices(optional: bool, page: OpenPage, entries: int) -> pa.ChunkedArray:
    """The entry number of each value of a page that goes by a dictionary of that many entries.

    The dictionary given to pyarrow is the numbers themselves, so that real entries, which may be large,
    are neither needed here nor repeated for every row; numbers beyond the last entry are refused.
    """
    numbers = memoryview(pa.array(range(entries), pa.int32()).buffers()[1])[: 4 * entries]
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
    """A file with one column of one chunk; a dictionary comes first when the data begin further back."""
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
    """The only column of a file, read whole or in steps of so many rows."""
    try:
        parquet = pq.ParquetFile(pa.BufferReader(file), pre_buffer=False, binary_type=pa.large_binary())
        if rows is None:
            return parquet.read(use_threads=False).column(0)
        return _read_in_steps(parquet, rows)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        raise CorruptData("A page does not hold what its header says.") from problem


def _read_in_steps(parquet: pq.ParquetFile, rows: int) -> pa.ChunkedArray:
    parts: list[pa.Array] = []
    size = 0
    for batch in parquet.iter_batches(batch_size=rows, use_threads=False):
        parts.append(batch.column(0))
        size += batch.nbytes
        if size > MAX_PAGE_BYTES:
            raise CorruptData(f"A page unfolds to more than {MAX_PAGE_BYTES >> 20} MB.")
    return pa.chunked_array(parts, pa.large_binary())
