"""The parts that run in the browser, from the files in assets/. Texts are sent as data, never as markup."""

from collections.abc import Callable
from importlib.resources import files
from itertools import groupby
from typing import Any

import streamlit as st

from kbdash.code.diff import Diff
from kbdash.code.reader import SourceText
from kbdash.web import state
from kbdash.web.content.lineage import Lineage

Told = Callable[[str], None]


def _assets(*names: str) -> str:
    """Files of assets/ concatenated; those named with a path are shared with other parts of the pages."""
    folder = files(__package__) / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


_viewer = st.components.v2.component(
    "kbdash_code",
    html=_assets("viewer.html"),
    css=_assets("code.css"),
    js=_assets("tokens.js", "paint.js", "text.js", "../../static/clipboard.js", "viewer.js"),
)
_diff = st.components.v2.component(
    "kbdash_diff",
    html=_assets("diff.html"),
    css=_assets("code.css"),
    js=_assets("tokens.js", "paint.js", "text.js", "diff.js"),
)


def viewer(
    found: SourceText,
    *,
    line: tuple[int, int] | None,
    origins: Lineage | None,
    find: str,
    link: str,
    label: str,
    key: str,
    on_line: Told,
    on_find: Told,
) -> None:
    """A source text with line numbers and find; `on_line` is told "10-20" or "", `on_find` the text looked for.

    `origins` adds a sign beside each line number; a click on it opens the submission that had the line first.
    """
    data = {**_text(found), "line": line, "find": find, "link": link, "label": label}
    _viewer(
        key=key,
        data=data | {"origins": origins.as_data() if origins else None},
        on_line_change=lambda: on_line(_event(key, "line")),
        on_find_change=lambda: on_find(_event(key, "find")),
        on_follow_change=lambda: state.follow(_event(key, "follow")),
    )


def diff(before: SourceText, after: SourceText, changes: Diff, *, mode: str, key: str) -> None:
    """What changed between two texts, in one column or (mode "split") in two; folded runs open on a click."""
    _diff(
        key=key,
        data={"before": _text(before), "after": _text(after), "runs": runs(changes), "mode": mode},
    )


def runs(changes: Diff) -> list[tuple[str, int | None, int | None, int]]:
    """Runs of lines of one kind: kind, first line on each side, count; the lines themselves are in the texts."""
    found = []
    for kind, group in groupby(changes.lines, key=lambda line: line.kind):
        lines = list(group)
        found.append((kind, lines[0].left_no, lines[0].right_no, sum(line.count for line in lines)))
    return found


def _text(found: SourceText) -> dict[str, Any]:
    return {"text": found.text, "language": found.language, "embedded": found.embedded}


def _event(key: str, event: str) -> str:
    """What the browser sent with an event; validated like a link before it is used."""
    return str(st.session_state[key][event])
