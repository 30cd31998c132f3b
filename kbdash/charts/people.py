"""Who is drawn, and how: names, pin order, and what a click on somebody opens."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kbdash.charts.palette import Style, Theme, user_style
from kbdash.units import person

DEFAULT_USERS = 5  # users in colour while nobody is pinned


def names_of(frame: pd.DataFrame) -> list[str]:
    """Display names of the users of a frame, row by row."""
    return [person(name, user) for name, user in zip(frame["user_name"], frame["user_id"], strict=True)]


def refs_of(submissions: Iterable[Any], runners: Iterable[Any]) -> list[str]:
    """What a click opens: submission and runner as a link names them, such as "32750@H100"."""
    pairs = zip(submissions, runners, strict=True)
    return [f"{int(id_)}@{runner}" if isinstance(runner, str) else f"{int(id_)}" for id_, runner in pairs]


def styles_of(users: Sequence[str], theme: Theme) -> dict[str, Style]:
    """The look of each user, in their order."""
    return {user: user_style(place, theme) for place, user in enumerate(dict.fromkeys(users))}


def shown_users(ranked_ids: Sequence[str], pinned: Sequence[str], count: int = DEFAULT_USERS) -> tuple[str, ...]:
    """The users to highlight: the pinned ones present, in pin order; without any, the first `count` ranks."""
    present = set(ranked_ids)
    return tuple(user for user in dict.fromkeys(pinned) if user in present) or tuple(dict.fromkeys(ranked_ids))[:count]


def final_order(bests: pd.DataFrame) -> list[str]:
    """The users of personal bests in time order, by their final rank."""
    last = bests.groupby("user_id", sort=False).tail(1).sort_values("score", kind="stable")
    return [str(user) for user in last["user_id"].to_numpy(dtype=object)] if len(last) else []


def positions(values: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Position of each value in a sequence."""
    codes, found = pd.factorize(np.asarray(values, dtype=object))
    order = np.argsort(codes, kind="stable")
    cuts = np.searchsorted(codes[order], np.arange(len(found) + 1))
    return {value: order[cuts[place] : cuts[place + 1]] for place, value in enumerate(found)}
