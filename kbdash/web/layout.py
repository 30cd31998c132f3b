"""The frame around every page: a banner when something changes its meaning, and the footer."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import streamlit as st

import kbdash
from kbdash.charts.palette import css_variables
from kbdash.dataset.credit import DATASET_PAGE
from kbdash.dataset.model import Competition
from kbdash.dataset.page_paths import TITLES
from kbdash.dataset.source import Source
from kbdash.engine import KernelBot
from kbdash.scrub import without_user_info
from kbdash.units import bytes_text
from kbdash.web import session
from kbdash.web.escape import markdown, message

STATIC = Path(__file__).resolve().parent / "static"
# Read once: Streamlit would read, hash and store the files in every run.
_ICON = f"data:image/png;base64,{b64encode((STATIC / 'icon.png').read_bytes()).decode()}"
_STYLE = f"<style>{css_variables()}{(STATIC / 'style.css').read_text('utf-8')}</style>"
_WIDE = "_wide"


def titles(competitions: Sequence[Competition]) -> dict[str, str]:
    """Titles of the pages by path, as the menu has them."""
    return {"": "Overview"} | TITLES | {item.slug: item.title for item in competitions}


def configure(path: str, competitions: Sequence[Competition]) -> None:
    """Set the title of the browser tab, and add our few styles."""
    named = titles(competitions) | {"": "GPU kernel competitions"}
    st.set_page_config(f"{named.get(path, path)} · kbdash", page_icon=_ICON, layout="wide")
    st.html(_STYLE)
    _run_again_after_reconnecting()


def name_tab(*parts: str) -> None:
    """Name the browser tab after what is shown, the most specific part first."""
    st.set_page_config(page_title=" · ".join([*(part for part in parts if part), "kbdash"]))


@st.fragment(run_every=timedelta(hours=12))
def _run_again_after_reconnecting() -> None:
    """Invisible: a page with a timer asks for a run when its connection comes back.

    After a restart of the server the browser gets a new session, which has never run and has no callbacks, so the
    first click would be lost. Without a timer, Streamlit would wait for that click before it runs. Clicks before that
    run has ended are held back by static/reconnecting.js.
    """


def banner(kb: KernelBot) -> None:
    """Shown only when something changes the meaning of the page: synthetic rows, or a newer revision."""
    source = kb.source
    if source.kind == "sample":
        _sample_banner(source)
    elif commit := session.newer():
        with st.container(border=True, key="newer-banner", horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/update: A newer revision of the dataset is available ({_commit(commit, source)}). "
                "This page keeps the one you opened until you load it."
            )
            st.button("Load the newer revision", key="newer-load", on_click=session.reopen)


def footer(kb: KernelBot) -> None:
    """Attribution, licence, revision, bytes moved, version."""
    source = kb.source
    facts = [f"Data: [GPU Mode and the KernelBot dataset]({DATASET_PAGE})"]
    if source.kind == "sample":
        facts.append("shown here: a synthetic sample, not real results")
    else:
        facts += [f"licence: {markdown(source.licence or 'see the dataset')}", f"revision {_revision(source)}"]
    if source.kind == "hub":
        facts.append(f"{bytes_text(kb.bytes_moved())} moved since start")
    facts += ["times are UTC", "scores as published, not verified"]
    if any(item.unfiltered for item in kb.competitions):
        facts.append("exported before secret-run filtering: ranks can differ from gpumode.com")
    facts.append(f"kbdash {kbdash.__version__}")
    with st.container(key="footer"):
        st.caption(" · ".join(facts))


def wide() -> bool:
    """Whether the reader's window has room for a chart beside a table; False until the browser has reported."""
    return bool(st.session_state.get(_WIDE))


def take_wide(reported: bool) -> None:
    """Remember what the browser reported, from a callback."""
    st.session_state[_WIDE] = reported


def _sample_banner(source: Source) -> None:
    """One conspicuous line, with the reason behind a button."""
    with st.container(key="sample-banner", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/science: **Sample data.** All rows are synthetic, not real.", width="content")
        if source.notice:
            with st.popover("Why", type="tertiary", key="sample-why"):
                st.markdown(message(source.notice))
                st.button("Try the Hub again", key="sample-retry", on_click=session.reopen)


def _revision(source: Source) -> str:
    if source.commit:
        return _commit(source.commit, source)
    return f"{markdown(source.label)} ({source.version[:7]})"


def _commit(commit: str, source: Source) -> str:
    return f"[{commit[:7]}]({without_user_info(source.endpoint or '')}/datasets/{source.dataset}/commit/{commit})"
