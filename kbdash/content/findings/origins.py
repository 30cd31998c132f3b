"""Who wrote each line of a text first, over the whole competition: by time, then by id."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from kbdash.content.measures.trivial import telling_lines
from kbdash.content.store.decoded import as_texts
from kbdash.content.store.finished import Store
from kbdash.content.store.spans import least_of_groups
from kbdash.content.store.text_rows import NOTHING, Filters, TextRows
from kbdash.database.questions.texts import ORIGINS

Ints = npt.NDArray[np.int32]
COLUMNS = ORIGINS.column_names


def line_facts(store: Store, held: TextRows, lines: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Per different line: the row that holds it first (-1: none), how many users hold it, whether it is telling."""
    everything = held.choose(Filters())
    spans = everything.spans(store.line_use, lines.astype(np.int64), np.arange(len(lines)))
    oldest = least_of_groups(spans, everything.first.over(spans), len(lines), NOTHING)
    users = held.owners.of_groups(spans, everything.with_user, len(lines)).astype(np.int32)
    row = np.append(held.by_age, -1)[np.minimum(oldest, len(held.by_age))].astype(np.int32)
    telling = telling_lines(store.lines.take(pa.array(lines)), users, store.manifest.users)
    return row, users, telling & (row >= 0)


def origins(store: Store, held: TextRows, text: int, user_id: str) -> pd.DataFrame:
    """One row per line of a text; trivial lines have no origin. `own`: this user wrote it first."""
    ids = store.line_ids(text)
    lines, place = np.unique(ids, return_inverse=True)
    row, users, telling = line_facts(store, held, lines)
    first = held.rows.iloc[np.maximum(row, 0)]
    known = pd.DataFrame(
        {
            "line": as_texts(store.lines.take(pa.array(lines))).to_pylist(),
            "first_submission_id": first["submission_id"].astype("Int64").to_numpy(),
            "first_user_id": first["user_id"].to_numpy(),
            "first_user_name": first["user_name"].to_numpy(),
            "first_at": first["submitted_at"].to_numpy(),
            "users": users,
            "own": pd.array(first["user_id"].to_numpy() == user_id, dtype="boolean"),
        }
    )
    known["first_submission_id"] = known["first_submission_id"].astype("Int64")
    known["first_at"] = pd.to_datetime(known["first_at"], utc=True)
    origin = ["first_submission_id", "first_user_id", "first_user_name", "first_at", "own"]
    known.loc[~telling, origin] = None
    answer = known.iloc[place].reset_index(drop=True)
    answer.insert(0, "line_no", np.arange(1, len(ids) + 1))
    return answer[list(COLUMNS)]
