"""The page of an address that is none of ours."""

from difflib import get_close_matches

import streamlit as st

from kbdash.web import layout, state
from kbdash.web.escape import markdown
from kbdash.web.session import engine

TITLE = "No such page"


def show() -> None:
    """Say so, and link the pages with a similar path, or all competitions."""
    here = state.page()
    competitions = engine().competitions
    titles = layout.titles(competitions)
    close = get_close_matches(here, [path for path in state.paths() if path not in ("", here)], n=3)
    layout.name_tab(TITLE)
    st.title(TITLE, anchor=False)
    st.markdown(f"Nothing is at `/{here}`. {'Did you mean' if close else 'Open'} one of these?")
    for path in (*close, "") if close else (*(item.slug for item in competitions), ""):
        st.page_link(state.target(path), label=markdown(titles.get(path, path)))
