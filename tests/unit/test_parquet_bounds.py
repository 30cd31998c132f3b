"""Files made to cost much: refused at once or read in bounded memory, and nobody else waits for them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import thread_time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kbdash.code.parquet import LocalBytes, inspect
from kbdash.code.parquet import footer as footers
from kbdash.code.parquet.footer import (
    MAX_COLUMN_CHUNKS,
    MAX_FOOTER_BYTES,
    MAX_ROW_GROUPS,
    MAX_SCHEMA_DEPTH,
    MAX_SCHEMA_ELEMENTS,
)
from kbdash.code.parquet.plain import MAX_TEXT_BYTES
from kbdash.code.parquet.thrift import Field, binary, i32, i64, listed, read_struct, struct_of, varint
from kbdash.errors import CorruptData, DataUnavailable, UnsafeFile
from tests.unit.parquet_samples import Layout, MemoryBytes, fresh_reader

MEGABYTE = 1 << 20
SCHEMA, ROWS, GROUPS = 2, 3, 4


def file_with_footer(footer: bytes) -> MemoryBytes:
    return MemoryBytes(b"PAR1" + bytes(16) + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def group(name: str, children: int) -> Field:
    return struct_of({3: i32(0), 4: binary(name.encode()), 5: i32(children)})


def leaf(name: str = "a") -> Field:
    return struct_of({1: i32(2), 3: i32(0), 4: binary(name.encode())})


def chunk(column: str, start: int = 4, length: int = 0) -> Field:
    facts = {1: i32(2), 2: listed([i32(0)]), 3: listed([binary(column.encode())]), 4: i32(0), 5: i64(0), 7: i64(length)}
    return struct_of({2: i64(4), 3: struct_of({**facts, 9: i64(start)})})


def footer(schema: list[Field], groups: list[Field]) -> bytes:
    return struct_of({1: i32(2), SCHEMA: listed(schema), ROWS: i64(0), GROUPS: listed(groups)})[1]


def row_group(*chunks: Field) -> Field:
    return struct_of({1: listed(list(chunks)), 2: i64(0), 3: i64(0)})


def nested(depth: int) -> bytes:
    return footer([*(group("g", 1) for _ in range(depth + 1)), leaf()], [])


HOSTILE = {
    "11,054 nested groups": lambda: nested(11_054),
    "nested a little too deep": lambda: nested(MAX_SCHEMA_DEPTH + 1),
    "16 MB": lambda: footer([group("root", 1), leaf("a" * (16 * MEGABYTE))], []),
    "8 MB of empty structs": lambda: b"\x19\xfc" + varint(MAX_FOOTER_BYTES - 100) + bytes(MAX_FOOTER_BYTES - 90),
    "half a million schema elements": lambda: b"\x29\xfc" + varint(490_000) + bytes(490_000) + b"\x29\x0c\0",
    "100,000 row groups": lambda: footer([group("root", 1), leaf()], [row_group(chunk("a"))] * 100_000),
    "10,001 row groups": lambda: footer([group("root", 1), leaf()], [row_group(chunk("a"))] * (MAX_ROW_GROUPS + 1)),
    "10,000 columns": lambda: footer(
        [group("root", MAX_SCHEMA_ELEMENTS), *(leaf(f"c{at}") for at in range(MAX_SCHEMA_ELEMENTS))], []
    ),
    "too many chunks": lambda: footer(
        [group("root", 1_000), *(leaf(f"c{at}") for at in range(1_000))],
        [row_group()] * (MAX_COLUMN_CHUNKS // 1_000 + 1),
    ),
    "fewer elements than promised": lambda: footer([group("root", 3), leaf()], []),
    "more elements than promised": lambda: footer([group("root", 1), leaf(), leaf("b")], []),
    "groups that promise two billion": lambda: footer([group("root", 2**31 - 1), leaf()], []),
    "a chunk outside the file": lambda: footer(
        [group("root", 1), leaf()], [struct_of({1: listed([chunk("a", 4, 1 << 40)]), 2: i64(0), 3: i64(9)})]
    ),
    "negative": lambda: footer([group("root", -1), leaf()], []),
    "structs in structs": lambda: b"\x8c" * 100_000,
    "lists in lists": lambda: b"\x89" + b"\x19" * 100_000,
}


# These cost the most to parse, so they are not read again at once.
BEYOND_A_BOUND = {
    "11,054 nested groups", "nested a little too deep", "half a million schema elements", "100,000 row groups",
    "10,001 row groups", "10,000 columns", "too many chunks", "8 MB of empty structs",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_footers_are_refused_at_once(name: str) -> None:
    source = file_with_footer(HOSTILE[name]())
    start = thread_time()
    with pytest.raises(CorruptData, match=r"sample\.parquet") as refused:
        inspect(source)
    assert thread_time() - start < 5
    assert refused.value.advice
    assert isinstance(refused.value, UnsafeFile) == (name in BEYOND_A_BOUND), refused.value


def test_a_footer_that_passed_is_parsed_once_and_only_that_one_passes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {1: i32(2), 2: listed([i32(0)]), 3: listed([binary(b"once")]), 4: i32(0), 5: i64(9), 7: i64(16), 9: i64(4)}
    rows = struct_of({1: listed([struct_of({2: i64(4), 3: struct_of(facts)})]), 2: i64(0), 3: i64(9)})
    schema = listed([group("root", 1), leaf("once")])
    safe = struct_of({1: i32(2), SCHEMA: schema, ROWS: i64(9), GROUPS: listed([rows])})[1]
    parsed: list[bytes] = []
    monkeypatch.setattr(footers, "read_struct", lambda data, shape: parsed.append(data) or read_struct(data, shape))
    inspect(file_with_footer(safe))
    inspect(file_with_footer(safe))
    assert parsed == [safe]
    # The same footer in a shorter file: its chunk would lie outside.
    shorter = MemoryBytes(b"PAR1" + safe + len(safe).to_bytes(4, "little") + b"PAR1")
    for source in (shorter, shorter, file_with_footer(safe.replace(b"once", b"then", 1))):
        with pytest.raises(CorruptData):
            inspect(source)


def test_a_schema_as_deep_as_allowed_is_read() -> None:
    inspect(file_with_footer(nested(MAX_SCHEMA_DEPTH - 1)))


def test_every_file_of_the_sample_passes(sample_folder: Path) -> None:
    for path in sample_folder.glob("*.parquet"):
        inspect(LocalBytes(path))


def test_a_wide_file_passes(tmp_path: Path) -> None:
    """As wide as the widest real files: 240 columns, with structs, in 14 row groups."""
    table = pa.table(
        {"s": [{f"benchmark.{at}.mean": "1" for at in range(230)}], **{f"c{at}": ["x"] for at in range(10)}}
    )
    with pq.ParquetWriter(tmp_path / "wide.parquet", table.schema) as writer:
        for _ in range(14):
            writer.write_table(table)
    inspect(LocalBytes(tmp_path / "wide.parquet"))


@pytest.mark.parametrize("codec", ["zstd", "gzip", "brotli"])
def test_a_small_page_that_unpacks_to_very_much_is_refused_unread(codec: str) -> None:
    bomb = MemoryBytes(Layout(codec).write(["x" * (40 * MEGABYTE)] * 2, pa.large_string()))
    assert bomb.size < 200_000
    before, start = pa.total_allocated_bytes(), thread_time()
    with pytest.raises(CorruptData, match="claims to hold 80 MB") as refused:
        fresh_reader().read(bomb, "code", 0)
    assert refused.value.advice
    assert pa.total_allocated_bytes() - before < MEGABYTE
    assert thread_time() - start < 1


def test_a_text_too_long_to_show_is_refused_and_its_neighbour_read() -> None:
    texts = ["short", "x" * (MAX_TEXT_BYTES + 1)]
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY"):
        source, reader = MemoryBytes(Layout(encoding=encoding).write(texts, pa.large_string())), fresh_reader()
        assert reader.read(source, "code", 0) == b"short"
        with pytest.raises(DataUnavailable, match="16 MB long"):
            reader.read(source, "code", 1)


LARGE = """
import resource, sys
from concurrent.futures import ThreadPoolExecutor
from kbdash.code.parquet import CellReader, LocalBytes, PageDirectories
source, reader = LocalBytes(sys.argv[1]), CellReader(PageDirectories())
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
before = peak()
with ThreadPoolExecutor(4) as pool:
    cells = list(pool.map(lambda row: reader.read(source, "code", row), [3, 900, 3, 500]))
assert [cell[:9] if cell else cell for cell in cells] == [b"<row 003>", b"<row 900>", b"<row 003>", b"<row 500>"]
assert reader.read(source, "code", 7) is None
print(peak() - before)
"""


def write_large_page(path: Path) -> None:
    """1,024 texts of 80 kB in one page of 80 MB, as snappy packs source code: to a third or less."""
    filler = "".join(f"float x{at} = tile[{at * 7919 % 1000}];\n" for at in range(4000))
    texts = [None if row == 7 else f"<row {row:03d}>{filler[row:80_000]}" for row in range(1024)]
    pq.write_table(pa.table({"code": pa.array(texts, pa.large_string())}), path, use_dictionary=False)


def test_a_large_page_is_read_in_the_memory_of_one_such_page(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    write_large_page(path)
    packed = path.stat().st_size / MEGABYTE
    assert 8 < packed < 40
    taken = subprocess.run([sys.executable, "-c", LARGE, str(path)], capture_output=True, text=True, check=True)
    assert int(taken.stdout) < 80 + packed * 2 + 30  # MB: one page, its packed bytes, and the reader itself


def test_readers_of_ordinary_pages_do_not_wait_for_a_large_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbdash.code.parquet import cell as cells

    working, go_on = Event(), Event()
    unpack = cells._text_of_large
    unpacked: list[object] = []

    def held(*page: object) -> object:
        unpacked.append(page)
        working.set()
        go_on.wait(60)
        return unpack(*page)

    monkeypatch.setattr(cells, "_text_of_large", held)
    path = tmp_path / "large.parquet"
    write_large_page(path)
    small = MemoryBytes(Layout().write(["a", "b"], pa.string()))
    reader = fresh_reader()
    with ThreadPoolExecutor(5) as pool:
        slow = [pool.submit(reader.read, LocalBytes(path), "code", row) for row in (1, 2, 1, 3)]
        try:
            assert working.wait(60)
            assert pool.submit(reader.read, small, "code", 1).result(30) == b"b"
            assert len(unpacked) == 1, "one at a time, or four readers take the memory of four pages"
        finally:
            go_on.set()
    assert [one.result()[:9] for one in slow] == [b"<row 001>", b"<row 002>", b"<row 001>", b"<row 003>"]
    assert len(unpacked) == 3, "two who ask for one text share it"
