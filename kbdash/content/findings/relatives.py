"""Other users with a similar text: exact copies, equal programs, and texts that share rare lines."""

import numpy as np
import pandas as pd

from kbdash.content.findings.origins import line_facts
from kbdash.content.measures.similarity import Similarity
from kbdash.content.measures.trivial import weights
from kbdash.content.store.finished import Store
from kbdash.content.store.text_rows import TextRows
from kbdash.database.questions.texts import RELATIVES

COLUMNS = RELATIVES.column_names
KINDS = ("exact copy", "same program", "similar")


def relatives(
    store: Store, held: TextRows, text: int, *, user_id: str, at: pd.Timestamp | None, least: float
) -> pd.DataFrame:
    """One row per other user, the closest first; `earlier`: sent before this submission."""
    lines = np.unique(store.line_ids(text))
    _, users, telling = line_facts(store, held, lines)
    rarity = weights(users, store.manifest.users)
    kinship = Similarity(store.line_use, store.texts.column("weight").to_numpy())
    shared, similarity = kinship.shared(lines[telling], rarity[telling])
    similarity[text] = 1.0
    program = store.texts.column("program").to_numpy()
    kind = np.where(program == program[text], 1, 2)
    kind[text] = 0
    near = similarity >= least
    rows = held.rows[near[held.text] & (held.rows["user_id"] != user_id).fillna(True).to_numpy(bool)]
    texts = held.text[rows.index.to_numpy()]
    rows = rows.assign(
        similarity=similarity[texts], shared_lines=shared[texts], kind=kind[texts], earlier=_earlier(rows, at)
    )
    # The closest text of each user; ties go to the earliest.
    order = ["kind", "similarity", "at", "submission_id"]
    rows = rows.sort_values(order, ascending=[True, False, True, True]).drop_duplicates("user_id")
    rows = rows.sort_values(["similarity", *order], ascending=[False, True, False, True, True])
    rows["kind"] = [KINDS[number] for number in rows["kind"]]
    answer: pd.DataFrame = rows[list(COLUMNS)].reset_index(drop=True)
    return answer


def _earlier(rows: pd.DataFrame, at: pd.Timestamp | None) -> "pd.Series[bool]":
    if at is None or pd.isna(at):
        return pd.Series(False, index=rows.index)
    return rows["submitted_at"] < at
