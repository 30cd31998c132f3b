"""Walks over parquet's run-length and bit-packed numbers, to see that they fill their space exactly."""

from collections.abc import Iterator

from kbdash.errors import CorruptData

_MAX_VARINT_BYTES = 5


def count_ones(levels: bytes | memoryview, values: int) -> int:
    """How many of so many one-bit levels are 1, that is, how many values are not null."""
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
    """Raise unless the body is a bit width and then numbers for exactly so many values."""
    if not len(body):
        if values:
            raise CorruptData("A page lacks its dictionary indices.")
        return
    if body[0] > 32:
        raise CorruptData(f"A page has dictionary indices of {body[0]} bits.")
    for _ in _runs(body[1:], body[0], values):
        pass


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The variable-length number at an offset, and the offset behind it."""
    value = 0
    for count, byte in enumerate(data[at : at + _MAX_VARINT_BYTES]):
        value |= (byte & 127) << (7 * count)
        if byte < 128:
            return value, at + count + 1
    raise CorruptData("A page ends within a number, or holds one that is too large.")


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
        spare = seen + count - values  # only the last group of eight may have room to spare
        if count == 0 or len(run) < length or spare >= (8 if is_packed else 1):
            raise CorruptData("A page holds more or fewer numbers than its header says.")
        seen += count
        if is_packed:
            yield None, _without_padding(bytes(run), width * max(0, spare))
        else:
            yield count, bytes(run)
    if at != len(data):
        raise CorruptData("A page goes on behind its last number.")


def _without_padding(run: bytes, spare_bits: int) -> bytes:
    keep = 8 * len(run) - spare_bits
    return (int.from_bytes(run, "little") & ((1 << keep) - 1)).to_bytes(len(run), "little")
