"""Attempts sorted into what a progression draws: per user the personal bests, the other times, the failures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kbdash.catalog import IMPOSSIBLE_SECONDS, runner_name
from kbdash.charts.canvas import POINT_LIMIT, rows_of, stamps, thinned
from kbdash.charts.text import shown

Array = np.ndarray[Any, Any]


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
    """The attempts to draw as plain arrays (UTC text, seconds), and how many there were in all."""

    at: Array
    score: Array
    facts: Array
    climbs: tuple[Climb, ...]
    total: int
    impossible: int

    @property
    def drawn(self) -> int:
        """How many attempts are drawn."""
        return len(self.score)


def sort_attempts(frame: pd.DataFrame, users_order: Sequence[str], taken: int) -> Attempts:
    """The attempts, thinned to what fits beside `taken` other points; every personal best stays."""
    # Times nobody can have measured would only stretch the axis.
    impossible = _timed(frame) & (_scores(frame) < IMPOSSIBLE_SECONDS)
    possible = frame[~impossible].sort_values("submitted_at", kind="stable")
    room = POINT_LIMIT - taken - 2 * len(possible[["user_id", "runner"]].drop_duplicates())
    kept = thinned(possible, possible["is_best"].to_numpy(dtype=bool), max(room, 1))
    runners = kept["runner"].astype(object).where(kept["runner"].notna(), None).to_numpy()
    flags = kept["flags"].fillna("").to_numpy(dtype=object)
    remarks = [f" Flagged: {shown(text)}." if text else "" for text in flags]
    facts = rows_of([kept["submission_id"], runners, remarks, [shown(status) for status in kept["status"]]])
    return Attempts(
        stamps(kept["submitted_at"]),
        _scores(kept),
        facts,
        tuple(_climbs(kept, runners, users_order)),
        _total(frame),
        int(impossible.sum()),
    )


def display_name(name: object, user_id: object) -> str:
    """What a person is called; some have no name, then the id must do."""
    return str(name) if isinstance(name, str) and name.strip() else f"user {user_id}"


def pin_order(present: Sequence[str], users_order: Sequence[str]) -> dict[str, int]:
    """The colour number of every user: pinned ones first, in their order."""
    return {user: place for place, user in enumerate(dict.fromkeys([*users_order, *present]))}


def _climbs(kept: pd.DataFrame, runners: Array, users_order: Sequence[str]) -> list[Climb]:
    users, names = kept["user_id"].to_numpy(dtype=object), kept["user_name"].to_numpy(dtype=object)
    timed, best = _timed(kept), kept["is_best"].to_numpy(dtype=bool)
    several = len(set(runners[timed])) > 1
    climbs = []
    for user, place in pin_order(list(users), users_order).items():
        mine = users == user
        failures = np.flatnonzero(mine & ~timed)
        for runner in dict.fromkeys(runners[mine & timed]) or [None]:
            here = mine & timed & (runners == runner)
            if not (here.any() or failures.size):
                continue
            name = display_name(names[mine][0], user) + (f" · {runner_name(runner)}" if several else "")
            climbs.append(Climb(name, place, np.flatnonzero(here & best), np.flatnonzero(here & ~best), failures))
            failures = failures[:0]  # a failure often has no runner: it is drawn once per user
    return climbs


def _timed(frame: pd.DataFrame) -> Array:
    score = _scores(frame)
    passed: Array = frame["passed"].eq(True).fillna(False).to_numpy(dtype=bool)
    return passed & np.isfinite(score) & (score > 0)


def _scores(frame: pd.DataFrame) -> Array:
    return frame["score"].to_numpy(dtype=float, na_value=np.nan)


def _total(frame: pd.DataFrame) -> int:
    """How many attempts there are, also when the query kept only the latest of them."""
    return int(frame["total"].max()) if "total" in frame and len(frame) else len(frame)
