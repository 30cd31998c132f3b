"""The submissions of a store in the order of their texts, with the facts that questions need."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pandas as pd

from kbdash.content.store.layout import NO_TEXT
from kbdash.content.store.line_use import LineUse
from kbdash.content.store.spans import Owners, RangeMin, Spans, before, united

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
NOTHING = int(np.iinfo(np.int32).max)
_UNKNOWN_TIME = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Filters:
    """Which submissions a question is about; None: all. Days are UTC and inclusive, `users` are ids."""

    problem: str | None = None
    runner: str | None = None
    users: tuple[str, ...] | None = None
    passed: bool | None = None
    since: date | None = None
    until: date | None = None
    texts: Flags | None = None


class TextRows:
    """Rows that have a text, sorted by text, user and submission; each text's rows begin at its entry in `bounds`."""

    def __init__(self, rows: pd.DataFrame, text_of_row: Ints, texts: int) -> None:
        text = text_of_row[rows["file_row"].to_numpy(np.int64)]
        order = np.lexsort(
            (
                rows["file_row"].to_numpy(np.int64),
                rows["submission_id"].fillna(-1).to_numpy(np.int64),
                pd.factorize(rows["user_id"], sort=True)[0],
                text,
            )
        )
        self.textless = rows.iloc[order[text[order] == NO_TEXT]]
        rank = would_rank(rows)  # among all rows: whoever sent no text is ahead of others all the same
        order = order[text[order] != NO_TEXT]
        self.rows = rows.iloc[order].reset_index(drop=True)
        self.text: Ints = text[order]
        self.bounds: Longs = np.searchsorted(self.text, np.arange(texts + 1))
        self.user, self.user_ids = pd.factorize(self.rows["user_id"], sort=True)
        self.submission: Longs = self.rows["submission_id"].fillna(-1).to_numpy(np.int64)
        self.at: Longs = self.rows["at"].fillna(_UNKNOWN_TIME).to_numpy(np.int64)
        self.rank: Longs = rank[order]
        score = self.rows["score"].fillna(np.inf).to_numpy(float)
        self.by_rank = np.lexsort((self.submission, self.at, score, self.rank))
        self.by_age = np.lexsort((self.user, self.submission, self.at))
        self.owners = Owners(self.user.astype(np.int32))
        self._everything: Chosen | None = None

    def choose(self, filters: Filters) -> "Chosen":
        """The rows that pass the filters."""
        if filters.texts is None and filters == Filters():
            self._everything = self._everything or Chosen(self, np.ones(len(self.rows), bool))
            return self._everything
        return Chosen(self, self._mask(filters))

    def on_board(self, problem: str | None, runner: str | None, users: tuple[str, ...] | None) -> pd.DataFrame:
        """The rows of a board and of some users, also those without a text; None: all."""
        wanted = Filters(problem=problem, runner=runner, users=users)
        found = [rows[_matching(rows, wanted)] for rows in (self.rows, self.textless)]
        answer: pd.DataFrame = pd.concat(found, ignore_index=True) if len(found[1]) else found[0]
        return answer

    def _mask(self, filters: Filters) -> Flags:
        mask = _matching(self.rows, filters)
        if filters.since is not None:
            mask &= (self.at >= _micros(filters.since)) & (self.at != _UNKNOWN_TIME)
        if filters.until is not None and filters.until < date.max:
            mask &= self.at < _micros(filters.until + timedelta(days=1))
        if filters.texts is not None:
            mask &= filters.texts[self.text]
        return mask


class Chosen:
    """Some of the rows, prepared for counting over spans."""

    def __init__(self, held: TextRows, mask: Flags) -> None:
        self._bounds = held.bounds  # (not all of `held`, which keeps this)
        self.mask = mask
        text, ids = held.text, held.submission
        # A submission on several runners counts once: its rows are adjacent, and the first chosen one counts.
        chosen = np.flatnonzero(mask)
        new = np.ones(len(chosen), bool)
        new[1:] = (text[chosen][1:] != text[chosen][:-1]) | (ids[chosen][1:] != ids[chosen][:-1])
        counted = np.zeros(len(mask), bool)
        counted[chosen[new]] = True
        self.submissions = before(counted)
        self.with_user = before(mask & (held.user >= 0))
        self.best = RangeMin(self._places(held.by_rank))
        self.first = RangeMin(self._places(held.by_age))

    def _places(self, order: npt.NDArray[np.intp]) -> Ints:
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        place[~self.mask] = NOTHING
        return place

    def spans(self, use: LineUse, lines: Longs, group: Longs) -> Spans:
        """The rows that hold the lines; those of one group together."""
        which, runs = use.runs_of(lines)
        first = use.text[runs]
        return united(group[which], self._bounds[first], self._bounds[first + use.length[runs]])


def would_rank(rows: pd.DataFrame) -> Longs:
    """The rank each row would give its user: 1 + the number of other users whose best is faster; NOTHING without."""
    answer = np.full(len(rows), NOTHING, np.int64)
    ranked = rows[rows["ranked"].fillna(False).to_numpy(bool)]
    keys = ["problem", "runner"]
    bests = ranked.groupby([*keys, "user_id"], dropna=False)["score"].min().rename("best").reset_index()
    ranked = ranked.assign(place=np.flatnonzero(rows["ranked"].fillna(False).to_numpy(bool)))
    ranked = ranked.merge(bests, on=[*keys, "user_id"], how="left")
    scores_of = {key: np.sort(group["best"].to_numpy()) for key, group in bests.groupby(keys, dropna=False)}
    for key, group in ranked.groupby(keys, dropna=False):
        score = group["score"].to_numpy()
        faster = np.searchsorted(scores_of[key], score, side="left")
        answer[group["place"].to_numpy()] = 1 + faster - (group["best"].to_numpy() < score)
    return answer


def _matching(rows: pd.DataFrame, filters: Filters) -> Flags:
    """Which rows have the problem, runner, outcome and users that are asked for."""
    mask = np.ones(len(rows), bool)
    for column, wanted in (("problem", filters.problem), ("runner", filters.runner), ("passed", filters.passed)):
        if wanted is not None:
            mask &= (rows[column] == wanted).fillna(False).to_numpy(bool)
    if filters.users is not None:
        mask &= rows["user_id"].isin(filters.users).to_numpy(bool)
    return mask


def _micros(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000
