"""The engine of a reader: opened once per process, and never replaced by another revision during a session."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from kbdash.engine import KernelBot
from kbdash.web.engines import Engines

_NUMBER = "_engine_number"
_ASKED_AT = "_engine_asked_at"
_log = logging.getLogger(__name__)
_run = threading.local()


@dataclass
class _Watch:
    """Whether there is a newer commit than the one a session reads; checked only in the background."""

    newer: str | None = None
    asking: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def using_engine(kb: KernelBot) -> Iterator[None]:
    """Inside the block, `engine` returns this engine to the current thread without looking it up."""
    before, _run.kb = getattr(_run, "kb", None), kb
    try:
        yield
    finally:
        _run.kb = before


def engine() -> KernelBot:
    """The engine of this session; it stays at the revision the reader first saw until they ask for another."""
    return getattr(_run, "kb", None) or _looked_up()


def _looked_up() -> KernelBot:
    """Find the engine by its number; the session stores no more, so that an idle tab does not keep an engine alive."""
    number, asked_at = st.session_state.get(_NUMBER), st.session_state.pop(_ASKED_AT, None)
    if number is not None and asked_at is None:
        opened = engines().get(number)
    else:
        with st.spinner("Opening the dataset"):
            opened = engines().get(number, asked_at)
    st.session_state[_NUMBER] = opened.number
    return opened.kb


def reopen() -> None:
    """Reopen the source, from a callback: after a failure, or to read a newer revision."""
    st.session_state[_ASKED_AT] = time.monotonic()


def newer() -> str | None:
    """A commit published since this session's revision was opened, if one is known."""
    kb = engine()
    if kb.source.kind != "hub":
        return None
    watch = _watch(kb.source.version)
    if watch.asking.acquire(blocking=False):
        threading.Thread(target=_ask, args=(kb, watch), daemon=True, name="kbdash-newer").start()
    return watch.newer


def warm() -> None:
    """Open the source before the first reader comes; a failure is logged, and the first page tries again."""
    try:
        engines().get(None).kb.prepare_content()
    except Exception:
        _log.exception("The dataset could not be opened at start")


def _ask(kb: KernelBot, watch: _Watch) -> None:
    """Ask for a newer commit, at most every 15 minutes; it can take seconds, so it runs in the background."""
    try:
        watch.newer = kb.newer()
    finally:
        watch.asking.release()


@st.cache_resource(show_spinner=False)
def engines() -> Engines:
    """The engines that all readers of this process share."""
    return Engines()


@st.cache_resource(show_spinner=False, max_entries=8)
def _watch(version: str) -> _Watch:
    return _Watch()
