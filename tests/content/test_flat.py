"""Columns unpacked into files: the same numbers and bytes, nothing left behind, little memory."""

import errno
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kbdash.content.store import flat
from kbdash.errors import DataUnavailable
from tests.content.files import Made, Sent

ROWS = 300_000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Table]:
    chance = np.random.default_rng(3)
    words = [b"", b"\0", "é".encode(), b"\xff line"]
    made = pa.table(
        {
            "one": pa.array(chance.integers(-9, 9, ROWS), pa.int32()),
            "two": pa.array(np.arange(ROWS), pa.int32()),
            "line": pa.array([words[at % 4] for at in range(ROWS)], pa.large_binary()),
        }
    )
    path = tmp_path_factory.mktemp("flat") / "made.parquet"
    pq.write_table(made, path, row_group_size=100_001)
    return path, made


def test_columns_are_what_the_file_holds_and_no_file_is_left(table: tuple[Path, pa.Table]) -> None:
    path, made = table
    rows = flat.IntRows(path, ["one", "two"])
    for first, count in ((0, 0), (0, 3), (100_000, 5), (ROWS - 1, 1), (0, ROWS)):
        wanted = np.column_stack([made.column(name).slice(first, count).to_numpy() for name in ("one", "two")])
        assert np.array_equal(rows.read(first, count), wanted)
    assert np.array_equal(flat.numbers(path, "one"), made.column("one").to_numpy())
    blob, bounds = flat.joined_bytes(path, "line")
    assert [blob[bounds[at] : bounds[at + 1]] for at in range(ROWS)] == made.column("line").to_pylist()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_an_empty_table_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"one": pa.array([], pa.int32()), "line": pa.array([], pa.large_binary())}), path)
    assert len(flat.numbers(path, "one")) == len(flat.IntRows(path, ["one"]).read(0, 0)) == 0
    assert flat.joined_bytes(path, "line")[0] == b""


def test_opening_takes_a_batch_of_memory_and_not_a_column(table: tuple[Path, pa.Table]) -> None:
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    numbers, rows = flat.numbers(table[0], "two"), flat.IntRows(table[0], ["one", "two"])
    kept = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - before
    tracemalloc.stop()
    assert kept < ROWS  # a column is four times as much
    assert int(numbers[-1]) == int(rows.read(ROWS - 1, 1)[0, 1]) == ROWS - 1


def test_a_folder_that_cannot_be_written_to(table: tuple[Path, pa.Table], monkeypatch: pytest.MonkeyPatch) -> None:
    made = tempfile.TemporaryFile

    def refused(**where: Path) -> object:
        if where:
            raise PermissionError(errno.EACCES, "read-only")
        return made()

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    assert np.array_equal(flat.numbers(table[0], "two"), np.arange(ROWS))


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Made([Sent(1, b"a\nb")]).store(tmp_path)

    def full(folder: Path) -> object:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(flat, "_nameless", full)
    with pytest.raises(DataUnavailable, match="disk space"):
        store.text(0)
