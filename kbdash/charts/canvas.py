"""What all figures share: background, type, margins, and what stands there when there is nothing to draw."""

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.palette import Theme, theme_of

Spec = dict[str, Any]
Array = np.ndarray[Any, Any]

POINT_LIMIT = 5_000  # what one chart sends to the browser, at most
GL_ABOVE = 1_000  # SVG draws fewer points crisper, WebGL draws more of them faster
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", sans-serif'
FONT_SIZE = 13
SMALL = 12

# Zooming is done with the page's filters; the only tool left is the camera.
_TOOLS = ["zoom", "pan", "select", "lasso", "zoomin", "zoomout", "autoscale", "resetscale"]


class Drawn(go.Figure):  # type: ignore[misc]  # Plotly has no types
    """A figure that never changes again, so that its dictionary, which Streamlit asks for at each run, is made once."""

    _dictionary: Spec | None = None

    def to_dict(self) -> Spec:
        """The figure as plain data; shared, so leave it as it is."""
        if self._dictionary is None:
            self._dictionary = super().to_dict()
        return self._dictionary


def figure(traces: Sequence[Spec], theme: Theme, *, height: int, **layout: Any) -> go.Figure:
    """A figure in the page's colours; `layout` completes or replaces what all charts share."""
    points = sum(int(np.size(trace["z"] if "z" in trace else trace["x"])) for trace in traces)
    assert points <= POINT_LIMIT, f"{points} points in one chart"  # noqa: S101
    # Checking every property takes ten times as long as drawing; the tests check every figure instead.
    return Drawn({"data": list(traces), "layout": _layout(theme, height) | layout}, _validate=False)


def message(text: str, theme: str = "light", *, height: int = 220) -> go.Figure:
    """A figure without data that says why there is none; `text` must be our own words."""
    tokens = theme_of(theme)
    hidden = {"visible": False, "fixedrange": True}
    return figure(
        [],
        tokens,
        height=height,
        xaxis=hidden,
        yaxis=hidden,
        annotations=[
            note(
                "<br>".join(wrap(text, 40)),
                tokens,
                x=0.5,
                y=0.5,
                xanchor="center",
                yanchor="middle",
                size=FONT_SIZE + 1,
            )
        ],
    )


def config(file_name: str) -> dict[str, Any]:
    """The options `st.plotly_chart` takes beside a figure: only the camera, which saves `file_name`.png."""
    return {
        "displaylogo": False,
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


def caption(text: str, theme: Theme) -> Spec:
    """A quiet line of text at the very top, from the left edge of the chart, where a phone has room for it."""
    return {
        "text": text,
        "x": 0,
        "xref": "container",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"l": 12, "t": 8},
        "font": {"size": SMALL, "color": theme.muted},
    }


def legend(theme: Theme, height: float) -> Spec:
    """A legend in a row above the plot, at `height` (1 is the plot's upper edge)."""
    return {
        "orientation": "h",
        "x": 0,
        "y": height,
        "yanchor": "bottom",
        "font": {"size": SMALL, "color": theme.text},
        "bgcolor": "rgba(0,0,0,0)",
        "traceorder": "normal",
    }


def rows_of(columns: Iterable[object]) -> Array:
    """The columns side by side as customdata; an object array, because Plotly copies lists ten times slower."""
    filled = [np.asarray(column, dtype=object) for column in columns]
    return np.stack(filled, axis=1) if filled and len(filled[0]) else np.empty((0, len(filled)), dtype=object)


def utc(times: "pd.Series[Any]") -> Array:
    """Moments as plain UTC times."""
    aware = pd.to_datetime(times, utc=True)
    return aware.dt.tz_localize(None).to_numpy(dtype="datetime64[s]")


def stamps(moments: Array) -> Array:
    """UTC times as the text Plotly reads; it knows no time zones, so the axis says UTC."""
    return np.datetime_as_string(moments.astype("datetime64[s]"))


def scatter(points: int) -> str:
    """The trace type that draws so many points best."""
    return "scattergl" if points > GL_ABOVE else "scatter"


def thinned(keep: Array, limit: int) -> Array:
    """At most `limit` positions, in order: all that `keep` marks, and of the others every so-many-th."""
    if len(keep) <= limit:
        return np.arange(len(keep))
    kept, others = np.flatnonzero(keep), np.flatnonzero(~keep)
    if len(kept) >= limit:
        return _evenly(kept, limit)
    return np.sort(np.concatenate([kept, _evenly(others, limit - len(kept))]))


def _evenly(places: Array, count: int) -> Array:
    return places[np.linspace(0, len(places) - 1, count).round().astype(int)] if count else places[:0]


def _layout(theme: Theme, height: int) -> Spec:
    # The page's own background rather than a transparent one: the same to look at, and a saved picture stays
    # legible wherever it is pasted.
    return {
        "template": {},
        "height": height,
        "margin": {"l": 12, "r": 12, "t": 28, "b": 12},
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "font": {"family": FONT, "size": FONT_SIZE, "color": theme.text},
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": theme.surface,
            "bordercolor": theme.muted,
            "align": "left",
            "font": {"family": FONT, "size": FONT_SIZE, "color": theme.text},
        },
        "showlegend": False,
        "uirevision": "keep",
        "modebar": {
            "remove": _TOOLS,
            "bgcolor": "rgba(0,0,0,0)",
            "color": theme.muted,
            "activecolor": theme.text,
        },
    }
