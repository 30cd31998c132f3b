"""How techniques spread: small multiples, a row per technique, the users who ever used it over time."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis
from kbdash.charts.canvas import Array, Spec, caption, figure, message, note, rows_of, stamps, utc
from kbdash.charts.palette import Theme, faded, theme_of
from kbdash.charts.rows import Row, arranged
from kbdash.units import count_text, share_text

_ROW = 26
_TALL = 20  # pixels of the row with most users
_POINTS = 1500  # steps of all rows; more are thinned, but the last of a row stays


def adoption(first: pd.DataFrame, users: int, theme: str = "light", *, narrow: bool = False) -> go.Figure:
    """First uses (facet, user_id, first_at), by time; `users` are all who sent anything."""
    known = first[first["first_at"].notna()]
    if known.empty or not users:
        return message("No submission here holds a technique that is known.", theme)
    tokens = theme_of(theme)
    moments = {str(facet): np.sort(utc(part["first_at"])) for facet, part in known.groupby("facet", sort=False)}
    most = max(len(each) for each in moments.values())
    rows = arranged([Row(facet) for facet in moments], tokens, narrow=narrow, row=_ROW)
    end = max(each[-1] for each in moments.values())
    feet = dict(zip(moments, (middle + _TALL / 2 for middle in rows.at), strict=True))
    points = _POINTS // len(moments)
    words = f"users who ever used it, of {count_text(users)}; a full row is {share_text(most / users)}"
    return figure(
        [_area(facet, moments[facet], end, feet[facet], most, points, tokens) for facet in moments],
        tokens,
        height=rows.height + 34 + 50,
        margin={"l": rows.left, "r": 52, "t": 34, "b": 50},
        xaxis=date_axis(tokens, showgrid=True),
        yaxis=rows.axis(tokens),
        annotations=[
            caption(words, tokens, lift=8),
            *rows.labels,
            *(_share(len(moments[facet]) / users, feet[facet], tokens) for facet in moments),
        ],
    )


def _area(facet: str, moments: Array, end: np.datetime64, foot: float, most: int, points: int, theme: Theme) -> Spec:
    """Steps from the first user to the end, closed along the bottom of the row."""
    kept = np.unique(np.linspace(0, len(moments) - 1, min(len(moments), max(points, 2))).round().astype(int))
    # Each step has two corners: the old number and the new one, at the same moment.
    x = np.concatenate([np.repeat(moments[kept], 2), [end, end, moments[0]]])
    number = np.concatenate([[0], np.repeat(kept + 1, 2), [0, 0]])
    return {
        "type": "scatter",
        "mode": "lines",
        "x": stamps(x),
        "y": foot - _TALL * number / most,
        "line": {"width": 1.2, "color": theme.accent},
        "fill": "toself",
        "fillcolor": faded(theme.accent, 0.35),
        "hoveron": "points",
        "customdata": rows_of([[""] * len(x), number]),
        "meta": [facet],
        "hovertemplate": "%{meta[0]}: %{customdata[1]} users by %{x|%Y-%m-%d}.<extra></extra>",
    }


def _share(share: float, foot: float, theme: Theme) -> Spec:
    return note(share_text(share), theme, x=1, y=foot - _TALL / 2, yref="y", xanchor="left", yanchor="middle", xshift=4)
