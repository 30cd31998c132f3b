"""One person across competitions: every board they took part in, and how they did."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import ButtonColumn, DateColumn, ListColumn, NumberColumn, TextColumn

from kbdash.catalog import runner_name
from kbdash.ui import cached, engines, parts, share, state, tables
from kbdash.ui.board import person
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.units import count_text, rank_text, time_text, unit_for
from kbdash.view import LadderView, UserView

Titles = tuple[tuple[str, str], ...]
"""Titles of competitions, each after its slug."""

ANONYMOUS = (
    "Users of the AMD MI300 competitions are anonymous numbers, shuffled at export; they cannot be joined with "
    "anybody here."
)


def show() -> None:
    """The whole page."""
    view = state.view(UserView)
    st.title("User", anchor=False)
    parts.link_notes()
    st.text_input(
        "Find a person", placeholder="Part of a name, or an id", width=320, max_chars=100,
        **state.control("find", view.find, default=""),
    )  # fmt: skip
    st.caption(ANONYMOUS)
    if view.find:
        _found(view)
    elif view.user:
        _person(view, view.user)
    else:
        st.markdown("Type a part of a name to see where that person took part, and how they did.")
    parts.left_out()


def open_user(click_key: str, users: Sequence[str]) -> None:
    """Show the person of the row whose button was clicked."""
    if user := tables.clicked(click_key, users):
        state.change(user=user, find="")


def open_ladder(click_key: str, ladders: Sequence[LadderView]) -> None:
    """Open the ladder of the row whose button was clicked."""
    if ladder := tables.clicked(click_key, ladders):
        state.go("ladder", ladder)


def _found(view: UserView) -> None:
    people = cached.find_users(view.find)
    if people.empty:
        parts.nothing("Nobody's name holds that text, and it is nobody's id.", key="people")
        return
    titles = _titles()
    shown = made(people_rows, people, titles)
    columns = made(_people_columns, people)
    st.caption(f"{count_text(len(people))} people.")
    tables.show(shown, columns, key="people-table", alt="People found")


def people_rows(people: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """People as the table shows them."""
    named = dict(titles)
    return pd.DataFrame(
        {
            "user": tables.names(people),
            "open": "Open",
            "submissions": people["submissions"],
            "competitions": [[named.get(slug, slug) for slug in slugs] for slugs in people["competitions"]],
            "id": people["user_id"],
        }
    )


def _people_columns(people: pd.DataFrame) -> tables.Columns:
    return {
        "user": TextColumn("User"),
        "open": ButtonColumn(
            "Page", width=75, type="tertiary", key="people-open", on_click=open_user,
            args=("people-open", tuple(people["user_id"])),
        ),
        "submissions": NumberColumn("Submissions", format="localized"),
        "competitions": ListColumn("Competitions"),
        "id": TextColumn("Id"),
    }  # fmt: skip


def _person(view: UserView, user_id: str) -> None:
    boards = cached.user(user_id)
    if boards.empty:
        parts.nothing(f"No linkable competition has a user with the id {user_id}.", key="person")
        return
    name = person(str(boards["user_name"].iloc[-1]), user_id)
    st.header(markdown(name), anchor=False)
    parts.tiles(made(numbers, boards), key="person")
    place = {"user": user_id, "competition": boards["competition"].iloc[0]}
    share.toolbar(view, boards, share.file_stem("user", user_id), "user", place, key="person")
    _boards_table(boards, user_id)
    st.caption("Ladder shows each new personal best on a board: what it gained, and the change in code that did it.")


def numbers(boards: pd.DataFrame) -> list[parts.Tile]:
    """A person in four numbers."""
    ranked = boards.dropna(subset="rank")
    best = ranked.sort_values("rank").head(1)
    where = "" if best.empty else f"{best['problem'].iloc[0]}, {runner_name(best['runner'].iloc[0])}"
    submissions = boards.groupby(["competition", "problem"])["submissions"].max().sum()
    return [
        parts.Tile("Best rank", rank_text(None if best.empty else best["rank"].iloc[0]), where),
        parts.Tile("First places", count_text(int((ranked["rank"] == 1).sum()))),
        parts.Tile("Boards with a time", count_text(len(ranked)), "problem and runner"),
        parts.Tile("Submissions", count_text(submissions)),
    ]


def _boards_table(boards: pd.DataFrame, user_id: str) -> None:
    shown = made(board_rows, boards, _titles())
    tables.show(shown, made(_boards_columns, boards, user_id), key="person-table", alt="Boards this user took part in")


def board_rows(boards: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """A person's boards as the table shows them."""
    named = dict(titles)
    return pd.DataFrame(
        {
            "problem": boards["problem"],
            "runner": ["not run" if pd.isna(runner) else runner_name(runner) for runner in boards["runner"]],
            "rank": boards["rank"],
            "time": [time_text(row["score"], unit_for(row["best"])) for row in tables.rows(boards)],
            "code": [tables.CODE if pd.notna(id_) else "" for id_ in boards["submission_id"]],
            "ladder": ["Ladder" if pd.notna(id_) else "" for id_ in boards["submission_id"]],
            "of": boards["of"],
            "ratio": boards["ratio"],
            "tries": boards["submissions"],
            "first": tables.utc(boards["first_at"]),
            "last": tables.utc(boards["last_at"]),
            "competition": [named.get(slug, slug) for slug in boards["competition"]],
        }
    )


def _titles() -> Titles:
    return tuple((item.slug, item.title) for item in engines.engine().competitions)


def _boards_columns(boards: pd.DataFrame, user_id: str) -> dict[str, Any]:
    found = tables.rows(boards)
    rows = [tables.link(row["submission_id"], row["runner"], row["competition"], walk="user") for row in found]
    ladders = tuple(
        LadderView(row["competition"], row["problem"], tables.text(row["runner"]), user_id) for row in found
    )
    return {
        "problem": TextColumn("Problem", width=130),
        "runner": TextColumn("Runner", width=95),
        "rank": NumberColumn("#", format="%d", width=42),
        "time": TextColumn("Best time", width=80, alignment="right"),
        "code": tables.code_column("person", rows),
        "ladder": ButtonColumn(
            "Ladder", width=70, type="tertiary", key="person-ladder", on_click=open_ladder,
            args=("person-ladder", ladders), help="Each new personal best, and what it changed",
        ),
        "of": NumberColumn("of", format="%d", width=50, help="Users ranked on that board and runner."),
        "ratio": NumberColumn("× best", width=58, format="%.2f"),
        "tries": NumberColumn("Tries", width=55, format="localized"),
        "first": DateColumn("First (UTC)", width=90, format="YYYY-MM-DD"),
        "last": DateColumn("Last (UTC)", width=90, format="YYYY-MM-DD"),
        "competition": TextColumn("Competition", width=110),
    }  # fmt: skip
