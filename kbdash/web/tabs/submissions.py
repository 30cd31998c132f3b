"""All submissions: filtered, sorted and paged in SQL, and their outcomes over time."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.database.questions.parameters import LARGEST_PAGE
from kbdash.dataset.model import Page
from kbdash.units import Unit, count_text, plural
from kbdash.view import CompetitionView, href
from kbdash.web import answers, chart, share, state, table, tables, widgets
from kbdash.web.board import Scene
from kbdash.web.cells import Column
from kbdash.web.memo import memoise

PAGE_SIZE = 50


def show(scene: Scene) -> None:
    """The tab."""
    asked = question(scene)
    found = answers.submissions(scene.board.name, **asked)
    everything = asked | {"page": 1, "page_size": LARGEST_PAGE}
    parameters = {**scene.parameters, **everything, "size": LARGEST_PAGE, "skip": 0}
    with st.container(horizontal=True, vertical_alignment="center", key="submissions-bar"):
        _bar(scene)
        st.caption(caption(scene.view, found.total), width="content")
        share.toolbar(scene.view, None, scene.stem("submissions"), "submissions", parameters, key="submissions")
    if found.rows.empty:
        widgets.nothing("No submission matches these filters.", key="submissions")
    else:
        _table(scene, found)
        _paging(found)
    _status(scene)


def question(scene: Scene) -> dict[str, Any]:
    """The filters of this tab as the engine's keyword arguments."""
    view = scene.view
    return {
        **scene.filters,
        "users": view.users,
        "passed": None if view.failures else True,
        "text": view.find or None,
        "sort": view.sort.removeprefix("-"),
        "descending": view.sort.startswith("-"),
        "page": view.page,
        "page_size": PAGE_SIZE,
    }


def caption(view: CompetitionView, total: int) -> str:
    """How many rows the filters leave, and where files end."""
    whose = " of the pinned users" if view.users else ""
    kind = "" if view.failures else " that passed"
    cut = f" Files hold the first {count_text(LARGEST_PAGE)}." if total > LARGEST_PAGE else ""
    return f"{plural(total, 'submission')}{kind}{whose}.{cut}"


def _bar(scene: Scene) -> None:
    st.text_input(
        "User or file name", placeholder="User or file name", max_chars=100, width=220, label_visibility="collapsed",
        **state.control("find", scene.view.find, default=""),
    )  # fmt: skip
    st.toggle("Include failures", **state.control("failures", scene.view.failures))


def _table(scene: Scene, found: Page) -> None:
    slug = scene.competition.slug
    table.show(
        memoise(shown_rows, found.rows, slug, scene.competition.anonymous),
        columns_of(scene.unit, found.rows["score"].min()),
        key="submissions-table",
        caption=f"Submissions of {scene.board.name}",
        order=table.Order(scene.view.sort, lambda sort: href(slug, replace(scene.view, sort=sort, page=1))),
        refs="ref",
    )


def shown_rows(rows: pd.DataFrame, competition: str, anonymous: bool) -> pd.DataFrame:
    """Table rows of submissions."""
    codes = tables.code_addresses(rows, competition, walk="user")
    return pd.DataFrame(
        {
            "user": tables.names(rows),
            "page": tables.user_addresses(rows["user_id"], anonymous=anonymous),
            "score": rows["score"],
            "flags": rows["flags"],
            "word": tables.code_words(codes),
            "code": codes,
            "at": rows["submitted_at"],
            "status": rows["status"],
            "mode": rows["mode"],
            "runner": tables.runners(rows["runner"]),
            "file": rows["file_name"],
            "id": rows["submission_id"].astype(str),
            "ref": tables.refs(rows, competition),
        }
    )


def columns_of(unit: Unit, best: float) -> tuple[Column, ...]:
    """Columns in reading order; every head sorts all rows, not only the current page."""
    return (
        Column("user", "User", "name", link="page", sort="user_name"),
        tables.time_column("score", "Time", unit, best, mark="flags", sort="score"),
        tables.code_column(),
        Column("at", "Submitted", "minute", "UTC", sort="submitted_at", first="descending"),
        Column("status", "Status", sort="status"),
        Column(
            "mode",
            "Mode",
            sort="mode",
            aside=True,
            help="The furthest stage it reached; leaderboard means a ranked run.",
        ),
        Column("runner", "Runner", sort="runner"),
        Column("file", "File", width=24, sort="file_name"),
        Column("id", "Id", sort="submission_id", first="descending", aside=True),
    )


def _paging(found: Page) -> None:
    if found.pages > 1:
        with st.container(horizontal=True, horizontal_alignment="center", key="submissions-paging"):
            st.pagination(found.pages, **state.control("page", found.page, default=1))


def _status(scene: Scene) -> None:
    # Of the whole board: a submission that never got a runner belongs to none.
    frame = answers.status_over_time(scene.board.name, **{**scene.filters, "runner": None})
    if frame.empty:
        return
    st.header("Outcomes per day", anchor=False)
    if scene.runner and len(scene.runners) > 1:
        st.caption("On all runners: a submission that never got to run has none.")
    chart.show(
        memoise(charts.status, frame, scene.theme, scene.board.deadline),
        key="status-chart",
        title=f"{scene.board.label}: outcomes per day",
        alt=f"Submissions on {scene.board.name} over time: passed, failed and the rest",
        file_name=scene.stem("status"),
        table=lambda: frame,
    )
