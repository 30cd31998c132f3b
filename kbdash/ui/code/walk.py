"""The list a reader walks through: the leaderboard, one user's submissions, or their personal bests."""

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
    for walk in dict.fromkeys((view.walk, "user")):
        frame = _list(walk, submission, view)
        at = _place(frame, submission)
        if at is not None:
            word = _ranked if walk == "board" else _timed
            before, after = (_row(frame, near) for near in (at - 1, at + 1))
            return Position(walk, at + 1, len(frame), word(before, unit), word(after, unit))
    return None


def _list(walk: str, submission: Submission, view: SubmissionView) -> pd.DataFrame:
    asked: dict[str, Any] = {
        "competition": submission.competition,
        "runner": submission.runner,
        "since": view.since,
        "until": view.until,
        "flagged": not view.hide_flagged,
    }
    if walk == "board":
        return cached.leaderboard(submission.problem, **asked)
    if walk == "bests":
        return cached.ladder(submission.problem, submission.user_id, **asked)
    return cached.progression(submission.problem, (submission.user_id,), **asked)


def _place(frame: pd.DataFrame, submission: Submission) -> int | None:
    """Position of the submission's own row, from 0."""
    same = (frame["submission_id"] == submission.submission_id).to_numpy()
    found = [at for at in same.nonzero()[0].tolist() if text(frame["runner"].iat[at]) == submission.runner]
    return found[0] if found else None


def _row(frame: pd.DataFrame, at: int) -> dict[str, Any] | None:
    return rows(frame.iloc[[at]])[0] if 0 <= at < len(frame) else None


def _ranked(row: dict[str, Any] | None, _: Unit) -> Stop | None:
    if row is None:
        return None
    return Stop(_ref(row), f"#{rank_text(row['rank'])}", person(row["user_name"], row["user_id"]))


def _timed(row: dict[str, Any] | None, unit: Unit) -> Stop | None:
    """In time order; what has no time is called by its status."""
    if row is None:
        return None
    return Stop(_ref(row), _outcome(row, unit), minute_text(row["submitted_at"]))


def _outcome(row: dict[str, Any], unit: Unit) -> str:
    return time_text(row["score"], unit) if pd.notna(row["score"]) else text(row.get("status")) or "no time"


def _ref(row: dict[str, Any]) -> Ref:
    return Ref(int(row["submission_id"]), text(row["runner"]))
