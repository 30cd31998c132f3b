"""How one person got fast on a board: each new personal best, what it gained, and the diff that did it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kbdash.catalog import runner_name
from kbdash.ui import cached, parts, share, state, tables
from kbdash.ui.board import person
from kbdash.ui.code import changes, climb, components, texts
from kbdash.ui.code.changes import Changes, Pair, changes_of
from kbdash.ui.code.facts import strip
from kbdash.ui.engines import engine
from kbdash.ui.escape import markdown
from kbdash.units import bytes_text, count_text, duration_text, gain_text, ratio_text, time_text, unit_for
from kbdash.view import LadderView


def show() -> None:
    """The whole page."""
    view = state.view(LadderView)
    st.title("Ladder", anchor=False)
    parts.link_notes()
    if view.problem is None or view.user is None:
        st.markdown("A ladder belongs to one user on one board. Open it from a leaderboard, a submission or a user.")
        return
    competition, problem = engine().find(view.problem, view.competition)
    ranked = cached.leaderboard(problem, competition=competition)
    mine = ranked[ranked["user_id"] == view.user]
    if mine.empty:
        parts.nothing(f"The user {view.user} has no ranked time on {problem}.", key="ladder")
        return
    runner = _runner(view, mine["runner"].tolist())
    asked: dict[str, Any] = {"competition": competition, "runner": runner, "since": view.since, "until": view.until}
    steps = cached.ladder(problem, view.user, **asked)
    parts.chips((person(mine["user_name"].iloc[0], view.user), problem, runner_name(runner)))
    if steps.empty:
        parts.nothing("No ranked run of this user passed in that time.", key="ladder")
        return
    _numbers(steps)
    _steps(view, steps, changes_of(competition, problem, runner, view.user))


def _runner(view: LadderView, runners: Sequence[str]) -> str:
    """The runner asked for, or the first this user has a time on; a choice where there are several."""
    chosen = next((runner for runner in runners if runner == view.runner), runners[0])
    if len(runners) > 1:
        st.segmented_control(
            "Runner", list(runners), format_func=lambda runner: markdown(runner_name(runner)), required=True,
            **state.control("runner", chosen),
        )  # fmt: skip
    return chosen


def _numbers(steps: pd.DataFrame) -> None:
    unit = unit_for(steps["score"].min())
    every = tables.rows(steps)
    first, last = every[0], every[-1]
    largest = max(every[1:], key=lambda row: row["gain"], default=None)
    span = duration_text(last["submitted_at"] - first["submitted_at"])
    gain, where = (None, "") if largest is None else (largest["gain"], f"step {largest['step']}")
    strip(
        [
            parts.Tile("Best time", time_text(last["score"], unit), f"first {time_text(first['score'], unit)}"),
            parts.Tile("Times as fast", ratio_text(first["score"] / last["score"]), "first time over best time"),
            parts.Tile("Steps", count_text(len(every)), f"over {span}"),
            parts.Tile("Largest step", gain_text(gain), where),
            parts.Tile("Attempts", count_text(steps["attempts"].sum()), "until the best time"),
        ],
        key="ladder",
    )


def _steps(view: LadderView, steps: pd.DataFrame, counted: Changes) -> None:
    competition = counted.competition
    shown = steps.iloc[::-1].head(view.top)
    pairs = climb.pairs(steps)
    wanted = [pairs[step] for step in shown["step"] if step in pairs]
    missing = [pair for pair in wanted if pair not in counted.known]
    with st.container(horizontal=True, vertical_alignment="center", key="ladder-bar"):
        st.caption(_said(len(shown), len(steps), counted.moved))
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="ladder-tools"):
            share.copy_link(view, key="ladder")
            share.downloads(steps, share.file_stem(competition, view.problem, "ladder"), key="ladder")
    components.ladder(
        climb.data(steps, shown, counted.known, competition, share.full_link),
        key="ladder-steps",
        on_open=partial(open_step, steps=steps, competition=competition),
    )
    if len(shown) < len(steps):
        st.button("Show earlier steps", key="ladder-more", on_click=state.change, kwargs={"top": view.top + 15})
    if missing:
        _count(counted, missing)


def _said(shown: int, of: int, moved: int) -> str:
    newest = f"The newest {count_text(shown)} of {count_text(of)} steps" if shown < of else f"{count_text(of)} steps"
    read = f" Counting changed lines: {texts.cost(moved)}." if moved else ""
    return f"{newest}, fastest on top.{read}"


def _count(counted: Changes, missing: Sequence[Pair]) -> None:
    """Count what is missing: at once while the budget lasts, afterwards when the reader asks."""
    if engine().source.kind == "hub" and counted.moved >= changes.BUDGET_BYTES:
        st.button(
            f"Count the changed lines of {count_text(len(missing))} more steps",
            key="ladder-count",
            help=f"Reads their texts from the Hub: up to {bytes_text(changes.BUDGET_BYTES)} at a time.",
            on_click=counted.count,
            args=(missing,),
        )
        return
    before = (len(counted.known), counted.moved)
    with st.spinner("Counting changed lines"):
        counted.count(missing)
    if (len(counted.known), counted.moved) != before:
        st.rerun()


def open_step(told: str, steps: pd.DataFrame, competition: str) -> None:
    """Open the diff or the code of a step, from a callback; what the browser sent is looked up, never trusted."""
    kind, _, number = told.partition(":")
    rows = {str(row["step"]): row for row in tables.rows(steps)}
    if number not in rows:
        return
    pair = climb.pairs(steps).get(rows[number]["step"])
    if kind == "diff" and pair is not None:
        state.go("compare", climb.comparison(pair))
    else:
        state.go("submission", climb.code(rows[number], competition))
