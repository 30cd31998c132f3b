"""A single submission: resolve an id, and find its placement."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kbdash.dataset.model import Placement, Submission
from kbdash.errors import AmbiguousSubmission, DataUnavailable, UnknownSubmission


def the_one(submission_id: int, runner: str | None, competition: str | None, rows: pd.DataFrame) -> Submission:
    """The submission that an id means, out of all rows with it.

    A competition that cannot be read now might also have it. So while one is unreadable, a match is accepted only if
    its competition was asked for.
    """
    found = submissions_in(rows)
    left_out: dict[str, str] = rows.attrs["unavailable"]
    where = f" on {runner}" if runner else ""
    if left_out and not found:
        raise DataUnavailable(
            f"Submission {submission_id}{where} cannot be looked up now.", advice=" ".join(left_out.values())
        )
    if not found:
        raise UnknownSubmission(
            f"There is no submission {submission_id}{where} in this dataset.",
            advice="Check the id, or find it under Submissions of its competition.",
        )
    if left_out and competition is None:
        others = " or ".join(dict.fromkeys(f"competition={row.competition!r}" for row in found))
        raise DataUnavailable(
            f"Submission {submission_id}{where} may be another in {', '.join(left_out)}, which cannot be read now.",
            advice=f"Say {others} to take that one. {' '.join(left_out.values())}",
        )
    if len(found) > 1:
        choices = "; ".join(f"runner={row.runner!r}, competition={row.competition!r}" for row in found)
        raise AmbiguousSubmission(
            f"Submission {submission_id}{where} exists {len(found)} times.",
            runners=[row.runner or "" for row in found],
            advice=f"Say which: {choices}.",
        )
    return found[0]


def submissions_in(rows: pd.DataFrame) -> list[Submission]:
    """The rows of a frame as submissions."""
    return [Submission(**plain(row)) for row in rows.to_dict("records")]


def placement_of(of: Submission, ranked: pd.DataFrame, earlier: Mapping[str, Any]) -> Placement:
    """Placement of a submission on the leaderboard of its runner; `earlier` sums up its user's earlier tries."""
    field = ranked[(ranked["runner"] == of.runner).to_numpy(bool)]
    mine = plain(next(iter(field[field["user_id"] == of.user_id].to_dict("records")), {}))
    possible = field.loc[field["ratio"].notna(), "score"]
    best_before = earlier["best"]
    return Placement(
        rank=mine.get("rank"),
        of=len(field),
        best=None if possible.empty else float(possible.min()),
        users_best=mine.get("score"),
        is_users_best=mine.get("submission_id") == of.submission_id,
        is_personal_best=of.eligible and (best_before is None or (of.score or 0.0) < best_before),
        best_before=best_before,
        best_before_id=earlier["best_id"],
        attempts_before=earlier["attempts"],
    )


def plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Python values for pandas ones; missing is None."""
    return {str(key): None if pd.api.types.is_scalar(value) and pd.isna(value) else value for key, value in row.items()}
