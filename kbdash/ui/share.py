"""Taking a view along: copy its link, download exactly what is shown, see the SQL behind it."""

import io
import os
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from kbdash.ui import state
from kbdash.ui.engines import engine
from kbdash.ui.escape import markdown
from kbdash.view import View, href
from kbdash.views import sql_text

PER_COMPETITION = ("overview", "user")
STATIC = Path(__file__).resolve().parents[1] / "static"
_copy_button = st.components.v2.component(
    "kbdash_copy_link",
    html=(STATIC / "copy.html").read_text("utf-8"),
    css=(STATIC / "copy.css").read_text("utf-8"),
    js=(STATIC / "copy.js").read_text("utf-8"),
)


def base_url(shown_url: str | None, page: str, space_host: str | None) -> str:
    """The address of `page` as anybody can open it: the Space's own host when there is one."""
    if space_host:
        return f"https://{space_host}/{page}"
    parts = urlsplit(shown_url or "")
    root = parts.path.removesuffix("/").removesuffix(f"/{page}") if page else parts.path.removesuffix("/")
    return f"{parts.scheme}://{parts.netloc}{root}/{page}" if parts.netloc else f"/{page}"


def full_link(path: str, view: View) -> str:
    """The whole link that reopens `view` on `path`."""
    base = base_url(st.context.url, state.page(), os.environ.get("SPACE_HOST"))
    root = base.removesuffix(state.page()).removesuffix("/")
    return root + href(path, view)


def copy_link(view: View, *, key: str) -> None:
    """A button that copies the link of what is shown; where the browser refuses, the link appears as text."""
    link = full_link(state.page(), view)
    result = _copy_button(
        key=f"{key}-copy", data={"base": link.partition("?")[0]}, on_refused_change=lambda: None, width="content"
    )
    if getattr(result, "refused", None):
        st.code(link, language=None, wrap_lines=True)


def file_stem(*parts: str | None) -> str:
    """A file name that says what is in it: competition, problem, runner, what, and the revision or `sample`."""
    source = engine().source
    revision = "sample" if source.kind == "sample" else source.version[:7]
    words = ["kbdash", *(part for part in parts if part), revision]
    return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", word).strip("-.") or "x" for word in words)


def csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV: full precision, UTC times, no index."""
    return frame.to_csv(index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ").encode()


def parquet(frame: pd.DataFrame) -> bytes:
    """The frame as parquet."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def downloads(frame: pd.DataFrame, stem: str, *, key: str) -> None:
    """CSV and Parquet of exactly these rows; the files are made when they are asked for."""
    with st.popover("Download", key=f"{key}-download", help="Exactly the rows shown here, times in seconds"):
        st.download_button(
            "CSV", lambda: csv(frame), f"{stem}.csv", "text/csv", key=f"{key}-csv", on_click="ignore", width="stretch"
        )
        st.download_button(
            "Parquet", lambda: parquet(frame), f"{stem}.parquet", "application/vnd.apache.parquet",
            key=f"{key}-parquet", on_click="ignore", width="stretch",
        )  # fmt: skip


def sql(question: str, parameters: Mapping[str, object], *, key: str) -> None:
    """The statement behind what is shown, ready for `kb.sql(…)`."""
    with st.popover("SQL", key=f"{key}-sql", help="The statement behind what is shown"):
        st.caption("Runs as it stands in `kbdash.connect().sql(…)`. The ranking rule it uses is on the About page.")
        if question in PER_COMPETITION:
            st.caption(f"Asked once for each competition; here for {markdown(str(parameters['competition']))}.")
        st.code(statement(question, parameters), language="sql", wrap_lines=True)


def toolbar(
    view: View, frame: pd.DataFrame, stem: str, question: str, parameters: Mapping[str, object], *, key: str
) -> None:
    """Copy link, download and SQL in one row."""
    with st.container(horizontal=True, horizontal_alignment="right", gap="small", key=f"{key}-toolbar"):
        copy_link(view, key=key)
        downloads(frame, stem, key=key)
        sql(question, parameters, key=key)


def statement(question: str, parameters: Mapping[str, object]) -> str:
    """The question's SQL with its parameters written in as literals."""
    return re.sub(
        r"^(?!--).*$",
        lambda line: re.sub(r"\$([a-z_]+)", lambda name: literal(parameters.get(name[1])), line[0]),
        sql_text(question),
        flags=re.MULTILINE,
    )


def literal(value: object) -> str:
    """A value as SQL writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date | datetime):
        return f"'{value.isoformat()}'"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(literal(item) for item in value)}]"
    return "'" + str(value).replace("'", "''") + "'"
