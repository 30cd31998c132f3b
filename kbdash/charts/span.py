"""Where a time axis ends, by the same rule in every chart: at the field, not at its outliers.

Times are compared as ratios to the best. What lies beyond the end is counted in words, never dropped silently;
`span=all` in the address lifts the rule.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kbdash.units import Unit, count_text, time_text

Array = np.ndarray[Any, Any]
Span = Literal["field", "final", "all"]

NEAREST = math.log(1.05)  # an axis never ends closer to the best than 5 %
_KEPT = 10  # users who are never cut, or half of all if that is more
_MOST = 0.9  # the share of the users who define the axis when the last are outliers
_FAR = 2.0  # how much further than those the last may be without being outliers
_GAP = 1 / 3  # a gap larger than this part of the axis ends it


@dataclass(frozen=True)
class End:
    """Where an axis ends: `ratio` to the best; how many lie beyond, and the slowest of them (seconds)."""

    ratio: float
    beyond: int = 0
    slowest: float = math.nan

    def words(self, unit: Unit) -> str:
        """What the axis leaves out, such as "7 slower, up to 9,191 µs ▸"; empty if nothing."""
        return f"{count_text(self.beyond)} slower, up to {time_text(self.slowest, unit)} ▸" if self.beyond else ""


def axis_end(bests: Iterable[float], *, span: str = "field") -> End:
    """The end of an axis for these users' best times (seconds, in any order)."""
    scores = usable(bests)
    if not scores.size:
        return End(math.exp(NEAREST))
    ratios = np.log(scores / scores[0])
    end = ratios[-1] if span == "all" else max(_field_end(ratios), NEAREST)
    beyond = scores[ratios > end + 1e-12]
    return End(math.exp(max(end, NEAREST)), len(beyond), float(scores[-1]) if len(beyond) else math.nan)


def usable(scores: Iterable[float]) -> Array:
    """Positive finite times in ascending order."""
    times = np.asarray(scores if isinstance(scores, np.ndarray) else list(scores), dtype=float)
    return np.sort(times[np.isfinite(times) & (times > 0)])


def _field_end(ratios: Array) -> float:
    """The rule, for ascending ln(score / best)."""
    kept = min(max(math.ceil(len(ratios) / 2), _KEPT), len(ratios))
    most = ratios[math.ceil(_MOST * len(ratios)) - 1]
    shown = ratios
    if ratios[-1] > _FAR * max(most, NEAREST):
        shown = ratios[: max(math.ceil(_MOST * len(ratios)), kept)]
    while len(shown) > kept:
        gaps = np.diff(shown[kept - 1 :])
        widest = int(np.argmax(gaps))
        if gaps[widest] <= _GAP * shown[-1]:
            break
        shown = shown[: kept + widest]
    return float(shown[-1])
