"""Best so far in a table cell, on one scale for all rows: from the best time to a quarter above it."""

import math
from collections.abc import Sequence

REACH = math.log(1.25)  # the upper end: ln(score / best)


def sparkline(series: Sequence[float] | None, best: float) -> list[float]:
    """ln(score / best) of a best-so-far series (seconds), cut at the scale's end.

    A single best has no line, nor has a series that never comes down to the scale: a flat line would say "no progress".
    """
    values = [] if series is None or not best > 0 else [math.log(max(float(value) / best, 1.0)) for value in series]
    cut = [round(min(value, REACH), 4) for value in values]
    return cut if len(set(cut)) > 1 else []
