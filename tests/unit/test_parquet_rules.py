"""Single rules of the page reader, each shown by the smallest page, header or directory that needs it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from kbdash.code.parquet import CellReader, PageDirectories
from kbdash.code.parquet.as_parquet import ColumnType, OpenPage
from kbdash.code.parquet.decode import decode_data_page, open_data_page
from kbdash.code.parquet.directory import Page, PageGroup
from kbdash.code.parquet.level_count import count_by_levels
from kbdash.code.parquet.page_scan import extend
from kbdash.code.parquet.pages import (
    MAX_PAGE_BYTES,
    Codec,
    Encoding,
    PageHeader,
    PageKind,
    Physical,
    read_page_header,
)
from kbdash.code.parquet.plain import find_texts
from kbdash.code.parquet.store import _digest, _dumps
from kbdash.code.parquet.thrift import Field, binary, i32, read_struct, struct_of
from kbdash.errors import CorruptData
from tests.unit.parquet_samples import Layout, MemoryBytes

NUMBERS = ColumnType(Physical.INT32)


def test_a_dictionary_is_not_taken_for_data() -> None:
    """Its values would be shown as those of the first rows."""
    header = PageHeader(size=0, kind=PageKind.DICTIONARY, compressed=4, uncompressed=4, values=1)
    with pytest.raises(CorruptData, match="of type DICTIONARY stands where data should be"):
        open_data_page(header, b"\x01\0\0\0", NUMBERS, Codec.UNCOMPRESSED)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_texts_fill_their_page_exactly(count: int) -> None:
    """A page with a wrong count would else shift the rows of those behind it."""
    body = b"\1\0\0\0a\2\0\0\0bc"
    assert list(find_texts(body, 2)) == [0, 5, len(body)]
    with pytest.raises(CorruptData):
        find_texts(body, count)


def test_indices_without_a_dictionary_are_told() -> None:
    page = OpenPage(Encoding.RLE_DICTIONARY, values=1, nulls=0, levels=b"", body=b"\0\x02\0")
    with pytest.raises(CorruptData, match="needs a dictionary"):
        decode_data_page(page, NUMBERS, None)


@pytest.mark.parametrize("large", [2, 3])
def test_no_page_is_larger_than_the_most(large: int) -> None:
    """Packed or not: a page of 20 MB could else unpack to more than a gigabyte."""

    def header(size: int) -> PageHeader:
        facts = {1: i32(0), 2: i32(100), 3: i32(100), 5: struct_of({1: i32(1), 2: i32(0), 3: i32(3)})}
        return read_page_header(struct_of(facts | {large: i32(size)})[1])

    assert MAX_PAGE_BYTES in (header(MAX_PAGE_BYTES).uncompressed, header(MAX_PAGE_BYTES).compressed)
    with pytest.raises(CorruptData, match="compressed page size"):
        header(MAX_PAGE_BYTES + 1)


def test_a_page_of_version_2_is_compressed_unless_it_says_otherwise() -> None:
    facts = {1: i32(3), 2: i32(0), 3: i32(3), 4: i32(0), 5: i32(0), 6: i32(0)}
    whole = struct_of({1: i32(3), 2: i32(12), 3: i32(12), 8: struct_of(facts)})[1]
    assert read_page_header(whole).packed


@pytest.mark.parametrize("length", [59, 60, 61, 62])
def test_levels_are_counted_in_short_and_long_literals(length: int) -> None:
    """Snappy writes the length of up to 60 bytes into the tag, and that of more behind it."""
    levels = (
        b"\x02\x01" * ((length - 4) // 2) if length % 2 == 0 else b"\x82\x01\x01" + b"\x02\x01" * ((length - 7) // 2)
    )
    plain = len(levels).to_bytes(4, "little") + levels
    assert len(plain) == length
    tag = bytes([(length - 1) << 2]) if length <= 60 else bytes([60 << 2, length - 1])
    header = PageHeader(size=0, kind=PageKind.DATA, compressed=length + 3, uncompressed=length)
    values = (length - 4) // 2 if length % 2 == 0 else 65 + (length - 7) // 2
    assert count_by_levels(header, bytes([length]) + tag + plain, Codec.SNAPPY) == values


def test_a_page_that_reaches_beyond_its_chunk_is_told_as_that() -> None:
    facts = struct_of({1: i32(1), 2: i32(0), 3: i32(3), 4: i32(3)})
    body = b"PAR1" + struct_of({1: i32(0), 2: i32(6), 3: i32(6), 5: facts})[1] + b"12345"
    group = PageGroup(1, Codec.UNCOMPRESSED, 4, 4, len(body), None, 4)
    with pytest.raises(CorruptData, match="reaches beyond its column chunk"):
        extend(MemoryBytes(body + b"tail"), group, optional=False, requests=8)


@pytest.mark.parametrize(
    ("total", "header", "alone"),
    [(64 << 10, 16 << 10, True), ((64 << 10) - 1, 16 << 10, False), (64 << 10, (16 << 10) + 1, False)],
)
def test_a_page_stands_alone_if_it_is_large_and_its_header_is_not(total: int, header: int, alone: bool) -> None:
    assert Page(4, total, first_row=0, rows=1, header_bytes=header).stands_alone is alone


def test_what_nobody_reads_may_be_nested_as_deep_as_what_is_read() -> None:
    deep: Field = binary(b"x")
    for _ in range(15):
        deep = struct_of({1: deep})
    assert 1 not in read_struct(struct_of({1: deep})[1], {})
    with pytest.raises(CorruptData, match="too deeply"):
        read_struct(struct_of({1: struct_of({1: struct_of({1: deep})})})[1], {})


# --- the directory on disk -----------------------------------------------------------------------------------------


@pytest.fixture
def small() -> MemoryBytes:
    """A file of one page."""
    return MemoryBytes(Layout().write(["a", "b"], pa.string()))


def test_the_directory_of_a_single_page_is_kept_after_the_first_read(small: MemoryBytes, tmp_path: Path) -> None:
    assert CellReader(PageDirectories(tmp_path)).read(small, "code", 1) == b"b"
    again = MemoryBytes(small.data)
    assert PageDirectories(tmp_path).place(again, "code", 1).page.rows == 2
    assert again.requests == 0


@pytest.mark.parametrize("layout", [Layout(encoding="DICTIONARY"), Layout(index=True)], ids=["dictionary", "index"])
def test_a_directory_is_kept_with_the_places_of_dictionary_and_index(layout: Layout, tmp_path: Path) -> None:
    source = MemoryBytes(layout.write(["a", "b"], pa.string()))
    built = PageDirectories(tmp_path).build(source, "code")
    assert (built.groups[0].dictionary is None, built.groups[0].index is None) == (layout.index, not layout.index)
    again = MemoryBytes(source.data)
    assert PageDirectories(tmp_path).place(again, "code", 1).directory == built
    assert again.requests == 0


def test_a_directory_without_news_is_not_written_again(small: MemoryBytes, tmp_path: Path) -> None:
    directories = PageDirectories(tmp_path)
    directories.build(small, "code")
    [path] = (tmp_path / "pages").glob("*.json")
    path.unlink()
    directories.build(small, "code")
    assert not path.exists()


def test_a_directory_with_facts_of_a_later_version_is_read(small: MemoryBytes, tmp_path: Path) -> None:
    built = PageDirectories(tmp_path).build(small, "code")
    [path] = (tmp_path / "pages").glob("*.json")
    whole = json.loads(path.read_bytes())
    for group in whole["directory"]["groups"]:
        group["pages"] = [[*page, "a new fact"] for page in group["pages"]]
    path.write_bytes(_dumps(whole | {"sha256": _digest(whole["directory"])}))
    again = MemoryBytes(small.data)
    assert PageDirectories(tmp_path).place(again, "code", 0).directory == built
    assert again.requests == 0
