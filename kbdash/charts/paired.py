"""Two boards with the same people: one point each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import Bounds, bounds_of, time_axis
from kbdash.charts.canvas import POINT_LIMIT, SMALL, Spec, caption, figure, message, note, rows_of, scatter, thinned
from kbdash.charts.climbs import display_name
from kbdash.charts.text import shown
from kbdash.palette import Theme, faded, theme_of, user_style
from kbdash.units import THIN, Unit, count_text, signed

_FEWEST = 3  # pairs under which a rank correlation says nothing


def paired(
    frame: pd.DataFrame,
    unit: Unit,
    labels: tuple[str, str],
    theme: str = "light",
    users_order: Sequence[str] = (),
) -> go.Figure:
    """Two boards, one point per user, log-log, with y = x and the rank correlation; pinned users are named.

    customdata is [submission_a, runner_a, submission_b, runner_b, …].
    """
    usable = frame[(frame["score_a"] > 0) & (frame["score_b"] > 0)]
    bounds = bounds_of(unit.per_second * usable[["score_a", "score_b"]].to_numpy(dtype=float).ravel())
    if bounds is None:
        return message("Nobody has a time on both boards under these filters.", theme)
    tokens = theme_of(theme)
    across, up = (shown(label, 40) for label in labels)
    is_pinned = usable["user_id"].isin(users_order).to_numpy()
    drawn = thinned(is_pinned, POINT_LIMIT - 2)
    pinned, others = usable.iloc[drawn[is_pinned[drawn]]], usable.iloc[drawn[~is_pinned[drawn]]]
    return figure(
        [
            _equal_line(bounds, tokens),
            _points(others, unit, (across, up)) | {"marker": {"size": 7, "color": faded(tokens.accent, 0.55)}},
            _points(pinned, unit, (across, up)) | _named(pinned, list(users_order), tokens),
        ],
        tokens,
        height=460,
        margin={"l": 12, "r": 20, "t": 40, "b": 58},
        xaxis=time_axis(bounds, unit, tokens, f"time on {across}", fixedrange=False),
        yaxis=time_axis(bounds, unit, tokens, f"time on {up}", fixedrange=False),
        title=caption(_words(usable, len(drawn)), tokens),
        annotations=_sides(up, tokens),
        dragmode="zoom",
        uirevision=str(bounds),
    )


def rank_correlation(one: pd.Series, other: pd.Series) -> float | None:
    """Spearman's rank correlation, -1 to 1; None under three pairs or when one side is constant."""
    pairs = pd.DataFrame({"one": one.to_numpy(dtype=float), "other": other.to_numpy(dtype=float)}).dropna()
    ranks = pairs.rank().to_numpy(dtype=float)
    if len(ranks) < _FEWEST or np.ptp(ranks, axis=0).min() == 0:
        return None
    return float(np.corrcoef(ranks.T)[0, 1])


def _points(frame: pd.DataFrame, unit: Unit, boards: tuple[str, str]) -> Spec:
    facts: list[Any] = [
        frame["submission_a"],
        frame["runner_a"],
        frame["submission_b"],
        frame["runner_b"],
        [shown(name) for name in _names(frame)],
        frame["rank_a"],
        frame["rank_b"],
    ]
    return {
        "type": scatter(len(frame)),
        "mode": "markers",
        "x": unit.per_second * frame["score_a"].to_numpy(dtype=float),
        "y": unit.per_second * frame["score_b"].to_numpy(dtype=float),
        "customdata": rows_of(facts),
        "meta": list(boards),
        "hovertemplate": (
            f"%{{customdata[4]}}: %{{x:,.4r}}{THIN}{unit.name} on %{{meta[0]}} (rank %{{customdata[5]:,d}}),<br>"
            f"%{{y:,.4r}}{THIN}{unit.name} on %{{meta[1]}} (rank %{{customdata[6]:,d}}).<extra></extra>"
        ),
    }


def _named(pinned: pd.DataFrame, users_order: list[str], theme: Theme) -> Spec:
    """The look of pinned users: their own colour and marker, and their name beside it."""
    looks = [user_style(users_order.index(user), theme) for user in pinned["user_id"]]
    return {
        "mode": "markers+text",
        "text": [shown(name, 14) for name in _names(pinned)],
        "textposition": "top center",
        "textfont": {"size": SMALL, "color": [look.ink for look in looks]},
        "marker": {"size": 10, "color": [look.color for look in looks], "symbol": [look.marker for look in looks]},
    }


def _names(frame: pd.DataFrame) -> list[str]:
    return [display_name(name, user) for name, user in zip(frame["user_name"], frame["user_id"], strict=True)]


def _equal_line(bounds: Bounds, theme: Theme) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(bounds),
        "y": list(bounds),
        "line": {"color": theme.muted, "width": 1, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _words(usable: pd.DataFrame, drawn: int) -> str:
    count = f"{count_text(len(usable))} users" + (f", {count_text(drawn)} drawn" if drawn < len(usable) else "")
    correlation = rank_correlation(usable["score_a"], usable["score_b"])
    said = "too few for a rank correlation" if correlation is None else f"rank correlation {signed(correlation, 2)}"
    return f"{count}, {said}"


def _sides(up: str, theme: Theme) -> list[Spec]:
    """What it means to lie above or below the line."""
    return [
        note(f"slower on {up}", theme, x=0.02, y=0.98, xanchor="left", yanchor="top"),
        note(f"faster on {up}", theme, x=0.98, y=0.02, xanchor="right", yanchor="bottom"),
    ]
