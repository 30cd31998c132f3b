"""Submissions that contain a search result: the fastest, counts per week, and users' bests with and without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import re2

from kbdash.content.search.lines import Longs, Place
from kbdash.content.search.patterns import Pattern
from kbdash.content.search.scan import Deadline
from kbdash.content.store.text_rows import NOTHING, Chosen, Filters, Flags

SUBMISSIONS = (
    "competition", "problem", "runner", "user_id", "user_name", "submission_id", "submitted_at", "score", "rank",
    "line_no",
)  # fmt: skip
WEEKS = ("week", "submissions", "users", "new_users")
BESTS = ("competition", "problem", "runner", "user_id", "user_name", "submission_id", "score", "holds")


@dataclass(frozen=True)
class Holding:
    """`submissions`: the fastest that hold it, of `total`; `weeks`: per week (its Monday, UTC) how many submissions and
    users held it, and how many users for the first time; `bests`: every user's best on each board and runner where
    somebody's best holds it; `unavailable`: competitions that are left out, with the reason. Scores are seconds."""

    submissions: pd.DataFrame
    weeks: pd.DataFrame
    bests: pd.DataFrame
    total: int
    users: int
    unavailable: Mapping[str, str] = field(default_factory=dict)


def whole_line(line: str) -> Pattern:
    """A pattern that matches a whole line, given as a search returns it (stripped)."""
    return Pattern(line, re2.escape(line))


def holding(
    places: Sequence[Place],
    pattern: Pattern,
    filters: Sequence[Filters],
    *,
    whole: bool = False,
    limit: int = 100,
    seconds: float,
) -> Holding:
    """What contains the pattern in these places; `whole`: only lines that equal the pattern after stripping."""
    deadline = Deadline(seconds)
    found = []
    for place, wanted in zip(places, filters, strict=True):
        matched = place.scanner.matching(pattern, deadline)
        if whole and len(matched):
            same = pc.equal(pc.utf8_trim_whitespace(place.scanner.texts.take(pa.array(matched))), pattern.text)
            matched = matched[same.to_numpy(zero_copy_only=False)]
        deadline.check()
        chosen = place.held.choose(wanted)
        found.append((place, chosen, matched, rows_holding(place, chosen, matched)))
    rows = _together([_rows(place, mask, matched, limit) for place, _, matched, mask in found], SUBMISSIONS)
    people = pd.concat([_moments(place, mask) for place, _, _, mask in found], ignore_index=True)
    bests = _together([_bests(place, chosen, mask) for place, chosen, _, mask in found], BESTS)
    ordered = rows.sort_values(["rank", "score", "submitted_at"], kind="stable").head(limit).reset_index(drop=True)
    return Holding(
        submissions=ordered[list(SUBMISSIONS)],
        weeks=weeks(people),
        bests=bests[list(BESTS)],
        total=len(people.drop_duplicates(["competition", "submission_id"])),
        users=people["person"].nunique(),
    )


def rows_holding(place: Place, chosen: Chosen, matched: Longs) -> Flags:
    """Which of the chosen rows contain at least one of these lines."""
    spans = chosen.spans(place.store.line_use, matched, np.zeros(len(matched), np.int64))
    edges = np.zeros(len(place.held.rows) + 1, np.int64)
    np.add.at(edges, spans.lo, 1)
    np.add.at(edges, spans.hi, -1)
    inside: Flags = np.cumsum(edges[:-1]) > 0
    return inside & chosen.mask


def weeks(moments: pd.DataFrame) -> pd.DataFrame:
    """Per week: submissions, users, and users who are new that week."""
    known = moments[moments["submitted_at"].notna()].drop_duplicates(["competition", "submission_id"])
    if known.empty:
        return pd.DataFrame({name: pd.Series(dtype="object" if name == "week" else "int64") for name in WEEKS})
    day = pd.to_datetime(known["submitted_at"], utc=True).dt.tz_localize(None).dt.normalize()
    known = known.assign(week=day - pd.to_timedelta(day.dt.day_of_week, unit="D"))
    first = known.groupby("person")["week"].min().value_counts()
    counted = known.groupby("week").agg(submissions=("submission_id", "size"), users=("person", "nunique"))
    counted = counted.assign(new_users=first.reindex(counted.index).fillna(0).astype("int64"))
    return counted.reset_index().assign(week=lambda frame: frame["week"].dt.date)[list(WEEKS)]


def _rows(place: Place, mask: Flags, matched: Longs, limit: int) -> pd.DataFrame:
    """The best-ranked rows, each with its first matching line."""
    at = np.flatnonzero(mask)
    order = np.empty(len(place.held.by_rank), np.int64)
    order[place.held.by_rank] = np.arange(len(order))
    at = at[np.argsort(order[at], kind="stable")][:limit]
    wanted = np.zeros(len(place.scanner.texts), bool)
    wanted[matched] = True
    rank = place.held.rank[at]
    rows = place.held.rows.iloc[at]
    answer: pd.DataFrame = rows.assign(
        competition=place.competition,
        rank=pd.arrays.IntegerArray(rank.astype(np.int64), rank == NOTHING),
        line_no=[int(wanted[place.store.line_ids(text)].argmax()) + 1 for text in place.held.text[at].tolist()],
    )
    return answer


def _moments(place: Place, mask: Flags) -> pd.DataFrame:
    """Who and when; user ids are compared only between competitions that share them."""
    rows = place.held.rows.loc[mask, ["submission_id", "user_id", "submitted_at"]]
    ids = rows["user_id"].astype(object)
    named = ids if place.shared_ids else place.competition + " " + ids.astype(str)
    answer: pd.DataFrame = rows.assign(competition=place.competition, person=named)
    return answer


def _bests(place: Place, chosen: Chosen, mask: Flags) -> pd.DataFrame:
    """Users' bests among the chosen rows, on boards where at least one of them contains it."""
    ranked = chosen.mask & place.held.rows["ranked"].fillna(False).to_numpy(bool)
    rows = place.held.rows[ranked].assign(holds=mask[ranked])
    order = ["score", "at", "submission_id"]
    bests = rows.sort_values(order, kind="stable").drop_duplicates(["problem", "runner", "user_id"])
    some = bests.groupby(["problem", "runner"])["holds"].transform("any")
    answer: pd.DataFrame = bests[some.astype(bool)].assign(competition=place.competition)
    return answer


def _together(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Concatenate frames, ignoring the column types of empty ones."""
    full = [frame for frame in frames if len(frame)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=[*columns])
