"""Who is fastest: the ranking, a user among their neighbours, pins."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from kbdash.ui import cached, parts, share, state
from kbdash.ui.board import Scene, people, person
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.ui.tabs import ranking
from kbdash.units import Unit, count_text, rank_text, time_text

NEIGHBOURS = 5


def show(now: Scene) -> None:
    """The tab."""
    ranked = made(in_order, cached.leaderboard(now.board.name, **now.filters), now.runners)
    if ranked.empty:
        parts.nothing("No ranked submission matches these filters.", key="leaderboard")
        return
    frame = made(chosen_rows, ranked, now.view.find, now.view.users, now.view.top)
    with st.container(horizontal=True, vertical_alignment="bottom", key="leaderboard-bar"):
        _find(now, ranked)
        share.toolbar(
            now.view, frame, now.stem("leaderboard"), "leaderboard", {**now.parameters, "top": now.view.top},
            key="leaderboard",
        )  # fmt: skip
    st.caption(made(said, ranked, frame, now.view.find, now.unit))
    trends = cached.trends(now.board.name, made(users_of, frame), **now.filters)
    ranking.show(now, frame, trends)


def chosen_rows(ranked: pd.DataFrame, find: str, pinned: Sequence[str], top: int) -> pd.DataFrame:
    """The rows to show: the first `top` ranks, or the neighbours of the user looked for; always the pinned."""
    wanted = ranked["rank"] <= top
    if find in set(ranked["user_id"]):
        wanted = pd.Series(False, index=ranked.index)
        for _, rows in ranked.groupby("runner", sort=False):
            place = rows.index.get_indexer(rows.index[rows["user_id"] == find])
            for middle in place:
                wanted[rows.index[max(0, middle - NEIGHBOURS) : middle + NEIGHBOURS + 1]] = True
    return ranked[wanted | ranked["user_id"].isin(list(pinned))].reset_index(drop=True)


def in_order(ranked: pd.DataFrame, runners: Sequence[str]) -> pd.DataFrame:
    """The rankings of several runners one after the other, in the order the reader picks runners from."""
    place = ranked["runner"].map({runner: place for place, runner in enumerate(runners)})
    return ranked.iloc[place.argsort(kind="stable")].reset_index(drop=True)


def users_of(frame: pd.DataFrame) -> tuple[str, ...]:
    """Who is in a table, each once."""
    return tuple(dict.fromkeys(frame["user_id"]))


def _find(now: Scene, ranked: pd.DataFrame) -> None:
    names = made(people, ranked)
    st.selectbox(
        "Find a user",
        list(names),
        format_func=lambda user: names.get(user, user),
        index=None,
        placeholder="Find a user",
        label_visibility="collapsed",
        width=260,
        **state.control("find", now.view.find if now.view.find in names else None),
    )


def said(ranked: pd.DataFrame, frame: pd.DataFrame, find: str, unit: Unit) -> str:
    """One sentence on what the table shows."""
    users = count_text(ranked["user_id"].nunique())
    mine = ranked[ranked["user_id"] == find]
    if mine.empty:
        missing = " The user in the link is not ranked here." if find else ""
        return f"{count_text(frame['user_id'].nunique())} of {users} users.{missing}"
    row = mine.iloc[0]
    return (
        f"{markdown(person(row['user_name'], row['user_id']))} is at rank {rank_text(row['rank'])} of {users} "
        f"with {time_text(row['score'], unit)}; shown with their neighbours."
    )
