"""Charts of many rows: the position of each row, and its label in the left margin or, on a phone, above the row.

The vertical axis is in pixels from the top, so that rows of different heights need no conversion.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kbdash.charts.axes import plain_axis
from kbdash.charts.canvas import SMALL, Spec
from kbdash.charts.palette import Theme

_HEADING = 30
_MARGIN = 172  # pixels of labels beside the rows


@dataclass(frozen=True)
class Row:
    """One row; `label` is our own markup with user text escaped. A heading has only a label."""

    label: str
    heading: bool = False


@dataclass(frozen=True)
class Rows:
    """Rows from top to bottom: `at` is the middle of each (pixels), `height` that of all together."""

    at: tuple[float, ...]
    height: int
    left: int
    labels: tuple[Spec, ...]

    def axis(self, theme: Theme) -> Spec:
        """The vertical axis: pixels from the top, without ticks."""
        return plain_axis(theme, range=[self.height, 0], showgrid=False, showticklabels=False, automargin=False)


def arranged(rows: Sequence[Row], theme: Theme, *, narrow: bool, row: int = 18, above: int = 15) -> Rows:
    """Rows of `row` pixels; on a narrow page each has its label above it, in `above` more pixels."""
    at, labels, edge = [], [], 0.0
    for entry in rows:
        if entry.heading:
            middle = edge + _HEADING - 11
            labels.append(_label(f"<b>{entry.label}</b>", middle, theme, narrow=narrow))
            at.append(middle)
            edge += _HEADING
            continue
        top = above if narrow else 0
        middle = edge + top + row / 2
        labels.append(_label(entry.label, edge + top / 2 if narrow else middle, theme, narrow=narrow))
        at.append(middle)
        edge += top + row
    return Rows(tuple(at), round(edge) + 4, 12 if narrow else _MARGIN, tuple(labels))


def _label(text: str, y: float, theme: Theme, *, narrow: bool) -> Spec:
    return {
        "text": text,
        "x": 0,
        "xref": "paper",
        "y": y,
        "yref": "y",
        "xanchor": "left" if narrow else "right",
        "xshift": 0 if narrow else -6,
        "yanchor": "middle",
        "showarrow": False,
        "borderpad": 0,
        "font": {"size": SMALL, "color": theme.text},
    }
