"""Frames of kbdash beside the lists of the reference."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pandas as pd
import pytest

from kbdash.engine import KernelBot
from tests.unit import reference
from tests.unit.reference import Row, Scope


def plain(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The rows of a frame with None for every missing value."""
    return [{key: None if pd.isna(value) else value for key, value in row.items()} for row in frame.to_dict("records")]


def kinds(flags: str) -> frozenset[str]:
    """Kinds of the flags in a text."""
    return frozenset(part.partition(":")[0] for part in flags.split("; ") if part)


def asked(scope: Scope) -> dict[str, Any]:
    """The scope as keywords of kbdash."""
    return {"runner": scope.runner, "since": scope.since, "until": scope.until, "flagged": scope.flagged}


def check_leaderboard(kb: KernelBot, problem: str, rows: Sequence[Row], scope: Scope) -> None:
    """The leaderboard is the reference's, value by value, ordered by runner and rank."""
    frame = kb.leaderboard(problem, **asked(scope))
    assert list(zip(frame["runner"], frame["rank"], strict=True)) == sorted(
        zip(frame["runner"], frame["rank"], strict=True)
    )
    answer = plain(frame.assign(flags=frame["flags"].map(kinds)))
    assert _by_user(answer) == _by_user(reference.leaderboard(rows, scope))


def _by_user(board: Iterable[dict[Any, Any]]) -> list[dict[Any, Any]]:
    return sorted(board, key=lambda row: (row["runner"], row["user_id"]))


def check_records(kb: KernelBot, problem: str, rows: Sequence[Row], scope: Scope) -> None:
    """The record line is the reference's."""
    expected = sorted(reference.records(rows, scope), key=lambda row: row["runner"])
    frame = kb.records(problem, **asked(scope))
    answer = plain(frame.assign(flags=frame["flags"].map(kinds)))
    held = [row.pop("held_days") for row in answer]
    assert held == pytest.approx([row.pop("held_days") for row in expected])
    assert answer == expected


def check_summary(kb: KernelBot, problem: str, rows: Sequence[Row], scope: Scope) -> None:
    """The summary of each runner is the reference's."""
    answer = {row["runner"]: row for row in plain(kb.summary(problem, **asked(scope)))}
    expected = {row["runner"]: row for row in reference.summary(rows, scope)}
    medians = {runner: row.pop("median_best") for runner, row in answer.items()}
    assert medians == pytest.approx({runner: row.pop("median_best") for runner, row in expected.items()})
    assert answer == expected


def check_standing(kb: KernelBot, problem: str, rows: Sequence[Row], scope: Scope) -> None:
    """A time stands where the reference puts it: at, beside and beyond the times of the board."""
    times = sorted({row.time for row in reference.bests(rows, scope) if not row.impossible})
    chosen = {*times[:1], *times[-1:], *(time * 1.001 for time in times[:1])} or {1e-3}
    for score in sorted(chosen):
        place = kb.standing(problem, score, **asked(scope))
        assert (place.rank, place.of, place.faster_than, place.ties) == reference.standing(rows, score, scope)


def check_distribution(kb: KernelBot, problem: str, rows: Sequence[Row], scope: Scope, bins: int = 12) -> None:
    """Every score is in exactly one bin, and in one whose edges enclose it."""
    frame = kb.distribution(problem, bins=bins, **asked(scope))
    expected = reference.spread(rows, scope)
    assert set(frame["runner"]) == set(expected)
    everything = [score for scores, _ in expected.values() for score in scores]
    assert frame["hi"].max() <= max(everything, default=0.0) * (1 + 1e-6) or not everything
    for runner, group in frame.groupby("runner"):
        for column, scores in zip(("rows", "users"), expected[str(runner)], strict=True):
            assert group[column].sum() == len(scores)
            for lo, hi, count in zip(group["lo"], group["hi"], group[column], strict=True):
                # An edge is a rounded number, so a score on it may lie on either side.
                inside = sum(lo * (1 + 1e-9) < score < hi * (1 - 1e-9) for score in scores)
                near = sum(lo * (1 - 1e-9) <= score <= hi * (1 + 1e-9) for score in scores)
                assert inside <= count <= near


def check_people(kb: KernelBot, problem: str, rows: Sequence[Row], scope: Scope, users: Iterable[str]) -> None:
    """Progression and, on one runner, the ladder of each user are the reference's."""
    for user in users:
        columns = ["submission_id", "runner", "submitted_at", "best_so_far", "is_best"]
        attempts = plain(kb.progression(problem, users=[user], **asked(scope))[columns])
        assert attempts == list(reference.progression(rows, user, scope))
        if scope.runner:
            steps = plain(kb.ladder(problem, user, **asked(scope)).drop(columns="previous"))
            assert steps == reference.ladder(rows, user, scope)
