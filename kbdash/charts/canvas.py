"""What all figures share: background, fonts, margins, and the message when there is nothing to draw."""

import json
import sys
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.palette import Theme, theme_of

Spec = dict[str, Any]
Array = np.ndarray[Any, Any]

POINT_LIMIT = 5_000  # the most points that one chart sends to the browser
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", sans-serif'
FONT_SIZE = 13
SMALL = 12
BELOW = 58  # pixels an axis with two lines of ticks and a title takes
PHONE = 300  # width of a plot on a narrow phone: labels that do not collide there never do
LETTER = 6.2  # pixels of an average letter at the labels' size


class Sent(go.Figure):  # type: ignore[misc]  # Plotly has no types
    """A figure as the JSON text that a browser gets: a seventh of the memory of Plotly's objects. Only for display."""

    def __init__(self, figure: go.Figure) -> None:
        # The method of Plotly would make an object of every trace.
        self._text: str = figure.to_json()

    def to_dict(self) -> Spec:
        """The figure as plain data, which Streamlit asks for in each run."""
        spec: Spec = json.loads(self._text)
        return spec

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self._text)


def figure(traces: Sequence[Spec], theme: Theme, *, height: int, **layout: Any) -> go.Figure:
    """A figure in the page's colours; `layout` completes or replaces what all charts share."""
    points = sum(int(np.size(trace["z"] if "z" in trace else trace["x"])) for trace in traces)
    assert points <= POINT_LIMIT, f"{points} points in one chart"  # noqa: S101
    # Validating every property takes ten times as long as drawing; the tests validate every figure instead.
    return go.Figure({"data": list(traces), "layout": _layout(theme, height) | layout}, _validate=False)


def message(text: str, theme: str = "light", *, height: int = 220) -> go.Figure:
    """A figure without data that says why there is none; `text` must be our own words."""
    tokens = theme_of(theme)
    hidden = {"visible": False, "fixedrange": True}
    words = "<br>".join(wrap(text, 40))
    said = note(words, tokens, x=0.5, y=0.5, xanchor="center", yanchor="middle", size=FONT_SIZE + 1)
    return figure([], tokens, height=height, xaxis=hidden, yaxis=hidden, annotations=[said])


def config(file_name: str) -> dict[str, Any]:
    """The options for `st.plotly_chart`; the only tool left is the camera, which our own buttons trigger."""
    return {
        "displaylogo": False,
        "displayModeBar": True,
        "toImageButtonOptions": {"format": "png", "filename": file_name, "scale": 2},
    }


def note(text: str, theme: Theme, *, x: float | str, y: float, size: int = SMALL, **more: Any) -> Spec:
    """A line of text on the paper, in the quiet colour."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": size, "color": theme.muted},
    } | more


def caption(text: str, theme: Theme, *, lift: int = 6, **more: Any) -> Spec:
    """A quiet line of text above the plot, `lift` pixels over its upper edge, from its left edge on."""
    placed: Spec = {"xanchor": "left", "yanchor": "bottom", "align": "left", "yshift": lift}
    return note(text, theme, x=0, y=1, **(placed | more))


def sign(mark: str, words: str, color: str) -> str:
    """An entry of a legend written as text: a mark in its colour, and what it stands for."""
    return f'<span style="color:{color}">{mark}</span> {words}'


def rows_of(columns: Iterable[object]) -> Array:
    """The columns side by side as customdata; an object array, because Plotly copies lists ten times slower."""
    filled = [np.asarray(column, dtype=object) for column in columns]
    return np.stack(filled, axis=1) if filled and len(filled[0]) else np.empty((0, len(filled)), dtype=object)


def row_tuples(frame: pd.DataFrame) -> list[Any]:
    """The rows of a frame one by one, their columns as attributes."""
    return list(frame.itertuples(index=False))


def utc(times: "pd.Series[Any]") -> Array:
    """Moments as plain UTC times."""
    aware = pd.to_datetime(times, utc=True)
    return aware.dt.tz_localize(None).to_numpy(dtype="datetime64[s]")


def stamps(moments: Array) -> Array:
    """UTC times as the text Plotly reads; it knows no time zones, so the axis says UTC."""
    return np.datetime_as_string(np.asarray(moments).astype("datetime64[s]"))


def thinned(keep: Array, limit: int) -> Array:
    """At most `limit` positions, in order: all that `keep` marks, and an even sample of the others."""
    if len(keep) <= limit:
        return np.arange(len(keep))
    kept, others = np.flatnonzero(keep), np.flatnonzero(~keep)
    if len(kept) >= limit:
        return _evenly(kept, limit)
    return np.sort(np.concatenate([kept, _evenly(others, limit - len(kept))]))


def _evenly(places: Array, count: int) -> Array:
    return places[np.linspace(0, len(places) - 1, count).round().astype(int)] if count else places[:0]


def _layout(theme: Theme, height: int) -> Spec:
    # The page's background instead of a transparent one: it looks the same, and a saved picture stays legible
    # wherever it is pasted.
    return {
        "template": {},
        "height": height,
        "margin": {"l": 12, "r": 12, "t": 28, "b": 12},
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "font": {"family": FONT, "size": FONT_SIZE, "color": theme.text},
        "hovermode": "closest",
        # Any other value captures touches on a phone, and the page does not scroll.
        "dragmode": False,
        "hoverlabel": {
            "bgcolor": theme.surface,
            "bordercolor": theme.muted,
            "align": "left",
            "namelength": -1,
            "font": {"family": FONT, "size": FONT_SIZE, "color": theme.text},
        },
        "showlegend": False,
        "uirevision": "keep",
        "modebar": {"remove": _TOOLS},
    }


# The page's filters do the zooming; the only tool left is the camera.
_TOOLS = ["zoom", "pan", "select", "lasso", "zoomin", "zoomout", "autoscale", "resetscale"]
