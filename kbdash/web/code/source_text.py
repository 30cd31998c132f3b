"""Source texts of open pages: fetched once per session, with progress while the reader waits."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import streamlit as st

from kbdash.code.reader import Indexing, SourceText
from kbdash.dataset.model import Submission
from kbdash.units import bytes_text, count_text
from kbdash.web.escape import markdown
from kbdash.web.session import engine

_HELD = "_texts"
_MOST_HELD = 4  # the two of a comparison, and the two before
_LANGUAGES = {"python": "Python", "cpp": "C++", "text": "plain text"}


def begin(submission: Submission) -> "Future[SourceText]":
    """Start to read a text in the background; it goes on if the reader leaves."""
    kb = engine()
    held: dict[Any, Future[SourceText]] = st.session_state.setdefault(_HELD, {})
    key = (kb.source.version, submission.file, submission.file_row)
    if key not in held or _failed(held[key]):
        kb.index_code(submission.competition)
        pool = ThreadPoolExecutor(1, thread_name_prefix="kbdash-text")
        held[key] = pool.submit(kb.text_of, submission)
        pool.shutdown(wait=False)
        while len(held) > _MOST_HELD:
            held.pop(next(iter(held)))
    return held[key]


def text_of(submission: Submission) -> SourceText:
    """The source text; `cost_bytes` is what fetching it cost this reader."""
    reading = begin(submission)
    wait([reading], timeout=0.3)
    if not reading.done():
        _wait(submission.competition, reading)
    return reading.result()


def facts(found: SourceText) -> str:
    """Size, lines, language and cost of a text in one line."""
    written = " · ".join(filter(None, (_LANGUAGES[found.language], ", ".join(found.techniques))))
    lines = f"{count_text(found.lines)} {'line' if found.lines == 1 else 'lines'}"
    return " · ".join((lines, bytes_text(found.size_bytes), written, cost(found.cost_bytes)))


def cost(moved: int) -> str:
    """The bytes that reading fetched, in words."""
    if moved == 0:
        return "cached"
    what = bytes_text(moved)
    return f"{what} fetched for this view" if engine().source.kind == "hub" else f"{what} read from disk for this view"


def indexing(competition: str) -> None:
    """Progress of the file's index; disappears when it is complete."""
    now = engine().index_code(competition)
    if now.reason:
        st.caption(f"The index of texts is not complete: {markdown(now.reason)} Texts are still read one by one.")
    elif not now.complete:
        _follow(competition)


@st.fragment(run_every=1.0)
def _follow(competition: str) -> None:
    now = engine().index_code(competition)
    if now.complete or now.reason:
        st.rerun()
    _bar(now)


def _failed(reading: "Future[SourceText]") -> bool:
    return reading.done() and reading.exception() is not None


def _wait(competition: str, reading: "Future[SourceText]") -> None:
    """Show progress while the reader waits."""
    place = st.empty()
    while not reading.done():
        with place.container():
            _bar(engine().index_code(competition))
        wait([reading], timeout=0.5)
    place.empty()


def _bar(now: Indexing) -> None:
    if now.complete or now.reason or not now.rows:
        st.caption("Fetching the part of the file that holds this text.")
        return
    said = f"Indexing the source texts: {count_text(now.known)} of {count_text(now.rows)} rows. Needed once per file."
    st.progress(now.known / now.rows, text=said)
