"""How times are spread: histogram and cumulative share over log time, with marks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.catalog import runner_name
from kbdash.charts.axes import LOWER_IS_BETTER, Bounds, bounds_with, plain_axis, time_axis
from kbdash.charts.bins import bin_bounds, by_runner, occupied, outline
from kbdash.charts.canvas import Array, Spec, figure, legend, message, rows_of
from kbdash.charts.marks import Mark, flags
from kbdash.charts.ridges import ridges
from kbdash.charts.text import shown
from kbdash.palette import Style, Theme, faded, pale, runner_style, theme_of
from kbdash.units import THIN, Unit, share_text, time_text

_NOTHING = "No passing submission with a time matches these filters."
_PLOT = 270  # pixels of the plot itself; the labels above and the axis below come on top
_BELOW = 58
_LEGEND = 26


def distribution(bins: pd.DataFrame, unit: Unit, theme: str = "light", marks: Sequence[Mark] = ()) -> go.Figure:
    """Histogram over log time: all passing rows as a pale area, each user's best as the front, per runner."""
    used = occupied(bins)
    bounds = bin_bounds(used, unit, marks)
    if bounds is None:
        return message(_NOTHING, theme)
    tokens = theme_of(theme)
    parts = by_runner(used)
    if len(parts) > 1:  # overlaid histograms cannot be told apart
        return ridges(parts, bounds, unit, tokens, marks)
    runner, part = parts[0]
    share = plain_axis(tokens, "share", tickformat=".0%", rangemode="tozero", nticks=5)
    traces = _histogram(part.sort_values("lo"), unit, runner_style(runner, tokens), tokens)
    return _over_time(traces, bounds, unit, tokens, marks, share)


def ecdf(points: pd.DataFrame, unit: Unit, theme: str = "light", marks: Sequence[Mark] = ()) -> go.Figure:
    """The share of users whose best is at or below a time, as steps per runner."""
    times = unit.per_second * points["score"].to_numpy(dtype=float)
    bounds = bounds_with(times, [unit.of(mark.seconds) for mark in marks])
    if bounds is None:
        return message(_NOTHING, theme)
    tokens = theme_of(theme)
    parts = by_runner(points)
    traces = []
    for runner, part in parts:
        style = runner_style(runner, tokens)
        style = style if len(parts) > 1 else replace(style, dash="solid")  # a dash only tells lines apart
        traces.append(_steps(part.sort_values("score"), unit, bounds, style, shown(runner_name(runner))))
    share = plain_axis(tokens, "users this fast or faster", tickformat=".0%", range=[0, 1.02], nticks=6)
    return _over_time(traces, bounds, unit, tokens, marks, share)


def _histogram(part: pd.DataFrame, unit: Unit, style: Style, theme: Theme) -> list[Spec]:
    rows, users = (part[column].to_numpy(dtype=float) for column in ("rows", "users"))
    row_share, user_share = rows / max(rows.sum(), 1), users / max(users.sum(), 1)
    line = {"width": 1.6, "color": style.color}
    return [
        _area(*outline(part, row_share, unit), pale(style.color, theme), {"width": 0}, "all passing submissions"),
        _area(*outline(part, user_share, unit), faded(style.color, 0.38), line, "each user's best"),
        _sentences(part, unit, rows, users) | {"y": np.maximum(user_share, row_share)},
    ]


def _area(x: Array, y: Array, fill: str, line: Spec, name: str) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "fill": "tozeroy",
        "fillcolor": fill,
        "line": {"shape": "hv"} | line,
        "name": name,
        "hoverinfo": "skip",
    }


def _sentences(part: pd.DataFrame, unit: Unit, rows: Array, users: Array) -> Spec:
    """Unseen points over the middle of the bins that carry the hover."""
    low, high = (part[edge].to_numpy(dtype=float) for edge in ("lo", "hi"))
    facts: list[Any] = [
        users.astype(int),
        rows.astype(int),
        [share_text(share) for share in users / max(users.sum(), 1)],
        [share_text(share) for share in rows / max(rows.sum(), 1)],
        [time_text(edge, unit) for edge in low],
        [time_text(edge, unit) for edge in high],
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "marker": {"opacity": 0},
        "x": unit.per_second * np.sqrt(low * high),
        "showlegend": False,
        "customdata": rows_of(facts),
        "hovertemplate": (
            "Between %{customdata[4]} and %{customdata[5]}:<br>the best of %{customdata[0]:,} users"
            " (%{customdata[2]}),<br>%{customdata[1]:,} submissions (%{customdata[3]}).<extra></extra>"
        ),
    }


def _steps(part: pd.DataFrame, unit: Unit, bounds: Bounds, style: Style, name: str) -> Spec:
    """One runner's steps, from nobody before the first time to everybody at the right end of the axis."""
    times = unit.per_second * part["score"].to_numpy(dtype=float)
    shares = part["share"].to_numpy(dtype=float)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([times[:1], times, [bounds[1]]]),
        "y": np.concatenate([[0.0], shares, shares[-1:]]),
        "line": {"shape": "hv", "width": 2, "color": style.color, "dash": style.dash},
        "name": name,
        "meta": name,
        "hovertemplate": (
            f"%{{meta}}: %{{y:.1%}} of the users need<br>%{{x:,.4r}}{THIN}{unit.name} or less.<extra></extra>"
        ),
    }


def _over_time(
    traces: list[Spec], bounds: Bounds, unit: Unit, theme: Theme, marks: Sequence[Mark], share: Spec
) -> go.Figure:
    """Traces over a log time axis with the marks above it, and a legend when there is something to tell apart."""
    banner = flags(marks, bounds, unit, theme, _PLOT)
    several = sum("name" in trace for trace in traces) > 1
    top = banner.room + (_LEGEND if several else 0)
    return figure(
        traces,
        theme,
        height=_PLOT + _BELOW + top,
        margin={"l": 12, "r": 16, "t": top, "b": _BELOW},
        xaxis=time_axis(bounds, unit, theme, f"time, {LOWER_IS_BETTER}"),
        yaxis=share,
        hovermode="x",
        shapes=banner.shapes,
        annotations=banner.annotations,
        showlegend=several,
        legend=legend(theme, 1 + banner.room / _PLOT),
    )
