"""How people compete: when they submit, what passes, and how their times fall in steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from kbdash.sample.boards import Lane, SampleBoard
from kbdash.sample.kernels import TOP_LEVEL, Draft, render, revised, starting_template
from kbdash.sample.people import AGENT, USERS, User

SHARED_TEMPLATE_RATE = 0.3

Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """What a runner said about a submission; all but the status are None when there was no run."""

    status: str | None
    runner: str | None = None
    score: float | None = None
    passed: bool | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """One upload of one source text, `at` microseconds after 1970 in UTC, with one row per runner."""

    board: SampleBoard
    user: User
    at: int
    file_name: str | None
    code: str | None
    runs: tuple[Run, ...]


def microseconds(moment: datetime) -> int:
    """A UTC datetime as microseconds after 1970."""
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def board_submissions(board: SampleBoard, rows: int, rng: np.random.Generator) -> list[Submission]:
    """About `rows` submissions to a board, by as many users as the board asks for."""
    users = _entrants(board, rng)
    counts = attempt_counts(len(users), rows, rng)
    submissions: list[Submission] = []
    for place, (user, count) in enumerate(zip(users, counts, strict=True)):
        strength = place / len(users)
        submissions.extend(_career(board, user, int(count), strength, rng))
    return submissions


def _entrants(board: SampleBoard, rng: np.random.Generator) -> list[User]:
    """The users of a board, strongest first; who is strong on one board tends to be on the others."""
    form = np.arange(len(USERS)) / len(USERS) + rng.normal(0.0, 0.35, len(USERS))
    chosen = np.argsort(form)[: board.users - 1]
    return [*(USERS[i] for i in chosen), AGENT]


def attempt_counts(users: int, rows: int, rng: np.random.Generator) -> Times:
    """Attempts per user, many for the strongest, adding up to nearly `rows`."""
    weights = rng.lognormal(0.0, 0.8, users) * np.linspace(2.4, 0.35, users)
    counts: Times = np.maximum(1, np.round(weights / weights.sum() * rows)).astype(np.int64)
    return counts


def _career(board: SampleBoard, user: User, count: int, place: float, rng: np.random.Generator) -> Iterator[Submission]:
    times = sittings(board.opens, board.ends, count, place, rng)
    progress = steps(count, rng)
    spread = 1.0 + 0.03 * rng.random() + 1.9 * place**2 * rng.random()
    multiples = spread * max(board.head_start / spread, 1.0) ** (1.0 - progress)
    multiples = multiples * (1.0 + rng.exponential(0.008, count)) * experiments(count, rng)
    affinity = 1.0 + 0.12 * rng.random(len(board.lanes))
    draft = Draft(board.kernel, board.name, user.tag, style=int(rng.integers(1, 8)) if place < 0.85 else 0)
    turns = rng.integers(0, 1 << 16, (count, 2)).tolist()
    header = f"#!POPCORN leaderboard {board.name}\n" if user.index % 5 == 0 else ""
    favourite = int(rng.integers(len(board.lanes)))
    for i in range(count):
        level = min(TOP_LEVEL, int(progress[i] * (TOP_LEVEL + 1)))
        draft = revised(draft, level, *turns[i])
        code = (
            starting_template(board.kernel) if i == 0 and rng.random() < SHARED_TEMPLATE_RATE else render(draft, header)
        )
        name = _file_name(board, user, i, turns[i][0])
        lane = favourite if rng.random() < 0.7 else int(rng.integers(len(board.lanes)))
        lanes = [
            lane,
            *(other for other in range(len(board.lanes)) if other != lane and rng.random() < board.echo),
        ]
        for repeat, chosen in enumerate(lanes):
            run = _outcome(board, board.lanes[chosen], float(multiples[i] * affinity[chosen]), rng)
            at = int(times[i]) + repeat * int(rng.integers(20_000_000, 200_000_000))
            yield Submission(board, user, at, name, code, (run,))


def sittings(opens_at: datetime, ends_at: datetime, count: int, place: float, rng: np.random.Generator) -> Times:
    """Sorted times in microseconds: a few sittings, denser towards the end, some after the deadline."""
    opens, ends = microseconds(opens_at), microseconds(ends_at)
    begin = rng.beta(1.0, 2.5 - 1.5 * place) * 0.6
    days = np.sort(begin + (1.0 - begin) * rng.beta(1.3, 0.9, max(1, count // 7)))
    hour = 3600e6 / (ends - opens)
    at = days[rng.integers(0, len(days), count)] + rng.exponential(1.2 * hour, count)
    at = np.where(at > 1.0, 1.0 - rng.random(count) * 0.02, at)
    return np.sort((opens + at * (ends - opens)).astype(np.int64))


def steps(count: int, rng: np.random.Generator) -> Numbers:
    """From 0 to 1 in uneven jumps, flat in between: how far a user has come after each attempt."""
    jumps = rng.gamma(1.5, 1.0, count) * (rng.random(count) < max(0.25, 6.0 / count))
    jumps *= np.linspace(1.0, 0.25, count) ** 2
    total = jumps.sum()
    return np.cumsum(jumps) / total if total > 0 else np.linspace(0.2, 1.0, count)


def experiments(count: int, rng: np.random.Generator) -> Numbers:
    """Factors of 1, now and then more: ideas that made things slower."""
    return np.where(rng.random(count) < 0.12, 1.0 + rng.exponential(0.35, count), 1.0)


def _file_name(board: SampleBoard, user: User, attempt: int, turn: int) -> str:
    if user is AGENT:
        return f"{board.name}_sample-model-{turn % 3 + 1}_ka_submission.py"
    habit = (user.index * 7 + board.id) % 6
    return (
        "submission.py",
        "submission.py",
        f"{board.name}_v{attempt + 1}.py",
        f"submission_v{attempt // 3 + 1}.py",
        "kernel.py",
        f"try{turn % 9}.py",
    )[habit]


def _outcome(board: SampleBoard, lane: Lane, multiple: float, rng: np.random.Generator) -> Run:
    if rng.random() < board.pass_rate:
        score = lane.best * multiple
        if board.shared and rng.random() < board.shared:
            score = lane.best * round(multiple * 50) / 50
        return Run("succeeded", lane.runner, score, True, "leaderboard")
    kind = rng.random()
    if kind < 0.38:
        return Run("failed", lane.runner, None, False, "leaderboard")
    if kind < 0.88:
        return Run("failed")
    return Run(("timed_out", "timed_out", "hacked", "active", "pending", "running")[int(rng.integers(6))])
