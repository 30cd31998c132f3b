"""Any answer as a chart: one column against another, coloured by a third."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import plain_axis
from kbdash.charts.canvas import POINT_LIMIT, Spec, figure, message
from kbdash.charts.palette import Theme, quiet_color, theme_of, user_style
from kbdash.charts.text import escaped

MOST_COLOURS = 7
"""Groups with their own colour; the others share a grey."""
_REST = "others"
_LONGEST = 40


def quick(frame: pd.DataFrame, x: str, y: str, colour: str = "", theme: str = "light") -> go.Figure:
    """Bars over words, lines with points over times, points over numbers."""
    rows = frame.dropna(subset=[x, y]).head(POINT_LIMIT)
    if rows.empty or not is_number(rows[y]):
        return message("Nothing to draw: the column for the height needs numbers.", theme)
    tokens = theme_of(theme)
    groups = _groups(rows, colour)
    traces = [_trace(rows[groups == name], x, y, name, place, tokens) for place, name in enumerate(_names(groups))]
    return figure(
        traces,
        tokens,
        height=420,
        margin={"l": 12, "r": 12, "t": 30, "b": 60},
        showlegend=bool(colour),
        legend={"orientation": "h", "y": -0.22, "yanchor": "top", "font": {"color": tokens.text}},
        xaxis=plain_axis(tokens, escaped(x[:_LONGEST]), automargin=True),
        yaxis=plain_axis(tokens, escaped(y[:_LONGEST]), automargin=True),
    )


def is_number(values: "pd.Series[Any]") -> bool:
    """Whether a column is numeric."""
    return bool(pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values))


def _groups(rows: pd.DataFrame, colour: str) -> "pd.Series[Any]":
    if not colour:
        return pd.Series("", index=rows.index)
    words = rows[colour].map(lambda value: str(value)[:_LONGEST])
    largest = words.value_counts().index[:MOST_COLOURS]
    return words.where(words.isin(largest), _REST)


def _names(groups: "pd.Series[Any]") -> list[str]:
    """The groups, the largest first, the rest last."""
    counted = [str(name) for name in groups.value_counts().index]
    return [name for name in counted if name != _REST] + [_REST] * (_REST in counted)


def _trace(rows: pd.DataFrame, x: str, y: str, name: str, place: int, theme: Theme) -> Spec:
    color = quiet_color(theme) if name == _REST else user_style(place, theme).color
    heights = rows[y].to_numpy(dtype=float)
    base: Spec = {"name": escaped(name), "y": heights, "hovertemplate": "%{x}<br>%{y}<extra></extra>"}
    if pd.api.types.is_datetime64_any_dtype(rows[x]):
        moments = rows[x].to_numpy(dtype="datetime64[ms]")
        order = np.argsort(moments, kind="stable")
        return base | {
            "type": "scatter", "mode": "lines+markers", "x": moments[order], "y": heights[order],
            "line": {"color": color}, "marker": {"color": color, "size": 5},
        }  # fmt: skip
    if is_number(rows[x]):
        return base | {
            "type": "scatter", "mode": "markers", "x": rows[x].to_numpy(dtype=float),
            "marker": {"color": color, "size": 7, "opacity": 0.75},
        }  # fmt: skip
    words = [escaped(str(value)[:_LONGEST]) for value in rows[x]]
    return base | {"type": "bar", "x": words, "marker": {"color": color}}
