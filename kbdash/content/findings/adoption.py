"""Techniques of a board: who uses them, since when, and how fast those users are."""

import numpy as np
import pandas as pd

from kbdash.content.store.text_rows import Flags, TextRows
from kbdash.content.techniques.facets import TextFacets
from kbdash.content.techniques.rules import rules
from kbdash.database.questions.texts import TECHNIQUES

COLUMNS = TECHNIQUES.column_names
_TOP = 10


def techniques(held: TextRows, facets: TextFacets, mask: Flags) -> pd.DataFrame:
    """One row per technique over the chosen rows, in the order of the rules; scores in seconds.

    `share` counts users among all users, `share_top10` among the ten fastest. `best_score` and the medians are over
    users' bests, one per runner: of those whose best holds the technique, and of those whose best does not.
    """
    places = np.flatnonzero(mask)
    rows = held.rows.iloc[places].assign(text=held.text[places], at=held.at[places])
    ranked = rows[rows["ranked"].fillna(False).to_numpy(bool)]
    bests = ranked.sort_values(["score", "at", "submission_id"], kind="stable").drop_duplicates(["runner", "user_id"])
    everyone = rows["user_id"].nunique()
    top = bests.groupby("runner", sort=False).head(_TOP)
    found = []
    for facet in rules().facets:
        holds = facets.holding(facet.name)
        using = rows[holds[rows["text"].to_numpy()]]
        if using.empty:
            continue
        first = using.loc[using.sort_values(["at", "submission_id"], kind="stable").index[0]]
        with_it = holds[bests["text"].to_numpy()]
        scores = bests["score"]
        found.append(
            (
                facet.group,
                facet.name,
                using["user_id"].nunique(),
                using["submission_id"].nunique(),
                using["user_id"].nunique() / everyone if everyone else None,
                float(holds[top["text"].to_numpy()].mean()) if len(top) else None,
                first["submitted_at"],
                first["user_name"],
                first["submission_id"],
                scores[with_it].min() if with_it.any() else None,
                scores[with_it].median() if with_it.any() else None,
                scores[~with_it].median() if (~with_it).any() else None,
            )
        )
    return pd.DataFrame(found, columns=list(COLUMNS))


def adoption(held: TextRows, facets: TextFacets, mask: Flags) -> pd.DataFrame:
    """One row per technique and user over the chosen rows: facet, user_id, first_at, submission_id; by time."""
    places = np.flatnonzero(mask)
    order = places[np.lexsort((held.submission[places], held.at[places]))]
    rows = held.rows.iloc[order]
    text = held.text[order]
    found = []
    for facet in rules().facets:
        first = rows[facets.holding(facet.name)[text]].drop_duplicates("user_id")
        found.append(first.assign(facet=facet.name))
    every: pd.DataFrame = pd.concat(found, ignore_index=True).rename(columns={"submitted_at": "first_at"})
    return every.loc[:, ["facet", "user_id", "first_at", "submission_id"]]
