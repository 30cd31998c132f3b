"""Consecutive personal bests as pairs: which change to a text gained how much."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from kbdash.content.store.finished import Store
from kbdash.content.store.layout import NO_TEXT
from kbdash.database.questions.texts import STEPS

COLUMNS = STEPS.column_names


def personal_bests(rows: pd.DataFrame) -> pd.DataFrame:
    """Each new best of a user on a board and runner with the best before it; `gain` is the share of time saved."""
    ranked = rows[rows["ranked"].fillna(False).to_numpy(bool)]
    board = ["problem", "runner", "user_id"]
    ranked = ranked.sort_values([*board, "at", "submission_id"])
    groups = ranked.groupby(board, dropna=False, sort=False)
    record = groups["score"].cummin()
    so_far = record.groupby([ranked[name] for name in board], dropna=False, sort=False).shift()
    better = ranked[(so_far.isna() | (ranked["score"] < so_far)).to_numpy(bool)]
    previous = better.groupby(board, dropna=False, sort=False)[["submission_id", "score", "file_row"]].shift()
    pairs = better.assign(
        before_id=previous["submission_id"], before=previous["score"], before_row=previous["file_row"]
    )
    pairs = pairs[pairs["before"].notna()].rename(columns={"submission_id": "after_id", "score": "after"})
    return pairs.assign(gain=1.0 - pairs["after"] / pairs["before"])


Texts = Callable[[Store], npt.NDArray[np.bool_]]


def steps(
    places: Sequence[tuple[Store, pd.DataFrame]], *, least_gain: float, limit: int, gained: Texts | None = None
) -> pd.DataFrame:
    """The largest steps of several competitions, each given with its store and chosen rows, also those without a text.

    `gained` says which texts of a store have a feature; then only steps from a text without it to one with it.
    `attrs["places"]` has competition and user of each row.
    """
    found = []
    for number, (store, rows) in enumerate(places):
        pairs = personal_bests(rows)
        pairs = pairs[pairs["gain"] >= least_gain]
        if gained is not None:
            pairs = pairs[_gains(store, pairs, gained(store))]
        found.append(pairs.assign(place=number))
    if not found:
        return pd.DataFrame(columns=list(COLUMNS))
    every = pd.concat(found, ignore_index=True)
    largest = (
        every.sort_values(["gain", "at", "after_id"], ascending=[False, True, True]).head(limit).reset_index(drop=True)
    )
    largest["changed_lines"] = pd.array(
        [
            changed_lines(places[place][0], int(before), int(after))
            for place, before, after in zip(largest["place"], largest["before_row"], largest["file_row"], strict=True)
        ],
        dtype="Int64",
    )
    largest["before_id"] = largest["before_id"].astype("Int64")
    answer = largest[list(COLUMNS)]
    slugs = [places[place][0].manifest.competition for place in largest["place"]]
    answer.attrs["places"] = list(zip(slugs, largest["user_id"].tolist(), strict=True))
    return answer


def _gains(store: Store, pairs: pd.DataFrame, holds: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which steps lead from a text without a feature to one with it."""
    before, after = (store.text_of_row[pairs[name].to_numpy(np.int64)] for name in ("before_row", "file_row"))
    both = (before != NO_TEXT) & (after != NO_TEXT)
    answer: npt.NDArray[np.bool_] = both & ~holds[before] & holds[after]
    return answer


def changed_lines(store: Store, before_row: int, after_row: int) -> int | None:
    """Number of lines that only one text has, the larger of both sides: a replaced line counts once."""
    before, after = int(store.text_of_row[before_row]), int(store.text_of_row[after_row])
    if NO_TEXT in (before, after):
        return None
    old, new = Counter(store.line_ids(before).tolist()), Counter(store.line_ids(after).tolist())
    return max((old - new).total(), (new - old).total())
