"""The dates a chart spans: from the first to the last passing run, plus a near deadline, never beyond `to`."""

from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import pandas as pd

from kbdash.charts.canvas import Array, Spec, note, stamps
from kbdash.charts.palette import Theme

_AIR = 0.03  # share of the span: padding after the last run
_NEAR = 0.1  # share of the span: a deadline this near is included
_LAST = 0.1  # share of the span: the final
_HOUR, _DAY = np.timedelta64(3_600, "s"), np.timedelta64(86_400, "s")
_EARLY = 0.1  # share of the span: the start-up phase of the field


@dataclass(frozen=True)
class Window:
    """UTC moments: start and end of the axis, end of the start-up phase, and the deadline, if any."""

    start: np.datetime64
    end: np.datetime64
    early: np.datetime64
    deadline: np.datetime64 | None = None

    @property
    def ends(self) -> list[str]:
        """Both ends as Plotly reads them."""
        return [str(text) for text in stamps(np.array([self.start, self.end]))]

    @property
    def end_text(self) -> str:
        """The right end as Plotly reads it."""
        return self.ends[1]

    @property
    def deadline_inside(self) -> bool:
        """Whether the deadline can be drawn."""
        return bool(self.deadline is not None and self.start <= self.deadline <= self.end)

    @property
    def ahead(self) -> bool:
        """Whether the deadline is after the right end."""
        return bool(self.deadline is not None and self.deadline > self.end)


def window_of(
    at: Array, last_record: np.datetime64, deadline: datetime | None = None, until: object = None, span: str = "field"
) -> Window:
    """The dates to show for passing runs at these moments; `final` is the time around the last record."""
    first, last = at.min(), at.max()
    whole = max(last - first, _HOUR)
    due = None if deadline is None or deadline.year >= 2100 else _moment(deadline)
    start = first
    if span == "final":
        around = max(_DAY, _part(whole, _LAST))
        start, last = max(first, last_record - around), min(last, last_record + around)
        whole = max(last - start, _HOUR)
    end = max(last + _part(whole, _AIR), start + _HOUR)
    if due is not None and span != "final" and last < due <= last + _part(whole, _NEAR):
        end = max(end, due + _part(whole, _AIR / 3))
    if isinstance(until, date):
        limit = np.datetime64(until.isoformat()[:10], "s") + _DAY
        end = max(min(end, limit), last)
    early = start if span == "final" else first + _part(whole, _EARLY)
    return Window(start - _part(whole, 0.01), end, early, due)


def deadline_line(window: Window, theme: Theme) -> list[Spec]:
    """A line at the deadline, when it lies inside."""
    if not window.deadline or not window.deadline_inside:
        return []
    line = {"color": theme.muted, "width": 1, "dash": "dot"}
    at = str(window.deadline)
    return [{"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "xref": "x", "yref": "paper", "line": line}]


def deadline_label(window: Window, theme: Theme) -> list[Spec]:
    """The date of the deadline: at its line, or with an arrow if it is after the end."""
    if not window.deadline:
        return []
    text = f"deadline {np.datetime_as_string(window.deadline, unit='D')}"
    if window.deadline_inside:
        return [note(text, theme, x=str(window.deadline), y=1, xref="x", xanchor="right", yanchor="bottom", yshift=2)]
    return [note(f"{text} ▸", theme, x=1, y=1, xanchor="right", yanchor="bottom", yshift=2)] if window.ahead else []


def _moment(moment: datetime) -> np.datetime64:
    return np.datetime64(pd.Timestamp(moment).tz_convert("UTC").tz_localize(None), "s")


def _part(span: np.timedelta64, share: float) -> np.timedelta64:
    return np.timedelta64(int(span / np.timedelta64(1, "s") * share), "s")
