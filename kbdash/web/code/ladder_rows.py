"""The steps of a ladder as table rows with links."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from kbdash.units import MINUS, MISSING, Unit, count_text, duration_text
from kbdash.view import CompareView, Ref, SubmissionView, href
from kbdash.web import tables
from kbdash.web.cells import Column
from kbdash.web.code.changes import Change, Changes, Pair
from kbdash.web.tables import rows, text

DIFF = "Diff"


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


def with_ranks(steps: pd.DataFrame, bests: pd.DataFrame) -> pd.DataFrame:
    """The steps with the rank that each gave at that time, from the personal bests of the board."""
    ranks = dict(zip(bests["submission_id"].tolist(), bests["rank"].tolist(), strict=True))
    return steps.assign(rank=pd.array([ranks.get(id_) for id_ in steps["submission_id"].tolist()], dtype="Int64"))


def shown_rows(
    steps: pd.DataFrame,
    known: Sequence[str],
    techniques: Sequence[str],
    before: tuple[tuple[int, Pair], ...],
    competition: str,
) -> pd.DataFrame:
    """Steps as the table shows them; `known` says how many lines each changed, `techniques` what came and went,
    `before` what each is compared with."""
    found, pair_of = rows(steps), dict(before)
    diffs = [href("compare", comparison(pair_of[row["step"]])) if row["step"] in pair_of else "" for row in found]
    return pd.DataFrame(
        {
            "step": steps["step"],
            "score": steps["score"],
            "gain": -steps["gain"],
            "rank": steps["rank"],
            "word": tables.CODE,
            "code": [href("submission", code(row, competition)) for row in found],
            "diff": diffs,
            "changes": [DIFF if diff else "" for diff in diffs],
            "changed": list(known),
            "techniques": list(techniques),
            "waited": [duration_text(waited) if pd.notna(waited) else MISSING for waited in steps["waited"]],
            "attempts": steps["attempts"],
            "at": steps["submitted_at"],
            "ref": tables.refs(steps, competition),
        }
    )


def columns(unit: Unit, best: float) -> tuple[Column, ...]:
    """Columns in reading order; a phone shows the first ones."""
    return (
        Column("step", "Step", "rank"),
        tables.time_column("score", "Time", unit, best),
        Column("gain", "Gain", "share", "%", help="vs. the previous step."),
        Column("rank", "# then", "whole", help="The rank that this step gave at the time."),
        tables.code_column(),
        Column("changes", DIFF, link="diff", help="Diff with the previous step"),
        Column("changed", "Changed lines"),
        Column("techniques", "Techniques", width=34, help="What came with the step (+) and went (−)."),
        Column("waited", "Waited", help="Since the previous step."),
        Column("attempts", "Attempts", "whole", help="Since the last step."),
        Column("at", "When", "minute", "UTC"),
    )


def changed_texts(steps: pd.DataFrame, before: Mapping[int, Pair], counted: Changes) -> list[str]:
    """Lines removed and added per step: "…" before they are counted, "–" if a text could not be read."""
    texts = []
    for step in steps["step"].tolist():
        pair = before.get(step)
        texts.append(MISSING if pair is None or pair in counted.failed else _changed(counted.known.get(pair)))
    return texts


def _changed(change: Change | None) -> str:
    return "…" if change is None else f"{MINUS}{count_text(change.removed)} +{count_text(change.added)}"
