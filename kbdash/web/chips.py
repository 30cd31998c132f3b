"""Every active filter as a chip with a cross that removes it.

A view's field becomes a chip if it has a text: `Param(…, said=…)` in kbdash.view.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kbdash.view import View, params_of
from kbdash.web import state, widgets
from kbdash.web.escape import markdown

MOST, MOST_NARROW = 8, 3  # chips in sight, on a desktop and on a phone; more would push the table down


@dataclass(frozen=True)
class Chip:
    """A filter in words (may contain user text), and the change of the view that removes it."""

    label: str
    off: Mapping[str, Any]


def chips_of(view: View, names: Mapping[str, str] | None = None) -> list[Chip]:
    """The active filters of a view, in the order of its link; `names` are people by their ids."""
    known = names or {}
    found = []
    for name, default, param in params_of(type(view)):
        value = getattr(view, name)
        if param.said is None or value == default:
            continue
        if param.most == 1:
            found.append(Chip(param.said(known.get(value, value)), {name: None}))
            continue
        for item in value:
            rest = tuple(other for other in value if other != item)
            found.append(Chip(param.said(known.get(item, item)), {name: rest}))
    return found


def show(chips: Sequence[Chip], note: str = "") -> None:
    """The chips in a row that wraps, those beyond it behind a button, and how many rows they leave out."""
    if not chips:
        return
    most = MOST_NARROW if widgets.narrow() else MOST
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="chips"):
        for place, chip in enumerate(chips[:most]):
            _chip(chip, place)
        if rest := chips[most:]:
            with st.popover(f"{len(rest)} more", key="chips-more"):
                for place, chip in enumerate(rest, most):
                    _chip(chip, place)
        if len(chips) > 1:
            every = {name: None for chip in chips for name in chip.off}
            st.button("Clear all", key="chips-clear", type="tertiary", on_click=state.change, kwargs=every)
        if note:
            st.caption(note, width="content")


def _chip(chip: Chip, place: int) -> None:
    st.button(
        markdown(chip.label), key=f"chip-{place}", icon=":material/close:", icon_position="right",
        help="Remove this filter", on_click=state.change, kwargs=dict(chip.off),
    )  # fmt: skip
