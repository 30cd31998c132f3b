"""Who held the record, from when to when, as one row of bars."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kbdash.charts.canvas import Spec, rows_of, stamps, utc
from kbdash.charts.palette import Style, Theme, contrast, faded, quiet_color
from kbdash.charts.people import refs_of
from kbdash.charts.text import escaped
from kbdash.charts.timespan import Window
from kbdash.units import Unit, duration_text, minute_text, person, time_text


@dataclass(frozen=True)
class Reign:
    """One holder of the record: since and until are UTC, the score (seconds) is the last of the reign."""

    user_id: str
    name: str
    ref: str
    score: float
    since: np.datetime64
    until: np.datetime64


def reigns(bests: pd.DataFrame, window: Window) -> list[Reign]:
    """The record holders in time order, from personal bests in time order; improving one's own record extends it."""
    at, score = utc(bests["submitted_at"]), bests["score"].to_numpy(dtype=float)
    before = np.append(np.inf, np.minimum.accumulate(score)[:-1])
    found: list[Reign] = []
    for place in np.flatnonzero(score < before).tolist():
        row = bests.iloc[place]
        user = str(row["user_id"])
        if found and found[-1].user_id == user:
            first = found.pop().since
        else:
            first = at[place]
            if found:
                found[-1] = _ended(found[-1], at[place])
        ref = refs_of([row["submission_id"]], [row["runner"]])[0]
        found.append(Reign(user, person(row["user_name"], user), ref, score[place], first, window.end))
    return [_started(reign, window.start) for reign in found if reign.until > window.start]


def strip(held: list[Reign], styles: Mapping[str, Style], unit: Unit, theme: Theme) -> Spec:
    """The reigns as a trace of bars around y = 0, names inside where they fit."""
    colors = [bar_color(styles.get(reign.user_id), theme) for reign in held]
    inks = [bar_ink(styles.get(reign.user_id), theme) for reign in held]
    widths = [(reign.until - reign.since) / np.timedelta64(1, "ms") for reign in held]
    sentences = [
        f"{escaped(reign.name)} held the record for {duration_text(width / 1000)}<br>from"
        f" {minute_text(pd.Timestamp(reign.since))}, at last with {time_text(reign.score, unit)}."
        for reign, width in zip(held, widths, strict=True)
    ]
    return {
        "type": "bar",
        "orientation": "h",
        "base": stamps(np.array([reign.since for reign in held], dtype="datetime64[s]")),
        "x": widths,
        "y": np.zeros(len(held)),
        "width": np.ones(len(held)),
        "text": [escaped(reign.name, 16) for reign in held],
        "textposition": "inside",
        "insidetextanchor": "start",
        "textangle": 0,
        "textfont": {"size": 11, "color": inks},
        "marker": {"color": colors, "line": {"width": 1, "color": theme.background}},
        "customdata": rows_of([[reign.ref for reign in held], sentences]),
        "hovertemplate": "%{customdata[1]}<extra></extra>",
    }


def bar_color(style: Style | None, theme: Theme) -> str:
    """The colour of a user's bar; a pale grey unless highlighted."""
    return faded(quiet_color(theme), 0.4) if style is None else style.color


def bar_ink(style: Style | None, theme: Theme) -> str:
    """The colour of the name inside: black or white, whichever reads better."""
    if style is None:
        return theme.text
    return max(("#FFFFFF", "#101418"), key=lambda ink: contrast(ink, style.color))


def _ended(reign: Reign, moment: np.datetime64) -> Reign:
    return replace(reign, until=moment)


def _started(reign: Reign, moment: np.datetime64) -> Reign:
    return replace(reign, since=max(reign.since, moment))
