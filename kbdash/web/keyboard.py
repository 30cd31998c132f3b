"""The search for people and boards, available on every page, and the keyboard shortcuts."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from kbdash.dataset.model import Competition
from kbdash.view import CompetitionView, href
from kbdash.web import state, table

STATIC = Path(__file__).resolve().parent / "static"
_search = st.components.v2.component(
    "kbdash_search",
    html=(STATIC / "keyboard.html").read_text("utf-8"),
    css=(STATIC / "keyboard.css").read_text("utf-8"),
    js=(STATIC / "keyboard.js").read_text("utf-8"),
)


def show(competitions: Sequence[Competition]) -> None:
    """The search and its keys; takes no room on the page."""

    def follow() -> None:
        # Input from the browser is validated like a link.
        state.follow(str(st.session_state["search"]["follow"]))

    data = {
        "boards": state.remember("boards", tuple(competitions), boards),
        "root": table.root(st.context.url, state.page()),
    }
    _search(key="search", data=data, on_follow_change=follow)


def boards(competitions: Sequence[Competition]) -> list[dict[str, str]]:
    """What can be searched for besides people: competitions, then their boards."""
    found = [{"name": item.title, "where": "competition", "to": f"/{item.slug}"} for item in competitions]
    for item in competitions:
        for board in item.boards:
            to = href(item.slug, CompetitionView(problem=board.name))
            found.append({"name": board.name, "where": item.title, "to": to})
    return found
