"""Choosing what to compare: another user of the board, and two users head to head."""

from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.dataset.catalog import runner_name
from kbdash.units import Unit, person, rank_text, time_text, unit_for
from kbdash.view import CompareView, Ref
from kbdash.web import answers, chart, session, share, state, tables, widgets
from kbdash.web.code.facts import Facts
from kbdash.web.memo import memoise


def compare_with(facts: Facts) -> None:
    """A search for a user of the board; choosing one opens the comparison with their best."""
    one = facts.submission
    if one.runner is None:
        return
    board = answers.leaderboard(one.problem, competition=one.competition, runner=one.runner)
    bests = memoise(others, board, one.submission_id, facts.unit)
    if not bests:
        return
    with st.popover("Compare with…", icon=":material/compare_arrows:", key="submission-compare"):
        st.selectbox(
            "A user of this board, with their best time", list(bests), index=None, key="submission-compare-with",
            format_func=lambda id_: bests.get(id_, str(id_)), placeholder="Part of a name", width=320,
            on_change=_open, args=(facts.ref, "submission-compare-with"),
        )  # fmt: skip


def others(board: pd.DataFrame, but: int, unit: Unit) -> dict[int, str]:
    """The bests of a board by submission, as a picker names them, best first."""
    rows = [row for row in tables.rows(board) if row["submission_id"] != but]
    return {int(row["submission_id"]): _label(row, unit) for row in rows}


def _label(row: dict[str, Any], unit: Unit) -> str:
    who = person(row["user_name"], row["user_id"])
    return f"{rank_text(row['rank'])}. {who} · {time_text(row['score'], unit)}"


def _open(ref: Ref, key: str) -> None:
    id_ = st.session_state[key]
    if id_ is not None:
        state.go("compare", CompareView(ref, Ref(int(id_), ref.runner, ref.competition)))


def two_users() -> None:
    """A board and two of its users: choosing both opens their bests side by side."""
    st.header("Two users, head to head", anchor=False)
    places = {(row["competition"], row["problem"], row["runner"]): row for row in tables.rows(answers.problems())
              if isinstance(row["runner"], str) and row["users"] > 1}  # fmt: skip
    titles = {item.slug: item.title for item in session.engine().competitions}
    with st.container(horizontal=True, key="compare-users"):
        place = st.selectbox(
            "Board", list(places), index=None, placeholder="A board and its runner", width=380, key="compare-board",
            format_func=lambda at: f"{titles.get(at[0], at[0])}: {at[1]}, {runner_name(at[2])}",
        )  # fmt: skip
        if place is None:
            return
        board = answers.leaderboard(place[1], competition=place[0], runner=place[2])
        bests = memoise(others, board, -1, unit_for(board["score"].min()))
        picked = [
            st.selectbox(label, list(bests), index=None, format_func=lambda id_: bests.get(id_, str(id_)), width=280,
                         placeholder="Part of a name", key=f"compare-user-{label}")
            for label in ("First user", "Second user")
        ]  # fmt: skip
    first, second = picked
    if first is not None and second is not None and first != second:
        here = (place[2], place[0])
        state.go("compare", CompareView(Ref(first, *here), Ref(second, *here)))


def histories(old: Facts, new: Facts) -> None:
    """Both users' best so far over time, in the field, where two users meet on one board."""
    one, other = old.submission, new.submission
    same = (one.competition, one.problem, one.runner) == (other.competition, other.problem, other.runner)
    if not same or one.runner is None or one.user_id == other.user_id:
        return
    asked = answers.personal_bests(one.problem, competition=one.competition, runner=one.runner)
    bests = memoise(tables.dated, asked)
    users = (one.user_id, other.user_id)
    if bests["user_id"].isin(users).any():
        _chart(bests, users, old, new)


def of_users(bests: pd.DataFrame, users: tuple[str, ...]) -> pd.DataFrame:
    """The bests of these users."""
    return bests[bests["user_id"].isin(users)].reset_index(drop=True)


def _chart(bests: pd.DataFrame, users: tuple[str, str], old: Facts, new: Facts) -> None:
    one = old.submission
    st.header("Head to head", anchor=False)
    chart.show(
        memoise(
            charts.progression, bests, old.unit, widgets.theme(), None, pinned=users, span="field",
        ),
        key="histories-chart",
        title=f"{one.problem}: {old.who} and {new.who}",
        alt="Best so far of both users over time",
        file_name=share.file_stem(one.competition, one.problem, "head-to-head"),
        table=lambda: tables.readable(memoise(of_users, bests, users), old.unit),
        competition=one.competition,
        opens=tables.open_submission,
    )  # fmt: skip
