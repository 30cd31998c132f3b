"""Count the values of a page from its definition levels, without decoding it.

A page header gives a count, and one wrong count would shift the rows of every later page. The definition levels
at the start of a page confirm the count. They are within the bytes that are read for the header anyway.
"""

from kbdash.code.parquet.pages import Codec, PageHeader, PageKind
from kbdash.code.parquet.rle import read_varint
from kbdash.errors import CorruptData

_LENGTH_BYTES = 4
_LONGEST_SHORT_LITERAL = 60


def count_by_levels(header: PageHeader, start: bytes, codec: Codec) -> int | None:
    """Number of values by the levels of an optional column; None when the start of the page is not enough."""
    try:
        levels = _levels(header, start, codec)
        return None if levels is None else _values_in_runs(levels)
    except (CorruptData, IndexError):
        return None  # damage is reported when the page is read


def _levels(header: PageHeader, start: bytes, codec: Codec) -> bytes | None:
    if header.kind is PageKind.DATA_V2:
        levels, length = start[: header.level_bytes], header.level_bytes
    else:
        plain = _plain_start(start, codec)
        length = int.from_bytes(plain[:_LENGTH_BYTES], "little")
        levels = plain[_LENGTH_BYTES : _LENGTH_BYTES + length]
    return levels if levels and len(levels) == length else None


def _plain_start(start: bytes, codec: Codec) -> bytes:
    """The part of the page's start that is readable without decompressing."""
    if codec is Codec.UNCOMPRESSED:
        return start
    return _first_literal(start) if codec is Codec.SNAPPY else b""


def _first_literal(data: bytes) -> bytes:
    """The literal with which every snappy stream begins: there is nothing before it to copy."""
    _, at = read_varint(data, 0)
    tag, at = data[at], at + 1
    length = (tag >> 2) + 1
    if tag & 3:
        return b""
    if length > _LONGEST_SHORT_LITERAL:
        extra = length - _LONGEST_SHORT_LITERAL
        length, at = int.from_bytes(data[at : at + extra], "little") + 1, at + extra
    return data[at : at + length]


def _values_in_runs(levels: bytes) -> int | None:
    """Values of all runs; None when the last run is bit-packed, because it may be padded."""
    at = total = 0
    is_packed = 0
    while at < len(levels):
        head, at = read_varint(levels, at)
        is_packed, count = head & 1, head >> 1
        total += count * 8 if is_packed else count
        at += count if is_packed else 1
    return None if is_packed or at != len(levels) else total
