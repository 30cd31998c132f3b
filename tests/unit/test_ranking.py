"""The ranking rule on generated rows of a flat file: kbdash and the reference must agree on every value."""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import kbdash
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from tests.examples import examples
from tests.unit import comparison, reference
from tests.unit.reference import Row, Scope
from tests.unit.tables import NVFP4, write_flat

BOARDS = {595: "nvfp4_gemv", 730: "nvfp4_group_gemm"}
USERS = (("7", "ada"), ("8", "ada"), ("103906690925649842288", ""), ("42", "_$|<b>🍪"), ("43", "eve"), ("44", "bob"))
KNOWN_CASES = (506336, 506188)
# Few values, so that ties inside and between users are common; both sides of every threshold; and what never counts.
SCORES = (
    *(1e-5, 2e-5, 3e-5) * 5, math.nextafter(1e-5, 1), 8.85,
    8.27e-06, math.nextafter(8.27e-06, 0), 1.203e-05, math.nextafter(1.203e-05, 0), 4.2e-06,
    1e-7, math.nextafter(1e-7, 0), math.nextafter(1e-7, 0), 4.6e-25, 5e-324,
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, -1e-5, 1e303,
)  # fmt: skip
NOON = datetime(2025, 12, 20, 12, tzinfo=UTC)
MIDNIGHT = datetime(2025, 12, 21, tzinfo=UTC)
TICK = timedelta(microseconds=1)
TIMES = (NOON, NOON, MIDNIGHT - TICK, MIDNIGHT, MIDNIGHT + TICK, MIDNIGHT + timedelta(days=1), NOON - timedelta(9))
DAYS = (None, None, None, date(2025, 12, 11), date(2025, 12, 20), date(2025, 12, 21), date(2025, 12, 22))

runs = st.fixed_dictionaries(
    {
        "score": st.sampled_from(SCORES),
        "passed": st.sampled_from((True,) * 10 + (False, None)),
        "mode": st.sampled_from(("leaderboard",) * 14 + ("benchmark", "test", "profile.0", None)),
    }
)
NO_RUN = {None: {"score": None, "passed": None, "mode": None}}
NOWHERE = {None: {"score": 1e-5, "passed": True, "mode": "leaderboard"}}
submissions = st.lists(
    st.tuples(
        st.sampled_from(tuple(BOARDS)),
        st.sampled_from(USERS),
        st.sampled_from(TIMES),
        st.dictionaries(st.sampled_from(("NVIDIA", "B200")), runs, min_size=1),
        st.sampled_from((None,) * 10 + (NO_RUN, NOWHERE)),
    ),
    min_size=20,
    max_size=60,
)
scopes = st.builds(
    Scope,
    runner=st.sampled_from((None, None, "NVIDIA", "B200", "H100")),
    since=st.sampled_from(DAYS),
    until=st.sampled_from(DAYS),
    flagged=st.booleans(),
)


def flat_rows(generated: list[Any]) -> list[dict[str, Any]]:
    """Rows as the exporter writes them: one per submission and runner, ids in no order of time."""
    cases = iter(KNOWN_CASES)
    rows: list[dict[str, Any]] = []
    for number, (board, (user_id, user_name), at, ran, instead) in enumerate(generated):
        by_runner = instead or ran
        case = next(cases, None) if board == 730 and number % 3 == 0 else None
        for runner, run in by_runner.items():
            rows.append(
                run
                | {
                    "submission_id": case or 1000 + (number * 7) % 61,
                    "leaderboard_id": board,
                    "problem_name": BOARDS[board],
                    "user_id": user_id,
                    "user_name": user_name or None,
                    "code_id": number % 3,
                    "file_name": "submission.py",
                    "submission_time": at,
                    "runner": runner,
                    "code": "never read",
                }
            )
    return rows


@contextmanager
def engine_over(rows: list[Any]) -> Iterator[tuple[KernelBot, dict[str, list[Row]]]]:
    """kbdash and the reference over a folder with these rows."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / NVFP4
        write_flat(rows, path)
        kb = kbdash.connect(name, settings=Settings(cache=Path(name)))
        by_problem = reference.grouped(reference.read(path), lambda row: row.problem)
        yield kb, {problem: by_problem.get(problem, []) for problem in BOARDS.values()}
        kb.close()


@examples(16)
@given(submissions, scopes)
def test_leaderboards_are_those_of_the_reference(generated: list[Any], scope: Scope) -> None:
    with engine_over(flat_rows(generated)) as (kb, expected):
        for problem, rows in expected.items():
            comparison.check_leaderboard(kb, problem, rows, Scope())
            comparison.check_leaderboard(kb, problem, rows, scope)


@examples(5)
@given(submissions, scopes)
def test_what_follows_from_the_ranking_agrees_with_the_reference(generated: list[Any], scope: Scope) -> None:
    with engine_over(flat_rows(generated)) as (kb, expected):
        for number, (problem, rows) in enumerate(expected.items()):
            comparison.check_records(kb, problem, rows, scope)
            comparison.check_summary(kb, problem, rows, scope)
            comparison.check_standing(kb, problem, rows, scope)
            comparison.check_distribution(kb, problem, rows, scope)
            comparison.check_people(kb, problem, rows, scope, sorted({row.user_id for row in rows})[number::2])


def row(**fields: Any) -> dict[str, Any]:
    """A ranked row that passed."""
    return {
        "submission_id": 1, "leaderboard_id": 597, "problem_name": "nvfp4_gemm", "user_id": "7", "user_name": "ada",
        "code_id": 1, "submission_time": NOON, "score": 1e-5, "passed": True, "mode": "leaderboard",
        "runner": "NVIDIA",
    } | fields  # fmt: skip


def ranks(rows: list[Any], **scope: Any) -> list[tuple[int, str, int]]:
    """(rank, user, submission) of the leaderboard of nvfp4_gemm."""
    with engine_over(rows) as (kb, _):
        board = kb.leaderboard("nvfp4_gemm", **scope)
        return list(zip(board["rank"], board["user_id"], board["submission_id"], strict=True))


def test_equal_scores_share_a_rank_and_the_next_is_skipped() -> None:
    rows = [row(submission_id=i, user_id=str(i), score=s) for i, s in enumerate((2e-5, 1e-5, 2e-5, 3e-5))]
    assert ranks(rows) == [(1, "1", 1), (2, "0", 0), (2, "2", 2), (4, "3", 3)]


def test_a_tie_inside_a_user_goes_to_the_earliest_then_to_the_lowest_id() -> None:
    rows = [
        row(submission_id=5, submission_time=NOON),
        row(submission_id=4, submission_time=NOON),
        row(submission_id=3, submission_time=NOON + TICK),
    ]
    assert ranks(rows) == [(1, "7", 4)]


def test_impossible_rows_come_last_and_only_for_those_who_have_nothing_else() -> None:
    rows = [
        row(submission_id=1, user_id="a", score=4.6e-25),
        row(submission_id=2, user_id="a", score=3e-5),
        row(submission_id=3, user_id="b", score=9e-8),
        row(submission_id=4, user_id="c", score=4e-5),
    ]
    assert ranks(rows) == [(1, "a", 2), (2, "c", 4), (3, "b", 3)]
    assert ranks(rows, flagged=False) == [(1, "a", 2), (2, "c", 4)]


def test_days_begin_and_end_at_midnight_utc() -> None:
    moments = (NOON, MIDNIGHT - TICK, MIDNIGHT, MIDNIGHT + timedelta(days=1))
    rows = [row(submission_id=i, user_id=str(i), submission_time=at) for i, at in enumerate(moments, 1)]
    expected: dict[tuple[Any, Any], list[int]] = {
        (None, "2025-12-20"): [1, 2],
        ("2025-12-21", None): [3, 4],
        ("2025-12-21", "2025-12-21"): [3],
        ("2025-12-22", "2025-12-22"): [4],
        ("2025-12-23", None): [],
        (date(2025, 12, 20), date(2025, 12, 21)): [1, 2, 3],
    }
    with engine_over(rows) as (kb, _):
        boards = {days: kb.leaderboard("nvfp4_gemm", since=days[0], until=days[1]) for days in expected}
    assert {days: sorted(board["submission_id"]) for days, board in boards.items()} == expected


def test_a_user_is_an_id_and_not_a_name() -> None:
    rows = [row(submission_id=1, user_id="7"), row(submission_id=2, user_id="8", score=2e-5)]
    assert ranks(rows) == [(1, "7", 1), (2, "8", 2)]
