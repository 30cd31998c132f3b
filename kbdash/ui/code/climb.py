"""The steps of a ladder shaped for the eye: table rows, points of the chart, and where each step leads."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from kbdash.charts.axes import bounds_of, log_ticks, tick_text
from kbdash.ui.code.changes import Change, Pair
from kbdash.ui.tables import rows, text
from kbdash.units import (
    MINUS,
    MISSING,
    THIN,
    Unit,
    count_text,
    day_text,
    duration_text,
    gain_text,
    minute_text,
    time_text,
    unit_for,
)
from kbdash.view import CompareView, Ref, SubmissionView, View

Link = Callable[[str, View], str]


def pairs(steps: pd.DataFrame) -> dict[int, Pair]:
    """Each step with the one before it, by the step's number; the first has none."""
    refs = [(int(row["step"]), Ref(int(row["submission_id"]), text(row["runner"]))) for row in rows(steps)]
    return {step: (before, here) for (_, before), (step, here) in pairwise(refs)}


def comparison(pair: Pair) -> CompareView:
    """The diff of a step."""
    return CompareView(a=pair[0], b=pair[1])


def code(row: Mapping[str, Any], competition: str) -> SubmissionView:
    """The source of a step; previous and next lead along the ladder."""
    return SubmissionView(
        id=int(row["submission_id"]), runner=text(row["runner"]), competition=competition, walk="bests"
    )


def data(
    steps: pd.DataFrame, shown: pd.DataFrame, known: Mapping[Pair, Change], competition: str, link: Link
) -> dict[str, Any]:
    """What the browser needs to draw the ladder; chart places are shares (0 to 1) of its width and height."""
    unit = unit_for(steps["score"].min())
    every = rows(steps)
    before = pairs(steps)
    largest = max((row["gain"] for row in every if pd.notna(row["gain"])), default=1.0)
    low, high = bounds_of([unit.of(row["score"]) for row in every]) or (1.0, 2.0)
    first, last = every[0]["submitted_at"], every[-1]["submitted_at"]
    return {
        "label": f"Personal bests over time, from {time_text(every[0]['score'], unit)} to "
        f"{time_text(every[-1]['score'], unit)}",
        "rows": [_row(row, before.get(row["step"]), known, unit, largest, competition, link) for row in rows(shown)],
        "points": [_point(row, unit, (low, high), (first, last)) for row in every],
        "ticks": [
            {"y": _height(value, low, high), "label": f"{tick_text(value)}{THIN}{unit.name}"}
            for value in log_ticks(low, high)
        ],
        "from": day_text(first),
        "to": day_text(last),
    }


def _row(
    row: Mapping[str, Any],
    pair: Pair | None,
    known: Mapping[Pair, Change],
    unit: Unit,
    largest: float,
    competition: str,
    link: Link,
) -> dict[str, Any]:
    gain = None if pd.isna(row["gain"]) else float(row["gain"])
    return {
        "step": int(row["step"]),
        "time": time_text(row["score"], unit),
        "gain": gain_text(gain),
        "share": 0.0 if gain is None else max(gain / largest, 0.0),
        "waited": duration_text(row["waited"]) if pd.notna(row["waited"]) else MISSING,
        "attempts": count_text(row["attempts"]),
        "changed": _changed(known.get(pair)) if pair else MISSING,
        "at": minute_text(row["submitted_at"]).removesuffix(" UTC"),
        "diff": link("compare", comparison(pair)) if pair else None,
        "code": link("submission", code(row, competition)),
    }


def _changed(change: Change | None) -> str:
    """Lines removed and added; "…" while nobody has counted them."""
    if change is None:
        return "…"
    if change.removed is None:
        return MISSING
    return f"{MINUS}{count_text(change.removed)} +{count_text(change.added)}"


def _point(
    row: Mapping[str, Any], unit: Unit, bounds: tuple[float, float], span: Sequence[pd.Timestamp]
) -> dict[str, Any]:
    whole = (span[1] - span[0]).total_seconds()
    at = (row["submitted_at"] - span[0]).total_seconds() / whole if whole else 0.5
    gain = "" if pd.isna(row["gain"]) else f", {gain_text(row['gain'])}"
    label = f"step {row['step']}: {time_text(row['score'], unit)}{gain}"
    return {"step": int(row["step"]), "x": at, "y": _height(unit.of(row["score"]), *bounds), "label": label}


def _height(value: float, low: float, high: float) -> float:
    """The share of the chart's height from the top, on a log scale."""
    return (math.log(high) - math.log(value)) / (math.log(high) - math.log(low))
