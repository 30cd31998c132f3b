"""The views over files, and the limits of their values, over a few rows and without an engine."""

import hashlib
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kbdash.database.competition_views import sql_text
from kbdash.database.duck import quoted
from kbdash.database.rules import rule_statements

FIRST, BEYOND = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
STEP = timedelta(microseconds=1)
YEARS_S, YEARS_NS = 1e9, 1e18
"""Thirty years."""


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute(sql_text("view_values"))
        yield connection


def short(text: str) -> str:
    """A text of more than 500 letters: its start and a digest."""
    return f"{text[:480]}… {hashlib.md5(text.encode()).hexdigest()[:10]}" if len(text) > 500 else text


def test_a_long_text_keeps_its_start_and_a_digest(database: duckdb.DuckDBPyConnection) -> None:
    texts = ["", "a" * 500, "a" * 501, "a" * 2000, "é" * 400, "é" * 500, "é" * 501]
    found = [database.execute("select short_text(?)", [text]).fetchone() for text in texts]
    assert found == [(short(text),) for text in texts]


def test_times_before_1970_and_after_2199_are_none(database: duckdb.DuckDBPyConnection) -> None:
    for time, is_possible in ((FIRST - STEP, False), (FIRST, True), (BEYOND - STEP, True), (BEYOND, False)):
        found = database.execute("select epoch_us(possible_time(?::timestamptz))", [time.isoformat()]).fetchone()
        assert found == ((time - FIRST) // STEP if is_possible else None,)
    assert database.execute("select possible_time('infinity'::timestamptz)").fetchone() == (None,)


@pytest.mark.parametrize(
    ("score", "kept"),
    [
        *((score, score) for score in (None, 0.0, 1e-9, -1.0, math.nextafter(YEARS_S, 0.0), math.inf, -math.inf)),
        *((score, math.inf) for score in (YEARS_S, 1e300)),
        *((-score, -math.inf) for score in (YEARS_S, 1e300)),
    ],
)
def test_a_score_of_thirty_years_is_infinite(
    database: duckdb.DuckDBPyConnection, score: float | None, kept: float | None
) -> None:
    assert database.execute("select possible_score(?::double)", [score]).fetchone() == (kept,)


def test_what_is_no_number_stays_none(database: duckdb.DuckDBPyConnection) -> None:
    assert database.execute("select isnan(possible_score('nan'::double))").fetchone() == (True,)


def test_the_time_of_a_shape_is_below_thirty_years_or_not_there(database: duckdb.DuckDBPyConnection) -> None:
    less = math.nextafter(YEARS_NS, 0.0)
    for time, kept in ((0.0, 0.0), (less, less), (-less, -less), (YEARS_NS, None), (-YEARS_NS, None), (math.inf, None)):
        assert database.execute("select possible_ns(?::double)", [time]).fetchone() == (kept,)


def viewed(
    database: duckdb.DuckDBPyConnection, view: str, path: Path, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of a file as a view gives them."""
    pq.write_table(pa.Table.from_pylist(rows), path)
    names = {"competition": quoted("made"), "file": quoted(path.name), "location": quoted(str(path))}
    database.execute(sql_text(view).format(view="found", runs="found", **names))
    found = database.execute("from found order by file_row")
    listed: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
    return listed


def test_a_flat_file_as_rows(database: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "submission_id": "7", "leaderboard_id": "3", "problem_name": "gemm", "user_id": "u", "user_name": "Ann",
        "code_id": "5", "file_name": "a.py", "submission_time": "2025-01-02 03:04:05+00", "status": "done",
        "mode": "leaderboard", "passed": True, "score": "0.5", "runner": "B200",
    }  # fmt: skip
    sent = [row, row | {"submission_id": None}, row | {"submission_id": str(1 << 64)}, row | {"user_name": None}]
    first, second = viewed(database, "view_flat", tmp_path / "flat.parquet", sent)
    assert first == {
        "competition": "made", "file": "flat.parquet", "file_row": 0, "submission_id": 7, "leaderboard_id": 3,
        "problem": "gemm", "user_id": "u", "user_name": "Ann", "code_id": 5, "file_name": "a.py",
        "submitted_at": datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC), "status": "done", "mode": "leaderboard",
        "passed": True, "score": 0.5, "runner": "B200",
    }  # fmt: skip
    assert second == first | {"file_row": 3, "user_name": ""}


def run(**more: Any) -> dict[str, Any]:
    return {
        "submission_id": 7, "leaderboard_id": 1, "user_id": "u", "code_id": 5, "file_name": "a.py",
        "submission_time": datetime(2025, 1, 2, tzinfo=UTC), "run_mode": "leaderboard", "run_passed": True,
        "run_score": 0.5, "run_system_info": {"gpu": "MI300X"},
    } | more  # fmt: skip


@pytest.fixture
def boards(database: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Two boards with a runner of their own, of which one has a second machine, and the rule of what is ranked."""
    for statement in rule_statements([], []):
        database.execute(statement)
    database.execute("insert into boards values (1, 'gemm', 'MI300'), (2, 'sort', 'B200')")
    database.execute("delete from other_hardware")
    database.execute("insert into other_hardware values ('MI355', 'MI300', 'Second')")
    return database


def test_a_run_belongs_to_its_board_and_machine(boards: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    sent = [
        run(),
        run(run_system_info={"gpu": "MI355X of AMD"}),
        run(run_system_info={"gpu": "not an MI355X"}),
        run(leaderboard_id=2, run_system_info={"gpu": "MI355X"}),
        run(leaderboard_id=9),
        run(run_mode=None),
        run(submission_id=None),
    ]
    found = viewed(boards, "view_runs", tmp_path / "runs.parquet", sent)
    assert [(row["file_row"], row["problem"], row["runner"]) for row in found] == [
        (0, "gemm", "MI300"), (1, "gemm", "Second"), (2, "gemm", "MI300"), (3, "sort", "B200"),
        (4, "board-9", "MI300X"), (5, "gemm", None),
    ]  # fmt: skip


def test_the_stage_of_a_run_and_whether_it_is_ranked(boards: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    modes = {"leaderboard": 3, "benchmark": 2, "test": 1, "profile": 0, None: 0}
    found = viewed(boards, "view_runs", tmp_path / "modes.parquet", [run(run_mode=mode) for mode in modes])
    assert [row["stage"] for row in found] == list(modes.values())
    assert [bool(row["ranked"]) for row in found] == [True, False, False, False, False]
    odd = [run(run_passed=False), *(run(run_score=score) for score in (None, 0.0, -1.0, math.inf, 1e-6))]
    ranked = [bool(row["ranked"]) for row in viewed(boards, "view_runs", tmp_path / "odd.parquet", odd)]
    assert ranked == [False, False, False, False, False, True]
