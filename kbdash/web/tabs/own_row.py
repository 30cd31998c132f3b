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
    """How many rows come before the own row.

    In an order, these are the rows before its value. Without one, the rows are grouped by runner: these are the rows of
    earlier runners, and the rows of its own runner that are not slower.
    """
    if order is None:
        runners = shown["runner"].to_numpy() == own["runner"].iloc[0]
        ahead = int((runners & shown["ratio"].notna() & (shown["score"] <= own["score"].iloc[0])).sum())
        return int(runners.argmax()) + ahead
    name, value = order.removeprefix("-"), own[order.removeprefix("-")].iloc[0]
    if name not in NUMBERS or pd.isna(value):
        return len(shown)
    return int(((shown[name] > value) if order.startswith("-") else (shown[name] <= value)).sum())


def _row(field: pd.DataFrame, mine: float) -> pd.DataFrame:
    """The row of a time among the rows of one runner: the columns that follow from a time, all others empty."""
    possible = field[field["ratio"].notna()]
    faster = possible[possible["score"] < mine]
    own = {
        "rank": len(faster) + 1,
        "runner": field["runner"].iloc[0],
        "score": mine,
        "ratio": mine / possible["score"].min() if len(possible) else None,
        "gap": mine - faster["score"].max() if len(faster) else None,
        "flags": "",
    }
    row = field.head(0).reindex([0])  # every column, without a value
    for name, value in own.items():
        row[name] = pd.Series([value], row.index, dtype=field[name].dtype)
    return row
