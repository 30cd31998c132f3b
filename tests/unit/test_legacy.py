"""AMD legacy files, a row per run: what becomes of their runs, and the ranking, against the reference."""

import math
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbdash
from kbdash.dataset import catalog
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Board
from kbdash.engine import KernelBot
from tests.examples import examples
from tests.unit import comparison, reference
from tests.unit.reference import Row, Scope
from tests.unit.tables import LEGACY, write_runs
from tests.unit.test_ranking import DAYS, MIDNIGHT, NOON, SCORES, TICK

BOARDS = {399: "amd-fp8-mm", 563: "amd-all2all"}
GPUS = (None, "AMD Instinct MI300X", "AMD Instinct MI300X VF", "AMD Instinct MI325X", "AMD Instinct MI325X VF")
MODES = ("leaderboard",) * 9 + ("benchmark", "test", "profile.0")
TIMES = [at.replace(tzinfo=None) for at in (NOON, NOON, MIDNIGHT - TICK, MIDNIGHT, MIDNIGHT + timedelta(days=1))]

runs = st.lists(
    st.fixed_dictionaries(
        {
            "run_mode": st.sampled_from(MODES),
            "run_passed": st.sampled_from((True,) * 6 + (False, None)),
            "run_score": st.sampled_from(SCORES),
            "run_system_info": st.sampled_from((*({"gpu": gpu} for gpu in GPUS), None)),
        }
    ),
    max_size=3,
)
submissions = st.lists(
    st.tuples(st.sampled_from(tuple(BOARDS)), st.integers(1, 6), st.sampled_from(TIMES), runs),
    min_size=15,
    max_size=40,
)
scopes = st.builds(
    Scope,
    runner=st.sampled_from((None, "MI300", "MI325", "MI300x8", "MI325x8")),
    since=st.sampled_from(DAYS),
    until=st.sampled_from(DAYS),
    flagged=st.booleans(),
)


def legacy_rows(generated: list[tuple[int, int, datetime, list[dict[str, Any]]]], seed: int) -> list[dict[str, Any]]:
    """A row per run, one of nulls for a submission without runs, in no order."""
    rows = [
        run | {"submission_id": 1000 + (number * 7) % 41, "leaderboard_id": board, "user_id": user,
               "submission_time": at, "code_id": number % 3, "file_name": "submission.py", "code": b"never read"}
        for number, (board, user, at, own) in enumerate(generated)
        for run in own or [{}]
    ]  # fmt: skip
    random.Random(seed).shuffle(rows)
    return rows


@contextmanager
def engine_over(rows: list[dict[str, Any]]) -> Iterator[tuple[KernelBot, dict[str, list[Row]]]]:
    """kbdash and the reference over a folder with these runs."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / LEGACY
        write_runs(rows, path)
        kb = kbdash.connect(name, settings=Settings(cache=Path(name), query_seconds=120.0))
        by_problem = reference.grouped(reference.read(path), lambda row: row.problem)
        yield kb, {problem: by_problem.get(problem, []) for problem in BOARDS.values()}
        kb.close()


@examples(12)
@given(submissions, scopes, st.integers(0, 9))
def test_leaderboards_of_runs_are_those_of_the_reference(generated: list[Any], scope: Scope, seed: int) -> None:
    with engine_over(legacy_rows(generated, seed)) as (kb, expected):
        for problem, rows in expected.items():
            comparison.check_leaderboard(kb, problem, rows, scope)
            comparison.check_records(kb, problem, rows, scope)
            comparison.check_summary(kb, problem, rows, scope)


def ranked(**fields: Any) -> dict[str, Any]:
    """A ranked run that passed on the board's own machine."""
    return {
        "submission_id": 1, "leaderboard_id": 399, "user_id": 44, "submission_time": TIMES[0], "code_id": 1,
        "run_mode": "leaderboard", "run_passed": True, "run_score": 1e-4,
        "run_system_info": {"gpu": "AMD Instinct MI300X"},
    } | fields  # fmt: skip


FAILED = {"run_passed": False}
NO_RUN = {"run_mode": None, "run_passed": None, "run_score": None, "run_system_info": None}
CASES: Mapping[str, tuple[list[dict[str, Any]], tuple[Any, ...]]] = {
    "the lowest of public and secret runs": (
        [{}, {"run_score": 9e-5}, {"run_score": 2e-4}],
        ("MI300", "leaderboard", True, 9e-5, "succeeded", 1),
    ),
    "a ranked run that failed does not spoil one that passed": (
        [{"run_score": 5e-5} | FAILED, {}],
        ("MI300", "leaderboard", True, 1e-4, "succeeded", 1),
    ),
    "the score of a failed run is not that of a passed one": (
        [{"run_score": 5e-5} | FAILED, {"run_score": None}],
        ("MI300", "leaderboard", True, None, "succeeded", 1),
    ),
    "nor is the score of a benchmark": (
        [{"run_mode": "benchmark", "run_score": 5e-5}, {"run_score": math.nan}],
        ("MI300", "leaderboard", True, None, "succeeded", 1),
    ),
    "a failed ranked run": ([{"run_score": None} | FAILED], ("MI300", "leaderboard", False, None, "failed", 0)),
    "only a test": ([{"run_mode": "test", "run_score": None}], ("MI300", "test", True, None, "succeeded", 0)),
    "a test that failed": (
        [{"run_mode": "test", "run_score": None} | FAILED],
        ("MI300", "test", False, None, "failed", 0),
    ),
    "the furthest stage": (
        [{"run_mode": "benchmark", "run_score": None} | FAILED, {"run_mode": "test", "run_score": None}],
        ("MI300", "benchmark", False, None, "failed", 0),
    ),
    "no run at all": ([NO_RUN], (None, None, None, None, "no run", 0)),
    "a device that does not tell its name": (
        [{"run_system_info": {"gpu": None}}],
        ("MI300", "leaderboard", True, 1e-4, "succeeded", 0),
    ),
    "another device": (
        [{"run_system_info": {"gpu": "AMD Instinct MI325X"}}],
        ("MI325", "leaderboard", True, 1e-4, "succeeded", 0),
    ),
    "eight of another device": (
        [{"run_system_info": {"gpu": "AMD Instinct MI325X VF"}, "leaderboard_id": 563}],
        ("MI325x8", "leaderboard", True, 1e-4, "succeeded", 0),
    ),
}


MORE: Mapping[str, list[dict[str, Any]]] = {
    "two machines": [{}, {"run_score": 8e-5, "run_system_info": {"gpu": "AMD Instinct MI325X"}}],
    "plain": [{}],
    "unknown board": [{"leaderboard_id": 9999}],
}


@pytest.fixture(scope="module")
def canonical() -> Mapping[str, pd.DataFrame]:
    """The canonical rows made of the runs of each case, all out of one file; `file_row` counts within the case."""
    cases = {name: runs for name, (runs, _) in CASES.items()} | MORE
    rows = [ranked(submission_id=number, **run) for number, runs in enumerate(cases.values()) for run in runs]
    with engine_over(rows) as (kb, _):
        answer = kb.sql("from submissions order by submission_id, runner nulls last")
    made, first = {}, 0
    for number, (name, runs) in enumerate(cases.items()):
        own = answer[answer["submission_id"] == number].reset_index(drop=True)
        made[name] = own.assign(file_row=own["file_row"] - first)
        first += len(runs)
    return made


@pytest.mark.parametrize("case", CASES)
def test_the_runs_of_a_submission_become_one_row(canonical: Mapping[str, pd.DataFrame], case: str) -> None:
    _, expected = CASES[case]
    rows = comparison.plain(canonical[case])
    fields = ("runner", "mode", "passed", "score", "status", "file_row")
    places = [row.pop("file_row") for row in rows]
    assert [tuple(row[field] for field in fields[:-1]) for row in rows] == [expected[:-1]]
    assert expected[3] is None or places == [expected[-1]]


def test_a_submission_on_two_machines_has_a_row_on_each(canonical: Mapping[str, pd.DataFrame]) -> None:
    rows = canonical["two machines"]
    assert list(zip(rows["runner"], rows["score"], strict=True)) == [("MI300", 1e-4), ("MI325", 8e-5)]


def test_times_without_zone_are_utc_and_users_are_numbers_with_a_name(canonical: Mapping[str, pd.DataFrame]) -> None:
    row = canonical["plain"].iloc[0]
    assert row["submitted_at"] == pd.Timestamp(NOON)
    assert (row["user_id"], row["user_name"], row["problem"]) == ("44", "user 44", "amd-fp8-mm")


def test_a_board_that_the_catalog_does_not_know_is_named_after_its_id(canonical: Mapping[str, pd.DataFrame]) -> None:
    row = canonical["unknown board"].iloc[0]
    assert (row["problem"], row["leaderboard_id"]) == ("board-9999", 9999)
    assert row["runner"] == "AMD Instinct MI300X"


def timed(*means: float, **fields: Any) -> dict[str, Any]:
    """A ranked run that logged these times of its shapes."""
    result = {f"benchmark.{i}.mean": repr(mean) for i, mean in enumerate(means)}
    result |= {f"benchmark.{i}.spec": f"m: {i}" for i in range(len(means))}
    return ranked(run_result=result, run_score=math.prod(means) ** (1 / len(means)) / 1e9, **fields)


def test_shapes_are_those_of_the_best_run() -> None:
    with engine_over([timed(5e5, 8e5), timed(4e5, 9e5), timed(4e5, 4e5, run_passed=False)]) as (kb, _):
        shapes = kb.shapes("amd-fp8-mm", users=["44"])
    assert shapes["mean_ns"].tolist() == [4e5, 9e5]
    assert shapes["spec"].tolist() == ["m: 0", "m: 1"]
    assert shapes["score"].tolist() == [pytest.approx(6e-4)] * 2


def test_two_competitions_with_a_row_per_run_are_both_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    amd = next(each for each in catalog.COMPETITIONS if each.slug == "amd-mi300")
    board = Board(9001, "second-mm", "Second", "A board of the other competition.", ("MI300",))
    second = replace(amd, slug="second", files=("second.parquet",), boards=(board,))
    monkeypatch.setattr(catalog, "COMPETITIONS", (*catalog.COMPETITIONS, second))
    write_runs([timed(5e5, 8e5)], tmp_path / LEGACY)
    write_runs([timed(1e5, 2e5, leaderboard_id=9001), timed(3e5, leaderboard_id=9001)], tmp_path / "second.parquet")
    kb = kbdash.connect(tmp_path, settings=Settings(cache=tmp_path, query_seconds=120.0))
    kb._database.wait_until_opened(60.0)
    for slug, problem, times, runs in (
        ("amd-mi300", "amd-fp8-mm", [5e5, 8e5], 1),
        ("second", "second-mm", [1e5, 2e5], 2),
    ):
        assert len(kb.leaderboard(problem, competition=slug)) == 1
        assert kb.shapes(problem, competition=slug)["mean_ns"].tolist() == times
        assert len(kb.frame("noise_runs", competition=slug, problem=problem, runner=None)) == runs
    counted = kb.sql(
        "select competition, count(*) as n from shapes where mean_ns is not null group by all order by all"
    )
    assert counted.to_dict("list") == {"competition": ["amd-mi300", "second"], "n": [2, 3]}
    kb.close()
