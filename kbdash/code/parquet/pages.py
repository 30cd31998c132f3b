"""Parquet's metadata of a page: its header, and its entry in an offset index."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeVar

from kbdash.code.parquet.thrift import Shape, Struct, read_struct
from kbdash.errors import CorruptData

Kind = TypeVar("Kind", bound=IntEnum)

# The usual writer puts 1,024 texts into a page however long they are: about 28 MB for typical texts, and some
# 300 MB where they average 300 kB. So the size of ordinary pages is limited to save memory. Larger ones are read too,
# but one at a time, and only the wanted text is kept.
ORDINARY_PAGE_BYTES = 64 << 20
MAX_PAGE_BYTES = 512 << 20
# Highest compression ratio of a large page, against decompression bombs. Snappy, the usual codec, cannot exceed 22.
MAX_LARGE_RATIO = 64
MAX_PAGE_VALUES = 1 << 22
MAX_HEADER_BYTES = 2 << 20


class Physical(IntEnum):
    """How parquet stores a value."""

    BOOLEAN = 0
    INT32 = 1
    INT64 = 2
    INT96 = 3
    FLOAT = 4
    DOUBLE = 5
    BYTE_ARRAY = 6
    FIXED_LEN_BYTE_ARRAY = 7


class Codec(IntEnum):
    """How the pages of a column chunk are compressed."""

    UNCOMPRESSED = 0
    SNAPPY = 1
    GZIP = 2
    LZO = 3
    BROTLI = 4
    LZ4 = 5
    ZSTD = 6
    LZ4_RAW = 7


class Encoding(IntEnum):
    """How the values of a page are encoded."""

    PLAIN = 0
    PLAIN_DICTIONARY = 2
    RLE = 3
    BIT_PACKED = 4
    DELTA_BINARY_PACKED = 5
    DELTA_LENGTH_BYTE_ARRAY = 6
    DELTA_BYTE_ARRAY = 7
    RLE_DICTIONARY = 8
    BYTE_STREAM_SPLIT = 9


DICTIONARY_ENCODINGS = (Encoding.PLAIN_DICTIONARY, Encoding.RLE_DICTIONARY)


class PageKind(IntEnum):
    """What a page holds."""

    DATA = 0
    INDEX = 1
    DICTIONARY = 2
    DATA_V2 = 3


@dataclass(frozen=True, slots=True)
class PageHeader:
    """One page header; sizes are bytes, `size` is the header's own length.

    Data pages of version 2 also give the number of nulls and the length of the definition levels, which
    precede the values uncompressed.
    """

    size: int
    kind: PageKind
    compressed: int
    uncompressed: int
    values: int = 0
    encoding: Encoding = Encoding.PLAIN
    crc: int | None = None
    nulls: int = 0
    level_bytes: int = 0
    level_encoding: Encoding = Encoding.RLE
    packed: bool = True

    @property
    def total(self) -> int:
        """Bytes of the page with its header."""
        return self.size + self.compressed

    @property
    def is_large(self) -> bool:
        """Whether the decompressed page is too large to cache."""
        return self.uncompressed > ORDINARY_PAGE_BYTES

    @property
    def needs_dictionary(self) -> bool:
        """Whether the values are dictionary indices."""
        return self.encoding in DICTIONARY_ENCODINGS


@dataclass(frozen=True, slots=True)
class PageLocation:
    """An entry of an offset index: where a page is, and its first row within the row group."""

    offset: int
    total: int
    first_row: int


_HEADER_SHAPE: Shape = {
    **dict.fromkeys((1, 2, 3, 4)),
    5: dict.fromkeys((1, 2, 3)),
    7: dict.fromkeys((1, 2)),
    8: dict.fromkeys((1, 2, 3, 4, 5, 6, 7)),
}
_OFFSET_INDEX_SHAPE: Shape = {1: dict.fromkeys((1, 2, 3))}


def read_page_header(data: bytes, start: int = 0) -> PageHeader:
    """The page header that begins at `start`; Truncated when it is longer than the data."""
    raw = read_struct(data, _HEADER_SHAPE, start)
    header = PageHeader(
        size=raw.end - start,
        kind=member(PageKind, raw.integer(1), "page type"),
        uncompressed=bounded(raw.integer(2), MAX_PAGE_BYTES, "uncompressed page size"),
        compressed=bounded(raw.integer(3), MAX_PAGE_BYTES, "compressed page size"),
        crc=raw.integer(4) & 0xFFFFFFFF if 4 in raw else None,
    )
    match header.kind:
        case PageKind.DATA:
            return _data_page(header, raw.struct(5))
        case PageKind.DICTIONARY:
            return _dictionary_page(header, raw.struct(7))
        case PageKind.DATA_V2:
            return _data_page_v2(header, raw.struct(8))
        case PageKind.INDEX:
            # No writer makes them; skipping something that claims to be one could skip rows.
            raise CorruptData("A parquet page is of the type INDEX, which is not in use.")


def _data_page(header: PageHeader, raw: Struct) -> PageHeader:
    return replace(
        header,
        values=bounded(raw.integer(1), MAX_PAGE_VALUES, "number of values"),
        encoding=member(Encoding, raw.integer(2), "encoding"),
        level_encoding=member(Encoding, raw.integer(3), "encoding of levels"),
    )


def _dictionary_page(header: PageHeader, raw: Struct) -> PageHeader:
    return replace(
        header,
        values=bounded(raw.integer(1), MAX_PAGE_VALUES, "number of dictionary entries"),
        encoding=member(Encoding, raw.integer(2), "encoding"),
    )


def _data_page_v2(header: PageHeader, raw: Struct) -> PageHeader:
    values = bounded(raw.integer(1), MAX_PAGE_VALUES, "number of values")
    if raw.integer(3) != values or raw.integer(6) != 0:
        raise CorruptData("A parquet page of a flat column counts more or fewer rows than values.")
    return replace(
        header,
        values=values,
        nulls=bounded(raw.integer(2), values, "number of nulls"),
        encoding=member(Encoding, raw.integer(4), "encoding"),
        level_bytes=bounded(raw.integer(5), min(header.compressed, header.uncompressed), "length of levels"),
        packed=raw.boolean(7, True),
    )


def read_offset_index(data: bytes) -> tuple[PageLocation, ...]:
    """The page locations of an offset index, in file order."""
    raw = read_struct(data, _OFFSET_INDEX_SHAPE)
    return tuple(PageLocation(each.integer(1), each.integer(2), each.integer(3)) for each in raw.structs(1))


def bounded(value: int, limit: int, what: str) -> int:
    """The value, if it is in 0..limit; else CorruptData."""
    if not 0 <= value <= limit:
        raise CorruptData(f"A parquet header gives {value} as {what}; it must lie between 0 and {limit}.")
    return value


def member(kind: type[Kind], value: int, what: str) -> Kind:
    """The enum member with this number; else CorruptData."""
    try:
        return kind(value)
    except ValueError:
        raise CorruptData(f"A parquet header gives {value} as {what}, which is unknown.") from None
