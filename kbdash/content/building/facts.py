"""Facts of the data file's rows other than the text: submission, problem, user, time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from kbdash.errors import CorruptData

Ask = Callable[[str], pd.DataFrame]
LATEST = np.iinfo(np.int64).max
NOBODY = -1


@dataclass(frozen=True)
class RowFacts:
    """Facts per row of the file. Rows without a submission have id and user NOBODY and the time LATEST.

    `problem` and `user` are numbers in the order of the names. `runner` is None for duplicate rows of a submission
    that the ranking does not use.
    """

    submission_id: npt.NDArray[np.int64]
    problem: npt.NDArray[np.int32]
    user: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]
    runner: npt.NDArray[np.object_]
    users: list[str]


def read_facts(ask: Ask, competition: str, ids: npt.NDArray[np.int64]) -> RowFacts:
    """The facts of every row; `ids` are the submission ids read directly from the file, NOBODY for null."""
    known = ask(competition)
    known = known[known["submission_id"].notna()].sort_values("file_row").reset_index(drop=True)
    _check_ids(known, ids)
    place = np.full(len(ids), -1, np.int64)
    place[known["file_row"].to_numpy(np.int64)] = np.arange(len(known))
    # A legacy file has a row per run; all runs of a submission share its facts.
    first = known.sort_values(["submission_id", "at", "user_id"]).drop_duplicates("submission_id")
    nearest = pd.Index(first["submission_id"].to_numpy(np.int64)).get_indexer(pd.Index(ids))
    elsewhere = (place < 0) & (nearest >= 0)
    place[elsewhere] = first.index.to_numpy()[nearest[elsewhere]]
    runner = np.full(len(ids), None, object)
    runner[known["file_row"].to_numpy(np.int64)] = known["runner"].astype(object).where(known["runner"].notna(), None)
    users = sorted(known["user_id"].dropna().unique())
    found = place >= 0
    at = known["at"].fillna(LATEST).to_numpy(np.int64)
    return RowFacts(
        submission_id=np.where(found, ids, NOBODY),
        problem=_numbered(known["problem"], sorted(known["problem"].dropna().unique()), place),
        user=_numbered(known["user_id"], users, place),
        at=np.where(found, at[place] if len(at) else LATEST, LATEST),
        runner=runner,
        users=[str(user) for user in users],
    )


def _numbered(values: "pd.Series[str]", names: list[str], place: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """The number of each row's name; NOBODY without one."""
    numbers = pd.Index(names).get_indexer(pd.Index(values)) if len(names) else np.full(len(values), NOBODY)
    return np.append(numbers, NOBODY)[place].astype(np.int32)  # place -1 is the NOBODY at the end


def _check_ids(known: pd.DataFrame, ids: npt.NDArray[np.int64]) -> None:
    """Raise unless both ways of reading the file (DuckDB, page reader) agree on each row's submission."""
    rows = known["file_row"].to_numpy(np.int64)
    same = len(rows) == 0 or (rows.max() < len(ids) and (ids[rows] == known["submission_id"].to_numpy(np.int64)).all())
    if not same:
        raise CorruptData(
            "Two ways of reading the file disagree about which submission a row holds.",
            advice="The file may have changed meanwhile: start again.",
        )
