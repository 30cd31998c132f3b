"""How one person got fast on a board: each new personal best, its gain, and its diff."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.dataset.catalog import runner_name
from kbdash.units import (
    MISSING,
    Unit,
    bytes_text,
    count_text,
    duration_text,
    gain_text,
    person,
    plural,
    ratio_text,
    time_text,
    unit_for,
)  # fmt: skip
from kbdash.view import LadderView
from kbdash.web import answers, chart, layout, share, state, table, tables, widgets
from kbdash.web.code import changes, ladder_rows, source_text
from kbdash.web.code.changes import Changes, Pair, changes_of
from kbdash.web.code.facts import strip
from kbdash.web.content import store_panel
from kbdash.web.content.technique_changes import change_words
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.session import engine


def show() -> None:
    """The whole page."""
    view = state.view(LadderView)
    st.title("Ladder", anchor=False)
    widgets.link_notes()
    if view.problem is None or view.user is None:
        st.markdown("A ladder belongs to one user on one board. Open it from a leaderboard, a submission or a user.")
        return
    competition, problem = engine().find(view.problem, view.competition)
    ids = answers.user_ids((view.user,), competition)
    user = ids[0] if len(ids) == 1 else answers.user_id(view.user, competition)
    view = replace(view, user=user)
    ranked = answers.leaderboard(problem, competition=competition)
    mine = ranked[ranked["user_id"] == user]
    if mine.empty:
        widgets.nothing(f"The user {user} has no ranked time on {problem}.", key="ladder")
        return
    runner = _runner(view, mine["runner"].tolist())
    asked: dict[str, Any] = {"competition": competition, "runner": runner, "since": view.since, "until": view.until}
    steps = memoise(openable, answers.ladder(problem, user, **asked))
    widgets.chips((person(mine["user_name"].iloc[0], user), problem, runner_name(runner)))
    layout.name_tab(f"Ladder of {person(mine['user_name'].iloc[0], user)}", problem)
    if steps.empty:
        widgets.nothing("No ranked run of this user passed in that period.", key="ladder")
        return
    steps = memoise(ladder_rows.with_ranks, steps, answers.personal_bests(problem, **asked))
    _numbers(steps)
    _climb(view, steps, problem, asked, person(mine["user_name"].iloc[0], user))
    _steps(view, steps, changes_of(competition, problem, runner, user))


def openable(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps that have an id; the others cannot be opened."""
    return steps.dropna(subset="submission_id")


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
            widgets.Tile("Best time", time_text(last["score"], unit), f"first {time_text(first['score'], unit)}"),
            widgets.Tile("Speed-up", ratio_text(first["score"] / last["score"]), "first time over best time"),
            widgets.Tile("Steps", count_text(len(every)), f"over {span}"),
            widgets.Tile("Largest step", gain_text(gain), where),
            widgets.Tile("Attempts", count_text(steps["attempts"].sum()), "until the best time"),
        ],
        key="ladder",
    )


def _climb(view: LadderView, steps: pd.DataFrame, problem: str, asked: dict[str, Any], name: str) -> None:
    """The steps as a chart."""
    unit = memoise(unit_of, steps)
    records = answers.records(problem, **asked)
    competition = asked["competition"]
    chart.span_picker(view.span, {"field": "The last steps", "all": "Every step"})
    chart.show(
        memoise(charts.ladder, steps, records, unit, widgets.theme(), span=view.span),
        key="ladder-chart",
        title=f"{name} on {problem}, {runner_name(asked['runner'])}",
        alt=f"Personal bests from {time_text(steps['score'].iloc[0], unit)} to {time_text(steps['score'].min(), unit)}",
        file_name=share.file_stem(competition, problem, "climb"),
        table=lambda: tables.readable(steps, unit),
        competition=competition,
        opens=lambda found: tables.open_submission(replace(found, walk="bests")),
    )


def unit_of(steps: pd.DataFrame) -> Unit:
    """The unit of a ladder: that of its best time."""
    return unit_for(steps["score"].min())


def _steps(view: LadderView, steps: pd.DataFrame, counted: Changes) -> None:
    competition = counted.competition
    shown = memoise(newest, steps, view.top)
    before = ladder_rows.pairs(steps)
    wanted = [before[step] for step in shown["step"] if step in before]
    missing = [pair for pair in wanted if pair not in counted.known and pair not in counted.failed]
    with st.container(horizontal=True, vertical_alignment="center", key="ladder-bar"):
        st.caption(_caption(len(shown), len(steps), counted.moved))
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="ladder-tools"):
            path = share.data_path("ladder", vars(view) | {"competition": competition})
            share.copy_links(view, path, key="ladder")
            share.downloads(steps, share.file_stem(competition, view.problem, "ladder"), key="ladder")
    unit = memoise(unit_of, steps)
    changed = tuple(ladder_rows.changed_texts(shown, before, counted))
    table.show(
        memoise(
            ladder_rows.shown_rows,
            shown,
            changed,
            _techniques(shown, before, competition),
            tuple(before.items()),
            competition,
        ),
        ladder_rows.columns(unit, steps["score"].min()),
        key="ladder-table",
        caption="Personal bests, the newest first",
        refs="ref",
    )
    if len(shown) < len(steps):
        st.button("Show earlier steps", key="ladder-more", on_click=state.change, kwargs={"top": view.top + 15})
    _unread(counted, wanted)
    if missing:
        _count(counted, missing)


def _techniques(shown: pd.DataFrame, before: Mapping[int, Pair], competition: str) -> tuple[str, ...]:
    """The techniques that each step added or removed; – without a content store."""
    pairs = [before.get(step) for step in shown["step"].tolist()]
    if not store_panel.is_at_hand(competition):
        return (MISSING,) * len(pairs)
    refs = tuple(dict.fromkeys((ref.id, ref.runner) for pair in pairs if pair for ref in pair))
    held = dict(zip(refs, answers.facets_of_many(competition, refs), strict=True))
    return tuple(
        change_words(held[pair[0].id, pair[0].runner], held[pair[1].id, pair[1].runner]) if pair else MISSING
        for pair in pairs
    )


def newest(steps: pd.DataFrame, top: int) -> pd.DataFrame:
    """The last steps, the newest first."""
    return steps.iloc[::-1].head(top).reset_index(drop=True)


def _unread(counted: Changes, wanted: Sequence[Pair]) -> None:
    """A button to retry the texts that could not be read."""
    if failed := [pair for pair in wanted if pair in counted.failed]:
        st.button(
            f"Try again to count {plural(len(failed), 'step')}", key="ladder-retry", on_click=counted.forget_failures,
            help="Their texts could not be read.",
        )  # fmt: skip


def _caption(shown: int, of: int, moved: int) -> str:
    which = f"The newest {count_text(shown)} of {plural(of, 'step')}" if shown < of else plural(of, "step")
    read = f" Counting changed lines: {source_text.cost(moved)}." if moved else ""
    return f"{which}, fastest on top.{read}"


def _count(counted: Changes, missing: Sequence[Pair]) -> None:
    """Count missing changes: at once while the budget lasts, then on request."""
    if engine().source.kind == "hub" and counted.moved >= changes.BUDGET_BYTES:
        st.button(
            f"Count the changed lines of {plural(len(missing), 'more step')}",
            key="ladder-count",
            help=f"Reads their texts from the Hub: up to {bytes_text(changes.BUDGET_BYTES)} at a time.",
            on_click=counted.count,
            args=(missing,),
        )
        return
    before = counted.progress
    with st.spinner("Counting changed lines"):
        counted.count(missing)
    if counted.progress != before:
        st.rerun()
