"""What became of the submissions, day by day."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import Spec, figure, legend, message, rows_of
from kbdash.charts.text import shown
from kbdash.palette import Theme, status_color, theme_of
from kbdash.units import share_text

_MOST_DAYS = 120  # bars beyond that are thinner than a pixel on a phone: weeks instead
_FIRST = {"succeeded": 0, "failed": 1}
_PATTERNS = ("", "/", ".", "x", "-", "+")  # so that colour is not the only sign


def status(frame: pd.DataFrame, theme: str = "light") -> go.Figure:
    """Submissions per UTC day (or week) stacked by status, with the pass rate as a line."""
    counted = frame[frame["rows"] > 0]
    if counted.empty:
        return message("No submission matches these filters.", theme)
    tokens = theme_of(theme)
    days = pd.to_datetime(counted["day"], utc=True).dt.tz_localize(None).dt.normalize()
    weekly = (days.max() - days.min()).days > _MOST_DAYS
    spans = days.dt.to_period("W").dt.start_time if weekly else days
    word = "week" if weekly else "day"
    table = counted.assign(span=spans, status=counted["status"].fillna("unknown"))
    names = sorted(table["status"].unique(), key=lambda name: (_FIRST.get(name, 2), name))
    width = (7 if weekly else 1) * 86_400_000 * 0.9
    bars = [_bars(table[table["status"] == name], name, place, width, word, tokens) for place, name in enumerate(names)]
    return figure(
        [*bars, _pass_rate(table, word, tokens)],
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


def _bars(part: pd.DataFrame, name: str, place: int, width: float, word: str, theme: Theme) -> Spec:
    counts = part.groupby("span")["rows"].sum()
    color = status_color(name, theme)
    return {
        "type": "bar",
        "x": np.datetime_as_string(counts.index.to_numpy(dtype="datetime64[D]")),
        "y": counts.to_numpy(dtype=int),
        "width": width,
        "name": shown(name, 20),
        "meta": shown(name),
        "marker": {
            "color": color,
            "line": {"width": 0},
            "pattern": {
                "shape": _PATTERNS[place % len(_PATTERNS)],
                "fillmode": "replace",
                "fgcolor": color,
                "bgcolor": theme.background,
                "size": 6,
                "solidity": 0.5,
            },
        },
        "hovertemplate": f"%{{y:,}} %{{meta}} in the {word} of %{{x|%Y-%m-%d}} UTC.<extra></extra>"
        if word == "week"
        else "%{y:,} %{meta} on %{x|%Y-%m-%d} UTC.<extra></extra>",
    }


def _pass_rate(table: pd.DataFrame, word: str, theme: Theme) -> Spec:
    sums = table.groupby("span")[["rows", "passed"]].sum()
    shares = sums["passed"].to_numpy(dtype=float) / sums["rows"].to_numpy(dtype=float)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.datetime_as_string(sums.index.to_numpy(dtype="datetime64[D]")),
        "y": shares,
        "yaxis": "y2",
        "name": "passed",
        "line": {"color": theme.text, "width": 1.6},
        "marker": {"size": 4, "color": theme.text},
        "customdata": rows_of([[share_text(share) for share in shares], sums["passed"], sums["rows"]]),
        "hovertemplate": f"%{{customdata[0]}} passed (%{{customdata[1]:,}} of %{{customdata[2]:,}}),"
        f" {word} of %{{x|%Y-%m-%d}} UTC.<extra></extra>",
    }
