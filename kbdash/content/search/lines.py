"""Which lines match a pattern, who wrote them, and which submissions contain them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.content.search.patterns import Pattern
from kbdash.content.search.scan import Deadline, LineScanner
from kbdash.content.store.finished import Store
from kbdash.content.store.spans import Spans, counts_of_groups, least_of_groups
from kbdash.content.store.text_rows import NOTHING, Chosen, Filters, TextRows
from kbdash.database.questions.texts import SEARCH

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
COLUMNS = SEARCH.column_names


@dataclass(frozen=True)
class Place:
    """A competition that can be searched; `shared_ids`: it shares user ids with other such places."""

    competition: str
    store: Store
    scanner: LineScanner
    same: Ints
    held: TextRows
    shared_ids: bool


class _Found:
    """What a pattern finds in one place: groups of lines, and the chosen rows that hold them."""

    def __init__(self, place: Place, pattern: Pattern, filters: Filters, deadline: Deadline) -> None:
        self.place = place
        self.matched = place.scanner.matching(pattern, deadline)
        deadline.check()
        self.chosen: Chosen = place.held.choose(filters)
        names, self.group = _numbered(place.same, self.matched)
        spans = self.chosen.spans(place.store.line_use, self.matched, self.group)
        deadline.check()
        submissions = counts_of_groups(spans, self.chosen.submissions, len(names))
        # Lines that no chosen submission contains are not results.
        kept = np.flatnonzero(submissions)
        self.names = names[kept]
        self.submissions = submissions[kept]
        self.spans = _renumbered(spans, kept, len(names))
        self.best = least_of_groups(self.spans, self.chosen.best.over(self.spans), len(kept), NOTHING)
        self.rank: Longs = np.append(place.held.rank[place.held.by_rank], NOTHING)[
            np.minimum(self.best, len(place.held.rows))
        ]
        self.kept_of_group = np.full(len(names), -1)
        self.kept_of_group[kept] = np.arange(len(kept))

    def spans_of(self, groups: Longs) -> Spans:
        """The spans of some groups."""
        wanted = np.zeros(len(self.names), bool)
        wanted[groups] = True
        inside = np.flatnonzero(wanted[self.spans.group])
        return Spans(self.spans.group[inside], self.spans.lo[inside], self.spans.hi[inside])

    def lines(self) -> pa.Array:
        """The lines of all groups, stripped."""
        return pc.utf8_trim_whitespace(self.place.scanner.texts.take(pa.array(self.names)))


def _numbered(same: Ints, lines: Longs) -> tuple[Longs, Longs]:
    """The different values of `same` for these lines, in order, and which of them each line has."""
    wanted = np.zeros(len(same), bool)
    wanted[same[lines]] = True
    names = np.flatnonzero(wanted)
    number = np.empty(len(same), np.int32)
    number[names] = np.arange(len(names), dtype=np.int32)
    return names, number[same[lines]].astype(np.int64)


def _renumbered(spans: Spans, kept: Longs, groups: int) -> Spans:
    number = np.full(groups, -1, np.int64)
    number[kept] = np.arange(len(kept))
    group = number[spans.group]
    inside = group >= 0
    return Spans(group[inside], spans.lo[inside], spans.hi[inside])


def search(
    places: Sequence[Place], pattern: Pattern, filters: Sequence[Filters], *, limit: int, seconds: float
) -> pd.DataFrame:
    """One row per distinct line, best first; `attrs["total"]` says how many there are in all.

    `filters` has one entry per place. `attrs["places"]` has competition and runner of each row's best submission.
    """
    deadline = Deadline(seconds)
    found = [_Found(place, pattern, wanted, deadline) for place, wanted in zip(places, filters, strict=True)]
    found = [each for each in found if len(each.names)]
    groups, total = _across(found)
    rank, submissions = np.full(total, NOTHING, np.int64), np.zeros(total, np.int64)
    for each, group in zip(found, groups, strict=True):
        np.minimum.at(rank, group, each.rank)
        np.add.at(submissions, group, each.submissions)
    top = _candidates(rank, limit)
    deadline.check()
    users = _users(found, groups, top, total)
    order = np.lexsort((top, -submissions[top], -users[top], rank[top]))
    top = top[order][:limit]
    return _frame(found, groups, top, users, submissions, rank, total)


def _across(found: Sequence[_Found]) -> tuple[list[Longs], int]:
    """The groups of every place, with equal lines of different places merged; and their number."""
    if len(found) == 1:
        return [np.arange(len(found[0].names))], len(found[0].names)
    if not found:
        return [], 0
    coded = pa.chunked_array([each.lines() for each in found]).dictionary_encode()
    return [chunk.indices.to_numpy() for chunk in coded.chunks], len(coded.chunk(0).dictionary)


def _candidates(rank: Longs, limit: int) -> Longs:
    """The groups that may be among the first `limit`: ranked no worse than the last of them."""
    if len(rank) <= limit or not limit:
        return np.arange(min(len(rank), limit))
    return np.flatnonzero(rank <= np.partition(rank, limit - 1)[limit - 1])


def _users(found: Sequence[_Found], groups: Sequence[Longs], top: Longs, total: int) -> Longs:
    """How many people have each of the groups in `top`; ids are compared only between places that share them."""
    wanted = np.zeros(total, bool)
    wanted[top] = True
    pairs: list[tuple[Longs, npt.NDArray[np.object_]]] = []
    for each, group in zip(found, groups, strict=True):
        spans = each.spans_of(np.flatnonzero(wanted[group]))
        number, owner = each.place.held.owners.pairs(spans, each.chosen.with_user)
        if len(found) == 1:
            return np.bincount(group[number], minlength=total).astype(np.int64)
        names = each.place.held.user_ids.to_numpy(object)
        if not each.place.shared_ids:
            names = np.array([f"{each.place.competition} {name}" for name in names], object)
        pairs.append((group[number], names[owner]))
    if not pairs:
        return np.zeros(total, np.int64)
    people = pd.factorize(np.concatenate([names for _, names in pairs]))[0]
    keys = np.unique(np.concatenate([numbers for numbers, _ in pairs]) * (len(people) + 1) + people)
    return np.bincount(keys // (len(people) + 1), minlength=total).astype(np.int64)


def _frame(
    found: Sequence[_Found],
    groups: Sequence[Longs],
    top: Longs,
    users: Longs,
    submissions: Longs,
    rank: Longs,
    total: int,
) -> pd.DataFrame:
    wanted = np.zeros(total, bool)
    wanted[top] = True
    chosen = [(each, np.flatnonzero(wanted[group]), group) for each, group in zip(found, groups, strict=True)]
    firsts = pd.concat([_firsts(each, at, group[at]) for each, at, group in chosen] or [_nothing(_FIRST)])
    bests = pd.concat([_bests(each, at, group[at]) for each, at, group in chosen] or [_nothing(_BEST)])
    first = firsts.sort_values(["at", "first_submission_id"]).drop_duplicates("group").set_index("group").loc[top]
    best = bests.sort_values(["rank", "best_score"]).drop_duplicates("group").set_index("group").loc[top]
    frame = best.join(first).reset_index(drop=True).assign(users=users[top], submissions=submissions[top])
    frame["best_rank"] = pd.array(rank[top], "Int64")
    frame.loc[(rank[top] == NOTHING), "best_rank"] = pd.NA
    places = list(
        zip(frame["competition"], frame["runner"].astype(object).where(frame["runner"].notna(), None), strict=True)
    )
    frame["first_at"] = pd.to_datetime(frame["first_at"], utc=True)
    answer = frame.astype({"best_submission_id": "Int64", "first_submission_id": "Int64"})[list(COLUMNS)]
    answer.attrs.update(total=total, places=places)
    return answer


_FIRST = ("group", "at", "first_submission_id", "first_user_name", "first_at")
_BEST = ("group", "rank", "best_score", "best_submission_id", "competition", "runner", "line", "line_no")


def _nothing(columns: Sequence[str]) -> pd.DataFrame:
    numbers = {"group", "at", "first_submission_id", "rank", "best_submission_id", "line_no", "best_score"}
    kinds = {name: "float64" if name == "best_score" else "int64" if name in numbers else "str" for name in columns}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


def _firsts(found: _Found, at: Longs, group: Longs) -> pd.DataFrame:
    """The earliest chosen submission that contains each of the groups `at`."""
    held = found.place.held
    spans = found.spans_of(at)
    oldest = least_of_groups(spans, found.chosen.first.over(spans), len(found.names), NOTHING)[at]
    row = held.by_age[oldest]
    rows = held.rows.iloc[row]
    return pd.DataFrame(
        {
            "group": group,
            "at": held.at[row],
            "first_submission_id": held.submission[row],
            "first_user_name": rows["user_name"].to_numpy(object),
            "first_at": rows["submitted_at"].to_numpy(),
        }
    )


def _bests(found: _Found, at: Longs, group: Longs) -> pd.DataFrame:
    """The best-ranked chosen submission that contains each of the groups `at`, and its line number there."""
    place = found.place
    row = place.held.by_rank[found.best[at]]
    rows = place.held.rows.iloc[row]
    return pd.DataFrame(
        {
            "group": group,
            "rank": place.held.rank[row],
            "best_score": rows["score"].to_numpy(float),
            "best_submission_id": place.held.submission[row],
            "competition": place.competition,
            "runner": rows["runner"].to_numpy(object),
            "line": [line.strip() for line in place.scanner.texts.take(pa.array(found.names[at])).to_pylist()],
            "line_no": _line_numbers(found, place.held.text[row], at),
        }
    )


def _line_numbers(found: _Found, texts: Ints, groups: Longs) -> Longs:
    """Where each of these texts holds a line of its group first, from 1; all texts at once."""
    lines = [found.place.store.line_ids(text) for text in texts.tolist()]
    size = np.array([len(each) for each in lines], np.int64)
    every = np.concatenate([np.empty(0, np.int32), *lines])
    # The lines that were found are sorted.
    place = np.minimum(np.searchsorted(found.matched, every), len(found.matched) - 1)
    group = np.where(found.matched[place] == every, found.kept_of_group[found.group[place]], -1)
    hits = np.flatnonzero(group == np.repeat(groups, size))
    begins = np.cumsum(size) - size
    first: Longs = hits[np.searchsorted(hits, begins)] - begins + 1
    return first
