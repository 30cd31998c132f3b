"""The pages and their paths. Competitions come from the engine, so a file outside the catalog gets a page too."""

import re
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st

from kbdash.dataset.model import Competition
from kbdash.dataset.page_paths import HIDDEN, IN_MENU
from kbdash.web import unknown
from kbdash.web.escape import markdown
from kbdash.web.program_folder import PROGRAM

PAGES = PROGRAM / "pages"
_UNKNOWN = "_unknown_path"
_PATH = re.compile(r"[\w.-]{1,80}", re.ASCII)

Sections = dict[str, list[st.Page]]


def sections(competitions: Sequence[Competition]) -> Sections:
    """Pages by menu section: overview first, competitions by vendor, then people and the small print."""
    menu: Sections = {"": [st.Page(PAGES / "overview.py", title="Overview", url_path="", default=True)]}
    for item in competitions:
        script = st.Page(PAGES / "competition.py", title=markdown(item.title), url_path=item.slug)
        menu.setdefault(markdown(item.vendor), []).append(script)
    menu[""] += [_page(path, title) for path, title in IN_MENU.items()]
    menu[""] += [_page(path, title, visibility="hidden") for path, title in HIDDEN.items()]
    return menu


def with_unknown(menu: Sections, address: str | None) -> Sections:
    """The menu, with a hidden page for the browser's address if no page has that path.

    The page stays in the menu, so that Back leads to it. Without it, Streamlit would show the overview, and a dialog
    about missing files over it.
    """
    path = urlsplit(address or "").path.rpartition("/")[2]
    if _PATH.fullmatch(path) and path not in by_path(menu):
        st.session_state[_UNKNOWN] = path
    if _UNKNOWN not in st.session_state:
        return menu
    page = st.Page(unknown.show, title=unknown.TITLE, url_path=st.session_state[_UNKNOWN], visibility="hidden")
    return menu | {"": [*menu[""], page]}


def by_path(menu: Sections) -> dict[str, st.Page]:
    """Pages by their path."""
    return {page.url_path: page for pages in menu.values() for page in pages}


def _page(path: str, title: str, visibility: Literal["visible", "hidden"] = "visible") -> st.Page:
    return st.Page(PAGES / f"{path}.py", title=title, url_path=path, visibility=visibility)
