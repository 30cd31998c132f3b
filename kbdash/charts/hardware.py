"""Runners side by side: a row each, a dot per user, thin lines that join the same user."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import LOWER_IS_BETTER, plain_axis, time_axis
from kbdash.charts.canvas import SMALL, Array, Spec, figure, message, rows_of
from kbdash.charts.palette import Style, Theme, faded, quiet_color, runner_style, theme_of, user_style
from kbdash.charts.people import names_of, refs_of
from kbdash.charts.span import End, axis_end
from kbdash.charts.text import escaped
from kbdash.dataset.catalog import runner_name
from kbdash.units import Unit, plural, rank_texts, time_text

_ROW = 74  # pixels of a runner
_HEAD = 0.47  # of that, from the middle up to the head of two lines
_DOTS = 150  # up to this many users of a runner, each is a dot
_OUTER = 0.1  # share of the users at either end who stay dots in a box plot
_NEAR = 0.011  # share of the axis: closer dots are moved apart
_LEVELS = (0.0, -0.09, 0.09)


@dataclass(frozen=True)
class _Lane:
    """One runner: its ranking, fastest first, and where its axis ends."""

    runner: str
    frame: pd.DataFrame
    end: End
    style: Style
    row: int

    @property
    def scores(self) -> Array:
        scores: Array = self.frame["score"].to_numpy(dtype=float)
        return scores

    @property
    def limit(self) -> float:
        return float(self.scores[0]) * self.end.ratio

    @property
    def boxed(self) -> bool:
        return len(self.frame) > _DOTS


def runner_strips(
    ranked: pd.DataFrame, unit: Unit, theme: str = "light", *, pinned: Sequence[str] = (), span: str = "field"
) -> go.Figure:
    """Each user's best per runner on one time axis, the fastest runner on top; from the rankings of all runners."""
    frame = ranked[ranked["ratio"].notna()].sort_values(["score", "rank"], kind="stable")
    if frame.empty:
        return message("No ranked submission with a time matches these filters.", theme)
    tokens = theme_of(theme)
    lanes = []
    for row, (runner, part) in enumerate(frame.groupby("runner", sort=False)):
        end = axis_end(part["score"].to_numpy(dtype=float), span=span)
        lanes.append(_Lane(str(runner), part.reset_index(drop=True), end, runner_style(str(runner), tokens), row))
    low, high = min(lane.scores[0] for lane in lanes), max(min(lane.limit, lane.scores[-1]) for lane in lanes)
    air = max((high / low) ** 0.02, 1.005)
    bounds = unit.of(low / air), unit.of(max(high, low * 1.02) * air)
    return _drawn(lanes, bounds, unit, tokens, pinned)


def _drawn(
    lanes: Sequence[_Lane], bounds: tuple[float, float], unit: Unit, theme: Theme, pinned: Sequence[str]
) -> go.Figure:
    traces: list[Spec] = [] if any(lane.boxed for lane in lanes) else [_joins(lanes, unit, theme, bounds)]
    for lane in lanes:
        heights = _levels(lane, bounds, unit)
        traces += [_dots(lane, heights, unit)]
        if lane.boxed:
            traces.append(_box(lane, unit))
    traces += [trace for lane in lanes for trace in _pins(lane, unit, theme, pinned)]
    medians = [_median(lane, unit, theme) for lane in lanes]
    return figure(
        traces,
        theme,
        height=_ROW * len(lanes) + 76,
        margin={"l": 12, "r": 12, "t": 10, "b": 62},
        xaxis=time_axis(bounds, unit, theme, f"time, {LOWER_IS_BETTER}"),
        yaxis=plain_axis(theme, range=[len(lanes) - 0.5, -0.5], showticklabels=False)
        | {"tickmode": "array", "tickvals": [row - 0.5 for row in range(len(lanes) + 1)]},
        shapes=medians,
        annotations=[_head(lane, unit, theme) for lane in lanes],
    )


def _shown(lane: _Lane) -> Array:
    """Positions of the users drawn as dots: all within the axis, or the outer tenths of a box plot."""
    inside = np.flatnonzero(lane.scores <= lane.limit * (1 + 1e-9))
    if not lane.boxed:
        return inside
    outer = min(max(int(len(lane.frame) * _OUTER), 5), 100)
    return np.unique(np.concatenate([inside[:outer], inside[-outer:]]))


def _levels(lane: _Lane, bounds: tuple[float, float], unit: Unit) -> Array:
    """Heights of the dots, moved apart where they would overlap."""
    width = math.log(bounds[1] / bounds[0])
    places = np.log(unit.per_second * lane.scores[_shown(lane)] / bounds[0]) / width
    heights, last, level = [], -1.0, 0
    for place in places:
        level = (level + 1) % len(_LEVELS) if place - last < _NEAR else 0
        heights.append(lane.row + 0.14 + _LEVELS[level])
        last = place
    return np.array(heights)


def _dots(lane: _Lane, heights: Array, unit: Unit) -> Spec:
    places = _shown(lane)
    part = lane.frame.iloc[places]
    ranks = np.array(rank_texts(lane.frame["rank"].tolist()), dtype=object)[places]
    names = [escaped(name) for name in names_of(part)]
    times = [time_text(score, unit) for score in part["score"]]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": unit.per_second * lane.scores[places],
        "y": heights,
        "marker": {
            "color": faded(lane.style.color, 0.8),
            "symbol": lane.style.marker,
            "size": 9,
            "line": {"width": 1, "color": lane.style.color},
        },
        "customdata": rows_of([refs_of(part["submission_id"], part["runner"]), names, times, ranks]),
        "meta": [escaped(runner_name(lane.runner)), f"{len(lane.frame):,}"],
        "hovertemplate": (
            "%{customdata[1]} on %{meta[0]}: %{customdata[2]},<br>rank %{customdata[3]} of %{meta[1]}.<extra></extra>"
        ),
    }


def _pins(lane: _Lane, unit: Unit, theme: Theme, pinned: Sequence[str]) -> list[Spec]:
    """Rings around the pinned users, with their names."""
    order = list(pinned)
    part = lane.frame[lane.frame["user_id"].isin(order) & (lane.frame["score"] <= lane.limit)]
    if part.empty:
        return []
    looks = [user_style(order.index(user), theme) for user in part["user_id"]]
    ring = {
        "symbol": "circle-open",
        "size": 15,
        "color": [look.color for look in looks],
        "line": {"width": 2},
        "opacity": 1,
    }
    return [
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": unit.per_second * part["score"].to_numpy(dtype=float),
            "y": np.full(len(part), lane.row + 0.14),
            "marker": ring,
            "text": [escaped(name, 12) for name in names_of(part)],
            "textposition": "bottom center",
            "textfont": {"size": 11, "color": [look.ink for look in looks]},
            "hoverinfo": "skip",
        }
    ]


def _box(lane: _Lane, unit: Unit) -> Spec:
    """The middle half of a crowded runner as a bar."""
    low, high = (unit.of(float(np.quantile(lane.scores, share))) for share in (0.25, 0.75))
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [low, high],
        "y": [lane.row + 0.14, lane.row + 0.14],
        "line": {"width": 16, "color": faded(lane.style.color, 0.35)},
        "meta": f"half of the {plural(len(lane.frame), 'user')} are between {time_text(low / unit.per_second, unit)}"
        f" and {time_text(high / unit.per_second, unit)}",
        "hovertemplate": "%{meta}.<extra></extra>",
    }


def _joins(lanes: Sequence[_Lane], unit: Unit, theme: Theme, bounds: tuple[float, float]) -> Spec:
    """The same user from row to row."""
    x: list[float] = []
    y: list[float] = []
    spots: dict[str, list[tuple[float, float]]] = {}
    for lane in lanes:
        places, heights = _shown(lane), _levels(lane, bounds, unit)
        for user, score, height in zip(lane.frame["user_id"].iloc[places], lane.scores[places], heights, strict=True):
            spots.setdefault(user, []).append((unit.of(score), float(height)))
    for points in spots.values():
        if len(points) > 1 and len(x) < 2500:
            x += [*(point[0] for point in points), math.nan]
            y += [*(point[1] for point in points), math.nan]
    line = {"width": 1, "color": faded(quiet_color(theme), 0.6)}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip"}


def _median(lane: _Lane, unit: Unit, theme: Theme) -> Spec:
    at = unit.of(float(np.median(lane.scores)))
    line = {"color": theme.text, "width": 2}
    return {"type": "line", "x0": at, "x1": at, "y0": lane.row - 0.1, "y1": lane.row + 0.38, "line": line}


def _head(lane: _Lane, unit: Unit, theme: Theme) -> Spec:
    """The text above a row: runner, best, median, users, and how many lie beyond the axis."""
    best, median = (time_text(seconds, unit) for seconds in (lane.scores[0], float(np.median(lane.scores))))
    words = [f"best {best}", f"median {median}", plural(len(lane.frame), "user")]
    beyond = lane.end.words(unit)
    return {
        # In a line of its own, because a phone has no room for it beside the rest.
        "text": f"<b>{escaped(runner_name(lane.runner))}</b>  {' · '.join(words)}"
        + (f"<br>{beyond}" if beyond else ""),
        "x": 0,
        "xref": "paper",
        "y": lane.row - _HEAD,
        "xanchor": "left",
        "yanchor": "top",
        "align": "left",
        "showarrow": False,
        "borderpad": 1,
        "bgcolor": faded(theme.background, 0.8),
        "font": {"size": SMALL, "color": lane.style.ink},
    }
