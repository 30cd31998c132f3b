"""Who is fastest: the ranking, a user among their neighbours, pins."""

from typing import Any

import pandas as pd
import streamlit as st

from kbdash.database.questions.boards import LEADERBOARD
from kbdash.units import Unit, count_text, person, rank_text, time_text
from kbdash.view import CompetitionView
from kbdash.web import answers, share, state, tables, widgets
from kbdash.web.board import Scene, people
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.tabs import own_row, ranking


def show(scene: Scene) -> None:
    """The tab."""
    ranked = answers.leaderboard(scene.board.name, **scene.filters)
    if ranked.empty:
        widgets.nothing("No ranked submission matches these filters.", key="leaderboard")
        return
    view = scene.view
    asked = question(view)
    frame = answers.leaderboard(scene.board.name, **scene.filters, **asked)
    with st.container(horizontal=True, vertical_alignment="center", key="leaderboard-bar"):
        _find(scene, ranked)
        st.caption(memoise(caption, ranked, frame, view.find, scene.unit), width="content")
        share.toolbar(
            view, frame, scene.stem("leaderboard"), "leaderboard", scene.parameters | asked, key="leaderboard"
        )
    trends = answers.trends(scene.board.name, memoise(users_of, frame), **scene.filters)
    if view.my_time is not None:
        frame = memoise(own_row.with_mine, frame, ranked, view.my_time, asked["order"])
    ranking.show(scene, frame, trends)


def question(view: CompetitionView) -> dict[str, Any]:
    """Which rows the table shows, and in which order, as the engine's keyword arguments: the first ranks or the
    neighbours of the user looked for; always the pinned, and those next to a time of the reader's own."""
    return {
        "top": view.top,
        "users": view.users,
        "find": view.find or None,
        "score": view.my_time,
        "order": tables.order_of(LEADERBOARD, view.order),
    }


def users_of(frame: pd.DataFrame) -> tuple[str, ...]:
    """The distinct users of a table."""
    return tuple(dict.fromkeys(frame["user_id"]))


def _find(scene: Scene, ranked: pd.DataFrame) -> None:
    names = memoise(people, ranked)
    st.selectbox(
        "Find a user",
        list(names),
        format_func=lambda user: names.get(user, user),
        index=None,
        placeholder="Find a user",
        label_visibility="collapsed",
        width=260,
        **state.control("find", scene.view.find if scene.view.find in names else None),
    )


def caption(ranked: pd.DataFrame, frame: pd.DataFrame, find: str, unit: Unit) -> str:
    """One sentence on what the table shows."""
    users = count_text(ranked["user_id"].nunique())
    mine = ranked[ranked["user_id"] == find]
    if mine.empty:
        missing = " The user in the link is not ranked here." if find else ""
        return f"{count_text(frame['user_id'].nunique())} of {users} users.{missing}"
    row = mine.iloc[0]
    return (
        f"{markdown(person(row['user_name'], row['user_id']))} is at rank {rank_text(row['rank'])} of {users} "
        f"with {time_text(row['score'], unit)}."
    )
