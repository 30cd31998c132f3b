"""Share a view: copy its link, download exactly what is shown, see the SQL behind it."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from kbdash.api import address, names
from kbdash.csv import csv_text
from kbdash.database.plain_sql import statement
from kbdash.database.questions import EVERY_QUESTION
from kbdash.view import MAX_STATEMENT, OverviewView, SqlView, View, href
from kbdash.web import state, study
from kbdash.web.session import engine

LONG_STATEMENT = "_long_statement"
"""Session key of a statement that is too long for a link."""
SQL_FORMS = {"short": "For kbdash", "plain": "For DuckDB alone"}
Rows = pd.DataFrame | Callable[[], pd.DataFrame]
"""The rows of a file, or a function that returns them when the file is requested."""
STATIC = Path(__file__).resolve().parent / "static"
_copy_button = st.components.v2.component(
    "kbdash_copy_link",
    html=(STATIC / "copy.html").read_text("utf-8"),
    css=(STATIC / "copy.css").read_text("utf-8"),
    js=(STATIC / "clipboard.js").read_text("utf-8") + (STATIC / "copy.js").read_text("utf-8"),
)


def base_url(shown_url: str | None, page: str, space_host: str | None) -> str:
    """The public address of `page`: on the Space's own host if there is one."""
    if space_host:
        return f"https://{space_host}/{page}"
    parts = urlsplit(shown_url or "")
    root = parts.path.removesuffix("/").removesuffix(f"/{page}") if page else parts.path.removesuffix("/")
    return f"{parts.scheme}://{parts.netloc}{root}/{page}" if parts.netloc else f"/{page}"


def full_link(path: str, view: View) -> str:
    """The full link that reopens `view` on `path`."""
    base = base_url(st.context.url, state.page(), os.environ.get("SPACE_HOST"))
    root = base.removesuffix(state.page()).removesuffix("/")
    return root + href(path, view)


def copy_links(view: View | None, path: str | None = None, *, key: str) -> None:
    """Buttons that copy the link of what is shown, and the link to its data (`path`) for programs.

    Where the browser refuses, the link appears as text.
    """
    links: list[dict[str, str]] = []
    if view is not None:
        links.append({"label": "Copy link", "base": full_link(state.page(), view).partition("?")[0]})
    if path is not None:
        links.append({"label": "Copy data link", "link": full_link("", OverviewView()).removesuffix("/") + path})
    result = _copy_button(key=f"{key}-copy", data={"links": links}, on_refused_change=lambda: None, width="content")
    refused = getattr(result, "refused", None)
    if isinstance(refused, int) and 0 <= refused < len(links):
        shown = links[refused].get("link") or full_link(state.page(), cast(View, view))
        st.code(shown, language=None, wrap_lines=True)


def data_path(question: str, parameters: Mapping[str, object]) -> str:
    """The data link of a question's answer as CSV, without parameters that only its SQL has."""
    asked = EVERY_QUESTION[question]
    known = {parameter.name for parameter in asked.parameters}
    said = {name: value for name, value in parameters.items() if name in known and value is not None}
    return address.path(asked, said)


def file_stem(*parts: str | None) -> str:
    """The name of a file with data of this session's revision."""
    return names.file_stem(engine().source, *parts)


def csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV: full precision, UTC times, no index, no formulas."""
    return csv_text(frame).encode()


def parquet(frame: pd.DataFrame) -> bytes:
    """The frame as parquet."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def downloads(rows: Rows, stem: str, *, key: str) -> None:
    """Downloads of exactly these rows as CSV and Parquet; the files are made on request."""
    made = rows if callable(rows) else lambda: rows
    with st.popover("Download", key=f"{key}-download", help="Exactly the rows shown here, times in seconds"):
        st.download_button(
            "CSV", lambda: csv(made()), f"{stem}.csv", "text/csv", key=f"{key}-csv", on_click="ignore", width="stretch"
        )
        st.download_button(
            "Parquet", lambda: parquet(made()), f"{stem}.parquet", "application/vnd.apache.parquet",
            key=f"{key}-parquet", on_click="ignore", width="stretch",
        )  # fmt: skip


def streamed_downloads(question: str, parameters: Mapping[str, object], *, key: str) -> None:
    """Downloads of a long list: the server sends the answer of its data link in parts."""
    link = full_link("", OverviewView()).removesuffix("/") + data_path(question, parameters)
    with st.popover("Download", key=f"{key}-download", help="All rows that the filters leave, times in seconds"):
        for name, format_ in (("CSV", "csv"), ("Parquet", "parquet")):
            address_ = link.replace(f"/api/{question}.csv", f"/api/{question}.{format_}", 1)
            st.link_button(name, address_, key=f"{key}-{format_}", width="stretch")


def sql(question: str, parameters: Mapping[str, object], *, key: str) -> None:
    """The statement behind what is shown: short for `kb.sql(…)` and the console, or spelled out for plain DuckDB."""
    help_ = "The statement behind what is shown"
    with st.popover("SQL", key=f"{key}-sql", help=help_, on_change="rerun") as opened:
        if opened.open:  # nothing is computed while it is closed
            _sql(question, dict(parameters), key)


@st.fragment
def _sql(question: str, parameters: dict[str, object], key: str) -> None:
    """A fragment: reruns alone when the reader chooses the long form, which is computed only then."""
    competitions = competitions_asked(question)
    text = statement(question, {**parameters, "facets": None}, competitions)
    if parameters.get("facets"):
        st.caption("Here for all source texts: SQL does not see techniques.")
    form = st.segmented_control(
        "Form", list(SQL_FORMS), format_func=lambda name: SQL_FORMS[name], required=True, default="short",
        label_visibility="collapsed", key=f"{key}-sql-form",
    )  # fmt: skip
    if form == "plain":
        st.caption("Runs as it stands in DuckDB: its views and macros are spelled out.")
        st.code(plain_sql(text, competitions or (str(parameters["competition"]),)), language="sql", height=400)
        return
    st.caption("Runs as it stands in `kbdash.connect().sql(…)`. The ranking rule it uses is on the About page.")
    _open_in_console(text.strip(), key)
    st.code(text, language="sql", wrap_lines=True)


def _open_in_console(text: str, key: str) -> None:
    """A link to the console; a statement too long for a link is passed through the session."""
    label, icon = "Open in the console", ":material/terminal:"
    if len(text) <= MAX_STATEMENT:
        st.page_link(state.target("sql"), label=label, icon=icon, query_params=SqlView(text).query())
    elif st.button(label, icon=icon, key=f"{key}-sql-open"):
        st.session_state[LONG_STATEMENT] = text
        state.go("sql", SqlView())


def competitions_asked(question: str) -> tuple[str, ...]:
    """The competitions that a question is asked of; () when it is about a board."""
    kb = engine()
    return {"each": kb.readable, "linkable": kb.linkable}.get(EVERY_QUESTION[question].of, tuple)()


def plain_sql(text: str, competitions: Sequence[str] | None = None) -> str:
    """A statement for plain DuckDB, over the files that this session reads."""
    return engine().plain_sql(text, competitions)


def toolbar(
    view: View, rows: Rows | None, stem: str, question: str, parameters: Mapping[str, object], *, key: str
) -> None:
    """Copy link, copy data link, download and SQL in one row; without `rows`, the download is the data link."""
    with st.container(horizontal=True, horizontal_alignment="right", gap="small", key=f"{key}-toolbar"):
        copy_links(view, data_path(question, parameters), key=key)
        if rows is None:
            streamed_downloads(question, parameters, key=key)
        else:
            downloads(rows, stem, key=key)
        if question in study.OFFERED and key == question:  # on the list's own tab, not beside a chart
            study.popover(question, parameters, stem, key=key)
        sql(question, parameters, key=key)
