"""Damaged files: the right text or a clear error, never the text of another row, never anything worse.

Bytes of a page that carries no checksum hold no redundancy: one changed there may change a text, or point a
dictionary index elsewhere, and nobody can tell. So three promises are tested: with checksums nothing wrong is
ever returned; a change in the headers, the footer or the offset index never returns anything wrong; and a
change in plain texts without a checksum never returns the text of another row.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdash.code.parquet import Cell, CellReader, PageDirectories, as_parquet, directory
from kbdash.code.parquet.pages import Codec, read_page_header
from kbdash.code.parquet.rle import check_indices, count_ones, delta_end
from kbdash.code.parquet.thrift import binary, i32, i64, listed, struct_of, varint
from kbdash.errors import CorruptData, KbdashError
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


def all_of(data: bytes, rows: Iterable[int]) -> list[Cell | object]:
    """The same for several rows, out of one directory of the whole file."""
    source, directories = MemoryBytes(data), PageDirectories()
    try:
        directories.build(source, "code")
    except KbdashError:
        return [WRONG for _ in rows]
    found: list[Cell | object] = []
    for row in rows:
        try:
            found.append(CellReader(directories).read(source, "code", row))
        except KbdashError:
            found.append(WRONG)
    return found


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


UNEVEN = [16, 16, 8, 16, 16, 8, 16, 16]  # rows of the pages of one row group


def with_counts(counts: dict[int, int], *, codec: Codec, optional: bool) -> bytes:
    """A file of one page per entry of UNEVEN, of which some claim another number of values than they hold."""
    body, first = bytearray(b"PAR1"), 0
    for number, rows in enumerate(UNEVEN):
        texts = [text.encode() for text in COUNTED[first : first + rows]]
        first += rows
        runs = varint(rows << 1) + b"\x01"
        plain = (len(runs).to_bytes(4, "little") + runs if optional else b"") + b"".join(
            len(text).to_bytes(4, "little") + text for text in texts
        )
        packed = pa.Codec("snappy").compress(plain, asbytes=True) if codec is Codec.SNAPPY else plain
        facts = {1: i32(counts.get(number, rows)), 2: i32(0), 3: i32(3), 4: i32(3)}
        body += struct_of({1: i32(0), 2: i32(len(plain)), 3: i32(len(packed)), 5: struct_of(facts)})[1] + packed
    rows = sum(UNEVEN)
    column = {1: i32(6), 2: listed([i32(0)]), 3: listed([binary(b"code")]), 4: i32(codec), 5: i64(rows)}
    column |= {6: i64(len(body) - 4), 7: i64(len(body) - 4), 9: i64(4)}
    group = {1: listed([struct_of({2: i64(4), 3: struct_of(column)})]), 2: i64(0), 3: i64(rows)}
    root = struct_of({4: binary(b"root"), 5: i32(1)})
    leaf = struct_of({1: i32(6), 3: i32(int(optional)), 4: binary(b"code")})
    facts = {1: i32(2), 2: listed([root, leaf]), 3: i64(rows), 4: listed([struct_of(group)])}
    footer = struct_of(facts)[1]
    return bytes(body) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


COUNTED = numbered_texts(sum(UNEVEN), lambda row: 40 + row % 9)


@pytest.mark.parametrize("codec", [Codec.UNCOMPRESSED, Codec.SNAPPY])
@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_wrong_counts_in_page_headers_never_give_another_row(codec: Codec, optional: bool, whole: bool) -> None:
    """Also a count that is as wrong as to look like those before it: 8 that claims to be 16."""
    sound = with_counts({}, codec=codec, optional=optional)
    assert [outcome(sound, row, whole=whole) for row in (0, 39, 40, 111)] == [
        COUNTED[row].encode() for row in (0, 39, 40, 111)
    ]
    for number, claim in product(range(len(UNEVEN)), (0, 1, 7, 8, 9, 15, 16, 17, 24, 112)):
        if claim == UNEVEN[number]:
            continue
        damaged = with_counts({number: claim}, codec=codec, optional=optional)
        rows = range((number + claim) % 7, sum(UNEVEN), 7)  # of every page, and beside every end of one in turn
        found = all_of(damaged, rows) if whole else [outcome(damaged, row, whole=False) for row in rows]
        for row, value in zip(rows, found, strict=True):
            assert value in (COUNTED[row].encode(), WRONG), (number, claim, row)


@pytest.mark.parametrize("codec", [Codec.UNCOMPRESSED, Codec.SNAPPY])
@pytest.mark.parametrize("optional", [True, False])
def test_a_wrong_count_of_a_page_that_stands_alone_never_gives_another_row(
    codec: Codec, optional: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row is read as soon as its page is known; pages that are large enough for that take long to make."""
    monkeypatch.setattr(directory, "_LARGE_BYTES", 128)
    for number, claim in product((0, 1), (8, 24)):
        damaged = with_counts({number: claim}, codec=codec, optional=optional)
        for row in range(0, sum(UNEVEN), 3):
            assert outcome(damaged, row, whole=False) in (COUNTED[row].encode(), WRONG), (number, claim, row)


def test_counts_that_are_wrong_together_never_give_another_row() -> None:
    """Three pages that claim the numbers of each other add up; their levels tell that they are wrong."""
    for pages in ((0, 2, 5), (5, 2, 4), (2, 1, 0)):
        claims = dict(zip(pages, [UNEVEN[page] for page in (*pages[1:], pages[0])], strict=True))
        damaged = with_counts(claims, codec=Codec.UNCOMPRESSED, optional=True)
        for row in range(0, sum(UNEVEN), 3):
            assert outcome(damaged, row, whole=False) in (COUNTED[row].encode(), WRONG), (pages, row)


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
    monkeypatch.setattr(as_parquet, "ORDINARY_PAGE_BYTES", 1 << 20)
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
