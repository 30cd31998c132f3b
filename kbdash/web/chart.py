"""A chart on a page: the figure, clicks that open code, downloads as picture and CSV, its numbers as a table."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kbdash import charts
from kbdash.charts.palette import theme_of
from kbdash.charts.text import escaped
from kbdash.dataset.credit import DATASET_PAGE
from kbdash.dataset.source import Source
from kbdash.view import SubmissionView, read_ref
from kbdash.web import share, state, widgets
from kbdash.web.session import engine

STATIC = Path(__file__).resolve().parent / "static"
_link = st.components.v2.component(
    "kbdash_chart",
    html=(STATIC / "chart.html").read_text("utf-8"),
    css=(STATIC / "chart.css").read_text("utf-8"),
    js=(STATIC / "chart.js").read_text("utf-8"),
)
Open = Callable[[SubmissionView], None]


def show(
    figure: go.Figure,
    *,
    key: str,
    title: str,
    alt: str,
    file_name: str,
    table: Callable[[], pd.DataFrame],
    competition: str | None = None,
    opens: Open | None = None,
) -> None:
    """A figure with its tools; `title` is that of a saved picture, `opens` is called with what was clicked."""
    # The figure has its own colours, so Streamlit's theme stays off.
    with st.container(key=f"{key}-box"):
        st.plotly_chart(figure, theme=None, key=key, config=charts.config(file_name), alt=alt)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}-bar"):
        _pictures(key, title, competition, opens)
        st.download_button(
            "CSV", lambda: share.csv(table()), f"{file_name}.csv", "text/csv", key=f"{key}-data", on_click="ignore",
            help="The numbers of this chart",
        )  # fmt: skip
        opened = st.toggle("Show as table", key=f"{key}-twin")
    if opened:  # the table is computed only when it is open
        st.dataframe(table(), hide_index=True, key=f"{key}-table", alt=alt)


def span_picker(span: str, options: dict[str, str], *, key: str = "span") -> None:
    """A picker of how far the time axes reach; kept in the address."""
    st.segmented_control(
        "Axis", list(options), format_func=lambda name: options[name], required=True, label_visibility="collapsed",
        **state.control(key, span if span in options else next(iter(options))),
    )  # fmt: skip


def source_line(source: Source) -> str:
    """The credit line of a saved picture: source, commit, licence."""
    if source.kind == "sample":
        return "kbdash: synthetic sample, not real results"
    version = f"commit {source.commit[:7]}" if source.commit else f"version {source.version[:7]}"
    licence = f"licence: {source.licence or 'see the dataset'}"
    return f"Data: GPU Mode and the KernelBot dataset, {DATASET_PAGE} · {version} · {licence} · made with kbdash"


def target(told: str, competition: str | None) -> SubmissionView | None:
    """The submission that was clicked ("32750@H100", perhaps followed by its competition); None for anything else."""
    name, _, elsewhere = told.partition(" ")
    ref = read_ref(name)
    if ref is None:
        return None
    asked = {"id": [str(ref.id)], "runner": [ref.runner or ""], "competition": [competition or elsewhere]}
    return SubmissionView.parse(asked)[0]


def _pictures(key: str, title: str, competition: str | None, opens: Open | None) -> None:
    name = f"{key}-pictures"

    def open_point() -> None:
        # Input from the browser is validated like a link.
        found = target(str(st.session_state[name]["point"]), competition)
        if found is not None and opens is not None:
            opens(found)

    tokens = theme_of(widgets.theme())
    data = {
        "box": f"{key}-box", "opens": opens is not None, "title": escaped(title),
        "source": escaped(source_line(engine().source)), "muted": tokens.muted,
    }  # fmt: skip
    _link(key=name, data=data, on_point_change=open_point, width="content")
