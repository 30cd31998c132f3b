"""The largest improvements of all users: before, after, what changed, and a download of both texts."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kbdash.code.export import credit
from kbdash.content.techniques import rules
from kbdash.dataset.catalog import runner_name
from kbdash.dataset.credit import CITATION
from kbdash.engine import KernelBot
from kbdash.units import count_text, gain_text, person, time_text, unit_for
from kbdash.view import CompareView, Ref, StepsView, SubmissionView, href
from kbdash.web import answers, chips, share, state, table, widgets
from kbdash.web.content import pickers, store_panel
from kbdash.web.content.technique_changes import change_words, changed
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.session import engine
from kbdash.web.table import Column
from kbdash.web.tables import people_addresses, rows, text

WHAT = "With it the personal bests of all users stand here as pairs, with what changed between their texts."
TERMS = (
    "**Before you download:** the texts belong to their authors, and the licence of the dataset restricts its use for "
    "training models. Read the licence of the revision first; every record names it, its source and the citation."
)
Facets = tuple[tuple[str, ...] | None, ...]


def show() -> None:
    """The whole page."""
    view = state.view(StepsView)
    st.title("Steps", anchor=False)
    widgets.chips(["The largest improvements: a user's best before, their next best, and what changed in the text."])
    widgets.link_notes()
    _filters(view)
    with widgets.boundary("steps-problem"):
        if _has_store(view):
            _steps(view)


def _filters(view: StepsView) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="steps-controls"):
        st.number_input("At least this much faster (%)", 1, 99, width=220, **state.control("percent", view.percent))
        names = [facet.name for facet in rules().facets]
        st.selectbox(
            "That brought", names, index=None, placeholder="any technique", width=220,
            **state.control("gained", view.gained),
        )  # fmt: skip
        with st.popover("Filters", icon=":material/tune:", key="steps-filters"):
            pickers.board(view)
            st.text_input("User (name or id)", max_chars=60, **state.control("user", view.user or "", default=""))
    chips.show(chips.chips_of(view))


def _has_store(view: StepsView) -> bool:
    slug = pickers.competition(view)
    if slug is not None:
        return not store_panel.missing(slug, WHAT)
    kb = engine()
    if kb.content_at_hand():
        return True
    st.markdown(f"**No competition has a content store yet.** {WHAT} Choose one to see what it would take.")
    pickers.choose({item.slug: item.title for item in kb.competitions if item.slug in kb.readable()})
    return False


def options(view: StepsView) -> dict[str, Any]:
    """A view as the engine's keyword arguments, without defaults."""
    asked = {"competition": view.competition, "user": view.user, "gained": view.gained}
    chosen = {name: value for name, value in asked.items() if value is not None}
    return chosen | {"least_gain": view.percent / 100, "limit": view.top}


def _steps(view: StepsView) -> None:
    found = answers.steps(view.problem, view.runner, **options(view))
    widgets.left_out(found)
    if found.empty:
        widgets.nothing("No step is that large, among those that these filters leave.", key="steps")
        return
    places = tuple(found.attrs["places"])
    techniques = techniques_of(found, places)
    with st.container(horizontal=True, vertical_alignment="center", key="steps-bar"):
        st.caption(f"The {count_text(len(found))} largest steps. A best is a lucky try: small steps may be noise.")
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="steps-tools"):
            asked = {"problem": view.problem, "runner": view.runner, **options(view)}
            share.copy_links(view, share.data_path("steps", asked), key="steps")
            share.downloads(found, share.file_stem("steps"), key="steps")
            _export(found, places, techniques)
    shown = memoise(shown_rows, found, places, techniques, engine().linkable())
    table.show(shown, COLUMNS, key="steps-table", caption="The largest steps", refs="ref")
    if len(found) == view.top and view.top < 1000:
        st.button("Show more steps", key="steps-more", on_click=state.change, kwargs={"top": view.top * 2})


def techniques_of(found: pd.DataFrame, places: tuple[tuple[str, str], ...]) -> tuple[Facets, Facets]:
    """The techniques of the text before and after each step."""
    answer: list[dict[int, tuple[str, ...] | None]] = [{}, {}]
    for slug in dict.fromkeys(slug for slug, _ in places):
        here = [at for at, (each, _) in enumerate(places) if each == slug]
        part = found.iloc[here]
        for side, column in enumerate(("before_id", "after_id")):
            pairs = tuple((int(id_), text(run)) for id_, run in zip(part[column], part["runner"], strict=True))
            answer[side] |= dict(zip(here, answers.facets_of_many(slug, pairs), strict=True))
    before, after = (tuple(side[at] for at in range(len(found))) for side in answer)
    return before, after


def shown_rows(
    found: pd.DataFrame, places: tuple[tuple[str, str], ...], techniques: tuple[Facets, Facets], linkable: Sequence[str]
) -> pd.DataFrame:
    """Table rows of the steps; users of linkable competitions have a page."""
    every = rows(found)
    refs = [
        tuple(Ref(int(row[side]), text(row["runner"]), slug) for side in ("before_id", "after_id"))
        for row, (slug, _) in zip(every, places, strict=True)
    ]
    return pd.DataFrame(
        {
            "gain": [gain_text(row["gain"]) for row in every],
            "user": [person(row["user_name"], user) for row, (_, user) in zip(every, places, strict=True)],
            "page": people_addresses([user for _, user in places], [slug for slug, _ in places], linkable),
            "times": [_times(row) for row in every],
            "open": [
                [("Diff", href("compare", CompareView(a, b))), ("Code", href("submission", _page(b)))] for a, b in refs
            ],
            "techniques": [change_words(*pair) for pair in zip(*techniques, strict=True)],
            "changed": found["changed_lines"],
            "problem": found["problem"],
            "runner": [runner_name(text(row["runner"])) for row in every],
            "ref": [str(b) for _, b in refs],
        }
    )


def _times(row: dict[str, Any]) -> str:
    unit = unit_for(row["after"])
    return f"{time_text(row['before'], unit)} → {time_text(row['after'], unit)}"


def _page(ref: Ref) -> SubmissionView:
    return SubmissionView(ref.id, ref.runner, ref.competition, walk="bests")


COLUMNS = (
    Column("gain", "Gain", help="Share of the time that the step saved."),
    Column("user", "User", "name", width=24, link="page"),
    Column("times", "Before and after"),
    Column("open", "Open", "links"),
    Column("techniques", "Techniques", width=36, help="What only the later text holds (+) and only the earlier (−)."),
    Column("changed", "Changed lines", "whole"),
    Column("problem", "Problem"),
    Column("runner", "Runner"),
)


def _export(found: pd.DataFrame, places: tuple[tuple[str, str], ...], techniques: tuple[Facets, Facets]) -> None:
    with st.popover("Both texts", key="steps-export"):
        st.markdown(TERMS)
        st.markdown(f"Licence of this revision: {markdown(engine().source.licence or 'see the dataset')}.")
        st.download_button(
            f"JSONL of {count_text(len(found))} steps", partial(jsonl, engine(), found, places, techniques),
            f"{share.file_stem('steps')}.jsonl", "application/jsonl", key="steps-jsonl", on_click="ignore",
        )  # fmt: skip


def jsonl(
    kb: KernelBot, found: pd.DataFrame, places: tuple[tuple[str, str], ...], techniques: tuple[Facets, Facets]
) -> str:
    """JSON lines: both texts, the facts, source, licence and citation."""
    return "".join(json.dumps(record) + "\n" for record in records(kb, found, places, techniques))


def records(
    kb: KernelBot, found: pd.DataFrame, places: tuple[tuple[str, str], ...], techniques: tuple[Facets, Facets]
) -> Iterator[dict[str, Any]]:
    """The steps one by one."""
    terms = {"source": credit(kb.source), "licence": kb.source.licence or "see the dataset", "citation": CITATION}
    for row, (slug, user), before, after in zip(rows(found), places, *techniques, strict=True):
        runner = text(row["runner"])
        came, went = changed(before, after)
        facts = {"competition": slug, "problem": row["problem"], "runner": runner, "user_id": user,
                 "user_name": text(row["user_name"]), "gain": row["gain"], "techniques_gained": came,
                 "techniques_lost": went}  # fmt: skip
        sides = {
            side: {"submission_id": int(row[f"{side}_id"]), "score_seconds": row[side],
                   "code": kb.code(int(row[f"{side}_id"]), runner, slug)}
            for side in ("before", "after")
        }  # fmt: skip
        yield facts | sides | terms
