"""Pickers for pages about all competitions: competition, problem, runner, techniques."""

from collections.abc import Mapping

import streamlit as st

from kbdash.content.techniques import WITHOUT, rules
from kbdash.dataset.catalog import runner_name
from kbdash.view import MAX_FACETS, SearchView, StepsView, TrustView
from kbdash.web import answers, state
from kbdash.web.board import MOST_CHOICES
from kbdash.web.escape import markdown
from kbdash.web.session import engine

View = SearchView | StepsView | TrustView
EVERY = ""


def competition(view: View) -> str | None:
    """The competition that a view is about; None: all of them."""
    if view.problem is not None:
        return engine().find(view.problem, view.competition)[0]
    return view.competition


def board(view: View) -> None:
    """Pickers of competition, problem and runner, each once the one before is chosen."""
    kb = engine()
    titles = {item.slug: item.title for item in kb.competitions if item.slug in kb.readable()}
    chosen = competition(view)
    options = [EVERY, *titles]
    st.selectbox(
        "Competition", options, format_func=lambda slug: titles.get(slug, "Every competition"),
        **state.control("competition", chosen if chosen in titles else EVERY, default=EVERY),
    )  # fmt: skip
    if chosen is None or chosen not in titles:
        return
    problems = list(kb.problem_names(chosen)[:MOST_CHOICES])
    _select("Problem", "problem", problems, view.problem, "Every problem")
    if view.problem in problems:
        known = answers.problems(chosen)
        runners = known.loc[known["problem"] == view.problem, "runner"].dropna().astype(str).tolist()
        _select("Runner", "runner", runners[:MOST_CHOICES], view.runner, "Every runner")


def choose(titles: Mapping[str, str]) -> None:
    """A button for each competition, for pages that need one."""
    with st.container(horizontal=True, key="scope-choices"):
        for slug, title in titles.items():
            st.button(markdown(title), key=f"scope-{slug}", on_click=state.change, kwargs={"competition": slug})


def facets(label: str, chosen: tuple[str, ...], *, bare: bool = False) -> None:
    """A picker of techniques, required or excluded, in the groups of the rules; `bare`: in a row, without its label."""
    known = rules().facets
    options = [facet.name for facet in known] + [f"{WITHOUT}{facet.name}" for facet in known]
    st.multiselect(
        label,
        options,
        format_func=facet_label,
        max_selections=MAX_FACETS,
        select_all=False,
        placeholder="Only texts with … (all tabs)" if bare else "tcgen05, without triton …",
        help=None if bare else "What the text contains, which is no proof that it runs.",
        label_visibility="collapsed" if bare else "visible",
        width=420 if bare else "stretch",
        **state.control("facets", list(chosen)),
    )


def facet_label(name: str) -> str:
    """A technique as a picker and a chip name it."""
    return f"without {name.removeprefix(WITHOUT)}" if name.startswith(WITHOUT) else name


def _select(label: str, field: str, options: list[str], chosen: str | None, every: str) -> None:
    names = {EVERY: every} | {name: markdown(runner_name(name) if field == "runner" else name) for name in options}
    st.selectbox(
        label, list(names), format_func=lambda name: names.get(name, name),
        **state.control(field, chosen if chosen in names else EVERY, default=EVERY),
    )  # fmt: skip
