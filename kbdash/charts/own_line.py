"""The reader's own time as a line across a chart over time."""

from kbdash.charts.canvas import SMALL, Spec
from kbdash.charts.palette import Theme
from kbdash.units import Unit, time_text


def own_line(height: float, theme: Theme) -> list[Spec]:
    """The line at `height` (0 to 1 of the figure's plot)."""
    line = {"color": theme.text, "width": 1.5, "dash": "dash"}
    return [
        {"type": "line", "xref": "paper", "yref": "paper", "x0": 0, "x1": 1, "y0": height, "y1": height, "line": line}
    ]


def own_label(seconds: float, height: float, unit: Unit, theme: Theme) -> list[Spec]:
    """The label of the line, at its left end."""
    return [
        {
            "text": f"<b>yours {time_text(seconds, unit)}</b>", "x": 0, "y": height, "xref": "paper", "yref": "paper",
            "xanchor": "left", "yanchor": "bottom", "xshift": 4, "showarrow": False,
            "font": {"size": SMALL, "color": theme.text},
        }
    ]  # fmt: skip
