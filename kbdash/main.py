"""The frame of every page: configuration, navigation, banner, the page itself, footer. No traceback is ever shown."""

import streamlit as st

from kbdash import view
from kbdash.dataset import catalog
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.web import keyboard, layout, old_widgets, registry, run_slots, session, state, widgets


def run() -> None:
    """One run of the script."""
    with widgets.boundary(), run_slots.run_slot():
        kb = _engine()
        kb.retry_unavailable()
        with session.using_engine(kb):
            _page(kb)


def _page(kb: KernelBot) -> None:
    menu = registry.with_unknown(state.remember("menu", kb.competitions, registry.sections), st.context.url)
    pages = registry.by_path(menu)
    page = st.navigation(menu, position="top")
    state.register(pages, page.url_path)
    if page.url_path == "" and (target := view.forward(state.params(), tuple(pages))):
        st.switch_page(pages[target[0]], query_params=target[1])
    layout.configure(page.url_path, kb.competitions)
    layout.banner(kb)
    with widgets.boundary():
        page.run()
    layout.footer(kb)
    keyboard.show(kb.competitions)
    old_widgets.forget()


def _engine() -> KernelBot:
    """The engine. If it cannot be opened, the address keeps its path, so that a retry opens the page of the link."""
    try:
        return session.engine()
    except KbdashError:
        page = st.navigation(registry.sections(catalog.COMPETITIONS), position="hidden")
        layout.configure(page.url_path, catalog.COMPETITIONS)
        raise


run()
