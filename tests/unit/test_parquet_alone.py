"""Parts of the page reader asked alone: what is kept, what is told apart at a bound."""

import threading
from dataclasses import replace

import pyarrow as pa
import pytest

from kbdash.code.parquet import cell
from kbdash.code.parquet.directory import Page
from kbdash.code.parquet.plain import MAX_TEXT_BYTES, check_length
from kbdash.code.parquet.row_ids import RowIds, _read_ids, _Window
from kbdash.code.reader import CodeReader
from kbdash.errors import CorruptData, DataUnavailable
from tests.unit.parquet_samples import Layout, MemoryBytes, fresh_reader


def test_two_texts_of_large_pages_are_kept_however_long_and_a_missing_one_takes_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cell, "MAX_TEXT_BYTES", 10)
    kept = fresh_reader()._texts
    made: list[str] = []

    def get(name: str, text: bytes | None) -> bytes | None:
        def make() -> bytes | None:
            made.append(name)
            return text

        return kept.get(("file", "1", 0, ord(name)), make)  # type: ignore[return-value]

    for name, text in (("a", b"a" * 10), ("n", None), ("b", b"b" * 10), ("a", b""), ("n", b""), ("b", b"")):
        get(name, text)
    assert made == ["a", "n", "b"], "all three stay"
    assert (get("c", b"c" * 10), get("b", b""), get("a", b"again")) == (b"c" * 10, b"b" * 10, b"again")


def test_a_page_stands_alone_if_it_is_large_and_its_header_at_most_a_quarter_of_that() -> None:
    least = next(size for size in range(1 << 20) if Page(0, size, 0, 1).stands_alone)
    page = Page(0, least, 0, 1, header_bytes=least // 4)
    assert page.stands_alone
    assert not replace(page, header_bytes=least // 4 + 1).stands_alone
    assert replace(page, total=3 * least).stands_alone


def test_ids_of_rows_are_read_with_a_dictionary_and_without() -> None:
    for encoding in ("DICTIONARY", "PLAIN"):
        source = MemoryBytes(Layout(encoding=encoding).write([7, None, 7, 9], pa.int64(), "submission_id"))
        ids = RowIds(fresh_reader().directories)
        assert [ids.id_of(source, row) for row in range(4)] == [7, None, 7, 9]


def test_ids_in_too_long_a_stretch_of_bytes_or_rows_are_refused_unread() -> None:
    source = MemoryBytes(Layout().write([7], pa.int64(), "submission_id"))
    directory = RowIds(fresh_reader().directories)._directory(source)
    group = directory.groups[0]
    source.ranges.clear()
    for long in (replace(group, end=group.start + (1 << 30)), replace(group, rows=1 << 30)):
        with pytest.raises(DataUnavailable, match="too many to check"):
            _read_ids(source, directory, long)
    assert not source.ranges


def test_a_page_of_ids_lies_inside_what_was_fetched() -> None:
    window = _Window(MemoryBytes(bytes(100)), 10, bytes(range(20)))
    assert window.read(10, 20) == bytes(range(20))
    for offset, length in ((9, 1), (11, 20), (30, 1), (50, 1)):
        with pytest.raises(CorruptData, match="outside its column chunk"):
            window.read(offset, length)


def test_a_text_of_the_greatest_length_is_read_and_no_longer_one() -> None:
    check_length(MAX_TEXT_BYTES)
    with pytest.raises(DataUnavailable, match="only texts up to"):
        check_length(MAX_TEXT_BYTES + 1)


def test_an_index_is_built_by_a_thread_that_keeps_no_process_alive() -> None:
    built: list[tuple[str, bool]] = []
    ended = threading.Event()

    def build(name: str) -> None:
        built.append((name, threading.current_thread().daemon))
        ended.set()

    reader = CodeReader.__new__(CodeReader)
    reader._lock, reader._indexing, reader._retry_at = threading.Lock(), {}, {}
    reader._build = build  # type: ignore[method-assign]
    for _ in range(2):
        reader.index("a.parquet")
    assert ended.wait(30)
    assert built == [("a.parquet", True)]
