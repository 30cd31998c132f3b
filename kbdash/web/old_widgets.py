"""Forget the widgets of earlier runs: Streamlit keeps what it knows about each for as long as the session lasts.

A widget whose label, options or limits differ is another one to Streamlit. So every script run added some three of
them, each with its callback and what that refers to.
"""

from collections import deque

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState, SessionState

RUNS = 8
"""Whole runs whose widgets stay known: a click from a page shown then may still be on its way."""
_RECENT = "_recent_widgets"


def forget() -> None:
    """Forget the widgets that the last whole runs did not draw. To be called when one has drawn its page."""
    run = get_script_run_ctx()
    if run is None:
        return
    widgets = bare(run.session_state)._new_widget_state
    recent: deque[frozenset[str]] = st.session_state.setdefault(_RECENT, deque(maxlen=RUNS))
    recent.append(run.shared.widget_ids_this_run.snapshot())
    known = frozenset(widgets.states).union(*recent)
    for old in set(widgets.widget_metadata) - known:
        widgets.widget_metadata.pop(old, None)


def bare(session: SafeSessionState | SessionState) -> SessionState:
    """The state itself, inside the wrappers that guard it."""
    while isinstance(session, SafeSessionState):
        session = session._state
    return session
