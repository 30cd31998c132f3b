"""One person across competitions: every board they took part in, and how they did."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.database.questions import columns
from kbdash.database.questions.people import USER
from kbdash.dataset.catalog import runner_name
from kbdash.units import Unit, count_text, person, plural, rank_text, unit_for
from kbdash.view import CompetitionView, LadderView, Ref, UserView, href
from kbdash.web import answers, chart, layout, session, share, state, table, tables, widgets
from kbdash.web.cells import Column
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.overview import board_labels

Titles = tuple[tuple[str, str], ...]
"""Titles of competitions by slug."""

PEOPLE = (
    Column("user", "User", "name", link="page"),
    Column("submissions", "Submissions", "whole"),
    Column("competitions", "Competitions"),
    Column("id", "Id"),
)
ANONYMOUS = (
    "Users of the AMD MI300 competitions are anonymous numbers, shuffled at export; they cannot be joined with "
    "anybody here."
)


def show() -> None:
    """The whole page."""
    view = state.view(UserView)
    with st.container(horizontal=True, vertical_alignment="center", key="user-head"):
        st.title("User", anchor=False, width="content")
        st.text_input(
            "Find a person", placeholder="Find: part of a name, or an id", width=320, max_chars=100,
            label_visibility="collapsed", **state.control("find", view.find, default=""),
        )  # fmt: skip
    widgets.link_notes()
    if view.find:
        _found(view)
    elif view.user:
        _person(view, answers.user_id(view.user))
    else:
        st.markdown("Type part of a name to find a user, their boards and their ranks.")
        st.caption(ANONYMOUS)


def _found(view: UserView) -> None:
    people = answers.find_users(view.find)
    widgets.left_out(people)
    if people.empty:
        widgets.nothing("No user matches.", key="people")
        return
    st.caption(f"{plural(len(people), 'person', 'people')}.")
    table.show(memoise(people_rows, people, _titles()), PEOPLE, key="people-table", caption="People found")


def people_rows(people: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """Table rows of people."""
    named = dict(titles)
    return pd.DataFrame(
        {
            "user": tables.names(people),
            "page": tables.user_addresses(people["user_id"]),
            "submissions": people["submissions"],
            "competitions": [", ".join(named.get(slug, slug) for slug in slugs) for slugs in people["competitions"]],
            "id": people["user_id"],
        }
    )


def _person(view: UserView, user_id: str) -> None:
    order = tables.order_of(USER, view.order)
    boards = answers.user(user_id, order=order)
    widgets.left_out(boards)
    if boards.empty:
        widgets.nothing(f"No competition has a user with the id {user_id}.", key="person")
        return
    name = person(memoise(newest_name, boards), user_id)
    layout.name_tab(name)
    with st.container(horizontal=True, vertical_alignment="center", key="person-bar"):
        st.header(markdown(name), anchor=False, width="content")
        place = {"user": user_id, "competition": boards["competition"].iloc[0], "order": order}
        share.toolbar(view, boards, share.file_stem("user", user_id), "user", place, key="person")
    widgets.figures(memoise(numbers, boards), key="person")
    _boards_table(view, boards, user_id)
    _field(view, user_id, name)


def _field(view: UserView, user_id: str, name: str) -> None:
    """The person's place in the field of each board."""
    field = answers.user_field(user_id)
    if field.empty:
        return
    st.header("In the field of each board", anchor=False)
    chart.span_picker(view.span, {"field": "Up to 3 × the best", "all": "Everybody"})
    chart.show(
        memoise(charts.person_strips, field, widgets.theme(), labels=board_labels(), span=view.span),
        key="person-chart",
        title=f"{name} in the field of each board",
        alt="Where this person stands in the field of each board",
        file_name=share.file_stem("user", user_id, "field"),
        table=lambda: field,
        opens=tables.open_submission,
    )


def numbers(boards: pd.DataFrame) -> list[widgets.Figure]:
    """A person's totals in one line."""
    ranked = boards.dropna(subset="rank")
    best = ranked.sort_values("rank").head(1)
    where = "" if best.empty else f"{best['problem'].iloc[0]}, {runner_name(best['runner'].iloc[0])}"
    first, tries, passed = (
        int((ranked["rank"] == 1).sum()),
        int(boards["submissions"].sum()),
        int(boards["passed"].sum()),
    )
    waiting = int(boards.loc[boards["runner"].isna(), "submissions"].sum())
    found = [
        widgets.Figure(rank_text(None if best.empty else best["rank"].iloc[0]), "best rank", where and f"on {where}"),
        widgets.Figure(count_text(first), after="first place" if first == 1 else "first places"),
        widgets.Figure(
            count_text(len(ranked)), after="boards with a time", help="Boards: problem and runner, each pair once."
        ),
        widgets.Figure(count_text(tries), after="submissions", help=f"Submissions: {columns.TRIES}."),
        widgets.Figure(count_text(passed), after="passed", help=f"Passed: {columns.PASSED}."),
    ]
    never = widgets.Figure(count_text(waiting), after="never ran", help=f"Never ran: {columns.NOT_RUN}.")
    return [*found, never] if waiting else found


def _boards_table(view: UserView, boards: pd.DataFrame, user_id: str) -> None:
    table.show(
        memoise(board_rows, memoise(one_line_per_board, boards), _titles(), user_id),
        board_columns(unit_for(boards["score"].min())),
        key="person-table",
        caption="Boards this user took part in",
        order=table.Order(view.order, lambda order: href("user", replace(view, order=order))),
        refs="ref",
    )


def newest_name(boards: pd.DataFrame) -> str:
    """The name a person used last."""
    return str(boards.sort_values("last_at", kind="stable", na_position="first")["user_name"].iloc[-1])


def one_line_per_board(boards: pd.DataFrame) -> pd.DataFrame:
    """One line per board and runner, with submissions that never ran in a column; a board without runs keeps a line."""
    board = [boards["competition"], boards["problem"]]
    ran = boards["runner"].notna()
    never = boards["submissions"].where(~ran, 0).groupby(board).transform("sum")
    kept = ran | ~ran.groupby(board).transform("any")
    first = ~boards[kept].duplicated(["competition", "problem"])
    lines = boards[kept].assign(never=never.where(first & (never > 0)), submissions=boards["submissions"].where(ran))
    return lines.reset_index(drop=True)


def board_rows(boards: pd.DataFrame, titles: Titles, user_id: str) -> pd.DataFrame:
    """Table rows of a person's boards."""
    named, found = dict(titles), tables.rows(boards)
    codes = [tables.code_address(row["submission_id"], row["runner"], row["competition"], walk="user") for row in found]
    return pd.DataFrame(
        {
            "problem": boards["problem"],
            "board": [_board(row) for row in found],
            "runner": ["not run" if pd.isna(runner) else runner_name(runner) for runner in boards["runner"]],
            "rank": boards["rank"],
            "score": boards["score"],
            "flags": boards["flags"],
            "word": tables.code_words(codes),
            "code": codes,
            "more": [_ladder(row, user_id) if code else [] for row, code in zip(found, codes, strict=True)],
            "of": boards["of"],
            "ratio": boards["ratio"],
            "tries": boards["submissions"],
            "never": boards["never"],
            "first": boards["first_at"],
            "last": boards["last_at"],
            "competition": [named.get(slug, slug) for slug in boards["competition"]],
            "ref": [_ref(row) for row in found],
        }
    )


def _board(row: Mapping[str, Any]) -> str:
    return href(row["competition"], CompetitionView(problem=row["problem"], runner=tables.text(row["runner"])))


def _ladder(row: Mapping[str, Any], user_id: str) -> list[tuple[str, str]]:
    view = LadderView(row["competition"], row["problem"], tables.text(row["runner"]), user_id)
    return [("Ladder", href("ladder", view))]


def _ref(row: Mapping[str, Any]) -> str:
    id_ = row["submission_id"]
    return "" if pd.isna(id_) else str(Ref(int(id_), tables.text(row["runner"]), row["competition"]))


def board_columns(unit: Unit) -> tuple[Column, ...]:
    """Columns in reading order; all times have one unit."""
    return (
        Column("problem", "Problem", "name", link="board", sort="problem"),
        Column("runner", "Runner", sort="runner"),
        Column("rank", "#", "rank", sort="rank"),
        Column("of", "of", "whole", help="Users ranked on that board and runner.", sort="of", first="descending"),
        Column("score", "Best time", "time", unit, mark="flags", sort="score"),
        Column("ratio", "× best", "ratio", help="Time divided by the best time. The bar is the speed.", sort="ratio"),
        tables.code_column(),
        Column("more", "Ladder", "links", help="Each new personal best, and what it changed"),
        Column(
            "tries", "Tries", "whole", help=f"{columns.TRIES.capitalize()}.", sort="submissions", first="descending"
        ),
        Column("never", "Never ran", "whole", help=f"{columns.NOT_RUN.capitalize()}, once for the board."),
        Column("first", "First", "day", "UTC", sort="first_at"),
        Column("last", "Last", "day", "UTC", sort="last_at", first="descending"),
        Column("competition", "Competition", sort="competition"),
    )


def _titles() -> Titles:
    return tuple((item.slug, item.title) for item in session.engine().competitions)
