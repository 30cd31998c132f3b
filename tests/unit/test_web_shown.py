"""Parts of pages in scripts of a few lines, with answers of their own: what is shown, and when."""

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kbdash.view import CompetitionView, SearchView, StepsView
from kbdash.web.code import submission
from kbdash.web.content import pickers, search, steps, store_panel, text_panels
from tests.app.conftest import scanned_once  # noqa: F401  (each script would start with that)
from tests.app.shown import odd_looks
from tests.unit.test_web_parts import ONE, of


def _chips(count: int, note: str) -> None:
    from kbdash.web import chips

    chips.show([chips.Chip(f"chip {place}", {"top": None}) for place in range(count)], note)


@pytest.mark.parametrize(("count", "buttons"), [(0, 0), (1, 1), (2, 3)])
def test_many_chips_are_cleared_at_once(count: int, buttons: int) -> None:
    app = AppTest.from_function(_chips, default_timeout=60, args=(count, "3 left out")).run()
    assert not app.exception
    assert len(app.button) == buttons
    assert [caption.value for caption in app.caption] == ["3 left out"] * (count > 0)
    assert not AppTest.from_function(_chips, default_timeout=60, args=(count, "")).run().caption


def _shown() -> None:
    from types import SimpleNamespace

    import streamlit as st

    from kbdash.dataset.model import Board, Caveat
    from kbdash.errors import QueryRefused
    from kbdash.view import Ref
    from kbdash.web import card, widgets
    from kbdash.web.code import compare
    from kbdash.web.content import text_panels

    widgets.caveats((), key="none")
    widgets.caveats((Caveat("one", "a"), Caveat("two", "b")), key="two")
    for place in (0, 1, 2):
        compare._step([Ref(1), Ref(2)], place, f"Word{place}", ":material/stairs:")
    text_panels._lines(0, [])
    text_panels._lines(1, [4, 5])
    widgets.show_error(QueryRefused("no"))
    card.show(SimpleNamespace(board=Board(1, "trimul", "trimul", "", ()), runners=()))
    widgets.take_theme(True)
    st.text(widgets.theme())
    widgets.take_theme(False)
    st.text(widgets.theme())


def test_small_parts_of_a_page() -> None:
    app = AppTest.from_function(_shown, default_timeout=60).run()
    assert not app.exception
    assert odd_looks(app) == []
    assert app.expander[0].label == "one (+1)"
    assert sum("benchmark shapes**" in part.value for part in app.markdown) == 1
    said = ["No word0 step", "No word2 step", "The evidence names no line."]
    assert [caption.value for caption in app.caption] == said
    assert [button.label for button in app.button] == ["Word1 step", "Line 4", "Line 5"]
    assert [text.value for text in app.text] == ["dark", "light"]


def _filters(first, last) -> None:  # (a script of its own, without the names of this file)
    from kbdash.view import CompetitionView
    from kbdash.web import filters

    filters.remarks(CompetitionView(since=first, until=last))


@pytest.mark.parametrize(("last", "warned"), [(date(2025, 1, 1), 1), (date(2025, 1, 2), 0), (date(2025, 1, 3), 0)])
def test_days_that_leave_nothing_are_remarked(last: date, warned: int) -> None:
    app = AppTest.from_function(_filters, default_timeout=60, args=(date(2025, 1, 2), last)).run()
    assert len(app.warning) == warned


def _footer(unfiltered) -> None:  # (a script of its own, without the names of this file)
    from types import SimpleNamespace

    from kbdash.web import layout

    source = SimpleNamespace(kind="sample", label="sample", version="0")
    layout.footer(SimpleNamespace(source=source, competitions=[SimpleNamespace(unfiltered=unfiltered)]))


@pytest.mark.parametrize("unfiltered", [True, False])
def test_the_foot_of_a_page_says_what_ranks_can_differ_by(unfiltered: bool) -> None:
    [foot] = AppTest.from_function(_footer, default_timeout=60, args=(unfiltered,)).run().caption
    assert ("exported before secret-run filtering" in foot.value) is unfiltered


# --- pages in parts, with answers of their own ---------------------------------------------------------------------


def said(script: Callable[..., None], *args: Any) -> AppTest:
    """A script after its run, without errors; everything looks as its name says."""
    app = AppTest.from_function(script, default_timeout=60, args=args).run()
    assert not app.exception
    assert odd_looks(app) == []
    return app


def _first_visit(views) -> None:  # (these are scripts of their own, without the names of this file)
    from types import SimpleNamespace

    from kbdash.web import competition

    for name, view in views:
        competition._first_visit(SimpleNamespace(board=SimpleNamespace(name=name), view=view))


@pytest.mark.parametrize(
    ("views", "told"),
    [
        ([("a", CompetitionView())], 1),
        ([("a", CompetitionView(tab="progression"))], 0),
        ([("a", CompetitionView(hide_flagged=True))], 0),
        ([("a", CompetitionView()), ("b", CompetitionView())], 1),
    ],
)
def test_the_first_board_that_is_seen_is_explained(views: Any, told: int) -> None:
    assert len(said(_first_visit, views).caption) == told


def _drawn(columns) -> None:
    import pandas as pd

    from kbdash.view import SqlView
    from kbdash.web import console

    console._chart(SqlView(), pd.DataFrame({name: [1.0, 2.0] for name in columns}))


@pytest.mark.parametrize(("columns", "headers"), [(["a"], 0), (["a", "b"], 1)])
def test_two_columns_can_be_drawn(columns: list[str], headers: int) -> None:
    assert len(said(_drawn, columns).header) == headers


def boards_of(*slugs: str, **more: Any) -> Any:
    """An engine that knows competitions of these names, of which the last cannot be read."""
    competitions = [SimpleNamespace(slug=slug, title=slug.upper()) for slug in slugs]
    return SimpleNamespace(competitions=competitions, readable=lambda: slugs[:-1], **more)


def _pickers(view) -> None:
    from kbdash.web.content import pickers

    pickers.board(view)


@pytest.mark.parametrize(
    ("view", "labels"),
    [
        (SearchView(), ["Competition"]),
        (SearchView(competition="elsewhere"), ["Competition"]),
        (SearchView(competition="one"), ["Competition", "Problem"]),
    ],
)
def test_a_problem_is_chosen_after_its_competition(
    monkeypatch: pytest.MonkeyPatch, view: SearchView, labels: list[str]
) -> None:
    monkeypatch.setattr(pickers, "engine", lambda: boards_of("one", "two", problem_names=lambda _: ["x"]))
    app = said(_pickers, view)
    assert [box.label for box in app.selectbox] == labels
    assert app.selectbox[0].options == ["Every competition", "ONE"]


def test_a_problem_tells_its_competition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickers, "engine", lambda: SimpleNamespace(find=lambda problem, _: ("one", problem)))
    assert pickers.competition(SearchView(problem="x")) == "one"
    assert pickers.competition(SearchView(competition="two")) == "two"


def _searched(view) -> None:
    import streamlit as st

    from kbdash.web.content import search

    st.text(str(search._has_store(view)))


@pytest.mark.parametrize(
    ("stores", "searches", "left_out"), [(("one",), "True", ["TWO"]), ((), "False", []), (("one", "two"), "True", [])]
)
def test_competitions_without_a_store_are_named(
    monkeypatch: pytest.MonkeyPatch, stores: tuple[str, ...], searches: str, left_out: list[str]
) -> None:
    kb = boards_of("one", "two", "three", content_at_hand=lambda: stores)
    for module in (search, pickers):
        monkeypatch.setattr(module, "engine", lambda: kb)
    app = said(_searched, SearchView())
    assert app.text[0].value == searches
    assert [name for name in ("ONE", "TWO", "THREE") if any(name in part.value for part in app.caption)] == left_out


@pytest.mark.parametrize("missing", [True, False])
def test_steps_and_searches_need_the_store_of_their_competition(monkeypatch: pytest.MonkeyPatch, missing: bool) -> None:
    monkeypatch.setattr(store_panel, "missing", lambda *_: missing)
    assert (
        search._has_store(SearchView(competition="one"))
        is steps._has_store(StepsView(competition="one"))
        is not missing
    )


def _offer() -> None:
    from kbdash.content.stores import ContentState
    from kbdash.web.content import store_panel

    store_panel._offer("one", ContentState("absent", cost_bytes=5))


@pytest.mark.parametrize("may", [True, False])
def test_a_store_is_built_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch, may: bool) -> None:
    kb = SimpleNamespace(source=SimpleNamespace(kind="hub"), may_build_content=may)
    monkeypatch.setattr(store_panel, "engine", lambda: kb)
    app = said(_offer)
    assert [button.label for button in app.button] == ["Build it now"] * may
    assert any("switched off" in part.value for part in app.markdown) is not may


def _guard(one) -> None:
    from kbdash.web.content import text_panels

    text_panels.guard(one)


@pytest.mark.parametrize("named", [True, False])
def test_a_submission_that_rules_were_made_from_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    monkeypatch.setattr(store_panel, "missing", lambda *_: False)
    monkeypatch.setattr(text_panels, "named_in_rules", lambda *_: named)
    verdict = {"status": "clean", "rules": [], "version": "1"}
    monkeypatch.setattr(text_panels, "engine", lambda: SimpleNamespace(verdict=lambda *_: verdict))
    monkeypatch.setattr(text_panels, "_head", lambda *_: None)
    assert any("Named in KernelGuard" in part.value for part in said(_guard, ONE).markdown) is named


def test_a_panel_is_the_one_that_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    for name in ("relatives", "guard", "origins"):
        monkeypatch.setattr(text_panels, name, lambda _, name=name: opened.append(name))
    for show in ("", "relatives", "rules", "origins"):
        submission._panel(ONE, show)
    assert opened == ["relatives", "guard", "origins"]


@pytest.mark.parametrize("rank", [2, None])
def test_a_ladder_is_linked_where_the_user_has_a_rank(monkeypatch: pytest.MonkeyPatch, rank: int | None) -> None:
    linked: list[str] = []
    monkeypatch.setattr(submission, "_link", lambda _, label, *__: linked.append(label))
    monkeypatch.setattr(submission, "engine", lambda: SimpleNamespace(linkable=lambda: ("trimul",)))
    submission._head(of(rank=rank, best_before_id=None))
    assert linked[:2] == ["Board", "User"]
    assert ("Ladder" in linked) is (rank is not None)
