"""What is known about a submission, as tiles and lines; dataset text in it is escaped where it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from kbdash.catalog import runner_name
from kbdash.model import Placement, Submission
from kbdash.ui import cached
from kbdash.ui.board import person
from kbdash.ui.escape import markdown
from kbdash.ui.parts import Tile
from kbdash.units import (
    MISSING,
    Unit,
    count_text,
    gain_text,
    gap_text,
    minute_text,
    rank_text,
    ratio_text,
    time_text,
    unit_for,
)
from kbdash.view import Ref


@dataclass(frozen=True)
class Facts:
    """A submission among the others of its board; times are written in `unit`."""

    submission: Submission
    placement: Placement
    unit: Unit
    tied: bool

    @property
    def ref(self) -> Ref:
        """How links name it."""
        return Ref(self.submission.submission_id, self.submission.runner)

    @property
    def who(self) -> str:
        """Its user as people know them (user text)."""
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
    def rank(self) -> str:
        """The user's rank, such as "=3 of 160"."""
        place = self.placement
        if place.rank is None:
            return MISSING
        return f"{rank_text(place.rank, tied=self.tied)} of {count_text(place.of)}"


def strip(items: Sequence[Tile], *, key: str) -> None:
    """Numbers in a narrow strip: code wants the height of the screen."""
    with st.container(border=True, key=f"strip-{key}"), st.grid(len(items), min_column_width=140, gap="small"):
        for item in items:
            note = f"  \n:small[:gray[{markdown(item.note)}]]" if item.note else ""
            label = f":small[:gray[{markdown(item.label)}]]"
            st.markdown(f"{label}  \n**{markdown(item.value)}**{note}")


def facts_of(submission: Submission) -> Facts:
    """The submission with its placement and the unit of its board."""
    placement = cached.placement(submission)
    tied = False
    if placement.rank is not None:
        board = cached.leaderboard(submission.problem, competition=submission.competition, runner=submission.runner)
        tied = int((board["rank"] == placement.rank).sum()) > 1
    return Facts(submission, placement, unit_for(placement.best or submission.score), tied)


def tiles(now: Facts) -> list[Tile]:
    """The five numbers of a submission."""
    one, place = now.submission, now.placement
    return [
        Tile("Time", now.time, _state(one)),
        Tile("Rank of its user", now.rank, _whose(now)),
        Tile("Behind the best", _gap(now), _ratio(now)),
        Tile("Against own best before", _gain(now), _progress(now)),
        Tile("Attempts before it", count_text(place.attempts_before), "by this user on this board"),
    ]


def line(now: Facts) -> tuple[str, ...]:
    """Who, on what, when, from which file; user text."""
    one = now.submission
    return (now.who, one.problem, now.machine, minute_text(one.submitted_at), one.file_name or "no file name")


def _state(one: Submission) -> str:
    words = [one.status or "no status", one.mode or ""]
    if one.passed is False:
        words.append("did not pass")
    return ", ".join(word for word in words if word)


def _whose(now: Facts) -> str:
    if now.placement.rank is None:
        return "no ranked time here"
    if now.placement.is_users_best:
        return "with this submission"
    return f"with {time_text(now.placement.users_best, now.unit)}, another one"


def _gap(now: Facts) -> str:
    score, best = now.submission.score, now.placement.best
    if score is None or best is None:
        return MISSING
    return "the best" if score == best else f"{gap_text(score - best, now.unit)} {now.unit.name}"


def _ratio(now: Facts) -> str:
    score, best = now.submission.score, now.placement.best
    return f"{ratio_text(score / best)} its time" if score is not None and best else ""


def _gain(now: Facts) -> str:
    score, before = now.submission.score, now.placement.best_before
    return gain_text((before - score) / before) if score is not None and before else MISSING


def _progress(now: Facts) -> str:
    if now.placement.is_personal_best:
        return "a new personal best" if now.placement.best_before else "the first ranked time"
    return "not a personal best"
