"""Axes: logarithmic time in the board's unit, ratios to the best, UTC dates, plain numbers."""

import math
from typing import Any

from kbdash.charts.canvas import SMALL, Spec
from kbdash.charts.palette import Theme
from kbdash.units import THIN, Unit, time_text

Bounds = tuple[float, float]

LOWER_IS_BETTER = "lower is better"
# Plotly repeats the part after a line break only where it changes, so each year or day is written once.
_STOPS = [
    {"dtickrange": [None, 86_399_999], "value": "%H:%M\n%b %-d"},
    {"dtickrange": [86_400_000, "M1"], "value": "%b %-d\n%Y"},
    {"dtickrange": ["M1", "M11"], "value": "%b\n%Y"},
    {"dtickrange": ["M12", None], "value": "%Y"},
]
_TICK_ROOM = 0.21  # the share of an axis that a tick takes, so that five fit on a phone
_NICE_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_RATIOS = [digit * 10.0**power for power in range(12) for digit in (1, 1.5, 2, 3, 4, 5)][1:]


def plain_axis(theme: Theme, title: str = "", **more: Any) -> Spec:
    """An axis in the quiet colours, not zoomable: a finger on a phone must still scroll the page."""
    return {
        "title": {"text": title, "font": {"size": SMALL, "color": theme.muted}, "standoff": 8},
        "tickfont": {"size": SMALL, "color": theme.muted},
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
    } | more


def time_axis(bounds: Bounds, unit: Unit, theme: Theme, title: str, **more: Any) -> Spec:
    """A logarithmic axis from the low to the high bound, both in `unit`, with the unit on its ticks."""
    low, high = bounds
    values = log_ticks(low, high)
    ticks = {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickmode": "array",
        "tickvals": values,
        "ticktext": [f"{tick_text(value)}{THIN}{unit.name}" for value in values],
        "tickangle": 0,
    }
    return plain_axis(theme, title) | ticks | more


def date_axis(theme: Theme, **more: Any) -> Spec:
    """An axis of dates, labelled as UTC."""
    return plain_axis(theme, "UTC") | {"type": "date", "showgrid": False, "nticks": 6, "tickformatstops": _STOPS} | more


def ratio_axis(end: float, theme: Theme, title: str, best: float | None = None, unit: Unit | None = None) -> Spec:
    """An axis of ln(score / best) from 1 to the ratio `end`; with best and unit each tick names its time below."""
    ratios = ratio_ticks(end, _TICK_ROOM if unit else 0.6 * _TICK_ROOM)
    texts = [f"{tick_text(ratio)}×" for ratio in ratios]
    if best is not None and unit is not None:
        texts = [f"{text}<br>{time_text(ratio * best, unit)}" for text, ratio in zip(texts, ratios, strict=True)]
    ticks = {
        "tickmode": "array",
        "tickvals": [math.log(ratio) for ratio in ratios],
        "ticktext": texts,
        "tickangle": 0,
        "range": [-0.02 * math.log(end), math.log(end) * 1.02],
    }
    return plain_axis(theme, title) | ticks


def ratio_ticks(end: float, room: float = _TICK_ROOM) -> list[float]:
    """1 and a few more round ratios up to `end`, each at least the share `room` of the axis from the last."""
    rounds = _RATIOS if end > 2 else [1 + part for part in _even_steps(end - 1)]
    chosen: list[float] = [1.0]
    for ratio in rounds:
        if ratio <= end * 1.0001 and math.log(ratio / chosen[-1]) >= room * math.log(end):
            chosen.append(float(f"{ratio:.6g}"))
    return chosen


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two positive bounds: decades, 1-2-5 below two decades, even steps if those are too few."""
    decades = math.log10(high / low)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if decades >= 2:
        every = math.ceil(decades / 6)
        return _within([10.0**exponent for exponent in exponents if exponent % every == 0], low, high)
    ticks = _within([digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5)], low, high)
    return ticks if len(ticks) >= 3 else _even_ticks(low, high)


def tick_text(value: float) -> str:
    """A tick's number without needless digits: 0.5, 10, 2,000."""
    return f"{float(f'{value:.12g}'):,.{_places(value)}f}"


def _places(value: float) -> int:
    """How many decimals a round number needs (12 at most)."""
    _, _, fraction = f"{value:.12f}".rstrip("0").partition(".")
    significant = f"{value:.12g}"
    return len(significant.partition(".")[2]) if "e" not in significant else len(fraction)


def _even_steps(reach: float) -> list[float]:
    """Multiples of a round step up to `reach`, at most four."""
    size = 10.0 ** math.floor(math.log10(reach / 4))
    step = next(size * nice for nice in _NICE_STEPS if size * nice >= reach / 4.4)
    return [step * count for count in range(1, 5) if step * count <= reach * 1.0001]


def _even_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * nice for nice in _NICE_STEPS if size * nice >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return _within([float(f"{count * step:.10g}") for count in range(first, last + 1)], low, high)


def _within(ticks: list[float], low: float, high: float) -> list[float]:
    return [tick for tick in ticks if low <= tick <= high]
