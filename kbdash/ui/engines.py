"""The engine of a session: opened once per process, and never swapped under a reader."""

import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

import streamlit as st

import kbdash
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError

_ENGINE = "_engine"
_FALLBACK_SECONDS = 30.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Opened:
    """An engine and when it was opened (monotonic seconds)."""

    kb: KernelBot
    at: float = field(default_factory=time.monotonic)


@dataclass
class _Watch:
    """What is known about commits newer than the one a session reads; asked in the background only."""

    newer: str | None = None
    asking: threading.Lock = field(default_factory=threading.Lock)


def engine() -> KernelBot:
    """The engine of this session; it keeps the revision the reader first saw until they ask for another."""
    if _ENGINE not in st.session_state:
        with st.spinner("Opening the dataset"):
            st.session_state[_ENGINE] = _current().kb
    kb: KernelBot = st.session_state[_ENGINE]
    return kb


def reopen() -> None:
    """Open the source again, from a callback: after a failure, or to read a newer revision."""
    mine = st.session_state.pop(_ENGINE, None)
    # A failure to open is not kept, so the next run tries again and says what happened.
    with suppress(KbdashError):
        # Of many readers who ask at once only the first opens it again; the others get what is new by then.
        if mine is not None and _current().kb is mine:
            _current.clear()


def newer() -> str | None:
    """A commit published since this session's revision was opened, as far as is known by now."""
    kb = engine()
    if kb.source.kind != "hub":
        return None
    watch = _watch(kb.source.version)
    if watch.asking.acquire(blocking=False):
        threading.Thread(target=_ask, args=(kb, watch), daemon=True, name="kbdash-newer").start()
    return watch.newer


def warm() -> None:
    """Open the source before the first reader comes; a failure is logged and met again by the first page."""
    try:
        _current()
    except Exception:
        _log.exception("The dataset could not be opened at start")


def _ask(kb: KernelBot, watch: _Watch) -> None:
    """The engine asks the Hub every 15 minutes at most; it may take seconds, so no reader waits for it."""
    try:
        watch.newer = kb.newer()
    finally:
        watch.asking.release()


def _holds(opened: _Opened) -> bool:
    """Whether new sessions should take this engine: a sample that stands in for the Hub soon expires."""
    return opened.kb.source.notice is None or time.monotonic() - opened.at < _FALLBACK_SECONDS


@st.cache_resource(show_spinner=False, max_entries=1, validate=_holds)
def _current() -> _Opened:
    return _Opened(kbdash.connect())


@st.cache_resource(show_spinner=False, max_entries=8)
def _watch(version: str) -> _Watch:
    return _Watch()
