"""One board over time: attempts, failures, each user's best so far, the field's record, the deadline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import LOWER_IS_BETTER, Bounds, bounds_of, date_axis, plain_axis, time_axis
from kbdash.charts.canvas import Array, Spec, caption, figure, message, note, rows_of, scatter, stamps, utc
from kbdash.charts.climbs import Attempts, Climb, display_name, sort_attempts
from kbdash.charts.labels import LINE, end_label, spread
from kbdash.charts.text import shown
from kbdash.palette import Theme, quiet_color, theme_of, user_style
from kbdash.units import THIN, Unit, count_text

_PLOT = 380  # pixels of the plot, the lanes of failures included
_LANE = 9  # pixels of one user's lane of failures
_NAME = 14  # letters of a name that fit the right margin
_MARGIN = {"l": 12, "r": 104, "t": 42, "b": 58}
_FAR = np.timedelta64(120, "D")  # a deadline further away would squeeze everything else against the left edge
_WHEN = "%{x|%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class _Record:
    """The field's record on one runner in time order: moments (UTC), seconds, customdata."""

    at: Array
    score: Array
    facts: Array


@dataclass(frozen=True)
class _Stage:
    """What every part of the chart needs to place itself; start and end are UTC text."""

    unit: Unit
    theme: Theme
    bounds: Bounds
    start: str
    end: str
    lanes: tuple[int, ...]

    @property
    def floor(self) -> float:
        """The share of the plot's height that the lanes of failures take."""
        return (len(self.lanes) * _LANE + 12) / _PLOT if self.lanes else 0.0

    def height(self, seconds: float) -> float:
        """Where a time stands, as a share of the plot's height."""
        low, high = (math.log10(bound) for bound in self.bounds)
        return self.floor + (1 - self.floor) * (math.log10(self.unit.of(seconds)) - low) / (high - low)


def progression(
    attempts: pd.DataFrame,
    records: pd.DataFrame,
    unit: Unit,
    theme: str = "light",
    deadline: datetime | None = None,
    users_order: Sequence[str] = (),
) -> go.Figure:
    """Every attempt of the users, best so far as steps held to the end, the field's record behind.

    `users_order` holds user ids in pin order, which gives the colours; customdata is [submission_id, runner, …].
    """
    lines = [_record(part) for _, part in records.groupby("runner", dropna=False, sort=False)]
    drawn = sort_attempts(attempts, users_order, len(records) + len(lines))
    scores = np.concatenate([drawn.timed_scores, *(line.score for line in lines)])
    bounds = bounds_of(unit.per_second * scores)
    if bounds is None:
        return message("No attempt with a time matches these filters.", theme)
    moments = np.concatenate([utc(attempts["submitted_at"]), *(line.at for line in lines)])
    close = _near(deadline, moments.max())
    start, end = _span(moments.min(), moments.max() if close is None else max(moments.max(), close))
    lanes = tuple(dict.fromkeys(climb.place for climb in drawn.climbs if climb.failures.size))
    stage = _Stage(unit, theme_of(theme), bounds, start, end, lanes)
    return _drawn(stage, drawn, lines, close)


def _drawn(stage: _Stage, drawn: Attempts, records: list[_Record], deadline: np.datetime64 | None) -> go.Figure:
    theme, kind = stage.theme, scatter(drawn.drawn)
    traces = [_record_line(record, stage) for record in records]
    traces += [_others(climb, drawn, stage) | {"type": kind} for climb in drawn.climbs if climb.others.size]
    traces += [_failures(climb, drawn, stage) | {"type": kind} for climb in drawn.climbs if climb.failures.size]
    traces += [_best_line(climb, drawn, stage) for climb in drawn.climbs if climb.bests.size]
    return figure(
        traces,
        theme,
        height=_PLOT + _MARGIN["t"] + _MARGIN["b"],
        margin=_MARGIN,
        xaxis=date_axis(theme, range=[stage.start, stage.end], fixedrange=False, anchor="y2" if stage.lanes else "y"),
        yaxis=time_axis(stage.bounds, stage.unit, theme, f"time, {LOWER_IS_BETTER}", domain=[stage.floor, 1]),
        yaxis2=_lanes_axis(stage),
        shapes=_deadline_line(deadline, theme),
        annotations=[*_names(drawn, records, stage), *_deadline_label(deadline, theme)],
        title=caption(_words(drawn), theme),
        dragmode="zoom",
        uirevision=f"{stage.start} {stage.end} {stage.bounds}",
    )


def _record(records: pd.DataFrame) -> _Record:
    at = utc(records["submitted_at"])
    order = np.argsort(at, kind="stable")
    named = zip(records["user_name"], records["user_id"], strict=True)
    holders = [shown(display_name(name, user)) for name, user in named]
    facts = rows_of([records["submission_id"], records["runner"], holders])
    return _Record(at[order], records["score"].to_numpy(dtype=float)[order], facts[order])


def _near(deadline: datetime | None, last: np.datetime64) -> np.datetime64 | None:
    if deadline is None:
        return None
    moment = utc(pd.Series([deadline]))[0]
    return moment if moment - last <= _FAR else None


def _span(first: np.datetime64, last: np.datetime64) -> tuple[str, str]:
    """The ends of the date axis, with a little air before the first attempt."""
    air = max((last - first) // 50, np.timedelta64(1800, "s"))
    start, end = stamps(np.array([first - air, last + air // 4]))
    return str(start), str(end)


def _others(climb: Climb, drawn: Attempts, stage: _Stage) -> Spec:
    style = user_style(climb.place, stage.theme)
    return _points(climb.others, drawn) | {
        "y": stage.unit.per_second * drawn.score[climb.others],
        "marker": {"size": 5, "color": style.color, "opacity": 0.4, "symbol": style.marker, "line": {"width": 0}},
        "meta": shown(climb.name),
        "hovertemplate": f"%{{meta}}, {_WHEN}: {_time(stage.unit)}.%{{customdata[2]}}<extra></extra>",
    }


def _failures(climb: Climb, drawn: Attempts, stage: _Stage) -> Spec:
    style = user_style(climb.place, stage.theme)
    return _points(climb.failures, drawn) | {
        "y": np.full(climb.failures.size, -stage.lanes.index(climb.place)),
        "yaxis": "y2",
        "marker": {
            "symbol": "line-ns-open",
            "size": 7,
            "color": style.color,
            "opacity": 0.7,
            "line": {"width": 1},
        },
        "meta": shown(climb.name),
        "hovertemplate": f"%{{meta}}, {_WHEN}: no time, status %{{customdata[2]}}.<extra></extra>",
    }


def _points(places: Array, drawn: Attempts) -> Spec:
    return {"mode": "markers", "x": drawn.at[places], "customdata": drawn.facts[places]}


def _best_line(climb: Climb, drawn: Attempts, stage: _Stage) -> Spec:
    """Steps from best to best, held to the end of the axis; the last corner carries no marker."""
    style = user_style(climb.place, stage.theme)
    places = np.append(climb.bests, climb.bests[-1:])
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.append(drawn.at[climb.bests], stage.end),
        "y": stage.unit.per_second * drawn.score[places],
        "customdata": drawn.facts[places],
        "line": {"shape": "hv", "width": 2, "color": style.color, "dash": style.dash},
        "marker": {
            "symbol": style.marker,
            "size": np.append(np.full(climb.bests.size, 7), 0),
            "color": style.color,
            "opacity": 1,
            "line": {"width": 0},
        },
        "meta": shown(climb.name),
        "hovertemplate": f"%{{meta}}, {_WHEN}: {_time(stage.unit)}, the best so far.%{{customdata[2]}}<extra></extra>",
    }


def _record_line(record: _Record, stage: _Stage) -> Spec:
    """The field's record as grey steps, held to the end of the axis."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.append(stamps(record.at), stage.end),
        "y": stage.unit.per_second * np.append(record.score, record.score[-1:]),
        "customdata": np.concatenate([record.facts, record.facts[-1:]]),
        "line": {"shape": "hv", "width": 4, "color": quiet_color(stage.theme)},
        "hovertemplate": f"Record of %{{customdata[2]}}, {_WHEN}: {_time(stage.unit)}.<extra></extra>",
    }


def _time(unit: Unit) -> str:
    return f"%{{y:,.6~r}}{THIN}{unit.name}"


def _names(drawn: Attempts, records: list[_Record], stage: _Stage) -> list[Spec]:
    """The name of every line at its right end, and one for the record."""
    ends = [
        (shown(climb.name, _NAME), drawn.score[climb.bests[-1]], user_style(climb.place, stage.theme).ink)
        for climb in drawn.climbs
        if climb.bests.size
    ]
    ends += [("field's record", record.score[-1], stage.theme.muted) for record in records]
    heights = spread([stage.height(score) * _PLOT for _, score, _ in ends], LINE, 0, _PLOT)
    return [end_label(name, height / _PLOT, ink) for (name, _, ink), height in zip(ends, heights, strict=True)]


def _words(drawn: Attempts) -> str:
    parts = []
    if drawn.drawn < drawn.total - drawn.impossible:
        parts.append(f"{count_text(drawn.drawn)} of {count_text(drawn.total)} attempts shown")
    if drawn.impossible:
        parts.append(f"{count_text(drawn.impossible)} impossible not drawn")
    return ", ".join(parts)


def _lanes_axis(stage: _Stage) -> Spec:
    if not stage.lanes:
        return {"visible": False}
    return plain_axis(
        stage.theme,
        domain=[0, len(stage.lanes) * _LANE / _PLOT],
        range=[0.5 - len(stage.lanes), 0.5],
        tickmode="array",
        tickvals=[(1 - len(stage.lanes)) / 2],
        ticktext=["failed"],
        showgrid=False,
    )


def _deadline_line(deadline: np.datetime64 | None, theme: Theme) -> list[Spec]:
    if deadline is None:
        return []
    at = str(deadline)
    line = {"color": theme.muted, "width": 1, "dash": "dot"}
    return [{"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "xref": "x", "yref": "paper", "line": line}]


def _deadline_label(deadline: np.datetime64 | None, theme: Theme) -> list[Spec]:
    if deadline is None:
        return []
    text = f"deadline {np.datetime_as_string(deadline, unit='D')}"
    return [note(text, theme, x=str(deadline), y=1, xref="x", xanchor="right", yanchor="bottom")]
