"""Tries, passes, users and pass rate: one definition each, so that all questions about a board agree."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kbdash.engine import KernelBot
from kbdash.units import MICROSECONDS
from kbdash.web.competition import figures
from kbdash.web.user import numbers
from tests.unit.test_engine import FILES


@dataclass(frozen=True)
class Told:
    """What several tests look at, asked for once."""

    overview: pd.DataFrame
    summary: Callable[[str], pd.DataFrame]
    board: Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module")
def told_of(kb: KernelBot) -> Told:
    return Told(kb.overview().set_index("problem"), cache(kb.summary), cache(kb.leaderboard))


@pytest.mark.parametrize("slug", FILES)
def test_all_questions_count_alike(kb: KernelBot, told_of: Told, slug: str) -> None:
    problems = kb.problems(slug)
    for number, problem in enumerate(kb.problem_names(slug)):
        summary = told_of.summary(problem)
        board = told_of.board(problem)
        own = problems[problems["problem"] == problem]
        ran = own.dropna(subset="runner").set_index("runner")
        waiting = int(own.loc[own["runner"].isna(), "rows"].sum())
        told = told_of.overview.loc[problem]
        by_runner = summary.set_index("runner")
        for column in ("rows", "passed", "users", "pass_rate"):
            assert by_runner[column].to_dict() == pytest.approx(ran[column].to_dict()), column
        assert (
            by_runner["users"].to_dict()
            == board.groupby("runner").size().reindex(by_runner.index, fill_value=0).to_dict()
        )
        assert set(summary["rows_without_runner"]) == {waiting} == {told["rows_without_runner"]}
        assert told["rows"] == summary["rows"].sum() + waiting
        assert told["passed"] == summary["passed"].sum()
        assert told["users"] == board["user_id"].nunique()
        assert told["pass_rate"] == pytest.approx(told["passed"] / summary["rows"].sum())
        days = kb.status_over_time(problem)
        assert (days["rows"].sum(), days["passed"].sum()) == (told["rows"], told["passed"])
        if number > 1:  # the list of submissions takes longest: it is asked about two boards of each file
            continue
        assert told["rows"] == kb.submissions(problem).total
        assert told["passed"] == kb.submissions(problem, passed=True).total
        clean = kb.summary(problem, flagged=False)
        assert clean["passed"].sum() == kb.submissions(problem, passed=True, flagged=False).total


@pytest.mark.parametrize("problem", ["trimul", "nvfp4_gemm", "vectoradd_v2"])
def test_a_persons_page_counts_as_the_boards_do(kb: KernelBot, told_of: Told, problem: str) -> None:
    board = told_of.board(problem)
    for user in board["user_id"].unique()[:2]:
        told = kb.user(user)
        own = told[told["problem"] == problem]
        ranked = own.dropna(subset="rank").set_index("runner")
        mine = board[board["user_id"] == user].set_index("runner")
        assert ranked["submissions"].to_dict() == mine["submissions"].to_dict()
        assert ranked["flags"].to_dict() == mine["flags"].to_dict()
        assert own["submissions"].sum() == kb.submissions(problem, users=[user]).total
        assert own["passed"].sum() == kb.submissions(problem, users=[user], passed=True).total
        found = kb.find_users(user).set_index("user_id").loc[user]
        assert found["submissions"] == told["submissions"].sum()


def test_a_runner_is_not_blamed_for_what_never_ran(kb: KernelBot, told_of: Told) -> None:
    summary = pd.concat([told_of.summary(problem) for slug in kb.readable() for problem in kb.problem_names(slug)])
    assert (summary["rows_without_runner"] > 0).any()
    assert summary["pass_rate"].tolist() == pytest.approx((summary["passed"] / summary["rows"]).tolist())


FLAT = {slug: file for slug, file in FILES.items() if slug != "amd-mi300"}


@pytest.fixture(scope="module")
def rows(sample_folder: Path) -> pd.DataFrame:
    """The flat files as pandas reads them, with what makes a pass."""
    names = ["problem_name", "user_id", "mode", "runner", "score", "passed", "submission_id"]
    parts = [pd.read_parquet(sample_folder / file, columns=names).assign(slug=slug) for slug, file in FLAT.items()]
    every = pd.concat(parts, ignore_index=True).dropna(subset="submission_id")
    score = pd.to_numeric(every["score"]).astype(float)
    ranked = (every["mode"] == "leaderboard") & every["passed"].fillna(False).astype(bool) & every["runner"].notna()
    passes = ranked & np.isfinite(score) & (score > 0)
    return every.assign(user_id=every["user_id"].astype(str), passes=passes)


def test_boards_count_what_pandas_counts(kb: KernelBot, told_of: Told, rows: pd.DataFrame) -> None:
    told = told_of.overview
    for problem, own in rows.groupby("problem_name"):
        ran, passing = own[own["runner"].notna()], own[own["passes"]]
        row = told.loc[problem]
        assert (row["rows"], row["passed"], row["users"], row["rows_without_runner"]) == (
            len(own), len(passing), passing["user_id"].nunique(), len(own) - len(ran)
        )  # fmt: skip
        assert row["pass_rate"] == pytest.approx(len(passing) / len(ran))
        shown = " ".join(
            f"{item.before} {item.value} {item.after}"
            for item in figures(kb.board(problem), None, MICROSECONDS, told_of.summary(problem), told_of.board(problem))
        )
        assert f"{passing['user_id'].nunique():,} user" in shown
        assert f"of {len(ran):,} run" in shown
        assert (f"{len(own) - len(ran):,} never ran" in shown) is (len(own) > len(ran))


def test_a_week_counts_what_pandas_counts(kb: KernelBot, rows: pd.DataFrame) -> None:
    weeks = kb.weekly().groupby("problem")["submissions"].sum()
    assert {name: weeks[name] for name in rows["problem_name"].unique()} == rows.groupby(
        "problem_name"
    ).size().to_dict()


def test_people_count_what_pandas_counts(kb: KernelBot, rows: pd.DataFrame) -> None:
    for user in kb.leaderboard("trimul")["user_id"].unique()[:3]:
        own = rows[rows["user_id"] == user]
        shown = " ".join(f"{item.value} {item.after}" for item in numbers(kb.user(user)))
        waiting = int(own["runner"].isna().sum())
        assert f"{len(own):,} submissions {int(own['passes'].sum()):,} passed" in shown
        assert (f"passed {waiting:,} never ran" in shown) is (waiting > 0)
        assert kb.find_users(user)["submissions"].sum() == len(own)
