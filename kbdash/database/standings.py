"""Ranks computed from frames: exact ones at every moment, from the personal bests of a board; and over chosen shapes.

A rank is one more than the number of users with a faster best at that moment, as in the ranking rule.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

Entry = tuple[float, int, str]
Array = np.ndarray[Any, Any]
_OBJECTS = ("user_id", "user_name", "submitted_at", "rank", "submission_id")

CHANGES = ("user_id", "at", "rank", "before", "by_id", "by_name", "submission_id", "score")
LANES = ("place", "user_id", "user_name", "since", "until", "submission_id", "score")


def ranks_then(bests: pd.DataFrame) -> pd.DataFrame:
    """The personal bests with `rank`, the rank that each gave its user then, and `of`, how many were ranked then."""
    boards: dict[object, list[float]] = {}
    ranks, sizes = [], []
    columns = (bests[name].tolist() for name in ("runner", "score", "previous"))
    for runner, score, previous in zip(*columns, strict=True):
        board = boards.setdefault(runner, [])
        if not pd.isna(previous):
            del board[bisect_left(board, previous)]
        ranks.append(bisect_left(board, score) + 1)
        insort(board, score)
        sizes.append(len(board))
    return bests.assign(rank=np.array(ranks, dtype=np.int64), of=np.array(sizes, dtype=np.int64))


def rank_changes(bests: pd.DataFrame, users: Iterable[str]) -> pd.DataFrame:
    """Every change of these users' ranks, in time order per user: by their own best, or because `by_id` passed them.

    `bests` is the frame of `ranks_then`. `before` is the rank until then (null at first); `by_id` is null when the
    user's own submission made the change, which is then `submission_id`.
    """
    columns = _Columns.of(bests)
    rows = [row for user in dict.fromkeys(users) for row in _changes_of(columns, user)]
    changes = pd.DataFrame(rows, columns=list(CHANGES))
    return changes.assign(at=pd.to_datetime(changes["at"], utc=True)).astype({"rank": "Int64", "before": "Int64"})


def lanes(bests: pd.DataFrame, places: int = 10) -> pd.DataFrame:
    """Who held each of the first places, from when until when (`until` null: still); ties go to whoever was first."""
    rows: list[list[Any]] = []
    current: list[list[Any] | None] = [None] * places
    facts: dict[str, tuple[str, int, float]] = {}
    columns = (bests[name].tolist() for name in ("user_id", "user_name", "submitted_at", "submission_id", "score"))
    boards = _boards(bests)
    for (user, name, moment, submission, score), board in zip(zip(*columns, strict=True), boards, strict=True):
        facts[user] = (name, submission, score)
        for place, entry in enumerate(board[:places]):
            lane = current[place]
            if lane is not None and lane[1] == entry[2]:
                continue
            if lane is not None:
                lane[4] = moment
            holder, theirs, time = facts[entry[2]]
            current[place] = [place + 1, entry[2], holder, moment, None, theirs, time]
            rows.append(current[place] or [])
    found = pd.DataFrame(rows, columns=list(LANES))
    since, until = (pd.to_datetime(found[name], utc=True) for name in ("since", "until"))
    return found.assign(since=since, until=until).sort_values(["place", "since"]).reset_index(drop=True)


def shape_board(timings: pd.DataFrame, chosen: Iterable[int] | None = None) -> pd.DataFrame:
    """Ranking by the geometric mean over the chosen shapes, from the frame of `shapes`; score in seconds."""
    kept = timings if chosen is None else timings[timings["shape"].isin(list(chosen))]
    keys = ["user_id", "user_name", "runner", "submission_id"]
    logs = kept.assign(log=np.log(kept["mean_ns"] / 1e9)).groupby(keys, sort=False)["log"].mean()
    board: pd.DataFrame = np.exp(logs).rename("score").reset_index()
    board.insert(0, "rank", board.groupby("runner")["score"].rank(method="min").astype("int64"))
    return board.sort_values(["runner", "rank", "user_id"]).reset_index(drop=True)


def _boards(bests: pd.DataFrame) -> Iterator[list[Entry]]:
    """The ranking after each personal best: (score, when it was reached, user), fastest first; one list, mutated."""
    board: list[Entry] = []
    held: dict[str, Entry] = {}
    for number, (user, score) in enumerate(zip(bests["user_id"].tolist(), bests["score"].tolist(), strict=True)):
        if user in held:
            del board[bisect_left(board, held[user])]
        held[user] = (score, number, user)
        insort(board, held[user])
        yield board


class _Columns(NamedTuple):
    """The columns of personal bests as arrays, made once for all users; `before` is infinite without a previous."""

    ids: Array
    names: Array
    at: Array
    ranks: Array
    submissions: Array
    scores: Array
    before: Array

    @classmethod
    def of(cls, bests: pd.DataFrame) -> Self:
        """Those of a frame of `ranks_then`."""
        ids, names, at, ranks, submissions = (bests[name].to_numpy(dtype=object) for name in _OBJECTS)
        previous = bests["previous"].to_numpy(dtype=float, na_value=np.nan)
        before = np.where(np.isnan(previous), np.inf, previous)
        return cls(ids, names, at, ranks, submissions, bests["score"].to_numpy(dtype=float), before)


def _changes_of(bests: _Columns, user: str) -> Iterator[tuple[Any, ...]]:
    ids, names, at, ranks, submissions, scores, before = bests
    rank: int | None = None
    for here, following in pairwise([*np.flatnonzero(ids == user).tolist(), len(ids)]):
        if rank != ranks[here]:
            yield user, at[here], ranks[here], rank, None, None, submissions[here], scores[here]
        rank = ranks[here]
        later = slice(here + 1, following)
        # Users who were not ahead and now are have passed; a tie is not ahead.
        passing = (scores[later] < scores[here]) & (before[later] >= scores[here])
        for place in (here + 1 + np.flatnonzero(passing)).tolist():
            yield user, at[place], rank + 1, rank, ids[place], names[place], submissions[place], scores[place]
            rank += 1
