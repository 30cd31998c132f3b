"""Attempts sorted into what a progression draws: per user the personal bests, the other times, the failures."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kbdash.catalog import runner_name
from kbdash.charts.canvas import POINT_LIMIT, Array, rows_of, stamps, thinned, utc
from kbdash.charts.text import shown


@dataclass(frozen=True)
class Climb:
    """One user on one runner; `place` is the pin order, the arrays are positions in the attempts."""

    name: str
    place: int
    bests: Array
    others: Array
    failures: Array


@dataclass(frozen=True)
class Attempts:
    """The attempts to draw as plain arrays (UTC text, seconds), and how many there were in all.

    A row of `facts` is [submission_id, runner, flags of a timed attempt or status of a failure].
    """

    at: Array
    score: Array
    facts: Array
    climbs: tuple[Climb, ...]
    total: int
    impossible: int

    @property
    def timed_scores(self) -> Array:
        """The scores (seconds) of all attempts that have one and count."""
        places = [part for climb in self.climbs for part in (climb.bests, climb.others)]
        return self.score[np.concatenate(places)] if places else self.score[:0]

    @property
    def drawn(self) -> int:
        """How many attempts are drawn."""
        return len(self.score)


def sort_attempts(frame: pd.DataFrame, users_order: Sequence[str], taken: int) -> Attempts:
    """The attempts, thinned to what fits beside `taken` other points; every personal best stays."""
    flags = frame["flags"].fillna("").to_numpy(dtype=object)
    # Times nobody can have measured would only stretch the axis.
    possible = np.array(["impossible" not in flag for flag in flags], dtype=bool)
    best = frame["is_best"].to_numpy(dtype=bool)
    at = utc(frame["submitted_at"])
    order = np.argsort(at, kind="stable")
    order = order[possible[order]]
    users, runners = frame["user_id"].to_numpy(dtype=object), _runners(frame)
    room = POINT_LIMIT - taken - 2 * len(set(zip(users, runners, strict=True)))
    kept = order[thinned(best[order], max(room, 1))]
    timed = _timed(frame)[kept]
    ids, names, statuses = (
        frame[name].to_numpy(dtype=object)[kept] for name in ("submission_id", "user_name", "status")
    )
    remarks = {flag: f" Flagged: {shown(flag)}." if flag else "" for flag in set(flags)}
    outcomes = {status: shown(status) for status in set(statuses)}
    words = [
        remarks[flag] if has_time else outcomes[status]
        for has_time, flag, status in zip(timed, flags[kept], statuses, strict=True)
    ]
    return Attempts(
        stamps(at[kept]),
        frame["score"].to_numpy(dtype=float, na_value=np.nan)[kept],
        rows_of([ids, runners[kept], words]),
        tuple(_climbs(users[kept], names, runners[kept], timed, best[kept], users_order)),
        _total(frame),
        int((~possible).sum()),
    )


def display_name(name: object, user_id: object) -> str:
    """What a person is called; some have no name, then the id must do."""
    return str(name) if isinstance(name, str) and name.strip() else f"user {user_id}"


def pin_order(present: Iterable[str], users_order: Sequence[str]) -> dict[str, int]:
    """The colour number of every user: pinned ones first, in their order."""
    return {user: place for place, user in enumerate(dict.fromkeys([*users_order, *present]))}


def _climbs(
    users: Array, names: Array, runners: Array, timed: Array, best: Array, users_order: Sequence[str]
) -> Iterator[Climb]:
    people, user_ids = pd.factorize(users)  # comparing numbers is many times faster than comparing texts
    machines, labels = pd.factorize(runners, use_na_sentinel=False)
    several = len(set(machines[timed])) > 1
    numbers = {user: number for number, user in enumerate(user_ids)}
    for user, place in pin_order(user_ids, users_order).items():
        mine = people == numbers.get(user, -1)
        failures = np.flatnonzero(mine & ~timed)
        present = dict.fromkeys(machines[mine & timed]) or dict.fromkeys(machines[failures[:1]])
        for machine in present:
            here = mine & timed & (machines == machine)
            name = display_name(names[mine][0], user) + (f" · {runner_name(labels[machine])}" if several else "")
            yield Climb(name, place, np.flatnonzero(here & best), np.flatnonzero(here & ~best), failures)
            failures = failures[:0]  # a failure often has no runner: it is drawn once per user


def _timed(frame: pd.DataFrame) -> Array:
    score = frame["score"].to_numpy(dtype=float, na_value=np.nan)
    passed: Array = frame["passed"].fillna(False).to_numpy(dtype=bool)
    timed: Array = passed & np.isfinite(score) & (score > 0)
    return timed


def _runners(frame: pd.DataFrame) -> Array:
    runners: Array = frame["runner"].to_numpy(dtype=object, copy=True)
    runners[frame["runner"].isna()] = None
    return runners


def _total(frame: pd.DataFrame) -> int:
    """How many attempts there are, also when the query kept only the latest of them."""
    return int(frame["total"].iloc[0]) if "total" in frame and len(frame) else len(frame)
