"""Runners side by side: one ridge each, on one axis of time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.catalog import runner_name
from kbdash.charts.axes import LOWER_IS_BETTER, Bounds, plain_axis, time_axis
from kbdash.charts.bins import bin_bounds, by_runner, occupied, outline
from kbdash.charts.canvas import SMALL, Spec, figure, message, note, rows_of
from kbdash.charts.marks import Mark, flags
from kbdash.charts.text import shown
from kbdash.palette import Style, Theme, faded, pale, runner_style, theme_of
from kbdash.units import Unit, count_text, time_text

Part = tuple[str | None, pd.DataFrame]

_RIDGE = 84  # pixels from one runner to the next
_REACH = 0.74  # how much of that the highest bin takes
_FEET = 0.16  # and how much stays free below


def runner_distributions(
    bins: pd.DataFrame, unit: Unit, theme: str = "light", summary: pd.DataFrame | None = None
) -> go.Figure:
    """One ridge of users' bests per runner, the fastest on top; `summary` adds each runner's best and median."""
    used = occupied(bins[bins["users"] > 0])
    bounds = bin_bounds(used, unit)
    if bounds is None:
        return message("No passing submission with a time matches these filters.", theme)
    tokens = theme_of(theme)
    facts = {} if summary is None else summary.set_index("runner").to_dict("index")
    return ridges(by_runner(used.assign(rows=0)), bounds, unit, tokens, facts=facts)


def ridges(
    parts: Sequence[Part],
    bounds: Bounds,
    unit: Unit,
    theme: Theme,
    marks: Sequence[Mark] = (),
    facts: Mapping[Any, Mapping[Any, Any]] | None = None,
) -> go.Figure:
    """A figure with one ridge per runner: all passing rows as a pale area, each user's best as the front."""
    order = sorted(parts, key=lambda part: -float(part[1]["lo"].min()))
    plot = _RIDGE * len(order)
    banner = flags(marks, bounds, unit, theme, plot)
    traces, annotations = [], list(banner.annotations)
    for row, (runner, part) in enumerate(order):
        style = runner_style(runner, theme)
        traces += _ridge(part.sort_values("lo"), row, unit, style, theme, shown(runner_name(runner)))
        known = (facts or {}).get(runner)
        if known is not None:
            traces.append(_best_and_median(known, row, unit, style))
            annotations.append(_numbers(known, row, unit, theme))
    return figure(
        traces,
        theme,
        height=plot + banner.room + 66,
        margin={"l": 12, "r": 16, "t": banner.room + 8, "b": 58},
        xaxis=time_axis(bounds, unit, theme, f"time, {LOWER_IS_BETTER}"),
        yaxis=_names_axis(order, theme),
        shapes=banner.shapes,
        annotations=annotations,
    )


def _ridge(part: pd.DataFrame, row: int, unit: Unit, style: Style, theme: Theme, name: str) -> list[Spec]:
    """A baseline, the pale area over it, the front, and unseen points that carry the hover."""
    rows, users = (part[column].to_numpy(dtype=float) for column in ("rows", "users"))
    shares = [counts / max(counts.sum(), 1) for counts in (rows, users)]
    scale = _REACH / max(float(np.max(shares)), 1e-9)
    front: Spec = {"width": 1.6, "color": style.color, "dash": style.dash}
    middle = unit.per_second * np.sqrt(part["lo"].to_numpy(dtype=float) * part["hi"].to_numpy(dtype=float))
    base: Spec = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    traces: list[Spec] = []
    for share, line, fill in (
        (shares[0], {"width": 0}, pale(style.color, theme)),
        (shares[1], front, faded(style.color, 0.36)),
    ):
        x, y = outline(part, scale * share, unit)
        traces += [
            base | {"x": [x[0], x[-1]], "y": [row, row], "line": {"width": 0}},
            base | {"x": x, "y": row + y, "fill": "tonexty", "fillcolor": fill} | {"line": {"shape": "hv"} | line},
        ]
    sentence = {
        "mode": "markers",
        "hoverinfo": "all",
        "marker": {"opacity": 0},
        "x": middle,
        "y": row + scale * np.maximum(*shares),
        "meta": name,
        "customdata": rows_of([users.astype(int), [time_text(lo, unit) for lo in part["lo"]]]),
        "hovertemplate": "%{meta}: the best of %{customdata[0]:,} users is %{customdata[1]} or a little more."
        "<extra></extra>",
    }
    return [*traces, base | sentence]


def _best_and_median(known: Mapping[Any, Any], row: int, unit: Unit, style: Style) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [unit.of(known["best"]), unit.of(known["median_best"])],
        "y": [row, row],
        "cliponaxis": False,
        "marker": {
            "symbol": [style.marker, "line-ns-open"],
            "size": [9, 14],
            "color": style.color,
            "opacity": 1,
            "line": {"width": [0, 2], "color": style.color},
        },
        "customdata": [time_text(known["best"], unit), time_text(known["median_best"], unit)],
        "text": ["best", "median of each user's best"],
        "hovertemplate": "%{text}: %{customdata}<extra></extra>",
    }


def _numbers(known: Mapping[Any, Any], row: int, unit: Unit, theme: Theme) -> Spec:
    """Best and median in words, where a right-skewed ridge leaves room."""
    text = f"best {time_text(known['best'], unit)}<br>median {time_text(known['median_best'], unit)}"
    return note(text, theme, x=1, y=row + _REACH, yref="y", xanchor="right", yanchor="top", align="right")


def _names_axis(order: Sequence[Part], theme: Theme) -> Spec:
    names = [f"{shown(runner_name(runner), 18)}<br>{count_text(part['users'].sum())} users" for runner, part in order]
    ticks = {"tickmode": "array", "tickvals": list(range(len(order))), "ticktext": names, "showgrid": False}
    return (
        plain_axis(theme, range=[-_FEET, len(order) - _FEET])
        | ticks
        | {"tickfont": {"size": SMALL, "color": theme.text}}
    )
