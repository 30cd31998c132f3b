"""The lines in the field with their labels: best, median, the reader's own time, and where the axis ends."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kbdash.charts.canvas import LETTER, PHONE, SMALL, Array, Spec, note
from kbdash.charts.palette import Style, Theme
from kbdash.charts.span import End
from kbdash.units import Unit, count_text, rank_text, time_text

_ROW = 17  # pixels of a row of labels above the plot


@dataclass(frozen=True)
class Field:
    """The users who are drawn, fastest first; `far` is where the axis ends, as ln(score / best)."""

    frame: pd.DataFrame
    ratios: Array
    best: float
    end: End
    unit: Unit
    theme: Theme
    style: Style
    mine: float | None

    @property
    def far(self) -> float:
        return math.log(self.end.ratio)

    @property
    def right(self) -> float:
        """The right edge of the plot: after the end of the axis there is room for those beyond it."""
        return self.far * (1.13 if self.end.beyond else 1.03)

    @property
    def left(self) -> float:
        own = 0.0 if self.mine is None else math.log(self.mine / self.best)
        return max(min(own, 0.0), -0.5 * self.far) - 0.02 * self.far

    @property
    def inside(self) -> Array:
        """Positions of the users within the axis."""
        return np.flatnonzero(self.ratios <= self.far + 1e-12)

    def holds(self, ratio: float) -> bool:
        """Whether a ln(score / best) lies on the axis."""
        return self.left <= ratio <= self.far * 1.0001

    def place(self, ratio: float) -> float:
        """The position of a ln(score / best), as a share of the plot's width."""
        return (ratio - self.left) / (self.right - self.left)


@dataclass(frozen=True)
class _Mark:
    """A line with a label: where it is, as ln(score / best), and whether it is the reader's own time."""

    ratio: float
    dash: str
    words: str
    own: bool = False


def signs(drawn: Field, plot: int) -> tuple[list[Spec], list[Spec], int]:
    """Best, median and the reader's own time as lines with labels above, one row each; and the height they take."""
    marks = _marks(drawn)
    lines: list[Spec] = []
    labels: list[Spec] = []
    for row, mark in enumerate(marks):
        inside = drawn.holds(mark.ratio)
        labels.append(_sign(drawn, mark.ratio if inside else drawn.right, mark.words, row))
        if inside:
            lines += _lines(drawn, mark, top=1 + _ROW * (row + 1) / plot)
    if drawn.end.beyond:
        lines.append(_end_line(drawn))
        labels.append(_end_words(drawn, row=len(marks)))
    return labels, lines, _ROW * (len(marks) + bool(drawn.end.beyond)) + 10


def _marks(drawn: Field) -> list[_Mark]:
    """The marks of a field from the lowest row of labels up; of one user there is no median."""
    median = float(np.median(drawn.frame["score"]))
    marks = [
        _Mark(math.log(median / drawn.best), "dash", f"median {time_text(median, drawn.unit)}"),
        _Mark(0.0, "solid", f"best {time_text(drawn.best, drawn.unit)}"),
    ][len(drawn.frame) == 1 :]
    if drawn.mine is not None:
        marks.append(_Mark(math.log(drawn.mine / drawn.best), "solid", f"<b>{_own_words(drawn)}</b>", own=True))
    return marks


def _lines(drawn: Field, mark: _Mark, top: float) -> list[Spec]:
    """The line of a mark up to its label, `top` in heights of the plot; the reader's own also shows its rank."""
    color, width = (drawn.theme.text, 2) if mark.own else (drawn.theme.muted, 1.2)
    line = {"color": color, "width": width, "dash": mark.dash}
    at = {"x0": mark.ratio, "x1": mark.ratio, "y0": 0, "y1": top}
    upright = {"type": "line", "xref": "x", "yref": "paper", **at, "line": line}
    if not mark.own:
        return [upright]
    height = int((drawn.frame["score"] < drawn.mine).sum()) + 0.5
    level = {"xref": "x", "yref": "y", "x0": drawn.left, "x1": mark.ratio, "y0": height, "y1": height}
    return [upright, {"type": "line", "line": line} | level]


def _end_words(drawn: Field, row: int) -> Spec:
    """How many lie beyond the end of the axis."""
    words, height = drawn.end.words(drawn.unit), _ROW * (row + 0.5)
    return note(words, drawn.theme, x=1, y=1, xanchor="right", yanchor="middle", yshift=height)


def _own_words(drawn: Field) -> str:
    mine = drawn.mine or 0.0
    rank = int((drawn.frame["score"] < mine).sum()) + 1
    tied = bool((drawn.frame["score"] == mine).any())
    where = "" if drawn.holds(math.log(mine / drawn.best)) else ", outside of this axis"
    of = count_text(len(drawn.frame) + 1)
    return f"yours {time_text(mine, drawn.unit)}: rank {rank_text(rank, tied=tied)} of {of}{where}"


def _sign(drawn: Field, ratio: float, words: str, row: int) -> Spec:
    """A label at its line, on the side with enough room on a phone."""
    place = drawn.place(ratio)
    leftward = place > 0.5 and place * PHONE > LETTER * len(words) * 0.7
    return {
        "text": words,
        "x": ratio,
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "yshift": _ROW * (row + 0.5),
        "yanchor": "middle",
        "xanchor": "right" if leftward or place > 0.98 else "left",
        "xshift": -4 if leftward else 4,
        "showarrow": False,
        "borderpad": 0,
        "bgcolor": drawn.theme.background,
        "font": {"size": SMALL, "color": drawn.theme.text},
    }


def _end_line(drawn: Field) -> Spec:
    line = {"color": drawn.theme.muted, "width": 1, "dash": "dot"}
    at = drawn.far * 1.015
    return {"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": line}
