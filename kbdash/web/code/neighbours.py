"""The list that previous and next go through: the leaderboard, one user's submissions, or their personal bests."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from kbdash.dataset.model import Submission
from kbdash.units import Unit, minute_text, person, rank_text, time_text
from kbdash.view import Ref, SubmissionView
from kbdash.web import answers
from kbdash.web.tables import rows, text

LISTS = {"board": "Leaderboard", "user": "All by this user", "bests": "Personal bests"}


@dataclass(frozen=True)
class Stop:
    """One submission of a list, and the text of a link to it, short and full (may contain user text)."""

    ref: Ref
    short: str
    label: str


@dataclass(frozen=True)
class Position:
    """Position of a submission in a list, from 1, the length of the list, and the neighbours."""

    walk: str
    place: int
    of: int
    previous: Stop | None
    next: Stop | None


def position(submission: Submission, view: SubmissionView, unit: Unit) -> Position | None:
    """Position of the submission in the list that the link names; else in its user's, which always has it."""
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
        return answers.leaderboard(submission.problem, **asked)
    if walk == "bests":
        return answers.ladder(submission.problem, submission.user_id, **asked)
    return answers.progression(submission.problem, users=(submission.user_id,), **asked)


def _place(frame: pd.DataFrame, submission: Submission) -> int | None:
    """Position of the submission's own row, from 0."""
    same = (frame["submission_id"] == submission.submission_id).fillna(False).to_numpy(bool)
    found = [at for at in same.nonzero()[0].tolist() if text(frame["runner"].iat[at]) == submission.runner]
    return found[0] if found else None


def _row(frame: pd.DataFrame, at: int) -> dict[str, Any] | None:
    """The row at that position; None for one without an id, which cannot be opened."""
    there = 0 <= at < len(frame) and bool(frame["submission_id"].notna().iat[at])
    return rows(frame.iloc[[at]])[0] if there else None


def _ranked(row: dict[str, Any] | None, _: Unit) -> Stop | None:
    if row is None:
        return None
    return Stop(_ref(row), f"#{rank_text(row['rank'])}", person(row["user_name"], row["user_id"]))


def _timed(row: dict[str, Any] | None, unit: Unit) -> Stop | None:
    """In time order; a row without a time is labelled with its status."""
    if row is None:
        return None
    return Stop(_ref(row), _outcome(row, unit), minute_text(row["submitted_at"]))


def _outcome(row: dict[str, Any], unit: Unit) -> str:
    return time_text(row["score"], unit) if pd.notna(row["score"]) else text(row.get("status")) or "no time"


def _ref(row: dict[str, Any]) -> Ref:
    return Ref(int(row["submission_id"]), text(row["runner"]))
