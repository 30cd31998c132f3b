"""Questions about a single submission: which one it is, where it stands, and who else sent its text."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kbdash.errors import AmbiguousSubmission, DataUnavailable, UnknownSubmission
from kbdash.model import Placement, Submission
from kbdash.queries import Engine, each, leaderboard
from kbdash.views import LINKABLE

LARGEST_ID = 2**63 - 1


def submission(
    engine: Engine, submission_id: int, runner: str | None = None, competition: str | None = None
) -> Submission:
    """The submission with this id; UnknownSubmission or AmbiguousSubmission when there is none or several."""
    found = submission_rows(engine, submission_id, runner, competition)
    where = f" on {runner}" if runner else ""
    if not found:
        raise UnknownSubmission(
            f"There is no submission {submission_id}{where} in this dataset.",
            advice="Check the id, or find it under Submissions of its competition.",
        )
    if len(found) > 1:
        raise AmbiguousSubmission(
            f"Submission {submission_id}{where} exists {len(found)} times.",
            runners=[row.runner or "" for row in found],
            advice="Say which runner, and which competition where two use the id.",
        )
    return found[0]


def submission_rows(
    engine: Engine, submission_id: int, runner: str | None = None, competition: str | None = None
) -> list[Submission]:
    """Every row with this id, over runners and competitions."""
    if not 0 <= submission_id <= LARGEST_ID:
        return []
    places = [slug for slug in engine.readable() if competition in (None, slug)]
    rows = each(engine, places, "submission", id=submission_id, runner=runner)
    return [Submission(**_plain(row)) for row in rows.to_dict("records")]


def placement(engine: Engine, of: Submission, ranked: pd.DataFrame | None = None) -> Placement:
    """Where one submission stands on its board and runner; `ranked` is that leaderboard, where it is at hand."""
    if ranked is None:
        ranked = leaderboard(engine, of.problem, competition=of.competition, runner=of.runner)
    field = ranked[(ranked["runner"] == of.runner).to_numpy(bool)]
    mine = _plain(next(iter(field[field["user_id"] == of.user_id].to_dict("records")), {}))
    possible = field.loc[field["ratio"].notna(), "score"]
    before = engine.frame(
        "before",
        competition=of.competition,
        problem=of.problem,
        runner=of.runner,
        user=of.user_id,
        id=of.submission_id,
        at=of.submitted_at.isoformat() if of.submitted_at else None,
    )
    earlier = _plain(before.to_dict("records")[0])
    eligible = of.counts and not of.impossible and of.score is not None
    best_before = earlier["best"]
    return Placement(
        rank=mine.get("rank"),
        of=len(field),
        best=None if possible.empty else float(possible.min()),
        users_best=mine.get("score"),
        is_users_best=mine.get("submission_id") == of.submission_id,
        is_personal_best=eligible and (best_before is None or (of.score or 0.0) < best_before),
        best_before=best_before,
        best_before_id=earlier["best_id"],
        attempts_before=earlier["attempts"],
    )


def same_code_elsewhere(engine: Engine, of: Submission, limit: int = 50) -> pd.DataFrame:
    """Other submissions with the same source text, in the competitions that share code ids."""
    linkable = engine.linkable()
    asked: dict[str, object] = {
        "code_id": of.code_id, "id": of.submission_id, "home": of.competition, "runner": of.runner, "limit": limit,
    }  # fmt: skip
    if of.competition not in linkable:
        return engine.frame("same_code_elsewhere", competition=of.competition, **asked)
    try:
        return engine.frame("same_code_elsewhere", competition=LINKABLE, **asked)
    except DataUnavailable:  # one of the files: ask each by itself, so that the others still answer
        return each(engine, linkable, "same_code_elsewhere", **asked).head(limit)


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Python values for pandas ones; missing is None."""
    return {str(key): None if pd.api.types.is_scalar(value) and pd.isna(value) else value for key, value in row.items()}
