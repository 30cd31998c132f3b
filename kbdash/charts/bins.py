"""Histogram bins as drawn: split by runner, wide enough to see, turned into outlines."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kbdash.charts.axes import Bounds, bounds_with
from kbdash.charts.canvas import Array
from kbdash.charts.marks import Mark
from kbdash.units import Unit

_NARROW = 1.001  # when all times lie within a thousandth, the bins would be thinner than a line


def occupied(bins: pd.DataFrame) -> pd.DataFrame:
    """The bins that hold anything; as one visible bin per runner when all times are the same."""
    used = bins[(bins["rows"] > 0) | (bins["users"] > 0)]
    if used.empty or used["hi"].max() / used["lo"].min() > _NARROW:
        return used
    merged = used.groupby("runner", sort=False, dropna=False).agg(
        lo=("lo", "min"), hi=("hi", "max"), rows=("rows", "sum"), users=("users", "sum")
    )
    return merged.reset_index().assign(lo=merged["lo"].to_numpy() / 1.002, hi=merged["hi"].to_numpy() * 1.002)


def by_runner(frame: pd.DataFrame) -> list[tuple[str | None, pd.DataFrame]]:
    """The parts of a frame, one per runner, in the order in which the runners appear."""
    groups = frame.groupby("runner", sort=False, dropna=False)
    return [(None if pd.isna(runner) else str(runner), part) for runner, part in groups]


def bin_bounds(bins: pd.DataFrame, unit: Unit, marks: Sequence[Mark] = ()) -> Bounds | None:
    """The ends of a time axis (in `unit`) that holds the bins and the marks; None without any bin."""
    if bins.empty:
        return None
    edges = bins[["lo", "hi"]].to_numpy(dtype=float).ravel()
    return bounds_with(unit.per_second * edges, [unit.of(mark.seconds) for mark in marks])


def outline(bins: pd.DataFrame, values: Array, unit: Unit) -> tuple[Array, Array]:
    """The corners of a histogram (x in `unit`) for a line of shape "hv"; it drops to zero where a bin is missing."""
    low, high = (unit.per_second * bins[edge].to_numpy(dtype=float) for edge in ("lo", "hi"))
    open_end = ~np.isclose(high, np.append(low[1:], np.inf), rtol=1e-6)
    x = np.concatenate([low[:1], low, high[open_end]])
    y = np.concatenate([[0.0], values, np.zeros(int(open_end.sum()))])
    order = np.argsort(x, kind="stable")
    return x[order], y[order]
