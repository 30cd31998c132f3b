"""Small pieces every page is made of: messages, callouts, chips, number tiles, charts with their table."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kbdash import charts
from kbdash.errors import KbdashError
from kbdash.model import Caveat
from kbdash.ui import engines, state
from kbdash.ui.escape import markdown

_log = logging.getLogger("kbdash")


@dataclass(frozen=True)
class Tile:
    """One number with what it is; `note` may be user text, `help` says how it is counted."""

    label: str
    value: str
    note: str = ""
    help: str = ""


@contextmanager
def boundary(key: str = "problem") -> Iterator[None]:
    """Failures inside become a message in their place; Streamlit's own control flow passes through."""
    try:
        yield
    except KbdashError as error:
        problem(error, key=key)
    except Exception:
        _log.exception("A page failed")
        unexpected()


def problem(error: KbdashError, *, key: str = "problem") -> None:
    """A failure in its place: what happened, what to do, and a way to try again."""
    with st.container(border=True, key=f"{key}-box"):
        st.markdown(f":material/error: **{markdown(str(error))}**")
        if error.advice:
            st.markdown(markdown(error.advice))
        st.button("Try again", key=f"{key}-retry", on_click=engines.reopen)


def unexpected() -> None:
    """What a reader sees when the program itself failed; the details are in the log."""
    with st.container(border=True, key="unexpected-box"):
        st.markdown(":material/error: **This page met an error of its own.**")
        st.markdown("It was written to the server's log. The other pages still work; starting over often helps.")
        st.button("Start over", key="unexpected-reset", on_click=state.reset)


def nothing(what: str, *, key: str) -> None:
    """Said instead of an empty table: why there is nothing, and a way back."""
    with st.container(border=True, key=f"{key}-nothing"):
        st.markdown(markdown(what))
        st.button("Reset all filters", key=f"{key}-reset", on_click=state.reset)


def left_out() -> None:
    """Which competitions are missing from a page about all of them, and why."""
    kb = engines.engine()
    for competition in kb.competitions:
        if reason := kb.unavailable.get(competition.slug):
            st.warning(f"{markdown(competition.title)} is left out: {markdown(reason)}", icon=":material/cloud_off:")


def still_works() -> str:
    """What a reader can turn to when a competition cannot be read."""
    return "The other competitions still work." if engines.engine().readable() else "Try again in a moment."


def link_notes() -> None:
    """What was ignored in the link, said once."""
    if noted := state.notes():
        lines = "".join(f"\n- {markdown(note)}" for note in noted)
        st.warning(f"Parts of this link were not understood, and were left out:{lines}", icon=":material/link_off:")


def caveats(items: Iterable[Caveat], *, key: str) -> None:
    """Why the numbers below deserve care, with who says so, in one quiet box."""
    lines = [f":material/warning: {markdown(item.text)} :gray[{markdown(f'Source: {item.source}.')}]" for item in items]
    if lines:
        with st.container(border=True, key=f"{key}-caveats"):
            st.markdown("  \n".join(lines))


def chips(texts: Sequence[str]) -> None:
    """Facts in one line, separated by dots."""
    st.markdown(" · ".join(markdown(text) for text in texts if text))


def tiles(items: Sequence[Tile], *, key: str) -> None:
    """Numbers side by side; two in a row on a phone."""
    with st.container(key=f"{key}-tiles"), st.grid(len(items), min_column_width=150, gap="small"):
        for item in items:
            st.metric(
                item.label,
                item.value,
                delta=markdown(item.note) or None,
                delta_color="off",
                delta_arrow="off",
                help=item.help or None,
                border=True,
                height="stretch",
            )


def chart(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    file_name: str,
    table: Callable[[], pd.DataFrame],
    on_point: Callable[[Sequence[object]], None] | None = None,
) -> None:
    """A figure that can be saved as PNG, with its numbers one click away; a click on a point calls `on_point`."""
    # The figure is drawn in its own colours already, so Streamlit's theme stays off.
    with st.container(key=f"{key}-box"):
        event = st.plotly_chart(
            figure,
            theme=None,
            key=key,
            on_select="rerun" if on_point else "ignore",
            selection_mode="points",
            config=charts.config(file_name),
            alt=alt,
        )
    # Nobody waits for a table that is not open.
    twin = st.expander("The same as a table", type="compact", key=f"{key}-twin", on_change="rerun")
    if twin.open:
        twin.dataframe(table(), hide_index=True, key=f"{key}-table", alt=alt)
    points: list[dict[str, Any]] = cast(dict[str, Any], event)["selection"]["points"] if on_point else []
    if on_point and points and points[0].get("customdata"):
        on_point(points[0]["customdata"])


def theme() -> str:
    """The reader's theme, "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"
