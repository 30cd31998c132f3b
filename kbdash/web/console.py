"""The SQL console: a statement, its answer, a chart of it, and exports."""

import threading
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from kbdash.charts import config
from kbdash.charts.quick import is_number, quick
from kbdash.database.console import MOST_ROWS, Bounds
from kbdash.database.console.content import CONTENT
from kbdash.database.console.tables import EXAMPLES, TABLES, Table
from kbdash.engine import KernelBot
from kbdash.errors import QueryRefused
from kbdash.units import plural
from kbdash.view import MAX_STATEMENT, SqlView
from kbdash.web import answers, share, state, widgets
from kbdash.web.escape import markdown, message
from kbdash.web.memo import memoise
from kbdash.web.session import engine

SECONDS = 5.0
SHOWN_ROWS = 1_000
SHOWN = Bounds(SHOWN_ROWS, 8 << 20, SECONDS)
TAKEN = Bounds(MOST_ROWS, 100 << 20, SECONDS)
_files = threading.Semaphore(2)
"""How many answer files may be made at the same time: each may take some hundred megabytes."""


def show() -> None:
    """The whole page."""
    view = state.view(SqlView)
    st.title("SQL", anchor=False)
    widgets.link_notes()
    text = view.text or str(st.session_state.get(share.LONG_STATEMENT, ""))
    left, right = st.columns([3, 1], gap="medium")
    with left:
        _box(text)
        with st.container(key="sql-answer"), widgets.boundary("sql-problem"):
            if text:
                _answer(view, text)
    with right:
        _beside()


def _box(text: str) -> None:
    with st.form("sql-form", border=False):
        st.text_area(
            "One SELECT", text, height=220, key=f"sql-text-{hash(text)}", max_chars=100_000,
            placeholder="select competition, count(*) from submissions group by all",
            help="Ctrl+Enter runs it. Only the rows of this dataset can be read; source texts are not among them.",
        )  # fmt: skip
        st.form_submit_button("Run", icon=":material/play_arrow:", on_click=_run, args=(f"sql-text-{hash(text)}",))


def _run(key: str) -> None:
    """Store the statement in the link, or in the session if it is too long for one."""
    text = str(st.session_state[key]).strip()
    long = len(text) > MAX_STATEMENT
    st.session_state[share.LONG_STATEMENT] = text if long else ""
    state.change(text="" if long else text)


def _answer(view: SqlView, text: str) -> None:
    frame = answers.sql(text, SHOWN_ROWS, SHOWN)
    told = plural(len(frame), "row")
    if frame.attrs["truncated"]:
        told = f"**Truncated:** the first {told} of more. Downloads hold up to {MOST_ROWS:,} rows or 100 MB."
    with st.container(horizontal=True, vertical_alignment="center", key="sql-bar"):
        st.markdown(told)
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="sql-toolbar"):
            _take(view, text)
    if view.text == "":
        st.caption(f"This statement is too long for a link (at most {MAX_STATEMENT:,} characters).")
    for slug, reason in frame.attrs["unavailable"].items():
        st.warning(f"{markdown(slug)} is left out: {message(reason)}", icon=":material/cloud_off:")
    st.dataframe(frame, hide_index=True, key="sql-rows", alt="Answer of the statement")
    _chart(view, frame)


def _take(view: SqlView, text: str) -> None:
    if view.text:
        share.copy_links(view, key="sql")
    kb = engine()
    with st.popover("Download", key="sql-download"):
        st.caption(f"All rows of the answer. One of more than {MOST_ROWS:,} rows or 100 MB is refused: narrow it down.")
        for name, media, make in (
            ("CSV", "text/csv", share.csv), ("Parquet", "application/vnd.apache.parquet", share.parquet)
        ):  # fmt: skip
            st.download_button(
                name, partial(answer_file, kb, text, make), f"{share.file_stem('sql')}.{name.lower()}", media,
                key=f"sql-{name.lower()}", on_click="ignore", width="stretch",
            )  # fmt: skip
    with st.popover("Copy as", key="sql-copies"):
        _copies(text)


@st.fragment
def _copies(text: str) -> None:
    form = st.segmented_control(
        "Form", ["Python", "DuckDB"], required=True, default="Python", key="sql-form-of-copy",
        label_visibility="collapsed",
    )  # fmt: skip
    if form == "Python":
        st.code(python_text(text, engine()), language="python", wrap_lines=True)
    else:
        st.caption("For the DuckDB command line: views and macros are spelled out.")
        st.code(shell_text(share.plain_sql(text)), language="bash", height=400)


def answer_file(kb: KernelBot, text: str, make: Callable[[pd.DataFrame], bytes]) -> bytes:
    """The whole answer as a file; QueryRefused if it is too large, never a truncated file."""
    with _files:
        frame = kb.sql(text, bounds=TAKEN)
        content = b"" if frame.attrs["truncated"] else make(frame)
    if frame.attrs["truncated"] or len(content) > TAKEN.size:
        raise QueryRefused("The answer is larger than a file may be.", advice="Narrow it down.")
    return content


def python_text(text: str, kb: KernelBot) -> str:
    """A Python program that asks the same."""
    source = kb.source
    where = "sample" if source.kind == "sample" else f"{source.dataset}@{source.commit}" if source.commit else ""
    quoted = '"""' + text.replace("\\", "\\\\").replace('"', '\\"') + '"""'
    return (
        f"import kbdash\n\nkb = kbdash.connect({where!r})\nprint(kb.sql({quoted}))\n"
        if where
        else (f"import kbdash\n\nkb = kbdash.connect()  # or the folder with the files\nprint(kb.sql({quoted}))\n")
    )


def shell_text(script: str) -> str:
    """A here-document for the DuckDB command line; its end marker does not occur in the script."""
    word = "SQL"
    while word in script.splitlines():
        word += "_"
    return f"duckdb <<'{word}'\n{script.rstrip()}\n{word}\n"


def _chart(view: SqlView, frame: pd.DataFrame) -> None:
    """One column against another, as the link says."""
    numbers = [name for name in frame.columns if is_number(frame[name])]
    if frame.empty or not numbers or len(frame.columns) < 2:
        return
    st.header("Chart", anchor=False)
    columns = [str(name) for name in frame.columns]
    with st.container(horizontal=True, key="sql-axes"):
        x = _column("x", "x axis", columns, view.x)
        y = _column("y", "y axis", [str(name) for name in numbers], view.y)
        colour = _column("colour", "Colour", columns, view.colour)
    if x and y:
        figure = memoise(quick, frame, x, y, colour or "", widgets.theme())
        st.plotly_chart(
            figure, theme=None, key="sql-chart", config=config(share.file_stem("sql")), alt="Chart of the answer"
        )


def _column(field: str, label: str, names: list[str], chosen: str) -> str | None:
    """A picker of a column; None for none."""
    known = chosen if chosen in names else None
    st.selectbox(
        label, names, index=None, placeholder="none", width=180,
        **state.control(field, known, default=""),
    )  # fmt: skip
    return known


def _beside() -> None:
    """Help: examples to click, tables and their columns."""
    st.subheader("Examples", anchor=False)
    for place, (name, text) in enumerate(EXAMPLES.items()):
        st.button(
            name, key=f"sql-example-{place}", type="tertiary", on_click=_example, args=(text,),
            icon=":material/play_arrow:",
        )  # fmt: skip
    st.subheader("Tables", anchor=False)
    for table in (*TABLES, *CONTENT):
        with st.expander(f"`{table.name}`", key=f"sql-table-{table.name}"):
            _columns(table)


def _example(text: str) -> None:
    st.session_state[share.LONG_STATEMENT] = ""
    state.change(text=text)


def _columns(table: Table) -> None:
    st.caption(f"{table.meaning[0].upper()}{table.meaning[1:]}.")
    if table.call:
        st.code(f"from {table.call}", language="sql", wrap_lines=True)
    lines = (f"`{column.name}` :gray[{column.kind.split('(')[0]}]  \n{column.meaning}" for column in table.columns)
    st.markdown("\n\n".join(lines))
