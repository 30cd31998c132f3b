"""Footers, pages and cache files changed at random: the right text or a plain error, soon, and never anything else.

A short run is part of every test run; `python -m tests.fuzz 20000` looks longer.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random
from time import thread_time

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbdash.code.parquet import Cell, CellReader, PageDirectories, RowIds, inspect
from kbdash.errors import KbdashError
from tests.unit.parquet_samples import TEXT_ENCODINGS, Layout, MemoryBytes, numbered_texts

EXAMPLES = int(os.environ.get("KBDASH_FUZZ_EXAMPLES", "60"))
MOST_SECONDS = 2.0
ROWS = 30
TEXTS = numbered_texts(ROWS, lambda row: 20 + 3 * row)
ENCODED = {text.encode() for text in TEXTS}
FILES = [
    Layout(codec, version, encoding, optional, index, checksum, True, 20, 3, 40, 300).write(TEXTS, pa.large_string())
    for codec, version, encoding, optional, index, checksum in (
        ("snappy", "1.0", "PLAIN", True, False, False),
        ("none", "1.0", "PLAIN", False, False, False),
        ("zstd", "2.0", "PLAIN", True, True, False),
        ("gzip", "2.0", "DELTA_LENGTH_BYTE_ARRAY", False, False, False),
        *(
            (codec, "1.0", encoding, True, False, True)
            for codec, encoding in zip(("snappy", "brotli", "lz4", "zstd"), TEXT_ENCODINGS, strict=True)
        ),
    )
]
CHECKED_FROM = 4  # from here on files carry checksums
fuzz = settings(max_examples=EXAMPLES, deadline=None)
seeds = st.integers(0, 2**64)


def footer_span(data: bytes) -> tuple[int, int]:
    length = int.from_bytes(data[-8:-4], "little")
    return len(data) - 8 - length, len(data)


def changed(data: bytes, first: int, last: int, random: Random) -> bytes:
    """The bytes with a few changes between two places: flipped, overwritten, cut out, repeated, moved."""
    damaged = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        at = random.randrange(first, max(first + 1, min(last, len(damaged))))
        length = random.choice([1, 1, 2, 4, 16])
        match random.randrange(6):
            case 0 | 1:
                damaged[at : at + 1] = bytes([damaged[min(at, len(damaged) - 1)] ^ 1 << random.randrange(8)])
            case 2:
                damaged[at : at + length] = random.choice([b"\0", b"\xff", b"\x7f", b"\x80"]) * length
            case 3:
                del damaged[at : at + length]
            case 4:
                damaged[at:at] = damaged[at : at + length] * random.choice([1, 3, 200])
            case _:
                other = random.randrange(first, max(first + 1, min(last, len(damaged))))
                damaged[at : at + length] = damaged[other : other + length]
    return bytes(damaged)


@fuzz
@given(st.sampled_from(FILES), seeds)
def test_any_footer(data: bytes, seed: int) -> None:
    begin, _ = footer_span(data)
    footer = changed(data[begin:-8], 0, len(data) - 8 - begin, Random(seed))
    damaged = data[:begin] + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    said, start = None, thread_time()
    try:
        inspect(MemoryBytes(damaged))
        RowIds(PageDirectories(), "row").id_of(MemoryBytes(damaged), 0)
    except KbdashError as error:
        said = str(error)
    assert said is None or "sample.parquet" in said
    assert thread_time() - start < MOST_SECONDS


def heads(data: bytes) -> list[tuple[int, int]]:
    """Where the headers of pages begin and end."""
    groups = PageDirectories().build(MemoryBytes(data), "code").groups
    pages = [(page.offset, page.offset + (page.header_bytes or 20)) for group in groups for page in group.pages]
    return pages + [(group.dictionary[0], group.dictionary[0] + 20) for group in groups if group.dictionary]


HEADS = [heads(data) for data in FILES]


def is_right(number: int, row: int, cell: Cell, damaged: bytes) -> bool:
    """A file with checksums gives the right text or none; one without never gives the text of another row."""
    right = TEXTS[row].encode()
    return cell == right or (number < CHECKED_FROM and (cell not in ENCODED or right not in damaged))


@fuzz
@example(0, True, False, 179510633)  # a length in a header made it take in three pages: later rows had shifted
@given(st.integers(0, len(FILES) - 1), st.booleans(), st.booleans(), seeds)
def test_any_page(number: int, in_a_head: bool, whole: bool, seed: int) -> None:
    """Every row is read after the damage, half of which is in the header of a page."""
    data, random = FILES[number], Random(seed)
    begin, end = footer_span(data)
    place = random.choice(HEADS[number]) if in_a_head else (4, begin)
    pages = changed(data[:begin], *place, random)
    # Offsets in the footer keep their meaning, so that the damage is met and not the footer refused.
    damaged = pages[:begin].ljust(begin, b"\0") + data[begin:end]
    source, directories, start = MemoryBytes(damaged), PageDirectories(), thread_time()
    if whole:
        with suppress(KbdashError):
            directories.build(source, "code")
    reader, said = CellReader(directories), []
    for row in range(ROWS):
        try:
            assert is_right(number, row, reader.read(source, "code", row), damaged)
        except KbdashError as error:
            said.append(str(error))
    assert all("sample.parquet" in one for one in said)
    assert thread_time() - start < MOST_SECONDS


@fuzz
@given(st.sampled_from(FILES), st.integers(0, ROWS - 1), seeds)
def test_any_cache_file(data: bytes, row: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        PageDirectories(Path(folder)).build(MemoryBytes(data), "code")
        (stored,) = (Path(folder) / "pages").glob("*.json")
        text = stored.read_bytes()
        stored.write_bytes(changed(text, 0, len(text), Random(seed)))
        reader = CellReader(PageDirectories(Path(folder)))
        assert reader.read(MemoryBytes(data), "code", row) == TEXTS[row].encode()


@pytest.mark.parametrize("number", range(len(FILES)))
def test_the_files_are_sound_before_they_are_changed(number: int) -> None:
    reader = CellReader(PageDirectories())
    assert [reader.read(MemoryBytes(FILES[number]), "code", row) for row in range(ROWS)] == [
        text.encode() for text in TEXTS
    ]
