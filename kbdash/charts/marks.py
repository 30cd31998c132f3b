"""Labelled vertical lines (best, median, speed of light, a person, the reader's own time) that do not collide."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kbdash.charts.canvas import SMALL, Spec
from kbdash.charts.text import shown
from kbdash.palette import Theme, user_style
from kbdash.units import Unit, time_text

MarkKind = Literal["best", "median", "light", "user", "yours"]

ROW = 17  # pixels from one row of labels to the next
_PHONE_PLOT = 300  # pixels a plot has on a narrow phone: labels that do not collide there never do
_LETTER = 6.2  # pixels of an average letter at the labels' size
_NAME = 22  # letters of a label before it is cut
_DASHES = {"best": "solid", "median": "dash", "light": "dot", "user": "solid", "yours": "solid"}


@dataclass(frozen=True)
class Mark:
    """A time worth a line of its own; `label` may be user text, `place` is a user's pin order (its colour)."""

    label: str
    seconds: float
    kind: MarkKind = "user"
    place: int = 0


@dataclass(frozen=True)
class Flags:
    """Marks laid out above a plot: lines, labels, and the room above that they take (pixels)."""

    shapes: list[Spec]
    annotations: list[Spec]
    room: int


@dataclass(frozen=True)
class _Flag:
    """A mark with its label's direction and row, 0 being the lowest."""

    mark: Mark
    leftward: bool
    row: int


def flags(marks: Sequence[Mark], bounds: tuple[float, float], unit: Unit, theme: Theme, plot_height: int) -> Flags:
    """The marks inside the axis bounds (in `unit`) as lines that rise to labels in as few rows as fit a phone."""
    low, high = bounds
    inside = [mark for mark in _merged(marks) if math.isfinite(mark.seconds) and low <= unit.of(mark.seconds) <= high]
    places = {mark: math.log(unit.of(mark.seconds) / low) / math.log(high / low) for mark in inside}
    hoisted = list(_hoisted(places))
    return Flags(
        [_line(flag, unit, theme, plot_height) for flag in hoisted],
        [_label(flag, unit, theme) for flag in hoisted],
        ROW * (1 + max((flag.row for flag in hoisted), default=-1)) + 10,
    )


def _merged(marks: Sequence[Mark]) -> list[Mark]:
    """Marks at the very same time as one with both labels: the best is usually also a person's."""
    merged: dict[float, Mark] = {}
    for mark in marks:
        other = merged.get(mark.seconds)
        if other is None:
            merged[mark.seconds] = mark
        else:
            styled = mark if mark.kind in ("user", "yours") else other
            merged[mark.seconds] = replace(styled, label=f"{other.label}, {mark.label}")
    return list(merged.values())


def _hoisted(places: dict[Mark, float]) -> Iterator[_Flag]:
    """Rows for the labels, from the middle outwards, so that a line rises beside lower labels and not through them."""
    taken: list[list[tuple[float, float]]] = []
    for mark, place in sorted(places.items(), key=lambda item: abs(item[1] - 0.5)):
        width = (min(len(mark.label), _NAME) + 10) * _LETTER / _PHONE_PLOT
        leftward = place > 0.5
        span = (place - width, place) if leftward else (place, place + width)
        row = next((number for number, spans in enumerate(taken) if _free(span, spans)), len(taken))
        if row == len(taken):
            taken.append([])
        taken[row].append(span)
        yield _Flag(mark, leftward, row)


def _free(span: tuple[float, float], others: list[tuple[float, float]]) -> bool:
    return all(span[1] <= other[0] or span[0] >= other[1] for other in others)


def _line(flag: _Flag, unit: Unit, theme: Theme, plot_height: int) -> Spec:
    mark, at = flag.mark, unit.of(flag.mark.seconds)
    color = user_style(mark.place, theme).color if mark.kind == "user" else theme.muted
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1 + ROW * (flag.row + 1) / plot_height,
        "line": {
            "color": theme.text if mark.kind == "yours" else color,
            "width": 2 if mark.kind == "yours" else 1.2,
            "dash": _DASHES[mark.kind],
        },
    }


def _label(flag: _Flag, unit: Unit, theme: Theme) -> Spec:
    mark = flag.mark
    text = f"{shown(mark.label, _NAME)} {time_text(mark.seconds, unit)}"
    return {
        "x": math.log10(unit.of(mark.seconds)),
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "yshift": ROW * (flag.row + 0.5),
        "yanchor": "middle",
        "xanchor": "right" if flag.leftward else "left",
        "xshift": -3 if flag.leftward else 3,
        "borderpad": 0,
        "bgcolor": theme.background,
        "showarrow": False,
        "text": f"<b>{text}</b>" if mark.kind == "yours" else text,
        "font": {
            "size": SMALL,
            "color": user_style(mark.place, theme).ink if mark.kind == "user" else theme.text,
        },
    }
