"""Single cells, in every layout, against pyarrow's own reading of the same file."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from queue import Queue
from random import Random
from threading import Barrier, Event

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbdash.code.parquet import LocalBytes
from kbdash.errors import DataUnavailable
from tests.unit.parquet_samples import (
    CODECS,
    NUMBER_ENCODINGS,
    TEXT_ENCODINGS,
    Layout,
    MemoryBytes,
    duckdb_file,
    expected_cells,
    fresh_reader,
    numbered_texts,
    read_cells,
)

TEXTS = ["", "a", None, "ünïcode ✓ 𖤐", "x = 1\n" * 700, None, "南北绿豆糕" * 40, "\0tail", "y" * 5000] * 9
NUMBERS = [0, -1, None, 2**63 - 1, -(2**63), 7, 7, 7, None, 12345678901] * 8
COMBINATIONS = list(product(CODECS, ("1.0", "2.0"), (True, False)))


def check_all(data: bytes, column: str = "code") -> None:
    """Every cell equals pyarrow's reading, asked for in a random order."""
    expected = expected_cells(data, column)
    rows = list(range(len(expected)))
    Random(len(data)).shuffle(rows)
    cells = read_cells(fresh_reader(), MemoryBytes(data), column, rows)
    assert cells == [expected[row] for row in rows]


@pytest.mark.parametrize("encoding", TEXT_ENCODINGS)
@pytest.mark.parametrize(("codec", "version", "optional"), COMBINATIONS)
def test_texts_in_every_layout(codec: str, version: str, optional: bool, encoding: str) -> None:
    texts = TEXTS if optional else [text or "" for text in TEXTS]
    index = optional == (version == "2.0")  # each codec and encoding with and without one
    layout = Layout(
        codec, version, encoding, optional, index, checksum=index,
        group_rows=50, batch_rows=4, page_bytes=3000, dictionary_bytes=4000,
    )  # fmt: skip
    check_all(layout.write(texts, pa.large_string()))


@pytest.mark.parametrize("encoding", NUMBER_ENCODINGS)
@pytest.mark.parametrize(("codec", "version", "optional"), COMBINATIONS)
def test_numbers_in_every_layout(codec: str, version: str, optional: bool, encoding: str) -> None:
    numbers = NUMBERS if optional else [number or 0 for number in NUMBERS]
    layout = Layout(codec, version, encoding, optional, group_rows=60, batch_rows=8, page_bytes=64)
    check_all(layout.write(numbers, pa.int64()))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_kinds_of_text(kind: pa.DataType) -> None:
    check_all(Layout(encoding="DICTIONARY", group_rows=40).write(TEXTS, kind))


texts = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.builds(lambda unit, times: unit * times, st.text(min_size=1, max_size=3), st.sampled_from([1, 50, 3000])),
    st.sampled_from(["", "k" * 400_000, "é" * 200_000]),
)
layouts = st.builds(
    Layout,
    codec=st.sampled_from(CODECS),
    version=st.sampled_from(["1.0", "2.0"]),
    encoding=st.sampled_from(TEXT_ENCODINGS),
    index=st.booleans(),
    checksum=st.booleans(),
    statistics=st.booleans(),
    group_rows=st.integers(1, 60),
    batch_rows=st.integers(1, 30),
    page_bytes=st.sampled_from([1, 100, 5000, 1 << 20]),
    dictionary_bytes=st.sampled_from([1, 300, 1 << 20]),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(layouts, st.lists(texts, max_size=50), st.sampled_from([pa.string(), pa.large_string(), pa.binary()]))
def test_any_texts_in_any_layout(layout: Layout, values: list[str | None], kind: pa.DataType) -> None:
    check_all(layout.write(values, kind))


@settings(max_examples=40, deadline=None)
@given(layouts, st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=80), st.sampled_from(NUMBER_ENCODINGS))
def test_any_numbers_in_any_layout(layout: Layout, values: list[int | None], encoding: str) -> None:
    layout = Layout(**{**vars(layout), "encoding": encoding})
    check_all(layout.write(values, pa.int64()))


def test_default_writer_makes_pages_of_1024_rows_and_a_cell_costs_one() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"code": numbered_texts(3000, lambda row: 1500 + row % 90)}), sink)
    source, reader = MemoryBytes(sink.getvalue()), fresh_reader()
    pages = reader.directories.build(source, "code").groups[0].pages
    assert [page.rows for page in pages] == [1024, 1024, 952]
    source.ranges.clear()
    assert reader.read(source, "code", 2500) == expected_cells(source.data)[2500]
    assert source.ranges == [(pages[2].offset, pages[2].total)]
    assert reader.read(source, "code", 2501) == expected_cells(source.data)[2501]
    assert len(source.ranges) == 1


def test_dictionary_is_fetched_only_for_pages_that_need_it_and_then_once() -> None:
    words = ["alpha", "beta", "gamma"] * 40 + numbered_texts(200)
    layout = Layout(encoding="DICTIONARY", batch_rows=20, page_bytes=60, dictionary_bytes=2000)
    source, reader = MemoryBytes(layout.write(words, pa.string())), fresh_reader()
    group = reader.directories.build(source, "code").groups[0]
    assert group.dictionary is not None
    assert {page.encoding.name for page in group.pages if page.encoding is not None} == {"RLE_DICTIONARY", "PLAIN"}
    source.ranges.clear()
    reader.read(source, "code", len(words) - 1)
    assert group.dictionary not in source.ranges
    for row in (0, 30, 90):
        assert reader.read(source, "code", row) == words[row].encode()
    assert source.ranges.count(group.dictionary) == 1


@pytest.mark.parametrize(
    "options", ["compression zstd", "compression snappy, parquet_version v2", "row_group_size 2048"]
)
def test_files_of_another_writer(tmp_path: Path, options: str) -> None:
    path = tmp_path / "duck.parquet"
    query = "select case when i % 7 = 0 then null else repeat(chr(97 + (i % 26)::int), (i % 400)::int) end as code"
    duckdb_file(str(path), f"{query} from range(5000) t(i)", options)
    expected = expected_cells(path.read_bytes())
    rows = [*range(0, 5000, 37), 4999]
    assert read_cells(fresh_reader(), LocalBytes(path), "code", rows) == [expected[row] for row in rows]


@pytest.mark.parametrize("row", [-1, 50, 10**12])
def test_row_outside_the_file(row: int) -> None:
    source = MemoryBytes(Layout().write(numbered_texts(50), pa.string()))
    with pytest.raises(DataUnavailable, match="has no row"):
        fresh_reader().read(source, "code", row)


def test_columns_that_cannot_be_read_by_the_cell() -> None:
    table = pa.table(
        {
            "list": [["a"], ["b", "c"]],
            "struct": [{"x": 1}, {"x": 2}],
            "decimal": [Decimal("1.5"), Decimal("2.5")],
            "at": [datetime(2026, 1, 1, tzinfo=UTC)] * 2,
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    source, reader = MemoryBytes(sink.getvalue()), fresh_reader()
    for column, words in {"list": "nested", "struct": "nested", "none": "does not exist", "decimal": "cannot"}.items():
        with pytest.raises(DataUnavailable, match=words):
            reader.read(source, column, 1)
    assert reader.read(source, "at", 1) == 1767225600000000


def test_empty_file() -> None:
    source = MemoryBytes(Layout().write([], pa.string()))
    with pytest.raises(DataUnavailable, match="it has 0 rows"):
        fresh_reader().read(source, "code", 0)


def test_cache_stays_within_its_bound_and_gives_back_the_oldest() -> None:
    words = numbered_texts(40, lambda _: 10_000)
    source = MemoryBytes(Layout(codec="none", batch_rows=4, page_bytes=1).write(words, pa.string()))
    reader = fresh_reader(cache_bytes=150_000)  # three pages of 40 kB
    reader.directories.build(source, "code")
    source.ranges.clear()
    for row in (*range(40), *range(39, -1, -1)):
        assert reader.read(source, "code", row) == words[row].encode()
    assert len(source.ranges) == 10 + 7


def test_page_larger_than_the_cache_is_read_and_not_kept() -> None:
    words = numbered_texts(4, lambda _: 10_000)
    source, reader = MemoryBytes(Layout().write(words, pa.string())), fresh_reader(cache_bytes=1000)
    reader.directories.build(source, "code")
    source.ranges.clear()
    for _ in range(2):
        assert reader.read(source, "code", 2) == words[2].encode()
    assert len(source.ranges) == 2


def test_twenty_readers_of_a_page_fetch_it_once() -> None:
    words = numbered_texts(400)
    source = MemoryBytes(Layout(batch_rows=100, page_bytes=1).write(words, pa.string()))
    reader = fresh_reader()
    page = reader.directories.build(source, "code").groups[0].pages[2]
    source.ranges.clear()
    start = Barrier(20)

    def read(row: int) -> object:
        start.wait()
        return reader.read(source, "code", row)

    with ThreadPoolExecutor(20) as pool:
        cells = list(pool.map(read, range(200, 220)))
    assert cells == [word.encode() for word in words[200:220]]
    assert source.ranges == [(page.offset, page.total)]


def test_values_repeated_by_a_dictionary_are_not_unfolded() -> None:
    big = "w" * 100_000
    source = MemoryBytes(Layout(encoding="DICTIONARY").write([big] * 400, pa.string()))
    reader = fresh_reader(cache_bytes=200_000)
    assert reader.read(source, "code", 399) == big.encode()
    source.ranges.clear()
    assert reader.read(source, "code", 0) == big.encode()
    assert source.ranges == []  # unfolded they would take 40 MB and not be kept


class HeldBytes(MemoryBytes):
    """A file of which some ranges do not arrive until they are let go."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.held: set[int] = set()
        self.waiting: Queue[int] = Queue()
        self.let_go = Event()

    def _fetch(self, offset: int, length: int) -> bytes:
        if offset in self.held:
            self.waiting.put(offset)
            self.let_go.wait(60)
        return super()._fetch(offset, length)


def test_whoever_waits_for_bytes_holds_up_nobody_else() -> None:
    words = numbered_texts(64, lambda _: 2000) * 4
    layout = Layout(encoding="DICTIONARY", batch_rows=64, page_bytes=1)
    source = HeldBytes(layout.write(words, pa.string()))
    reader = fresh_reader(cache_bytes=60_000)  # holds the pages, but not the dictionary of 128 kB
    pages = reader.directories.build(source, "code").groups[0].pages
    assert reader.read(source, "code", 0) == words[0].encode()
    source.held = {page.offset for page in pages[1:]}
    with ThreadPoolExecutor(3) as pool:
        slow = [pool.submit(reader.read, source, "code", page.first_row) for page in pages[1:3]]
        for _ in slow:
            source.waiting.get(timeout=30)
        try:
            assert pool.submit(reader.read, source, "code", 1).result(timeout=30) == words[1].encode()
            other = MemoryBytes(layout.write(words, pa.string()), version="2")
            assert pool.submit(reader.read, other, "code", 70).result(timeout=30) == words[70].encode()
        finally:
            source.let_go.set()
    assert [cell.result() for cell in slow] == [words[page.first_row].encode() for page in pages[1:3]]
