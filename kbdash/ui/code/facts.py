"""What is known about a submission, as tiles and lines; dataset text in it is escaped where it is shown."""

from dataclasses import dataclass

from kbdash.catalog import runner_name
from kbdash.model import Placement, Submission
from kbdash.ui import cached
from kbdash.ui.board import person
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
        Tile("Time", now.time, _state(one), "Of this run, in the unit of the board."),
        Tile("Rank of its user", now.rank, _whose(now), "By each user's best on this board and runner."),
        Tile("Behind the best", _gap(now), _ratio(now), "The fastest ranked run of this board and runner."),
        Tile("Against the best before", _gain(now), _progress(now), "This user's best time until then, same runner."),
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
