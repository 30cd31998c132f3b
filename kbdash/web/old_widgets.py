"""Forget the widgets of earlier runs: Streamlit keeps their metadata for as long as the session lasts.

To Streamlit, a widget with another label, options or limits is a new widget. So every run would add about three, each
with its callback and all that the callback refers to.
"""

from collections import deque

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState, SessionState

RUNS = 8
"""How many full runs a widget stays known after it was last drawn: a click on it may still be on its way."""
_RECENT = "_recent_widgets"


def forget() -> None:
    """Forget the widgets that none of the last full runs drew. Call it at the end of a full run."""
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
