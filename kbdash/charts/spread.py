"""Adoption of something over time: submissions per week as bars, users so far as a line."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import Spec, caption, figure, message, rows_of, sign, stamps
from kbdash.charts.palette import Theme, faded, theme_of, warning_ink
from kbdash.units import plural

_WEEK = 7 * 86_400_000  # milliseconds
_HEIGHT = 230


def spread(weeks: pd.DataFrame, theme: str = "light") -> go.Figure:
    """Weeks (week, submissions, new_users): bars below, the cumulative number of users as a step line above."""
    if weeks.empty:
        return message("No dated submission holds it.", theme, height=120)
    tokens = theme_of(theme)
    line = warning_ink(tokens)
    legend = f"{sign('▮', 'submissions a week', tokens.accent)}   {sign('━', 'users so far', line)}"
    return figure(
        [_bars(weeks, tokens), _users(weeks, line)],
        tokens,
        height=_HEIGHT,
        margin={"l": 12, "r": 12, "t": 34, "b": 50},
        xaxis=date_axis(tokens),
        yaxis=plain_axis(tokens, rangemode="tozero", nticks=4),
        yaxis2=plain_axis(tokens, overlaying="y", side="right", showgrid=False, **_whole_ticks(weeks)),
        annotations=[caption(legend, tokens, lift=8)],
    )


def _whole_ticks(weeks: pd.DataFrame) -> Spec:
    """None, half and all of the users, as whole numbers."""
    most = int(weeks["new_users"].sum())
    ticks = sorted({0, most // 2, most})
    return {"range": [0, most * 1.05], "tickmode": "array", "tickvals": ticks}


def _moments(weeks: pd.DataFrame) -> "np.ndarray[tuple[int], np.dtype[np.datetime64]]":
    return pd.to_datetime(weeks["week"]).to_numpy(dtype="datetime64[h]")


def _bars(weeks: pd.DataFrame, theme: Theme) -> Spec:
    words = [plural(count, "submission") for count in weeks["submissions"]]
    return {
        "type": "bar",
        "x": stamps(_moments(weeks) + np.timedelta64(84, "h")),
        "y": weeks["submissions"].to_numpy(),
        "width": np.full(len(weeks), _WEEK * 0.92),
        "marker": {"color": faded(theme.accent, 0.62), "line": {"width": 0}},
        "customdata": rows_of([[""] * len(weeks), words, weeks["week"].astype(str)]),
        "hovertemplate": "%{customdata[1]} in the week of %{customdata[2]}.<extra></extra>",
    }


def _users(weeks: pd.DataFrame, color: str) -> Spec:
    """A step line that rises at the end of the week in which new users appear."""
    so_far = weeks["new_users"].cumsum().to_numpy()
    moments = _moments(weeks)
    x = np.concatenate([moments[:1], moments + np.timedelta64(168, "h")])
    words = ["", *(plural(count, "user") for count in so_far)]
    days = ["", *weeks["week"].astype(str)]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": stamps(x),
        "y": np.concatenate([[0], so_far]),
        "yaxis": "y2",
        "line": {"shape": "hv", "width": 2, "color": color},
        "customdata": rows_of([[""] * len(x), words, days]),
        "hovertemplate": "%{customdata[1]} until the week of %{customdata[2]}.<extra></extra>",
    }
