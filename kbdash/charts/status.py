"""What became of the submissions, day by day."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import Array, Spec, figure, legend, message, rows_of, utc
from kbdash.charts.text import shown
from kbdash.palette import Theme, status_color, theme_of

_MOST_DAYS = np.timedelta64(120, "D")  # bars beyond that are thinner than a pixel on a phone: weeks instead
_FIRST = {"succeeded": 0, "failed": 1}
_PATTERNS = ("", "/", ".", "x", "-", "+")  # so that colour is not the only sign


def status(frame: pd.DataFrame, theme: str = "light") -> go.Figure:
    """Submissions per UTC day (or week) stacked by status, with the pass rate as a line."""
    counted = frame[frame["rows"] > 0]
    if counted.empty:
        return message("No submission matches these filters.", theme)
    tokens = theme_of(theme)
    spans, word = _spans(counted["day"])
    days, place = np.unique(spans, return_inverse=True)
    rows, passed = (counted[column].to_numpy(dtype=float) for column in ("rows", "passed"))
    ends = counted["status"].fillna("unknown").to_numpy(dtype=object)
    totals = np.bincount(place, rows)
    names = sorted(set(ends), key=lambda name: (_FIRST.get(name, 2), name))
    bars = []
    for number, name in enumerate(names):
        counts = np.bincount(place, rows * (ends == name))
        bars.append(_bars(days[counts > 0], counts[counts > 0], name, _PATTERNS[number % len(_PATTERNS)], word, tokens))
    return figure(
        [*bars, _pass_rate(days, np.bincount(place, passed), totals, word, tokens)],
        tokens,
        height=340,
        margin={"l": 12, "r": 12, "t": 44, "b": 58},
        barmode="stack",
        xaxis=date_axis(tokens),
        yaxis=plain_axis(tokens, f"submissions per {word}", tickformat=",d", nticks=5),
        yaxis2=plain_axis(tokens, "passed", tickmode="array", tickvals=[0, 0.5, 1], tickformat=".0%")
        | {"overlaying": "y", "side": "right", "range": [0, 1.02], "showgrid": False},
        showlegend=True,
        legend=legend(tokens, 1.02),
    )


def _spans(days: "pd.Series[Any]") -> tuple[Array, str]:
    """The day each row belongs to, or the Monday of its week when there are many days; and which of the two."""
    exact = utc(days).astype("datetime64[D]")
    if exact.max() - exact.min() <= _MOST_DAYS:
        return exact, "day"
    return exact - (exact.astype(int) + 3) % 7, "week"  # day 0 was a Thursday


def _bars(days: Array, counts: Array, name: str, pattern: str, word: str, theme: Theme) -> Spec:
    color = status_color(name, theme)
    return {
        "type": "bar",
        "x": np.datetime_as_string(days),
        "y": counts,
        "width": (7 if word == "week" else 1) * 86_400_000 * 0.9,
        "name": shown(name, 20),
        "meta": shown(name),
        "marker": {
            "color": color,
            "line": {"width": 0},
            "pattern": {
                "shape": pattern,
                "fillmode": "replace",
                "fgcolor": color,
                "bgcolor": theme.background,
                "size": 6,
                "solidity": 0.5,
            },
        },
        "hovertemplate": f"%{{y:,}} %{{meta}}, {word} of %{{x|%Y-%m-%d}} UTC.<extra></extra>",
    }


def _pass_rate(days: Array, passed: Array, totals: Array, word: str, theme: Theme) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.datetime_as_string(days),
        "y": passed / totals,
        "yaxis": "y2",
        "name": "passed",
        "line": {"color": theme.text, "width": 1.6},
        "marker": {"size": 4, "color": theme.text},
        "customdata": rows_of([passed.astype(int), totals.astype(int)]),
        "hovertemplate": (
            "%{y:.1%} passed (%{customdata[0]:,} of %{customdata[1]:,}),"
            f" {word} of %{{x|%Y-%m-%d}} UTC.<extra></extra>"
        ),
    }
