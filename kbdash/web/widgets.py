"""Small widgets that all pages use: messages, callouts, lines of facts and figures."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kbdash.dataset.model import Caveat
from kbdash.errors import DataUnavailable, KbdashError, QueryTimeout
from kbdash.web import session, state
from kbdash.web.escape import markdown, message

_log = logging.getLogger("kbdash")
_DARK = "_dark"


@dataclass(frozen=True)
class Tile:
    """One number with what it is; `note` may be user text."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A number in a line: the words around it (may be user text), how it is counted, its flags."""

    value: str
    before: str = ""
    after: str = ""
    help: str = ""
    flags: str = ""


@contextmanager
def boundary(key: str = "problem") -> Iterator[None]:
    """Show failures of the block as a message in place; Streamlit's control-flow exceptions pass through."""
    try:
        yield
    except KbdashError as error:
        show_error(error, key=key)
    except Exception:
        _log.exception("A page failed")
        unexpected()


def show_error(error: KbdashError, *, key: str = "problem") -> None:
    """Show a failure: what happened, what to do, and a button to retry."""
    with st.container(border=True, key=f"{key}-box"):
        st.markdown(f":material/error: **{message(str(error))}**")
        if error.advice:
            st.markdown(message(error.advice))
        # Reopening the source cannot fix a link to something that does not exist.
        mends = isinstance(error, DataUnavailable)
        if mends or isinstance(error, QueryTimeout):
            st.button("Try again", key=f"{key}-retry", on_click=session.reopen if mends else None)


def unexpected() -> None:
    """Shown when the program itself failed; the details are in the log."""
    with st.container(border=True, key="unexpected-box"):
        st.markdown(":material/error: **Something went wrong on this page.**")
        st.markdown("It was written to the server's log. The other pages still work; starting over often helps.")
        st.button("Start over", key="unexpected-reset", on_click=state.reset)


def nothing(what: str, *, key: str) -> None:
    """Shown instead of an empty table: why there is nothing, and a link back."""
    with st.container(border=True, key=f"{key}-nothing"):
        st.markdown(markdown(what))
        st.button("Reset all filters", key=f"{key}-reset", on_click=state.reset)


def left_out(answer: pd.DataFrame) -> None:
    """Says which competitions are missing from an answer about all of them, and why."""
    titles = {item.slug: item.title for item in session.engine().competitions}
    for slug, reason in answer.attrs.get("unavailable", {}).items():
        st.warning(f"{markdown(titles.get(slug, slug))} is left out: {message(reason)}", icon=":material/cloud_off:")


def still_works() -> str:
    """What to tell a reader when a competition cannot be read."""
    return "The other competitions still work." if session.engine().readable() else "Try again in a moment."


def link_notes() -> None:
    """Shows once what was ignored in the link."""
    if noted := state.notes():
        lines = f" {markdown(noted[0])}." if len(noted) == 1 else "".join(f"\n- {markdown(note)}" for note in noted)
        st.warning(f"Parts of this link were not understood, and were left out:{lines}", icon=":material/link_off:")


def caveats(items: Sequence[Caveat], *, key: str) -> None:
    """Caveats about the numbers below: the first in one line, which unfolds to all of them with their sources."""
    if not items:
        return
    more = f" (+{len(items) - 1})" if len(items) > 1 else ""
    with st.expander(f"{markdown(items[0].text)}{more}", icon=":material/warning:", key=f"{key}-caveats"):
        st.markdown(
            "\n".join(f"- {markdown(item.text)} :gray[{markdown(f'Source: {item.source}.')}]" for item in items)
        )


def chips(texts: Sequence[str]) -> None:
    """Facts in one line, separated by dots."""
    st.markdown(" · ".join(markdown(text) for text in texts if text))


def figures(items: Sequence[Figure], *, key: str, lead: str = "") -> None:
    """Numbers in one line after their subject; a sign at its end explains how each is counted.

    A flagged number ends its part of the line, so that the reason is right beside it.
    """
    with st.container(horizontal=True, gap="xsmall", key=f"{key}-figures"):
        words, told = [markdown(lead)] * bool(lead), [item.help for item in items if item.help]
        for item in items:
            words.append(
                " ".join(filter(None, (markdown(item.before), f"**{markdown(item.value)}**", markdown(item.after))))
            )
            if item.flags:
                st.markdown(" · ".join(words) + " :material/flag: flagged", help=markdown(item.flags), width="content")
                words = []
        st.markdown(" · ".join(words), help="\n".join(f"- {markdown(text)}" for text in told) or None, width="content")


def narrow() -> bool:
    """Whether the browser reports a phone: charts then put labels above their rows."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def theme() -> str:
    """The reader's theme, "light" or "dark": what the browser reported, and before that what Streamlit believes."""
    dark = st.session_state.get(_DARK, st.context.theme.type == "dark")
    return "dark" if dark else "light"


def take_theme(dark: bool) -> None:
    """Remember what the browser reported, from a callback."""
    st.session_state[_DARK] = dark
