"""The parts that run in the browser, from the files in assets/. Texts go there as data, never as markup."""

from collections.abc import Callable
from importlib.resources import files

import streamlit as st

from kbdash.code import SourceText

Told = Callable[[str], None]


def _assets(*names: str) -> str:
    folder = files(__package__) / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


_viewer = st.components.v2.component(
    "kbdash_code",
    html=_assets("viewer.html"),
    css=_assets("code.css"),
    js=_assets("tokens.js", "paint.js", "text.js", "viewer.js"),
)


def viewer(
    found: SourceText,
    *,
    line: tuple[int, int] | None,
    find: str,
    link: str,
    label: str,
    key: str,
    on_line: Told,
    on_find: Told,
) -> None:
    """A source text with line numbers and find; `on_line` is told "10-20" or "", `on_find` the text looked for."""
    _viewer(
        key=key,
        data={
            "text": found.text,
            "language": found.language,
            "embedded": found.embedded,
            "line": line,
            "find": find,
            "link": link,
            "label": label,
        },
        on_line_change=lambda: on_line(str(st.session_state[key]["line"])),
        on_find_change=lambda: on_find(str(st.session_state[key]["find"])),
    )
