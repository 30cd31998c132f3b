"""The reader's own time as a row of the leaderboard, between its neighbours."""

import pandas as pd

YOURS = "Your time"
NUMBERS = ("rank", "score", "ratio", "gap")  # what the row can be sorted by


def with_mine(frame: pd.DataFrame, ranked: pd.DataFrame, mine: float, order: str | None = None) -> pd.DataFrame:
    """The rows to show with a time (seconds) at its place, once for each runner; `ranked` is the whole ranking."""
    shown = frame
    for runner in frame["runner"].unique():
        own = _row(ranked[ranked["runner"] == runner], mine)
        place = _place(shown, own, order)
        shown = pd.concat([part for part in (shown.iloc[:place], own, shown.iloc[place:]) if len(part)])
    return shown.reset_index(drop=True)


def _place(shown: pd.DataFrame, own: pd.DataFrame, order: str | None) -> int:
    """How many rows come before it: in the order asked for, or on its runner the faster, the equal and all before."""
    if order is None:
        runners = shown["runner"].to_numpy() == own["runner"].iloc[0]
        ahead = int((runners & shown["ratio"].notna() & (shown["score"] <= own["score"].iloc[0])).sum())
        return int(runners.argmax()) + ahead
    name, value = order.removeprefix("-"), own[order.removeprefix("-")].iloc[0]
    if name not in NUMBERS or pd.isna(value):
        return len(shown)
    return int(((shown[name] > value) if order.startswith("-") else (shown[name] <= value)).sum())


def _row(field: pd.DataFrame, mine: float) -> pd.DataFrame:
    """The row of a time, in the columns of a ranking; without a user id."""
    possible = field[field["ratio"].notna()]
    faster = possible[possible["score"] < mine]
    row = field.head(1).copy()
    row[["user_id", "user_name", "submission_id", "submitted_at", "submissions"]] = None
    row["rank"], row["score"], row["flags"] = len(faster) + 1, mine, ""
    row["ratio"] = mine / possible["score"].min() if len(possible) else None
    row["gap"] = mine - faster["score"].max() if len(faster) else None
    return row
