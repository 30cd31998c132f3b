"""All rows: filtered, sorted and paged in SQL, and what became of them over time."""

from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import DatetimeColumn, NumberColumn, TextColumn

from kbdash import charts
from kbdash.model import Page
from kbdash.ui import cached, parts, share, state, tables
from kbdash.ui.board import Scene
from kbdash.ui.memo import made
from kbdash.units import Unit, count_text

PAGE_SIZE = 50
ORDERS = {
    "-submitted_at": "Newest first",
    "submitted_at": "Oldest first",
    "score": "Fastest first",
    "-score": "Slowest first",
    "user_name": "User, A to Z",
    "-user_name": "User, Z to A",
    "submission_id": "Lowest id first",
    "-submission_id": "Highest id first",
}


def show(now: Scene) -> None:
    """The tab."""
    asked = question(now)
    found = cached.submissions(now.board.name, **asked)
    parameters = {
        **now.parameters, **asked, "text": asked["text"], "size": PAGE_SIZE, "skip": (found.page - 1) * PAGE_SIZE
    }  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", key="submissions-bar"):
        _bar(now)
        share.toolbar(now.view, found.rows, now.stem("submissions"), "submissions", parameters, key="submissions")
    whose = " of the pinned users" if now.view.users else ""
    kind = "submissions" if now.view.failures else "submissions that passed"
    st.caption(f"{count_text(found.total)} {kind}{whose}.")
    if found.rows.empty:
        parts.nothing("No submission matches these filters.", key="submissions")
    else:
        _table(now, found)
        _paging(found)
    _status(now)


def question(now: Scene) -> dict[str, Any]:
    """The filters of this tab as the engine's keyword arguments."""
    view = now.view
    return {
        **now.filters,
        "users": view.users,
        "passed": None if view.failures else True,
        "text": view.find or None,
        "sort": view.sort.removeprefix("-"),
        "descending": view.sort.startswith("-"),
        "page": view.page,
        "page_size": PAGE_SIZE,
    }


def _bar(now: Scene) -> None:
    st.text_input(
        "User or file name", placeholder="Part of a name", max_chars=100, width=220,
        **state.control("find", now.view.find, default=""),
    )  # fmt: skip
    st.selectbox(
        "Order", list(ORDERS), format_func=lambda order: ORDERS[order], width=180,
        **state.control("sort", now.view.sort),
    )  # fmt: skip
    st.toggle("Include failures", **state.control("failures", now.view.failures))


def _table(now: Scene, found: Page) -> None:
    tables.show(
        made(shown_rows, found.rows, now.unit),
        made(_columns, found.rows, now.competition.slug, now.unit),
        key="submissions-table",
        alt=f"Submissions of {now.board.name}",
    )


def shown_rows(rows: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """Submissions as the table shows them."""
    return pd.DataFrame(
        {
            "user": tables.names(rows),
            "time": tables.times(rows["score"], unit),
            "code": tables.CODE,
            "at": tables.utc(rows["submitted_at"]),
            "status": rows["status"],
            "runner": tables.runners(rows["runner"]),
            "file": rows["file_name"],
            "id": rows["submission_id"],
            "flags": rows["flags"],
        }
    )


def _columns(rows: pd.DataFrame, competition: str, unit: Unit) -> tables.Columns:
    return {
        "user": TextColumn("User", width=120),
        "time": tables.time_column("Time", unit, rows["score"].min()),
        "code": tables.code_column("submissions", tables.links(rows, competition, walk="user")),
        "at": DatetimeColumn("Submitted (UTC)", width=125, format="YYYY-MM-DD HH:mm"),
        "status": TextColumn("Status", width=80),
        "runner": TextColumn("Runner", width=100),
        "file": TextColumn("File", width=140),
        "id": NumberColumn("Id", format="%d", width=75),
        "flags": TextColumn("Flags", width=140),
    }


def _paging(found: Page) -> None:
    if found.pages > 1:
        with st.container(horizontal=True, horizontal_alignment="center", key="submissions-paging"):
            st.pagination(found.pages, **state.control("page", found.page, default=1))


def _status(now: Scene) -> None:
    frame = cached.status_over_time(now.board.name, **now.filters)
    if frame.empty:
        return
    st.header("What became of them", anchor=False)
    parts.chart(
        made(charts.status, frame, now.theme),
        key="status-chart",
        alt=f"Submissions a day on {now.board.name} by status, with the pass rate",
        file_name=now.stem("status"),
        table=lambda: frame,
    )
