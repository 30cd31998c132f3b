"""The list a reader walks through: the leaderboard, one user's submissions, or their personal bests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from kbdash.model import Submission
from kbdash.ui import cached
from kbdash.ui.board import person
from kbdash.ui.tables import rows, text
from kbdash.units import Unit, minute_text, rank_text, time_text
from kbdash.view import Ref, SubmissionView

LISTS = {"board": "Leaderboard", "user": "All of this user", "bests": "Personal bests"}


@dataclass(frozen=True)
class Stop:
    """One submission of a list, and what a link to it says, in short and in full (may hold user text)."""

    ref: Ref
    short: str
    label: str


@dataclass(frozen=True)
class Position:
    """Where a submission stands in a list: its place from 1, of how many, and its neighbours."""

    walk: str
    place: int
    of: int
    previous: Stop | None
    next: Stop | None


def position(submission: Submission, view: SubmissionView, unit: Unit) -> Position | None:
    """Where the submission stands in the list of the link; else in its user's, which every one is part of."""
    here = Ref(submission.submission_id, submission.runner)
    for walk in dict.fromkeys((view.walk, "user")):
        stops = _stops(walk, submission, view, unit)
        at = next((place for place, stop in enumerate(stops) if stop.ref == here), None)
        if at is not None:
            return Position(walk, at + 1, len(stops), _get(stops, at - 1), _get(stops, at + 1))
    return None


def _stops(walk: str, submission: Submission, view: SubmissionView, unit: Unit) -> list[Stop]:
    asked: dict[str, Any] = {
        "competition": submission.competition,
        "runner": submission.runner,
        "since": view.since,
        "until": view.until,
        "flagged": not view.hide_flagged,
    }
    if walk == "board":
        return _ranked(cached.leaderboard(submission.problem, **asked))
    if walk == "bests":
        return _timed(cached.ladder(submission.problem, submission.user_id, **asked), unit)
    return _timed(cached.progression(submission.problem, (submission.user_id,), **asked), unit)


def _ranked(board: pd.DataFrame) -> list[Stop]:
    return [
        Stop(_ref(row), f"#{rank_text(row['rank'])}", person(row["user_name"], row["user_id"])) for row in rows(board)
    ]


def _timed(attempts: pd.DataFrame, unit: Unit) -> list[Stop]:
    """In time order; what has no time is called by its status."""
    return [Stop(_ref(row), _outcome(row, unit), minute_text(row["submitted_at"])) for row in rows(attempts)]


def _outcome(row: dict[str, Any], unit: Unit) -> str:
    return time_text(row["score"], unit) if pd.notna(row["score"]) else text(row.get("status")) or "no time"


def _ref(row: dict[str, Any]) -> Ref:
    return Ref(int(row["submission_id"]), text(row["runner"]))


def _get(stops: Sequence[Stop], at: int) -> Stop | None:
    return stops[at] if 0 <= at < len(stops) else None
