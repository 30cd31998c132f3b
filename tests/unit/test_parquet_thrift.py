"""The compact protocol: what was written is read, and no bytes make it fail in an unknown way."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.code.parquet import thrift
from kbdash.code.parquet.pages import PageKind, read_offset_index, read_page_header
from kbdash.code.parquet.thrift import (
    Shape,
    Truncated,
    binary,
    boolean,
    i32,
    i64,
    listed,
    read_struct,
    struct_of,
    varint,
)
from kbdash.errors import CorruptData

WHOLE: Shape = {1: None, 2: None, 3: None, 4: {1: None}, 12: {1: None}}
PAGE = struct_of({1: i32(0), 2: i32(9), 3: i32(8), 5: struct_of({1: i32(7), 2: i32(0), 3: i32(3), 4: i32(3)})})[1]


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.binary(max_size=300),
    st.booleans(),
    st.lists(st.integers(0, 2**31), max_size=40),
)
def test_what_is_written_is_read(number: int, data: bytes, truth: bool, items: list[int]) -> None:
    structs = [struct_of({1: i64(item)}) for item in items]
    fields = {1: i64(number), 2: binary(data), 3: boolean(truth), 4: struct_of({1: i32(5)}), 12: listed(structs)}
    encoded = struct_of(fields)[1]
    read = read_struct(b"before" + encoded + b"behind", WHOLE, 6)
    assert read.end == 6 + len(encoded)
    assert read.integer(1) == number
    assert read.text(2) == data.decode("utf-8", "replace")
    assert read.boolean(3, not truth) == truth
    assert read.struct(4).integer(1) == 5
    assert [each.integer(1) for each in read.structs(12)] == items
    nothing = read_struct(encoded, {})
    assert nothing.end == len(encoded)
    assert 1 not in nothing


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_page_header, read_offset_index, lambda data: read_struct(data, WHOLE)):
        try:
            read(data)
        except CorruptData:
            continue


@given(st.integers(0, len(PAGE) - 1), st.integers(0, 255))
def test_any_changed_byte_of_a_header_is_read_or_refused(at: int, byte: int) -> None:
    changed = PAGE[:at] + bytes([byte]) + PAGE[at + 1 :]
    try:
        header = read_page_header(changed)
    except CorruptData:
        return
    assert 0 <= header.compressed <= 512 << 20
    assert 0 <= header.values <= 1 << 24


@pytest.mark.parametrize("length", range(len(PAGE)))
def test_a_header_that_is_cut_asks_for_more(length: int) -> None:
    assert read_page_header(PAGE).kind is PageKind.DATA
    with pytest.raises(Truncated):
        read_page_header(PAGE[:length])


@pytest.mark.parametrize(
    "hostile",
    [
        b"\x19\xfc" + varint(2**40),  # a list of a million million structs
        b"\x18" + varint(2**60),  # a text of an exabyte
        b"\x1b" + varint(2**50) + b"\x88",  # a map as long
        b"\x1c" * 5000,  # structs within structs
        b"\x19\x19" * 5000,  # lists within lists
        b"\x15" + b"\xff" * 50,  # a number without end
        b"\x1d\x00",  # a kind of field that does not exist
        b"\x29\xf1" + varint(2**30) + b"\x01" * 100,  # a list of truth values
    ],
)
@pytest.mark.parametrize("shape", [{}, {1: {1: None}, 2: None}])
def test_hostile_lengths_and_depths_cost_nothing(hostile: bytes, shape: Shape) -> None:
    tracemalloc.start()
    with pytest.raises(CorruptData):
        read_struct(hostile, shape)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize("field", ["integer", "text", "struct", "structs", "texts"])
def test_a_field_of_the_wrong_kind_is_refused(field: str) -> None:
    fields = {1: boolean(True)}
    read = read_struct(struct_of(fields)[1], {1: {1: None}})
    with pytest.raises(CorruptData, match="field 1"):
        getattr(read, field)(1)


@pytest.mark.parametrize("shape", [{}, {1: {}}])
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x19\xfc" + varint(1001) + bytes(1002), id="structs"),
        pytest.param(b"\x1b" + varint(1001) + b"\x11" + bytes(2003), id="a map"),
        pytest.param(b"\x11" * 1001 + b"\0", id="fields"),
    ],
)
def test_a_message_has_a_bounded_number_of_parts(data: bytes, shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a hundred times the memory and a microsecond: a footer of 8 MB could else hold up all for long."""
    assert thrift.MAX_PARTS <= 500_000
    read_struct(data, shape)
    monkeypatch.setattr(thrift, "MAX_PARTS", 1000)
    with pytest.raises(CorruptData, match="more than 1,000 parts"):
        read_struct(data, shape)
