"""Page directories: found by hops or from an offset index, shared, kept on disk, resumed, distrusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from threading import Event

import pyarrow as pa
import pytest

from kbdash.code.parquet import CellReader, PageDirectories, PageDirectory
from kbdash.code.parquet.directory import PageGroup, empty_directory
from kbdash.code.parquet.page_scan import extend
from kbdash.code.parquet.pages import Codec, Encoding, PageKind
from kbdash.code.parquet.store import DirectoryStore
from kbdash.code.parquet.thrift import binary, i32, struct_of
from kbdash.errors import CorruptData, DataUnavailable
from tests.unit.parquet_samples import Layout, MemoryBytes, numbered_texts

# Pages of 100 kB: too large to be swept up several at a time, so every one costs a hop.
TEXTS = numbered_texts(600, lambda row: 10_000 + row % 11)
HOPPED = Layout(codec="none", group_rows=250, batch_rows=10, page_bytes=1)


@pytest.fixture(scope="module")
def data() -> bytes:
    return HOPPED.write(TEXTS, pa.large_string())


def stored(folder: Path) -> list[Path]:
    return sorted((folder / "pages").glob("*.json"))


def test_hops_find_every_page(data: bytes) -> None:
    directory = PageDirectories().build(MemoryBytes(data), "code")
    assert directory.complete
    assert directory.rows == directory.known_rows == 600
    assert [[page.rows for page in group.pages] for group in directory.groups] == [[10] * 25, [10] * 25, [10] * 10]


@pytest.mark.parametrize("encoding", ["PLAIN", "DICTIONARY"])
def test_offset_index_agrees_with_hops_and_saves_them(encoding: str) -> None:
    layout = replace(HOPPED, index=True, encoding=encoding, dictionary_bytes=90_000)
    source = MemoryBytes(layout.write(TEXTS, pa.large_string()))
    directories = PageDirectories()
    footer_only = empty_directory("", "", source.size, directories.footer(source).column("code")).groups
    indexed = directories.build(source, "code").groups
    assert source.requests == 1 + len(indexed)
    hopped = [extend(source, replace(group, index=None), optional=True, requests=1000) for group in footer_only]
    assert [group.dictionary for group in indexed] == [group.dictionary for group in hopped]
    for by_index, by_hops in zip(indexed, hopped, strict=True):
        found = [(page.offset, page.total, page.first_row, page.rows) for page in by_index.pages]
        assert found == [(page.offset, page.total, page.first_row, page.rows) for page in by_hops.pages]


def test_only_the_way_to_the_row_is_hopped(data: bytes) -> None:
    source, directories = MemoryBytes(data), PageDirectories()
    assert CellReader(directories).read(source, "code", 305) == TEXTS[305].encode()
    known = directories.place(source, "code", 305).directory
    assert [group.known_rows for group in known.groups] == [0, 60, 0]
    assert not known.complete


def test_known_part_is_read_without_further_hops(data: bytes) -> None:
    source, directories = MemoryBytes(data), PageDirectories()
    reader = CellReader(directories)
    reader.read(source, "code", 99)
    source.ranges.clear()
    assert reader.read(source, "code", 42) == TEXTS[42].encode()
    page = directories.place(source, "code", 42).page
    assert source.ranges == [(page.offset, page.total)]


def test_small_pages_are_swept_up_many_at_a_time() -> None:
    source = MemoryBytes(replace(HOPPED, group_rows=4000).write(numbered_texts(4000), pa.string()))
    directory = PageDirectories().build(source, "code")
    assert sum(len(group.pages) for group in directory.groups) == 400
    assert source.requests <= 4


def test_pages_that_do_not_repeat_their_count_are_not_trusted_until_the_group_adds_up(data: bytes) -> None:
    group = PageDirectories().build(MemoryBytes(data), "code").groups[0]
    pages = group.pages
    partial = replace(group, pages=pages[:3], position=pages[3].offset)
    assert partial.page_of(pages[2].first_row) == pages[2]
    unsure = replace(partial, pages=(pages[0], replace(pages[1], counted=False), pages[2]))
    assert unsure.page_of(pages[1].first_row) is not None  # its own count is checked when it is read
    assert unsure.page_of(pages[2].first_row) is None


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_only_columns_with_levels_can_be_read_before_all_pages_are_known(codec: str, optional: bool) -> None:
    layout = replace(HOPPED, codec=codec, optional=optional)
    random = Random(1)
    texts = [random.randbytes(5_000).hex() for _ in TEXTS]
    source, directories = MemoryBytes(layout.write(texts, pa.large_string())), PageDirectories()
    assert CellReader(directories).read(source, "code", 55) == texts[55].encode()
    known = directories.place(source, "code", 55).directory.groups[0].known_rows
    assert known == (60 if optional and codec != "zstd" else 250)


def test_directory_is_kept_and_used_again(data: bytes, tmp_path: Path) -> None:
    built = PageDirectories(tmp_path).build(MemoryBytes(data), "code")
    source = MemoryBytes(data)
    assert PageDirectories(tmp_path).place(source, "code", 599).directory == built
    assert source.requests == 0
    assert stored(tmp_path)[0].stat().st_size < 60 * 60


def test_build_reports_progress_and_can_be_cancelled_and_resumed(data: bytes, tmp_path: Path) -> None:
    cancel, seen = Event(), []

    def progress(known: int, rows: int) -> None:
        seen.append((known, rows))
        if known > 200:
            cancel.set()

    source = MemoryBytes(data)
    directory = PageDirectories(tmp_path).build(source, "code", progress=progress, cancel=cancel)
    assert not directory.complete
    assert seen == sorted(seen)
    assert seen[-1] == (directory.known_rows, 600)

    again = MemoryBytes(data)
    resumed = PageDirectories(tmp_path).build(again, "code")
    assert resumed == PageDirectories().build(MemoryBytes(data), "code")
    assert not set(source.ranges) & set(again.ranges)


def test_build_resumes_after_the_connection_broke(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailable, match="out of reach"):
        PageDirectories(tmp_path).build(MemoryBytes(data, fail_after=40), "code")
    again = MemoryBytes(data)
    assert PageDirectories(tmp_path).build(again, "code").complete
    assert again.requests < 30


def test_many_who_ask_share_one_build(data: bytes) -> None:
    alone = MemoryBytes(data)
    PageDirectories().build(alone, "code")
    source, directories = MemoryBytes(data), PageDirectories()
    reader = CellReader(directories)
    with ThreadPoolExecutor(12) as pool:
        builds = [pool.submit(directories.build, source, "code") for _ in range(6)]
        cells = [pool.submit(reader.read, source, "code", row) for row in range(0, 600, 100)]
    assert len({build.result() for build in builds}) == 1
    assert [cell.result() for cell in cells] == [TEXTS[row].encode() for row in range(0, 600, 100)]
    headers = [offset for offset, length in source.ranges if length <= 8192]
    assert len(set(headers)) == len(headers)
    assert len(headers) == len([length for _, length in alone.ranges if length <= 8192])


def test_columns_of_a_file_share_its_footer(data: bytes) -> None:
    source, directories = MemoryBytes(data), PageDirectories()
    assert directories.place(source, "code", 0).page.rows == 10
    requests = source.requests
    source.ranges.clear()
    directories.place(source, "row", 0)
    assert source.requests == requests + 2, "the page's header, then the others of its group"
    assert all(offset < source.size - 100_000 for offset, _ in source.ranges), "page headers, and not the footer again"


ALTERATIONS: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda _: b"",
    "not JSON": lambda _: b"\xff\xfe",
    "no directory": lambda _: b"[]",
    "a digit changed": lambda text: text.replace(b'"rows":250', b'"rows":251', 1),
    "another format": lambda text: text.replace(b"kbdash pages 2", b"kbdash pages 1"),
    "nested without end": lambda _: b"[" * 100_000,
}


@pytest.mark.parametrize("how", ALTERATIONS)
def test_altered_directory_is_ignored_and_rebuilt(data: bytes, tmp_path: Path, how: str) -> None:
    built = PageDirectories(tmp_path).build(MemoryBytes(data), "code")
    (path,) = stored(tmp_path)
    altered = ALTERATIONS[how](path.read_bytes())
    assert altered != path.read_bytes()
    path.write_bytes(altered)
    assert PageDirectories(tmp_path).build(MemoryBytes(data), "code") == built
    assert json.loads(path.read_bytes())["directory"]["groups"][0]["rows"] == 250


@pytest.mark.parametrize("other", [{"version": "2"}, {"size": 10**6}, {"column": "row"}, {"file": "other.parquet"}])
def test_directory_of_another_file_is_ignored(data: bytes, tmp_path: Path, other: dict[str, object]) -> None:
    source = MemoryBytes(data)
    built = PageDirectories(tmp_path).build(source, "code")
    (path,) = stored(tmp_path)
    path.unlink()
    folder = tmp_path / "elsewhere"
    DirectoryStore(folder).save(source, replace(built, **other))
    next(folder.glob("*.json")).rename(path)
    assert PageDirectories(tmp_path).build(MemoryBytes(data), "code") == built


def test_directory_that_the_file_contradicts_is_rebuilt(data: bytes, tmp_path: Path) -> None:
    source = MemoryBytes(data)
    built = PageDirectories(tmp_path).build(source, "code")
    wrong = replace(built, groups=(_moved(built.groups[0]), *built.groups[1:]))
    DirectoryStore(tmp_path / "pages").save(source, wrong)
    directories = PageDirectories(tmp_path)
    assert directories.place(source, "code", 15).directory == wrong
    assert CellReader(directories).read(source, "code", 15) == TEXTS[15].encode()


def _moved(group: PageGroup) -> PageGroup:
    """The group with every page where the next one is."""
    pages = group.pages
    moved = [replace(here, offset=there.offset) for here, there in pairwise(pages)]
    return replace(group, pages=(*moved, pages[-1]))


def test_only_so_many_directories_are_kept(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path, keep=3)
    small = MemoryBytes(Layout().write(["a", "b"], pa.string()))
    directory = PageDirectories().build(small, "code")
    for version in range(8):
        source = MemoryBytes(small.data, version=str(version))
        store.save(source, replace(directory, version=source.version))
        assert store.load(source, "code") is not None
    assert len(list(tmp_path.iterdir())) == 3


def test_folder_that_cannot_be_written_is_no_error(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("a file where the folder should be")
    assert PageDirectories(tmp_path).build(MemoryBytes(data), "code").complete


def _chunk(*headers: bytes, payload: bytes = b"", rows: int = 1) -> tuple[MemoryBytes, PageGroup]:
    body = b"PAR1" + b"".join(header + payload for header in headers)
    group = PageGroup(rows, Codec.UNCOMPRESSED, 4, 4, len(body), None, 4)
    return MemoryBytes(body + b"tail"), group


def _header(payload: int, *, values: int = 1, statistics: int = 0, kind: int = 0) -> bytes:
    facts = {1: i32(values), 2: i32(0), 3: i32(3), 4: i32(3)}
    if statistics:
        facts[5] = struct_of({5: binary(b"s" * statistics)})
    return struct_of({1: i32(kind), 2: i32(payload), 3: i32(payload), 5: struct_of(facts)})[1]


@pytest.mark.parametrize("length", [10, 4_009, 8_150, 8_192, 20_000, 900_000])
def test_long_headers_are_read_to_their_end(length: int) -> None:
    source, group = _chunk(_header(5, statistics=length), payload=b"12345")
    (page,) = extend(source, group, optional=False, requests=8).pages
    assert page.header_bytes == source.size - 4 - 5 - 4
    assert (page.encoding, page.kind, page.rows) == (Encoding.PLAIN, PageKind.DATA, 1)
    assert source.requests <= 5
    assert source.bytes_read <= 4 * length + 8192


@pytest.mark.parametrize(
    ("headers", "rows"),
    [
        ([_header(5, statistics=3 << 20)], 1),  # longer than any header may be
        ([_header(6)], 1),  # reaches beyond the chunk
        ([_header(5, values=2)], 1),  # more rows than the group
        ([_header(5)], 2),  # fewer rows than the group
        ([_header(5), _header(5)], 1),  # bytes left when the rows are complete
        ([_header(5, kind=1), _header(5)], 1),  # a page type that is not in use
        ([_header(5, kind=2), _header(5)], 1),  # a dictionary without a dictionary header
        ([_header(5, kind=7)], 1),  # an unknown page type
        ([b""], 1),  # no header at all
        ([b"\xff" * 40], 1),  # not a header
    ],
)
def test_chunks_that_do_not_add_up(headers: list[bytes], rows: int) -> None:
    source, group = _chunk(*headers, payload=b"12345", rows=rows)
    with pytest.raises(CorruptData):
        extend(source, group, optional=False, requests=100)


def test_directory_is_plain_data() -> None:
    directory = PageDirectories().build(MemoryBytes(Layout().write(["a"], pa.string())), "code")
    assert isinstance(directory, PageDirectory)
    assert hash(directory) == hash(replace(directory))
