"""Rank over time."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import Spec, caption, figure, message, rows_of, stamps
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


def bump(history: pd.DataFrame, theme: str = "light", users_order: Sequence[str] = ()) -> go.Figure:
    """Rank over time, the best on top, ten users at most, names at both ends; user ids in pin order give colours."""
    ranked = history.dropna(subset=["rank"]).sort_values("at", kind="stable")
    if ranked.empty:
        return message("Nobody has a rank under these filters.", theme)
    tokens = theme_of(theme)
    lines = sorted(
        ((str(user), part) for user, part in ranked.groupby("user_id", sort=False)),
        key=lambda line: float(line[1]["rank"].iloc[-1]),
    )[:_MOST]
    deepest = int(max(part["rank"].iloc[-1] for _, part in lines)) + _BELOW
    places = pin_order([user for user, _ in lines], users_order)
    visible = [(places[user], part[part["rank"] <= deepest]) for user, part in lines]
    first, last = stamps(pd.Series([ranked["at"].min(), ranked["at"].max()]))
    words = f"rank, the best on top; ranks below {count_text(deepest)} are not drawn"
    return figure(
        [_line(part, place, tokens) for place, part in visible],
        tokens,
        height=_ROW * deepest + 92,
        margin={"l": 94, "r": 94, "t": 34, "b": 58},
        xaxis=date_axis(tokens, range=[str(first), str(last)]),
        yaxis=plain_axis(tokens, range=[deepest + 0.5, 0.5], tick0=1, dtick=1, showticklabels=False),
        title=caption(words, tokens),
        annotations=[
            *_right_names(visible, deepest, tokens),
            *_left_names(visible, (str(first), str(last)), tokens),
        ],
    )


def _line(part: pd.DataFrame, place: int, theme: Theme) -> Spec:
    style = user_style(place, theme)
    ends = np.zeros(len(part))
    ends[[0, -1]] = 7
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": stamps(part["at"]),
        "y": part["rank"].to_numpy(dtype=float),
        "cliponaxis": False,
        "line": {"width": 2.2, "color": style.color, "dash": style.dash},
        "marker": {"symbol": style.marker, "size": ends, "color": style.color, "opacity": 1, "line": {"width": 0}},
        "customdata": rows_of([part["user_id"]]),
        "meta": _name(part, None),
        "hovertemplate": "%{meta} was rank %{y:,d} on %{x|%Y-%m-%d %H:%M} UTC.<extra></extra>",
    }


def _right_names(visible: list[tuple[int, pd.DataFrame]], deepest: int, theme: Theme) -> list[Spec]:
    tops = [_ROW * (deepest + 0.5 - float(part["rank"].iloc[-1])) for _, part in visible]
    heights = spread(tops, LINE, 0, _ROW * deepest)
    return [
        end_label(_ranked_name(part, -1), height / (_ROW * deepest), user_style(place, theme).ink)
        for (place, part), height in zip(visible, heights, strict=True)
    ]


def _left_names(visible: list[tuple[int, pd.DataFrame]], span: tuple[str, str], theme: Theme) -> list[Spec]:
    """Names where the lines begin, unless an earlier one stands there already; the right end names all."""
    labels: list[Spec] = []
    taken: dict[float, np.datetime64] = {}
    width = np.datetime64(span[1]) - np.datetime64(span[0])
    for place, part in sorted(visible, key=lambda line: line[1]["at"].iloc[0]):
        at, rank = str(stamps(part["at"].iloc[:1])[0]), float(part["rank"].iloc[0])
        begun = np.datetime64(at)
        if rank in taken and begun - taken[rank] < _PHONE_LABEL * width:
            continue
        taken[rank] = begun
        label = end_label(_ranked_name(part, 0), rank, user_style(place, theme).ink, left=True)
        labels.append(label | {"yref": "y", "x": at, "xref": "x", "bgcolor": faded(theme.background, 0.8)})
    return labels


def _ranked_name(part: pd.DataFrame, row: int) -> str:
    return f"{part['rank'].iloc[row]:,.0f}  {_name(part, _NAME)}"


def _name(part: pd.DataFrame, limit: int | None) -> str:
    return shown(display_name(part["user_name"].iloc[-1], part["user_id"].iloc[-1]), limit)
