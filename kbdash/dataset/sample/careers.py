"""The flat boards: who takes part, on which runner, with what result."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kbdash.dataset.sample.boards import Lane, SampleBoard
from kbdash.dataset.sample.courses import attempt_counts, course
from kbdash.dataset.sample.people import AGENT, TRAP_USERS, USERS, User

_RARE_STATUS = ("timed_out", "timed_out", "hacked", "active", "pending", "running")


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a submission on a runner; all but the status are None when there was no run."""

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


def board_submissions(board: SampleBoard, rows: int, rng: np.random.Generator) -> list[Submission]:
    """About `rows` submissions to a board, by as many users as the board asks for."""
    users = _entrants(board, rng)
    counts = attempt_counts(len(users), rows, rng).tolist()
    submissions: list[Submission] = []
    for place, (user, count) in enumerate(zip(users, counts, strict=True)):
        submissions.extend(_career(board, user, count, place / len(users), rng))
    return submissions


def _entrants(board: SampleBoard, rng: np.random.Generator) -> list[User]:
    """The users of a board, strongest first; who is strong on one board tends to be on the others."""
    form = np.arange(len(USERS)) / len(USERS) + rng.normal(0.0, 0.35, len(USERS))
    chosen = [USERS[i] for i in np.argsort(form)[: board.users - 1]]
    # Hostile names stay out of the lead, so that a first look at the sample is a pleasant one.
    leaders = [user for user in chosen if user not in TRAP_USERS][:10]
    return [*leaders, *(user for user in chosen if user not in leaders), AGENT]


def _career(board: SampleBoard, user: User, count: int, place: float, rng: np.random.Generator) -> Iterator[Submission]:
    affinity = 1.0 + 0.12 * rng.random(len(board.lanes))
    favourite = int(rng.integers(len(board.lanes)))
    for attempt in course(board, user.tag, count, place, rng):
        file_name = _file_name(board, user, attempt.number)
        # The same text may go to several runners, one submission each.
        for repeat, lane in enumerate(_lanes(board, favourite, rng)):
            at = attempt.at + repeat * int(rng.integers(20_000_000, 200_000_000))
            multiple = attempt.multiple * float(affinity[lane]) * (1.0 + rng.exponential(0.012))
            run = _outcome(board, board.lanes[lane], multiple, rng)
            yield Submission(board, user, at, file_name, attempt.code, (run,))


def _lanes(board: SampleBoard, favourite: int, rng: np.random.Generator) -> list[int]:
    first = favourite if rng.random() < 0.7 else int(rng.integers(len(board.lanes)))
    return [first, *(lane for lane in range(len(board.lanes)) if lane != first and rng.random() < board.echo)]


def _file_name(board: SampleBoard, user: User, attempt: int) -> str:
    if user is AGENT:
        return f"{board.name}_sample-model-{attempt % 3 + 1}_ka_submission.py"
    names = (
        "submission.py",
        "submission.py",
        f"{board.name}_v{attempt + 1}.py",
        f"submission_v{attempt // 3 + 1}.py",
        "kernel.py",
        f"try{attempt % 9}.py",
    )
    return names[(user.index * 7 + board.id) % len(names)]


def _outcome(board: SampleBoard, lane: Lane, multiple: float, rng: np.random.Generator) -> Run:
    if rng.random() < board.pass_rate:
        # Coarse timers sometimes give different people exactly the same time.
        tied = rng.random() < board.shared
        score = lane.best * (round(multiple * 50) / 50 if tied else multiple)
        return Run("succeeded", lane.runner, score, True, "leaderboard")
    kind = rng.random()
    if kind < 0.38:
        return Run("failed", lane.runner, None, False, "leaderboard")
    if kind < 0.88:
        return Run("failed")
    return Run(_RARE_STATUS[int(rng.integers(len(_RARE_STATUS)))])
