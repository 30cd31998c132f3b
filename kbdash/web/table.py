"""A table on a page: real HTML, with selectable text, real links, and rows to tick and compare.

    frame = pd.DataFrame({
        "rank": [1, 2], "user": ["ann", "bob"], "score": [9.9e-6, 11e-6], "flags": ["", "below the floor"],
        "code": ["/submission?id=7", "/submission?id=8"], "open": "Code", "ref": ["7@H100", "8@H100"],
    })
    table.show(
        frame,
        (
            Column("rank", "#", "rank"),
            Column("user", "User", "name"),
            Column("score", "Time", "time", unit=MICROSECONDS, places=3, mark="flags", sort="score"),
            Column("open", "Code", link="code"),
        ),
        key="found",
        caption="Submissions that contain the line",
        order=Order("score", lambda order: href("search", replace(view, sort=order))),
        refs="ref",
    )

`frame` should be a shared one (see memo): its table is made once and sent to all readers. A plain click on a link
stays in the session; with Ctrl, the middle button or "copy address" it is an ordinary link. Heads with a `sort` are
links to the view in that order, so the page sorts (in SQL) and the address keeps the order.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from kbdash.web import cells, state
from kbdash.web.cells import Column
from kbdash.web.memo import memoise

__all__ = ["Column", "Order", "show"]

STATIC = Path(__file__).resolve().parent / "static"
MOST_DRAWN = 200
_table = st.components.v2.component(
    "kbdash_table",
    html=(STATIC / "table.html").read_text("utf-8"),
    css=(STATIC / "table.css").read_text("utf-8"),
    js=(STATIC / "table.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class Order:
    """How the rows are sorted ("score", "-score"), and the address of the same view in another order."""

    now: str
    link: Callable[[str], str]


def show(
    frame: pd.DataFrame,
    columns: tuple[Column, ...],
    *,
    key: str,
    caption: str,
    order: Order | None = None,
    refs: str = "",
    emphasis: str = "",
) -> None:
    """The columns in that order. `refs` names the column with the row's name in /compare, which adds a tick box;
    `emphasis` the one that says which rows stand out ("pinned", "mine")."""

    def follow() -> None:
        # Input from the browser is validated like a link.
        state.follow(str(st.session_state[key]["follow"]))

    settings = {
        "heads": heads(columns, order) if order else {},
        "order": order.now if order else "",
        "most": MOST_DRAWN,
        "root": root(st.context.url, state.page()),
    }
    # Bytes, because Streamlit would serialise anything else to JSON twice in every run.
    data = as_bytes(settings, memoise(cells.as_json, frame, columns, caption, refs, emphasis))
    _table(key=key, data=data, on_follow_change=follow)


def as_bytes(settings: dict[str, Any], content: bytes) -> bytes:
    """What the browser gets: a line of settings, then the content as it is kept for all readers."""
    return b"%s\n%s" % (json.dumps(settings).encode(), content)


def heads(columns: tuple[Column, ...], order: Order) -> dict[str, str]:
    """The link of each head by its order; reversed for the column that is sorted now."""
    found = {}
    for column in columns:
        if column.sort:
            found[column.sort] = order.link(next_order(column, order.now))
    return found


def next_order(column: Column, now: str) -> str:
    """The order that a click on a head asks for."""
    first, other = column.sort, f"-{column.sort}"
    if column.first == "descending":
        first, other = other, first
    return other if now == first else first


def root(shown_url: str | None, page: str) -> str:
    """The path under which the app is served, "" at the top of its host."""
    path = urlsplit(shown_url or "").path.rstrip("/")
    return path.removesuffix(f"/{page}") if page else path
