"""One user's rank over time, whom they overtook and who overtook them."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import (
    BELOW,
    LETTER,
    PHONE,
    Array,
    Spec,
    caption,
    figure,
    message,
    row_tuples,
    rows_of,
    sign,
    stamps,
    utc,
)
from kbdash.charts.labels import end_label
from kbdash.charts.palette import Theme, faded, quiet_color, theme_of, user_style, warning_ink
from kbdash.charts.people import final_order, refs_of
from kbdash.charts.text import escaped
from kbdash.charts.timespan import Window, window_of
from kbdash.database.standings import rank_changes
from kbdash.units import count_text, person

Box = tuple[float, float, float]
"""A sign or a name: its height, its left and its right end, in pixels."""

_AROUND = 2  # ranks shown above and below those the user had
_UNDER = 0.07  # of the ranks the user had: the room of a name below the last
_NEIGHBOURS = 3  # on either side, named at the right
_PLOT = 330  # pixels of all ranks at most
_ROW = 20  # and of one
_NARROW = 190  # pixels of the plot between the ranks and the names on a phone
_NAME = 12
_LINE = 14  # pixels of a line of names
_SIGN = 11  # pixels of a sign
_BELOW_SIGN = 13  # from a sign to the name below it
_APART = 12.5  # pixels between the middles of two signs that do not touch
_EVENTS = 300  # changes drawn of one user, the last ones
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def passed_by(
    bests: pd.DataFrame,
    user: str,
    theme: str = "light",
    *,
    until: object = None,
    span: str = "field",
    narrow: bool = False,
) -> go.Figure:
    """The rank of one user as steps, with ▲ where they gained and ▼ where somebody passed them; neighbours in grey."""
    every = rank_changes(bests, [user]) if len(bests) else bests
    changes = every.tail(_EVENTS)
    if not len(changes):
        return message("This user has no ranked time under these filters.", theme)
    tokens = theme_of(theme)
    at, score = utc(bests["submitted_at"]), bests["score"].to_numpy(dtype=float)
    own = utc(changes["at"])
    window = window_of(
        at[at >= own[0]], at[int(np.argmin(score))], None, until, "final" if span == "final" else "field"
    )
    ranks = changes["rank"].to_numpy(dtype=int)
    low = int(ranks.max()) + max(_AROUND, round(float(np.ptp(ranks)) * _UNDER))
    high = max(1, int(ranks.min()) - _AROUND)
    near = _neighbours(bests, user)
    name = person(bests.loc[bests["user_id"] == user, "user_name"].iloc[-1], user)
    width = _NARROW if narrow else PHONE
    return _drawn(bests, changes, near, name, (high, low), window, tokens, width, len(every))


def _neighbours(bests: pd.DataFrame, user: str) -> list[str]:
    order = final_order(bests)
    place = order.index(user)
    return [other for other in order[max(place - _NEIGHBOURS - 1, 0) : place + _NEIGHBOURS] if other != user]


def _drawn(
    bests: pd.DataFrame,
    changes: pd.DataFrame,
    near: list[str],
    name: str,
    rows: tuple[int, int],
    window: Window,
    theme: Theme,
    width: int,
    total: int,
) -> go.Figure:
    high, low = rows
    row = min(_PLOT / (low - high + 1), _ROW)
    plot = row * (low - high + 1)
    signs = _boxes(changes, row, window, width)
    signed = _with_room(changes, signs) if width < PHONE else np.ones(len(changes), dtype=bool)
    cut = _left_out(total, signed)
    style = user_style(0, theme)
    gained = sign("▲", f"{escaped(name, 20)} gained ranks", theme.text)
    legend = f"{gained}   {sign('▼', 'was passed by', warning_ink(theme))}"
    above = 36 + (_LINE if cut else 0)
    others = rank_changes(bests, near).groupby("user_id", sort=False).tail(_EVENTS)
    traces = [_grey(part, window, theme) for _, part in others.groupby("user_id", sort=False)]
    traces += [_own(changes, style.color, name, window), *_signs(changes, signed, bests["runner"].iloc[0], name, theme)]
    step = next(step for step in _STEPS if (low - high) / step <= 15 or step == _STEPS[-1])
    ticks = [rank for rank in range(high, low + 1) if step == 1 or rank % step == 0 or rank == 1]
    return figure(
        traces,
        theme,
        height=round(plot) + above + BELOW,
        margin={"l": 46, "r": 104, "t": above, "b": BELOW},
        xaxis=date_axis(theme, range=window.ends, nticks=width // 60, tickangle=0),
        yaxis=plain_axis(theme, "rank", range=[low + 0.6, high - 0.6], tickmode="array", tickvals=ticks),
        annotations=[
            caption(f"{legend}<br>{cut}" if cut else legend, theme, lift=10),
            *_passers(changes[signed], [signs[at] for at in np.flatnonzero(signed)], theme, width),
            *_ends(others, changes, bests, name, (high, low), theme),
        ],
    )


def _left_out(total: int, signed: Array) -> str:
    """A sentence on the changes that are not drawn, or have no sign."""
    drawn, few = len(signed), f"signs at {count_text(signed.sum())} of"
    if drawn < total:
        said = f"the last {count_text(drawn)} of {count_text(total)} changes"
        return said if signed.all() else f"{said}, {few} them"
    return "" if signed.all() else f"{few} {count_text(drawn)} changes"


def _grey(part: pd.DataFrame, window: Window, theme: Theme) -> Spec:
    x, y = _steps(utc(part["at"]), part["rank"].to_numpy(dtype=int), window)
    line = {"shape": "hv", "width": 1, "color": faded(quiet_color(theme), 0.75)}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip"}


def _own(changes: pd.DataFrame, color: str, name: str, window: Window) -> Spec:
    x, y = _steps(utc(changes["at"]), changes["rank"].to_numpy(dtype=int), window)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"shape": "hv", "width": 3, "color": color},
        "meta": escaped(name),
        "hovertemplate": "%{meta} stood on rank %{y:,}<br>from %{x|%Y-%m-%d %H:%M} UTC on.<extra></extra>",
    }


def _steps(at: Array, ranks: Array, window: Window) -> tuple[Array, Array]:
    """The changes, extended to the end of the axis."""
    return np.append(stamps(at), window.end_text), np.append(ranks, ranks[-1:])


def _boxes(changes: pd.DataFrame, height: float, window: Window, width: int) -> list[Box]:
    """Where each change is in a plot of that width, as the box of its sign."""
    places = (utc(changes["at"]) - window.start) / (window.end - window.start) * width
    levels = changes["rank"].to_numpy(dtype=int) * height
    return [(level, place - _SIGN / 2, place + _SIGN / 2) for level, place in zip(levels, places, strict=True)]


def _with_room(changes: pd.DataFrame, signs: list[Box]) -> Array:
    """Which changes get a sign where signs may not touch: first the last one, then the larger changes."""
    moved = (changes["rank"] - changes["before"]).abs().fillna(0).to_numpy(dtype=int)
    order = sorted(range(len(signs) - 1), key=lambda at: (-moved[at], -at))
    kept: list[int] = []
    for at in [len(signs) - 1, *order]:
        if not any(_crossed(signs[at], signs[other]) for other in kept):
            kept.append(at)
    return np.isin(np.arange(len(signs)), kept)


def _signs(changes: pd.DataFrame, signed: Array, runner: str, name: str, theme: Theme) -> list[Spec]:
    """▲ at each own gain and ▼ at each passing, with the submission that did it; without a sign, a tap still tells."""
    passed = changes["by_id"].notna().to_numpy()
    traces: list[Spec] = []
    for mask, symbol, color in ((~passed, "triangle-up", theme.accent), (passed, "triangle-down", warning_ink(theme))):
        part = changes[mask]
        who = [
            escaped(person(by, id_)) if pd.notna(id_) else escaped(name)
            for by, id_ in zip(part["by_name"], part["by_id"], strict=True)
        ]
        words = [_words(person_, row, symbol) for person_, row in zip(who, row_tuples(part), strict=True)]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": stamps(utc(part["at"])) if len(part) else [],
                "y": part["rank"].to_numpy(dtype=int),
                "marker": {
                    "symbol": symbol,
                    "size": _SIGN if signed.all() else np.where(signed[mask], _SIGN, 0),
                    "color": color,
                    "line": {"width": 0},
                    "opacity": 1,
                },
                "customdata": rows_of([refs_of(part["submission_id"], [runner] * len(part)), words]),
                "hovertemplate": "%{customdata[1]}<br>%{x|%Y-%m-%d %H:%M} UTC.<extra></extra>",
            }
        )
    return traces


def _words(who: str, row: Any, symbol: str) -> str:
    rank, before = count_text(row.rank), row.before
    if symbol == "triangle-down":
        return f"{who} passed: from rank {count_text(before)} to {rank},"
    return (
        f"{who} came in on rank {rank}," if pd.isna(before) else f"{who} went from rank {count_text(before)} to {rank},"
    )


def _passers(changes: pd.DataFrame, signs: list[Box], theme: Theme, width: int) -> list[Spec]:
    """Names of the users who passed, each below its sign: the last always, any other unless it would cover a name
    or, on a phone, a sign."""
    taken = list(signs) if width < PHONE else []
    labels: list[Spec] = []
    lines = list(zip(row_tuples(changes), stamps(utc(changes["at"])), signs, strict=True))
    for row, at, (level, left, right) in reversed(lines):
        place = (left + right) / 2
        if pd.isna(row.by_id) or not 0 <= place <= width:
            continue
        text = escaped(person(row.by_name, row.by_id), _NAME)
        half = LETTER * min(len(str(person(row.by_name, row.by_id))), _NAME) / 2
        anchor = "left" if place < half else "right" if place > width - half else "center"
        start = {"left": place, "right": place - 2 * half, "center": place - half}[anchor]
        box = (level + _BELOW_SIGN, start, start + 2 * half)
        if labels and any(_crossed(box, other) for other in taken):
            continue
        taken.append(box)
        labels.append(_name(text, at, int(row.rank), anchor, theme))
    return labels


def _crossed(one: Box, other: Box) -> bool:
    """Whether two boxes overlap."""
    return abs(one[0] - other[0]) < _APART and one[1] < other[2] and one[2] > other[1]


def _name(text: str, at: str, rank: int, anchor: str, theme: Theme) -> Spec:
    return {
        "text": text,
        "x": at,
        "y": rank,
        "yshift": -_BELOW_SIGN,
        "xanchor": anchor,
        "yanchor": "middle",
        "showarrow": False,
        "bgcolor": faded(theme.background, 0.4),  # the own line must show through
        "borderpad": 0,
        "font": {"size": 11, "color": warning_ink(theme)},
    }


def _ends(
    others: pd.DataFrame, changes: pd.DataFrame, bests: pd.DataFrame, name: str, rows: tuple[int, int], theme: Theme
) -> list[Spec]:
    """Rank and name of the user and the neighbours at the right."""
    names = dict(zip(bests["user_id"], bests["user_name"], strict=True))
    ends = [
        (int(part["rank"].iloc[-1]), person(names[user], user), False)
        for user, part in others.groupby("user_id", sort=False)
    ]
    ends.append((int(changes["rank"].iloc[-1]), name, True))
    high, low = rows
    share = low - high + 1.2
    labels: list[Spec] = []
    taken: list[int] = []
    apart = _LINE / min(_PLOT / (low - high + 1), _ROW)
    for rank, who, own in sorted(ends, key=lambda entry: not entry[2]):
        if any(abs(rank - other) < apart for other in taken) or not high <= rank <= low:
            continue
        taken.append(rank)
        text = f"{count_text(rank)}  {escaped(who, _NAME)}"
        height = 1 - (rank - high + 0.6) / share
        labels.append(
            end_label(f"<b>{text}</b>" if own else text, height, user_style(0, theme).ink if own else theme.muted)
        )
    return labels
