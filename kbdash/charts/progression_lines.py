"""The lines of a progression: the area below the record, everybody in grey, the leaders in colour, all attempts."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kbdash.charts.canvas import Array, Spec, rows_of, stamps, utc
from kbdash.charts.palette import Style, Theme, faded, quiet_color
from kbdash.charts.people import final_order, names_of, positions, refs_of
from kbdash.charts.text import escaped
from kbdash.charts.timespan import Window
from kbdash.units import Unit, person

_GREYS = 1_800  # points of everybody else: a browser could draw more, but the download would be too large
_WHEN = "%{x|%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class Board:
    """The personal bests as arrays in time order (UTC, seconds), and who has which."""

    bests: pd.DataFrame
    at: Array
    score: Array
    record: Array
    places: dict[str, Array]
    order: list[str]

    def name(self, user: str) -> str:
        """Display name of a user."""
        return person(self.bests["user_name"].iloc[self.places[user][-1]], user)


@dataclass(frozen=True)
class Stage:
    """The geometry that every part of the chart shares; low and high are seconds."""

    board: Board
    unit: Unit
    theme: Theme
    window: Window
    low: float
    high: float
    styles: dict[str, Style]
    mine: float | None = None

    def height(self, seconds: float) -> float:
        """The position of a time, as a share of the lines' height."""
        return (math.log(seconds) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))


def board_of(bests: pd.DataFrame) -> Board:
    """Personal bests in time order, all with a date."""
    at, score = utc(bests["submitted_at"]), bests["score"].to_numpy(dtype=float)
    return Board(
        bests, at, score, np.minimum.accumulate(score), positions(bests["user_id"].tolist()), final_order(bests)
    )


def unknown(stage: Stage) -> Spec:
    """The area below the record, which nobody has reached yet."""
    board = stage.board
    fell = np.flatnonzero(np.append(True, board.record[1:] < board.record[:-1]))
    x = np.repeat(np.append(stamps(board.at[fell]), stage.window.end_text), 2)[1:-1]
    y = stage.unit.per_second * np.repeat(board.record[fell], 2)
    low = stage.unit.of(stage.low)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([x[:1], x, x[-1:]]),
        "y": np.concatenate([[low], y, [low]]),
        "fill": "toself",
        "fillcolor": faded(quiet_color(stage.theme), 0.17),
        "line": {"width": 0},
        "hoverinfo": "skip",
    }


def others_of(stage: Stage) -> tuple[list[Array], int]:
    """Visible bests of everybody without a colour, the best ranked first; and how many users the limit leaves out."""
    found: list[Array] = []
    points = 0
    for rank, user in enumerate(stage.board.order):
        if user in stage.styles or not len(mine := _visible(stage.board.places[user], stage)):
            continue
        points += len(mine) + 2  # to the end of the axis, and a gap
        if points > _GREYS:
            return found, len(stage.board.order) - rank
        found.append(mine)
    return found, 0


def greys(others: list[Array], stage: Stage) -> Spec:
    """Everybody else as thin steps in one trace."""
    board = stage.board
    # Each user's last best is there twice more: at the end of the axis, and as the gap before the next user's line.
    places = np.concatenate([np.append(mine, [mine[-1], mine[-1]]) for mine in others] or [np.empty(0, int)])
    ends = np.cumsum([len(mine) + 2 for mine in others], dtype=int)
    x, y = stamps(board.at[places]).astype(object), stage.unit.per_second * board.score[places]
    x[ends - 1] = x[ends - 2] = stage.window.end_text
    y[ends - 1] = math.nan
    part = board.bests.iloc[places]
    names = [escaped(name, 24) for name in names_of(part)]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "customdata": rows_of([refs_of(part["submission_id"], part["runner"]), names, part["rank"], part["of"]]),
        "line": {
            "shape": "hv",
            "width": 1,
            "color": faded(quiet_color(stage.theme), max(0.35, min(0.8, 24 / max(len(others), 1)))),
        },
        "hovertemplate": (
            f"%{{customdata[1]}}, {_WHEN}: {_time(stage.unit)},<br>"
            "rank %{customdata[2]:,} of %{customdata[3]:,} then.<extra></extra>"
        ),
    }


def _visible(places: Array, stage: Stage) -> Array:
    """A user's visible bests: those in the window, and the last before it."""
    inside = stage.board.at[places] >= stage.window.start
    first = int(np.argmax(inside)) if inside.any() else len(places)
    kept = places[max(first - 1, 0) :]
    seen = stage.board.score[kept] <= stage.high
    return kept[max(int(np.argmax(seen)) - 1, 0) :] if seen.any() else kept[:0]


def line(user: str, stage: Stage) -> Spec:
    """One user's steps, extended to the end of the axis; the last corner has no marker."""
    board, style = stage.board, stage.styles[user]
    mine = board.places[user]
    places = np.append(mine, mine[-1:])
    part = board.bests.iloc[places]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.append(stamps(board.at[mine]), stage.window.end_text),
        "y": stage.unit.per_second * board.score[places],
        "customdata": rows_of([refs_of(part["submission_id"], part["runner"]), part["rank"], part["of"]]),
        "line": {"shape": "hv", "width": 2, "color": style.color, "dash": style.dash},
        "marker": {
            "symbol": style.marker,
            "size": np.append(np.full(len(mine), 7), 0),
            "color": style.color,
            "opacity": 1,
            "line": {"width": 0},
        },
        "meta": escaped(board.name(user)),
        "hovertemplate": (
            f"%{{meta}}, {_WHEN}: {_time(stage.unit)},<br>"
            "rank %{customdata[1]:,} of %{customdata[2]:,} then.<extra></extra>"
        ),
    }


def tries(attempts: pd.DataFrame, stage: Stage) -> Spec:
    """All passing runs of the only pinned user, as far as they are inside the axes."""
    timed = attempts[attempts["passed"].fillna(False).astype(bool) & (attempts["score"] > 0) & ~attempts["is_best"]]
    timed = timed[(timed["score"] <= stage.high) & (timed["score"] >= stage.low)].tail(1500)
    style = next(iter(stage.styles.values()))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": stamps(utc(timed["submitted_at"])) if len(timed) else [],
        "y": stage.unit.per_second * timed["score"].to_numpy(dtype=float),
        "customdata": rows_of([refs_of(timed["submission_id"], timed["runner"])]),
        "marker": {"size": 5, "color": style.color, "opacity": 0.45, "symbol": style.marker, "line": {"width": 0}},
        "hovertemplate": f"{_WHEN}: {_time(stage.unit)}, no new best.<extra></extra>",
    }


def _time(unit: Unit) -> str:
    return f"%{{y:,.4r}}\u2009{unit.name}"
