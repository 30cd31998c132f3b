"""The part of every page that runs in the browser: search, keys, address, width of the window, theme."""

import json
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from kbdash.dataset.model import Competition
from kbdash.view import CompetitionView, href
from kbdash.web import layout, state, table, widgets

STATIC = Path(__file__).resolve().parent / "static"
_PARTS = ("history", "plain_copy", "reconnecting", "viewport", "keyboard", "frame")
_search = st.components.v2.component(
    "kbdash_search",
    html=(STATIC / "keyboard.html").read_text("utf-8"),
    css=(STATIC / "keyboard.css").read_text("utf-8"),
    js="".join((STATIC / f"{name}.js").read_text("utf-8") for name in _PARTS),
)


def show(competitions: Sequence[Competition]) -> None:
    """The search and its keys; takes no room on the page."""

    def follow() -> None:
        # Input from the browser is validated like a link.
        state.follow(str(st.session_state["search"]["follow"]))

    root, dark = table.root(st.context.url, state.page()), widgets.theme() == "dark"
    settings = {"root": root, "wide": layout.wide(), "dark": dark}
    data = table.as_bytes(settings, state.remember("boards", tuple(competitions), boards_json))
    _search(key="search", data=data, on_follow_change=follow, on_wide_change=_take_wide, on_dark_change=_take_dark)


def _take_wide() -> None:
    layout.take_wide(bool(st.session_state["search"]["wide"]))


def _take_dark() -> None:
    widgets.take_theme(bool(st.session_state["search"]["dark"]))


def boards_json(competitions: Sequence[Competition]) -> bytes:
    """The boards as the browser gets them."""
    return json.dumps(boards(competitions)).encode()


def boards(competitions: Sequence[Competition]) -> list[dict[str, str]]:
    """What can be searched for besides people: competitions, then their boards."""
    found = [{"name": item.title, "where": "competition", "to": f"/{item.slug}"} for item in competitions]
    for item in competitions:
        for board in item.boards:
            to = href(item.slug, CompetitionView(problem=board.name))
            found.append({"name": board.name, "where": item.title, "to": to})
    return found
