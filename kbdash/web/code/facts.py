"""Facts about a submission, as tiles and lines; user text in them is escaped where it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Placement, Submission
from kbdash.units import (
    MISSING,
    Unit,
    count_text,
    gain_text,
    gap_text,
    minute_text,
    person,
    rank_text,
    ratio_text,
    time_text,
    unit_for,
)
from kbdash.view import Ref
from kbdash.web import answers
from kbdash.web.escape import markdown
from kbdash.web.widgets import Tile


@dataclass(frozen=True)
class Facts:
    """A submission among the others of its board; times are written in `unit`."""

    submission: Submission
    placement: Placement
    unit: Unit
    tied: bool
    own_rank: int | None = None
    """The rank of its own time among the bests of all other users."""

    @property
    def ref(self) -> Ref:
        """How links name it."""
        return Ref(self.submission.submission_id, self.submission.runner, self.submission.competition)

    @property
    def who(self) -> str:
        """The display name of its user (user text)."""
        return person(self.submission.user_name, self.submission.user_id)

    @property
    def machine(self) -> str:
        """The runner's name."""
        return runner_name(self.submission.runner) if self.submission.runner else "no runner"

    @property
    def time(self) -> str:
        """Its time in the board's unit."""
        return time_text(self.submission.score, self.unit)

    @property
    def standing(self) -> str:
        """The rank of its own time, such as "rank 27 of 160"; and the user's rank if another run is their best."""
        place = self.placement
        if self.own_rank is None:
            return "no ranked time"
        own = f"rank {rank_text(self.own_rank)} of {count_text(place.of)}"
        if place.is_users_best:
            return own
        return f"would be {own}; its user's best is at {rank_text(place.rank, tied=self.tied)}"

    @property
    def rank(self) -> str:
        """The user's rank, such as "=3 of 160"."""
        place = self.placement
        if place.rank is None:
            return MISSING
        return f"{rank_text(place.rank, tied=self.tied)} of {count_text(place.of)}"


def strip(items: Sequence[Tile], *, key: str) -> None:
    """The numbers in one low row, because code needs the height of the screen."""
    with st.container(border=True, key=f"strip-{key}"), st.grid(len(items), min_column_width=140, gap="small"):
        for item in items:
            note = f"  \n:small[:gray[{markdown(item.note)}]]" if item.note else ""
            label = f":small[:gray[{markdown(item.label)}]]"
            st.markdown(f"{label}  \n**{markdown(item.value)}**{note}")


def facts_of(submission: Submission) -> Facts:
    """The submission with its placement and the unit of its board."""
    placement = answers.placement(submission)
    unit = unit_for(placement.best or submission.score)
    if placement.rank is None:
        return Facts(submission, placement, unit, tied=False)
    board = answers.leaderboard(submission.problem, competition=submission.competition, runner=submission.runner)
    tied = int((board["rank"] == placement.rank).sum()) > 1
    return Facts(submission, placement, unit, tied, own_rank(submission, board))


def own_rank(submission: Submission, board: pd.DataFrame) -> int | None:
    """The rank of one submission's time among the bests of all other users; None without a time."""
    if not submission.eligible:
        return None
    others = board[(board["user_id"] != submission.user_id) & board["ratio"].notna()]
    return int((others["score"] < submission.score).sum()) + 1


def tiles(facts: Facts) -> list[Tile]:
    """The five numbers of a submission."""
    one, place = facts.submission, facts.placement
    return [
        Tile("Time", facts.time, _state(one)),
        Tile("User's rank", facts.rank, _whose(facts)),
        Tile("Behind the best", _gap(facts), _ratio(facts)),
        Tile("vs. previous best", _gain(facts), _progress(facts)),
        Tile("Earlier attempts", count_text(place.attempts_before), "by this user on this board"),
    ]


def line(facts: Facts) -> tuple[str, ...]:
    """Who, on what, when, from which file; user text."""
    one = facts.submission
    return (facts.who, one.problem, facts.machine, minute_text(one.submitted_at), one.file_name or "no file name")


def _state(one: Submission) -> str:
    words = [one.status or "no status", one.mode or ""]
    if one.passed is False:
        words.append("did not pass")
    return ", ".join(word for word in words if word)


def _whose(facts: Facts) -> str:
    if facts.placement.rank is None:
        return "no ranked time here"
    if facts.placement.is_users_best:
        return "with this submission"
    return f"with another submission, {time_text(facts.placement.users_best, facts.unit)}"


def _gap(facts: Facts) -> str:
    score, best = facts.submission.score, facts.placement.best
    if score is None or best is None or score == best:
        return MISSING
    return f"{gap_text(score - best, facts.unit)} {facts.unit.name}"


def _ratio(facts: Facts) -> str:
    score, best = facts.submission.score, facts.placement.best
    if score is None or not best:
        return ""
    return "this is the best" if score == best else f"{ratio_text(score / best)} its time"


def _gain(facts: Facts) -> str:
    score, before = facts.submission.score, facts.placement.best_before
    return gain_text((before - score) / before) if score is not None and before else MISSING


def _progress(facts: Facts) -> str:
    if facts.placement.is_personal_best:
        return "a new personal best" if facts.placement.best_before else "the first ranked time"
    return "not a personal best"
