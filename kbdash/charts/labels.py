"""Names at the ends of lines, moved apart where they would overlap."""

from collections.abc import Sequence

from kbdash.charts.canvas import SMALL, Spec

LINE = 15  # pixels a line of label text takes


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The positions, moved as little as a sweep can so that all keep their order, the `gap` and the bounds."""
    order = sorted(range(len(positions)), key=lambda place: positions[place])
    # With more labels than room, the gap shrinks.
    gap = min(gap, (high - low) / max(len(order) - 1, 1))
    placed = [0.0] * len(positions)
    floor = low
    for place in order:
        floor = max(floor, positions[place])
        placed[place] = floor
        floor += gap
    ceiling = high
    for place in reversed(order):
        placed[place] = min(placed[place], ceiling)
        ceiling = placed[place] - gap
    return placed


def end_label(text: str, height: float, color: str, *, left: bool = False) -> Spec:
    """A name beside the plot at `height` (0 to 1 of the plot's height)."""
    return {
        "text": text,
        "x": 0 if left else 1,
        "y": height,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "right" if left else "left",
        "yanchor": "middle",
        "xshift": -6 if left else 6,
        "showarrow": False,
        "align": "left",
        "font": {"size": SMALL, "color": color},
    }
