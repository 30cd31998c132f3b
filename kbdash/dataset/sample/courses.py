"""One user on one board: when they submit, how their times fall in steps, and the texts they send."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kbdash.dataset.sample.kernels import TOP_LEVEL, Draft, render, revised, starting_template

SHARED_TEMPLATE_RATE = 0.3

Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


class Contest(Protocol):
    """The fields that boards of both schema families share."""

    @property
    def name(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def opens(self) -> datetime: ...
    @property
    def ends(self) -> datetime: ...
    @property
    def head_start(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One upload: when, how many times slower than the board's best it will be, and its text."""

    number: int
    at: int
    multiple: float
    code: str


def microseconds(moment: datetime) -> int:
    """A UTC datetime as microseconds after 1970."""
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def attempt_counts(users: int, rows: int, rng: np.random.Generator) -> Times:
    """Attempts per user, many for the strongest, adding up to nearly `rows`."""
    weights = rng.lognormal(0.0, 0.8, users) * np.linspace(2.4, 0.35, users)
    counts: Times = np.maximum(1, np.round(weights / weights.sum() * rows)).astype(np.int64)
    return counts


def course(contest: Contest, author: str, count: int, place: float, rng: np.random.Generator) -> Iterator[Attempt]:
    """The attempts of one user in time order; `place` is 0 for the strongest and 1 for the weakest."""
    elapsed = _sittings(contest, count, place, rng)
    progress = _steps(count, rng)
    multiples = _multiples(contest, elapsed, progress, place, rng)
    opens, ends = microseconds(contest.opens), microseconds(contest.ends)
    times = (opens + elapsed * (ends - opens)).astype(np.int64)
    style = int(rng.integers(1, 8)) if place < 0.85 else 0
    draft = Draft(contest.kernel, contest.name, author, style)
    turns = rng.integers(0, 1 << 16, (count, 2)).tolist()
    header = f"#!POPCORN leaderboard {contest.name}\n" if style == 5 else ""
    shares_template = rng.random() < SHARED_TEMPLATE_RATE
    for i in range(count):
        draft = revised(draft, min(TOP_LEVEL, int(progress[i] * (TOP_LEVEL + 1))), *turns[i])
        code = starting_template(contest.kernel) if i == 0 and shares_template else render(draft, header)
        yield Attempt(i, int(times[i]), float(multiples[i]), code)


def _sittings(contest: Contest, count: int, place: float, rng: np.random.Generator) -> Numbers:
    """When the attempts happen, as shares of the board's duration: a few sessions, denser towards the end."""
    begin = rng.beta(1.0, 2.5 - 1.5 * place) * 0.6
    days = begin + (1.0 - begin) * rng.beta(1.3, 0.9, max(1, count // 7))
    hour = 3600.0 / (contest.ends - contest.opens).total_seconds()
    at = days[rng.integers(0, len(days), count)] + rng.exponential(1.2 * hour, count)
    return np.sort(np.where(at > 1.0, 1.0 - rng.random(count) * 0.02, at))


def _steps(count: int, rng: np.random.Generator) -> Numbers:
    """Progress after each attempt, from 0 to 1, in uneven jumps with plateaus."""
    jumps = rng.gamma(1.5, 1.0, count) * (rng.random(count) < max(0.25, 6.0 / count))
    jumps *= np.linspace(1.0, 0.4, count)
    total = jumps.sum()
    return np.cumsum(jumps) / total if total > 0 else np.linspace(0.2, 1.0, count)


def _multiples(
    contest: Contest, elapsed: Numbers, progress: Numbers, place: float, rng: np.random.Generator
) -> Numbers:
    """How many times slower than the board's best each attempt is."""
    count = len(progress)
    final = 1.0 + 0.03 * rng.random() + 1.9 * place**2 * rng.random()
    own = final * max(contest.head_start / final, 1.0) ** (1.0 - progress)
    # Everybody improves: the best time of the first week would rank low in the last.
    field = 1.0 + min(1.6, contest.head_start / 3) * np.maximum(0.0, 0.97 - elapsed) ** 1.3
    noise = 1.0 + rng.exponential(0.008, count)
    failed_ideas = np.where(rng.random(count) < 0.12, 1.0 + rng.exponential(0.35, count), 1.0)
    multiples: Numbers = own * field * noise * failed_ideas
    return multiples
