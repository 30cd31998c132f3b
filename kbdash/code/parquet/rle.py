"""Parquet's run-length (RLE) and bit-packed numbers: check that they fill their space exactly."""

from collections.abc import Iterator

from kbdash.errors import CorruptData

_MAX_VARINT_BYTES = 5
_MAX_LONG_VARINT_BYTES = 10


def count_ones(levels: bytes | memoryview, values: int) -> int:
    """How many of this many one-bit levels are 1, that is, how many values are not null."""
    ones = 0
    for count, packed in _runs(levels, 1, values):
        bits = int.from_bytes(packed, "little")
        if count is None:
            ones += bits.bit_count()
        elif bits > 1:
            raise CorruptData("A page has a definition level that its column does not allow.")
        else:
            ones += count * bits
    return ones


def check_indices(body: bytes | memoryview, values: int) -> None:
    """Raise unless the body is a bit width, then exactly this many numbers."""
    if not len(body):
        if values:
            raise CorruptData("A page lacks its dictionary indices.")
        return
    if body[0] > 32:
        raise CorruptData(f"A page has dictionary indices of {body[0]} bits.")
    for _ in _runs(body[1:], body[0], values):
        pass


def read_varint(data: bytes | memoryview, at: int, longest: int = _MAX_VARINT_BYTES) -> tuple[int, int]:
    """The varint at an offset, and the offset after it."""
    value = 0
    for count, byte in enumerate(data[at : at + longest]):
        value |= (byte & 127) << (7 * count)
        if byte < 128:
            return value, at + count + 1
    raise CorruptData("A page ends within a number, or holds one that is too large.")


def delta_end(data: bytes | memoryview, at: int, values: int) -> int:
    """The offset after the delta-packed numbers that begin at `at`; raises unless there are exactly this many."""
    block, at = read_varint(data, at)
    miniblocks, at = read_varint(data, at)
    count, at = read_varint(data, at)
    _, at = read_varint(data, at, _MAX_LONG_VARINT_BYTES)
    if count != values or not 0 < miniblocks <= block or block % miniblocks or block // miniblocks % 8:
        raise CorruptData(f"A page holds {count} numbers where its header says {values}, or is garbled.")
    left = count - 1  # the first one is in the header
    while left > 0:
        _, at = read_varint(data, at, _MAX_LONG_VARINT_BYTES)
        widths = bytes(data[at : at + miniblocks])
        at += miniblocks
        # Miniblocks after the last number have a width but no content.
        used = widths[: -(-left * miniblocks // block)]
        at += sum(used) * (block // miniblocks) // 8
        left -= block
    if at > len(data):
        raise CorruptData("A page ends within its numbers.")
    return at


def _runs(data: bytes | memoryview, width: int, values: int) -> Iterator[tuple[int | None, bytes]]:
    """The runs of a sequence: (length, the repeated value) or (None, bit-packed values without padding)."""
    at = seen = 0
    while seen < values:
        head, at = read_varint(data, at)
        is_packed, count = head & 1, head >> 1
        if is_packed:
            count *= 8
        length = count * width // 8 if is_packed else (width + 7) // 8
        run = data[at : at + length]
        at += length
        spare = seen + count - values  # the last packed run may be padded; DuckDB pads to 256
        if count == 0 or len(run) < length or (spare > 0 and not is_packed):
            raise CorruptData("A page holds more or fewer numbers than its header says.")
        seen += count
        if is_packed:
            yield None, _without_padding(bytes(run), width * max(0, spare))
        else:
            yield count, bytes(run)
    if at != len(data):
        raise CorruptData("A page continues after its last number.")


def _without_padding(run: bytes, spare_bits: int) -> bytes:
    keep = 8 * len(run) - spare_bits
    return (int.from_bytes(run, "little") & ((1 << keep) - 1)).to_bytes(len(run), "little")
