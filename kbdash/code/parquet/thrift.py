"""Thrift's compact protocol: as much of it as parquet's headers need, safe on hostile bytes.

Every length is checked against the remaining bytes before anything is allocated. One byte can still become
an object of a hundred bytes, so the number of parts of a message is limited too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kbdash.errors import CorruptData, UnsafeFile

# What to keep of a struct: field id -> the shape of the struct (or of the list's structs) there, or None
# for a plain value. Fields that are not named are skipped without being built.
Shape = Mapping[int, "Shape | None"]

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
# Parts (fields and list elements) of one message. The widest real footers (some 240 columns in 14 row groups)
# have about 140,000; half a million take about a second.
MAX_PARTS = 500_000
_MAX_DEPTH = 16
_MAX_VARINT_BYTES = 10


class Truncated(CorruptData):
    """The message is longer than the bytes given; with more of them it may be valid."""


class Struct:
    """The kept fields of one struct, read with the type each must have."""

    __slots__ = ("_fields", "end")

    def __init__(self, fields: dict[int, Any], end: int) -> None:
        self._fields = fields
        self.end = end

    def __contains__(self, field: int) -> bool:
        return field in self._fields

    def integer(self, field: int, default: int | None = None) -> int:
        """The integer in this field, or the default."""
        value = self._fields.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise CorruptData(f"A parquet header lacks the number in field {field}.")
        return value

    def boolean(self, field: int, default: bool) -> bool:
        """The truth value in this field, or the default."""
        value = self._fields.get(field, default)
        if not isinstance(value, bool):
            raise CorruptData(f"A parquet header lacks the truth value in field {field}.")
        return value

    def text(self, field: int) -> str:
        """The text in this field; invalid UTF-8 is replaced."""
        return _text(self._fields.get(field), field)

    def texts(self, field: int) -> list[str]:
        """The list of texts in this field."""
        return [_text(value, field) for value in self._list(field)]

    def struct(self, field: int) -> "Struct":
        """The struct in this field."""
        value = self._fields.get(field)
        if not isinstance(value, Struct):
            raise CorruptData(f"A parquet header lacks the struct in field {field}.")
        return value

    def structs(self, field: int) -> list["Struct"]:
        """The list of structs in this field."""
        values = self._list(field)
        if not all(isinstance(value, Struct) for value in values):
            raise CorruptData(f"A parquet header has no structs in the list of field {field}.")
        return values

    def _list(self, field: int) -> list[Any]:
        value = self._fields.get(field)
        if not isinstance(value, list):
            raise CorruptData(f"A parquet header lacks the list in field {field}.")
        return value


def _text(value: object, field: int) -> str:
    if not isinstance(value, bytes):
        raise CorruptData(f"A parquet header lacks the text in field {field}.")
    return value.decode("utf-8", "replace")


def read_struct(data: bytes, shape: Shape, start: int = 0) -> Struct:
    """The struct that begins at `start`, with the fields its shape names."""
    return _Reader(data, start).struct(shape, 0)


class _Reader:
    """A position in a message."""

    __slots__ = ("_at", "_data", "_parts_left")

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._at = start
        self._parts_left = MAX_PARTS

    def struct(self, shape: Shape, depth: int) -> Struct:
        """The kept fields of the struct that begins here."""
        fields: dict[int, Any] = {}
        for field, kind in self._fields(depth):
            if field in shape:
                fields[field] = self._value(kind, shape[field], depth + 1)
            else:
                self._skip(kind, depth + 1)
        return Struct(fields, self._at)

    def _fields(self, depth: int) -> Iterator[tuple[int, int]]:
        if depth > _MAX_DEPTH:
            raise CorruptData("A parquet header is nested too deeply.")
        field = 0
        while head := self._byte():
            delta, kind = head >> 4, head & 15
            field = field + delta if delta else self._zigzag()
            self._spend(1)
            yield field, kind

    def _spend(self, parts: int) -> None:
        self._parts_left -= parts
        if self._parts_left < 0:
            # Unsafe rather than damaged, so that nobody retries: reading it again would take as long again.
            raise UnsafeFile(f"A parquet header has more than {MAX_PARTS:,} parts.", advice="It is not opened.")

    def _value(self, kind: int, shape: Shape | None, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I16, I32, I64):
            return self._zigzag()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT and shape is not None:
            return self.struct(shape, depth)
        if kind in (LIST, SET) and depth <= _MAX_DEPTH:
            count, element = self._list_head()
            self._spend(count)
            return [self._element(element, shape, depth + 1) for _ in range(count)]
        return self._skip(kind, depth)

    def _element(self, kind: int, shape: Shape | None, depth: int) -> Any:
        # Inside a list a boolean takes a whole byte.
        return self._byte() == TRUE if kind in (TRUE, FALSE) else self._value(kind, shape, depth)

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise CorruptData("A parquet header is nested too deeply.")
        if kind in (I16, I32, I64):
            self._varint()
        elif kind in (BYTE, DOUBLE):
            self._advance(1 if kind == BYTE else 8)
        elif kind == BINARY:
            self._advance(self._varint())
        elif kind == STRUCT:
            for _, inner in self._fields(depth):
                self._skip(inner, depth + 1)
        elif kind in (LIST, SET):
            count, element = self._list_head()
            self._skip_elements(count, (element,), depth)
        elif kind == MAP:
            self._skip_map(depth)
        elif kind not in (TRUE, FALSE):
            raise CorruptData(f"A parquet header has a field of the unknown kind {kind}.")

    def _skip_map(self, depth: int) -> None:
        if count := self._varint():
            kinds = self._byte()
            self._skip_elements(count, (kinds >> 4, kinds & 15), depth)

    def _skip_elements(self, count: int, kinds: Sequence[int], depth: int) -> None:
        self._require(count)
        self._spend(count)
        for _ in range(count):
            for kind in kinds:
                if kind in (TRUE, FALSE):
                    self._advance(1)
                else:
                    self._skip(kind, depth + 1)

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        count = head >> 4
        if count == 15:
            count = self._varint()
        self._require(count)
        return count, head & 15

    def _require(self, length: int) -> None:
        # Every element takes at least a byte, so this also limits the iterations over a list.
        if length > len(self._data) - self._at:
            raise Truncated("A parquet header is cut off.")

    def _advance(self, length: int) -> None:
        self._require(length)
        self._at += length

    def _bytes(self, length: int) -> bytes:
        start = self._at
        self._advance(length)
        return self._data[start : self._at]

    def _byte(self) -> int:
        at = self._at
        try:
            byte = self._data[at]
        except IndexError:
            raise Truncated("A parquet header is cut off.") from None
        self._at = at + 1
        return byte

    def _varint(self) -> int:
        value = self._byte()
        if value < 128:  # fast path: nearly all are, and footers of wide files have a million of them
            return value
        value &= 127
        for shift in range(7, 7 * _MAX_VARINT_BYTES, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise CorruptData("A parquet header holds a number of more than 64 bits.")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


# Writing: a field is its kind and its encoded value.
Field = tuple[int, bytes]


def varint(value: int) -> bytes:
    """A non-negative number, seven bits to a byte."""
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def i32(value: int) -> Field:
    """A 32-bit integer field."""
    return I32, varint(value << 1 if value >= 0 else (-value << 1) - 1)


def i64(value: int) -> Field:
    """A 64-bit integer field."""
    return I64, i32(value)[1]


def boolean(value: bool) -> Field:
    """A truth value field; the kind itself carries the value."""
    return (TRUE if value else FALSE), b""


def binary(value: bytes) -> Field:
    """A field of bytes."""
    return BINARY, varint(len(value)) + value


def listed(items: Sequence[Field]) -> Field:
    """A list field; all items are of one kind."""
    kind = items[0][0] if items else STRUCT
    head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + varint(len(items))
    return LIST, head + b"".join(value for _, value in items)


def struct_of(fields: Mapping[int, Field]) -> Field:
    """A struct field; ids ascend, by 15 at most."""
    encoded, last = bytearray(), 0
    for field, (kind, value) in fields.items():
        encoded += bytes([(field - last) << 4 | kind]) + value
        last = field
    return STRUCT, bytes(encoded) + b"\0"
