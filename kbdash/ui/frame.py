"""What stands around every page: the banner when something changes its meaning, and the footer."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

import kbdash
from kbdash.engine import KernelBot
from kbdash.model import Competition
from kbdash.source import Source
from kbdash.ui import engines
from kbdash.ui.escape import markdown
from kbdash.units import bytes_text

DATASET_URL = "https://huggingface.co/datasets/GPUMODE/kernelbot-data"
STATIC = Path(__file__).resolve().parents[1] / "static"
# Read once: Streamlit would read, hash and store the files at every run.
_ICON = f"data:image/png;base64,{b64encode((STATIC / 'icon.png').read_bytes()).decode()}"
_STYLE = f"<style>{(STATIC / 'style.css').read_text('utf-8')}</style>"
_history = st.components.v2.component("kbdash_history", js=(STATIC / "history.js").read_text("utf-8"))


def configure(path: str, competitions: Sequence[Competition]) -> None:
    """The browser's tab, named after the page, and the little style of our own."""
    named = {item.slug: item.title for item in competitions} | {"": "GPU kernel competitions"}
    st.set_page_config(f"{named.get(path, path.capitalize())} · kbdash", page_icon=_ICON, layout="wide")
    st.html(_STYLE)


def banner(kb: KernelBot) -> None:
    """Only what changes the meaning of the page: synthetic rows, or a newer revision."""
    source = kb.source
    if source.kind == "sample":
        _sample_banner(source)
    elif commit := engines.newer():
        with st.container(border=True, key="newer-banner", horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/update: A newer revision of the dataset is there ({_commit(commit, source)}). "
                "You keep reading the one you opened until you ask for it."
            )
            st.button("Load the newer revision", key="newer-load", on_click=engines.reopen)


def footer(kb: KernelBot) -> None:
    """Attribution, licence, revision, bytes moved, version."""
    source = kb.source
    facts = [f"Data: [GPU Mode and the KernelBot dataset]({DATASET_URL})"]
    if source.kind == "sample":
        facts.append("shown here: a synthetic sample, not real results")
    else:
        facts += [f"licence: {markdown(source.licence or 'see the dataset')}", f"revision {_revision(source)}"]
    if source.kind == "hub":
        facts.append(f"{bytes_text(kb.bytes_moved())} moved since start")
    facts += ["times are UTC", "scores are upstream's and unverified", f"kbdash {kbdash.__version__}"]
    with st.container(key="footer"):
        st.caption(" · ".join(facts))
        _history(key="history")


def _sample_banner(source: Source) -> None:
    with st.container(border=True, key="sample-banner"):
        st.markdown(
            ":material/science: **Sample data.** Every row, name and time on this page is synthetic; "
            "nothing here is a real result."
        )
        if source.notice:
            st.markdown(f"The real dataset could not be opened: {markdown(source.notice)}")
            st.button("Try the Hub again", key="sample-retry", on_click=engines.reopen)


def _revision(source: Source) -> str:
    if source.commit:
        return _commit(source.commit, source)
    return f"{markdown(source.label)} ({source.version[:7]})"


def _commit(commit: str, source: Source) -> str:
    return f"[{commit[:7]}]({source.endpoint}/datasets/{source.dataset}/commit/{commit})"
