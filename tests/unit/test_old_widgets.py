"""A session that goes on for long does not collect the widgets of all pages it has seen."""

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from kbdash.web.old_widgets import RUNS


def page() -> None:
    """A page with a button that is another one in every run, and one that stays.

    It notes what was clicked, and how many widgets Streamlit knows at the end of each run.
    """
    import streamlit as st  # (Streamlit runs only the body)
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from kbdash.web import old_widgets

    known = st.session_state.setdefault("known", [])
    clicked = st.session_state.setdefault("clicked", [])
    number = len(known)
    st.button(f"Button {number}", on_click=clicked.append, args=(number,))
    st.button("Next", key="next")
    old_widgets.forget()
    session = old_widgets.bare(get_script_run_ctx().session_state)
    known.append(len(session._new_widget_state.widget_metadata))


def test_what_streamlit_knows_about_widgets_does_not_grow_with_the_runs() -> None:
    app = AppTest.from_function(page, default_timeout=60)
    for _ in range(3 * RUNS):
        assert not app.run().exception
    assert app.session_state["known"][RUNS:] == [RUNS + 1] * (2 * RUNS)


def test_a_click_from_a_page_shown_a_few_runs_ago_still_counts() -> None:
    app = AppTest.from_function(page, default_timeout=60).run()
    button = app.button[0]
    late = button.set_value(True)._widget_state
    button.set_value(False)
    for _ in range(RUNS - 1):
        app.run()
    app._run(WidgetStates(widgets=[late]))
    assert app.session_state["clicked"] == [0]
