"""Rank over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import Array, Spec, caption, figure, message, rows_of, stamps, utc
from kbdash.charts.climbs import display_name, pin_order
from kbdash.charts.labels import LINE, end_label, spread
from kbdash.charts.text import shown
from kbdash.palette import Theme, faded, theme_of, user_style
from kbdash.units import count_text

_MOST = 10  # lines a reader can still follow
_BELOW = 5  # ranks shown below the last of them
_NAME = 11  # letters of a name that fit a margin
_PHONE_LABEL = 0.6  # the share of a phone's plot that a label takes
_ROW = 26  # pixels per rank


@dataclass(frozen=True)
class _Line:
    """One user's ranks; `at` is UTC, `row` is where a rank is drawn: all that are too low share the lowest row."""

    name: str
    place: int
    at: Array
    rank: Array
    row: Array


def bump(history: pd.DataFrame, theme: str = "light", users_order: Sequence[str] = ()) -> go.Figure:
    """Rank over time, the best on top, ten users at most, names at both ends; user ids in pin order give colours."""
    ranked = history[history["rank"].notna()]
    if ranked.empty:
        return message("Nobody has a rank under these filters.", theme)
    tokens = theme_of(theme)
    lines, deepest = _lines(ranked, users_order)
    moments = utc(ranked["at"])
    span = moments.min(), moments.max()
    words = f"rank, the best on top; the lowest row is every rank below {count_text(deepest)}"
    return figure(
        [_trace(line, tokens) for line in lines],
        tokens,
        height=_ROW * (deepest + 1) + 92,
        margin={"l": 106, "r": 106, "t": 34, "b": 58},
        xaxis=date_axis(tokens, range=[str(moment) for moment in span]),
        yaxis=plain_axis(tokens, range=[deepest + 1.5, 0.5], tick0=1, dtick=1, showticklabels=False),
        title=caption(words, tokens),
        annotations=[*_right_names(lines, deepest, tokens), *_left_names(lines, span[1] - span[0], tokens)],
    )


def _lines(ranked: pd.DataFrame, users_order: Sequence[str]) -> tuple[list[_Line], int]:
    """The best lines in the order in which they end, and the deepest rank to draw."""
    at, rank = utc(ranked["at"]), ranked["rank"].to_numpy(dtype=float)
    users, names = (ranked[column].to_numpy(dtype=object) for column in ("user_id", "user_name"))
    order = np.argsort(at, kind="stable")
    at, rank, users, names = at[order], rank[order], users[order], names[order]
    final = dict(zip(users, rank, strict=True))  # the last one stays
    leaders = sorted(final, key=lambda user: final[user])[:_MOST]
    deepest = int(final[leaders[-1]]) + _BELOW
    places = pin_order(leaders, users_order)
    lines = []
    for user in leaders:
        mine = users == user
        name = display_name(names[mine][-1], user)
        lines.append(_Line(name, places[user], at[mine], rank[mine], np.minimum(rank[mine], deepest + 1)))
    return lines, deepest


def _trace(line: _Line, theme: Theme) -> Spec:
    style = user_style(line.place, theme)
    ends = np.zeros(len(line.at))
    ends[[0, -1]] = 7
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": stamps(line.at),
        "y": line.row,
        "customdata": rows_of([line.rank.astype(int)]),
        "cliponaxis": False,
        "line": {"width": 2.2, "color": style.color, "dash": style.dash},
        "marker": {"symbol": style.marker, "size": ends, "color": style.color, "opacity": 1, "line": {"width": 0}},
        "meta": shown(line.name),
        "hovertemplate": "%{meta} was rank %{customdata[0]:,} on %{x|%Y-%m-%d %H:%M} UTC.<extra></extra>",
    }


def _right_names(lines: list[_Line], deepest: int, theme: Theme) -> list[Spec]:
    plot = _ROW * (deepest + 1)
    heights = spread([plot - _ROW * (line.row[-1] - 0.5) for line in lines], LINE, 0, plot)
    return [
        end_label(_ranked_name(line, -1), height / plot, user_style(line.place, theme).ink)
        for line, height in zip(lines, heights, strict=True)
    ]


def _left_names(lines: list[_Line], width: np.timedelta64, theme: Theme) -> list[Spec]:
    """Names where the lines begin, unless an earlier one stands there already; the right end names all."""
    labels: list[Spec] = []
    taken: dict[float, np.datetime64] = {}
    for line in sorted(lines, key=lambda line: line.at[0]):
        begun, row = line.at[0], float(line.row[0])
        if row in taken and begun - taken[row] < _PHONE_LABEL * width:
            continue
        taken[row] = begun
        label = end_label(_ranked_name(line, 0), row, user_style(line.place, theme).ink, left=True)
        labels.append(label | {"yref": "y", "x": str(begun), "xref": "x", "bgcolor": faded(theme.background, 0.8)})
    return labels


def _ranked_name(line: _Line, end: int) -> str:
    return f"{count_text(line.rank[end])}  {shown(line.name, _NAME)}"
