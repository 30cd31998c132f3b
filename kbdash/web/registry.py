"""The pages and their paths. Competitions come from the engine, so a file outside the catalog gets a page too."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st

from kbdash.dataset.model import Competition
from kbdash.web import unknown
from kbdash.web.escape import markdown
from kbdash.web.program_folder import PROGRAM

PAGES = PROGRAM / "pages"
HIDDEN = ("submission", "compare", "ladder")
_UNKNOWN = "_unknown_path"
_PATH = re.compile(r"[\w.-]{1,80}", re.ASCII)

Sections = dict[str, list[st.Page]]


def sections(competitions: Sequence[Competition]) -> Sections:
    """Pages by menu section: overview first, competitions by vendor, then people and the small print."""
    menu: Sections = {"": [st.Page(PAGES / "overview.py", title="Overview", url_path="", default=True)]}
    for item in competitions:
        script = st.Page(PAGES / "competition.py", title=markdown(item.title), url_path=item.slug)
        menu.setdefault(markdown(item.vendor), []).append(script)
    menu[""] += [
        st.Page(PAGES / "search.py", title="Search", url_path="search"),
        st.Page(PAGES / "steps.py", title="Steps", url_path="steps"),
        st.Page(PAGES / "trust.py", title="Trust", url_path="trust"),
        st.Page(PAGES / "user.py", title="User", url_path="user"),
        st.Page(PAGES / "sql.py", title="SQL", url_path="sql"),
        st.Page(PAGES / "about.py", title="About", url_path="about"),
        *(_hidden(path) for path in HIDDEN if (PAGES / f"{path}.py").is_file()),
    ]
    return menu


def with_unknown(menu: Sections, address: str | None) -> Sections:
    """The menu with a hidden page at the address in the browser, if it has none there; it stays, for Back.

    Streamlit itself would tell about missing files, in a dialog over the overview.
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


def _hidden(path: str) -> st.Page:
    return st.Page(PAGES / f"{path}.py", title=path.capitalize(), url_path=path, visibility="hidden")
