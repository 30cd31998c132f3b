"""Damaged files: the right text or a clear error, never the text of another row, never anything worse.

Bytes of a page that carries no checksum hold no redundancy: one changed there may change a text, or point a
dictionary index elsewhere, and nobody can tell. So three promises are tested: with checksums nothing wrong is
ever returned; a change in the headers, the footer or the offset index never returns anything wrong; and a
change in plain texts without a checksum never returns the text of another row.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdash.errors import CorruptData, KbdashError
from kbdash.parquet import Cell, PageDirectories, wrap
from kbdash.parquet.pages import read_page_header
from kbdash.parquet.runs import check_indices, count_ones, delta_end
from kbdash.parquet.thrift import varint
from tests.unit.parquet_samples import TEXT_ENCODINGS, Layout, MemoryBytes, fresh_reader, numbered_texts, raw

ROWS = 14
TEXTS = numbered_texts(ROWS, lambda row: 20 + 3 * row)
WITH_NULLS = [None if row in (5, 9, 10) else text for row, text in enumerate(TEXTS)]
SMALL = {"group_rows": 10, "batch_rows": 3, "page_bytes": 40, "dictionary_bytes": 300}
LAYOUTS = [
    Layout(codec, version, encoding, optional, index, **SMALL)
    for codec, version, encoding, optional, index in product(
        ("none", "snappy", "zstd"), ("1.0", "2.0"), TEXT_ENCODINGS, (True, False), (True, False)
    )
]
WRONG = object()
told: list[tuple[str, str]] = []


def outcome(data: bytes, row: int, *, whole: bool) -> Cell | object:
    """What a reader gets for a row: a value, or WRONG when it is told that the file is damaged."""
    source, reader = MemoryBytes(data), fresh_reader()
    try:
        if whole:
            reader.directories.build(source, "code")
        return reader.read(source, "code", row)
    except KbdashError as problem:
        told.append((str(problem), problem.advice))
        return WRONG


def flipped(data: bytes, at: int, bit: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return bytes(changed)


def values_of(layout: Layout) -> list[str | None]:
    return list(WITH_NULLS if layout.optional else TEXTS)


def payload_places(data: bytes) -> set[int]:
    """The offsets of all bytes in the column's pages that are not of a header."""
    places: set[int] = set()
    for group in PageDirectories().build(MemoryBytes(data), "code").groups:
        spans = [(page.offset, page.total) for page in group.pages]
        for offset, total in [*spans, *([group.dictionary] if group.dictionary else [])]:
            places |= set(range(offset + read_page_header(data, offset).size, offset + total))
    return places


@pytest.mark.parametrize("layout", Random(5).sample(LAYOUTS, 24), ids=str)
def test_with_checksums_any_flipped_bit_gives_the_right_text_or_an_error(layout: Layout) -> None:
    layout = Layout(**{**vars(layout), "checksum": True})
    values, random = values_of(layout), Random(str(layout))
    data = layout.write(values, pa.large_string())
    for _ in range(60):
        row = random.randrange(ROWS)
        damaged = flipped(data, random.randrange(len(data)), random.randrange(8))
        assert outcome(damaged, row, whole=True) in (raw(values[row]), WRONG)


@pytest.mark.parametrize("layout", Random(6).sample(LAYOUTS, 24), ids=str)
def test_flipped_bits_outside_the_payloads_give_the_right_text_or_an_error(layout: Layout) -> None:
    values, random = values_of(layout), Random(str(layout))
    data = layout.write(values, pa.large_string())
    places = sorted(set(range(len(data))) - payload_places(data))
    for at in random.sample(places, 60):
        row = random.randrange(ROWS)
        assert outcome(flipped(data, at, random.randrange(8)), row, whole=True) in (raw(values[row]), WRONG)


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY"])
@pytest.mark.parametrize("whole", [True, False])
def test_flipped_bits_anywhere_never_give_the_text_of_another_row(codec: str, encoding: str, whole: bool) -> None:
    layout, random = Layout(codec, encoding=encoding, optional=False, **SMALL), Random(codec + encoding)
    data = layout.write(TEXTS, pa.large_string())
    for _ in range(150):
        row = random.randrange(ROWS)
        damaged = flipped(data, random.randrange(len(data)), random.randrange(8))
        value = outcome(damaged, row, whole=whole)
        assert value == TEXTS[row].encode() or value not in [text.encode() for text in TEXTS]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_every_bit_of_the_first_page_headers(version: str) -> None:
    layout = Layout("snappy", version, optional=False, statistics=False, **SMALL)
    data = layout.write(TEXTS, pa.large_string())
    pages = PageDirectories().build(MemoryBytes(data), "code").groups[0].pages
    for page in pages[:2]:
        for at, bit in product(range(page.offset, page.offset + (page.header_bytes or 0)), range(8)):
            assert outcome(flipped(data, at, bit), 8, whole=False) in (TEXTS[8].encode(), WRONG)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LAYOUTS), st.data())
def test_cut_and_overwritten_files_are_refused_or_read_right(layout: Layout, draw: st.DataObject) -> None:
    values = values_of(layout)
    data = Layout(**{**vars(layout), "checksum": True}).write(values, pa.large_string())
    at, row = draw.draw(st.integers(0, len(data) - 1)), draw.draw(st.integers(0, ROWS - 1))
    assert outcome(data[:at], row, whole=False) is WRONG
    junk = draw.draw(st.binary(min_size=1, max_size=64))
    overwritten = (data[:at] + junk + data[at + len(junk) :])[: len(data)]
    assert outcome(overwritten, row, whole=True) in (raw(values[row]), WRONG)


@given(st.binary(max_size=300))
def test_files_that_are_not_parquet(data: bytes) -> None:
    for content in (data, b"PAR1" + data + b"PAR1", b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1"):
        assert outcome(content, 0, whole=False) is WRONG


def test_readers_are_told_which_file_and_what_to_do() -> None:
    data = Layout(**SMALL).write(TEXTS, pa.large_string())
    told.clear()
    for at in range(4, len(data), 7):
        outcome(flipped(data, at, at % 8), at % ROWS, whole=True)
    assert len(set(told)) > 10
    for what, advice in told:
        assert "sample.parquet" in what
        assert what.endswith(".")
        assert advice


def test_encrypted_file_is_named_so() -> None:
    with pytest.raises(KbdashError, match="encrypted"):
        fresh_reader().read(MemoryBytes(b"PARE" + bytes(20) + b"PARE"), "code", 0)


def test_front_coded_texts_cannot_unfold_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrap, "MAX_PAGE_BYTES", 1 << 20)
    bomb = Layout(encoding="DELTA_BYTE_ARRAY").write(["x" * 100_000] * 200, pa.string())
    assert len(bomb) < 200_000
    before = pa.total_allocated_bytes()
    with pytest.raises(CorruptData, match="unfolds"):
        fresh_reader().read(MemoryBytes(bomb), "code", 0)
    assert pa.total_allocated_bytes() - before < 4 << 20  # held by the traceback; all of it would be 20 MB


@pytest.mark.parametrize(
    ("levels", "values", "ones"),
    [
        (b"\x10\x01", 8, 8),
        (b"\x06\x01\x04\x00", 5, 3),
        (b"\x03\x05", 3, 2),
        (b"\x03\xff", 3, 3),
        (b"", 0, 0),
        (b"\x10\x01", 7, None),  # a run beyond the last value
        (b"\x10\x01", 9, None),  # too few
        (b"\x10\x01\x00", 8, None),  # bytes left
        (b"\x10\x02", 8, None),  # a level that is neither 0 nor 1
        (b"\x00\x01" * 10, 8, None),  # runs of nothing
        (b"\xff\xff\xff\xff\xff\xff", 8, None),  # a length without end
        (b"\x03", 3, None),  # cut off
    ],
)
def test_levels_are_counted_exactly(levels: bytes, values: int, ones: int | None) -> None:
    if ones is None:
        with pytest.raises(CorruptData):
            count_ones(levels, values)
    else:
        assert count_ones(levels, values) == ones


@given(st.binary(max_size=60), st.integers(0, 200))
def test_walks_over_any_bytes_end(data: bytes, values: int) -> None:
    for walk in (count_ones, check_indices, lambda data, values: delta_end(data, 0, values)):
        try:
            walk(data, values)
        except CorruptData:
            continue


def test_delta_walk_is_bounded_by_what_is_there() -> None:
    claims_a_billion = varint(128) + varint(4) + varint(1 << 30) + b"\0"
    with pytest.raises(CorruptData):
        delta_end(claims_a_billion, 0, 1 << 30)
