"""The frame of every page: configuration, navigation, banner, the page itself, footer; and no traceback ever."""

import streamlit as st

from kbdash import catalog, view
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.ui import engines, frame, parts, registry, state


def run() -> None:
    """One run of the script."""
    with parts.boundary():
        kb = _engine()
        menu = state.kept("menu", kb.competitions, registry.sections)
        pages = registry.by_path(menu)
        page = st.navigation(menu, position="top")
        frame.configure(page.url_path, kb.competitions)
        state.register(pages, page.url_path)
        if page.url_path == "" and (target := view.forward(state.params(), tuple(pages))):
            st.switch_page(pages[target[0]], query_params=target[1])
        frame.banner(kb)
        with parts.boundary():
            page.run()
        frame.footer(kb)


def _engine() -> KernelBot:
    """The engine; when there is none, the address keeps its path, so that trying again leads where the link did."""
    try:
        return engines.engine()
    except KbdashError:
        page = st.navigation(registry.sections(catalog.COMPETITIONS), position="hidden")
        frame.configure(page.url_path, catalog.COMPETITIONS)
        raise


run()
