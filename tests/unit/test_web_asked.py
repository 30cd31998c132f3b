"""What a page asks for, and when: of the session, of its address, and of answers that can be missing."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kbdash.view import SearchView
from kbdash.web import answers, chart, registry, session, share
from kbdash.web.code import choose, compare
from kbdash.web.code.verdict import Verdict
from kbdash.web.content import hits, search
from kbdash.web.tabs import hardware
from tests.unit import chart_frames as frames
from tests.unit.test_web_tabs import Written, scene


@pytest.mark.parametrize(
    ("number", "asked_at", "asked", "waits"),
    [
        (None, None, (None, None), True),
        (3, None, (3,), False),
        (3, 5.0, (3, 5.0), True),
        (None, 5.0, (None, 5.0), True),
    ],
)
def test_only_a_source_that_is_opened_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, number: int | None, asked_at: float | None, asked: tuple[Any, ...], waits: bool
) -> None:
    given: list[tuple[Any, ...]] = []
    spun: list[str] = []

    def get(*what: Any) -> SimpleNamespace:
        given.append(what)
        return SimpleNamespace(number=7, kb="engine")

    def spinner(text: str) -> nullcontext[None]:
        spun.append(text)
        return nullcontext()

    state = {session._NUMBER: number, session._ASKED_AT: asked_at}
    monkeypatch.setattr(session, "engines", lambda: SimpleNamespace(get=get))
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state=state, spinner=spinner))
    assert session._looked_up() == "engine"  # type: ignore[comparison-overlap]
    assert (given, bool(spun)) == ([asked], waits)
    assert state == {session._NUMBER: 7}


@pytest.mark.parametrize(("kind", "newer"), [("hub", "0123"), ("folder", None), ("sample", None)])
def test_only_the_hub_has_newer_revisions(monkeypatch: pytest.MonkeyPatch, kind: str, newer: str | None) -> None:
    watch = SimpleNamespace(newer="0123", asking=SimpleNamespace(acquire=lambda blocking: False))
    monkeypatch.setattr(session, "engine", lambda: SimpleNamespace(source=SimpleNamespace(kind=kind, version="v")))
    monkeypatch.setattr(session, "_watch", lambda _: watch)
    assert session.newer() == newer


@pytest.mark.parametrize(
    ("address", "unknown"),
    [
        ("http://h/nonsense", "nonsense"),
        ("http://h/trimul", None),
        ("http://h/", None),
        (None, None),
        ("http://h/a%20b", None),
    ],
)
def test_an_address_without_a_page_gets_one(
    monkeypatch: pytest.MonkeyPatch, address: str | None, unknown: str | None
) -> None:
    def page(_: object, *, url_path: str, **__: object) -> SimpleNamespace:
        return SimpleNamespace(url_path=url_path)

    kept: dict[str, str] = {}
    monkeypatch.setattr(registry, "st", SimpleNamespace(session_state=kept, Page=page))
    menu: Any = {"": [page(None, url_path=path) for path in ("", "trimul")]}
    added = set(registry.by_path(registry.with_unknown(menu, address))) - {"", "trimul"}
    assert added == ({unknown} if unknown else set())
    assert set(registry.by_path(registry.with_unknown(menu, None))) - {"", "trimul"} == added, "it stays, for Back"


def test_users_of_a_board_are_asked_for_once_it_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = pd.DataFrame({"competition": ["trimul"], "problem": ["trimul"], "runner": ["A100"], "users": [2]})
    monkeypatch.setattr(choose, "st", Written())
    monkeypatch.setattr(choose.session, "engine", lambda: SimpleNamespace(competitions=[]))
    monkeypatch.setattr(answers, "problems", lambda: problems)
    choose.two_users()
    assert len(choose.st.boxes) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(("opened", "is_shown"), [(None, False), (1, True), (2, True), (3, False)])
def test_a_line_is_opened_if_it_is_listed(monkeypatch: pytest.MonkeyPatch, opened: int | None, is_shown: bool) -> None:
    found = pd.DataFrame({"line": ["one", "two"]})
    found.attrs["total"] = 2
    shown: list[str] = []
    monkeypatch.setattr(search, "st", Written())
    monkeypatch.setattr(search.st, "markdown", lambda _: None, raising=False)
    monkeypatch.setattr(hits, "options", lambda _: {})
    monkeypatch.setattr(answers, "search", lambda *_, **__: found)
    monkeypatch.setattr(answers, "holding", lambda *_, **__: SimpleNamespace(total=2, users=1))
    for name in ("_tools", "_pictures", "_lines"):
        monkeypatch.setattr(search, name, lambda *_: None)
    monkeypatch.setattr(search, "_opened", lambda _, line, __: shown.append(line))
    search._results(SearchView(q="o", opened=opened))
    assert shown == (found["line"].tolist()[opened - 1 : opened] if opened and is_shown else [])


@pytest.mark.parametrize(
    ("runners", "twin", "has_shapes", "picked"),
    [(2, None, False, 1), (1, "other", False, 1), (1, None, True, 0), (1, None, False, 0)],
)
def test_the_reach_of_a_time_axis_is_chosen_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, runners: int, twin: str | None, has_shapes: bool, picked: int
) -> None:
    here = scene(*("A100", "T4")[:runners])
    here.board.twin, here.competition.has_shapes = twin, has_shapes
    spans: list[str] = []
    monkeypatch.setattr(hardware, "st", Written())
    monkeypatch.setattr(answers, "leaderboard", lambda *_, **__: frames.ranked([1e-5]))
    monkeypatch.setattr(chart, "span_picker", lambda span, _: spans.append(span))
    monkeypatch.setattr(share, "toolbar", lambda *_, **__: None)
    for name in ("_runners", "_ratios", "_twins", "_shapes"):
        monkeypatch.setattr(hardware, name, lambda *_: None)
    hardware.show(here)
    assert len(spans) == picked


@pytest.mark.parametrize(("refused", "metrics"), [("Two problems.", 0), ("", 1)])
def test_times_that_cannot_be_compared_are_not(monkeypatch: pytest.MonkeyPatch, refused: str, metrics: int) -> None:
    shown: list[str] = []
    said: list[str] = []
    monkeypatch.setattr(compare, "st", Written())
    monkeypatch.setattr(compare.st, "metric", lambda label, *_, **__: shown.append(label), raising=False)
    monkeypatch.setattr(compare.st, "markdown", said.append, raising=False)
    compare._verdict(Verdict(label="Less time", change="", times="", refused=refused))
    assert (len(shown), len(said)) == (metrics, 1 - metrics)
