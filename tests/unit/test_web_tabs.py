"""Tabs and pages of all texts, one part at a time: what is asked, and what is shown of the answers."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kbdash.units import MICROSECONDS as US
from kbdash.view import CompetitionView, SearchView, TrustView
from kbdash.web import answers, chart, share, state, widgets
from kbdash.web.content import search, store_panel, trust
from kbdash.web.tabs import distribution, leaderboard, progression, techniques
from tests.unit import chart_frames as frames


class Written:
    """In place of Streamlit, for code that writes single lines: what was written, and with which options."""

    def __init__(self) -> None:
        self.captions: list[str] = []
        self.boxes: list[dict[str, Any]] = []

    def container(self, *_: object, **__: object) -> "Written":
        return self

    popover = container

    def __enter__(self) -> "Written":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def caption(self, text: str, **_: object) -> None:
        self.captions.append(text)

    def selectbox(self, *_: object, **given: Any) -> None:
        self.boxes.append(given)

    def header(self, *_: object, **__: object) -> None:
        pass

    title = header


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    """What a tab writes; its tools are left out."""
    found = Written()
    for module in (distribution, leaderboard, progression, techniques, search, trust):
        monkeypatch.setattr(module, "st", found)
    monkeypatch.setattr(chart, "span_picker", lambda *_: None)
    monkeypatch.setattr(share, "toolbar", lambda *_, **__: None)
    return found


def scene(*runners: str, runner: str | None = None, **view: Any) -> Any:
    """A board on these runners."""
    board = SimpleNamespace(name="trimul", label="Trimul", speed_of_light=None)
    return SimpleNamespace(
        board=board, competition=SimpleNamespace(slug="trimul"), runners=runners, runner=runner, unit=US, theme="light",
        view=CompetitionView(**view), filters={}, parameters={}, stem=lambda what: f"stem-{what}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("runners", "words"),
    [(("A100",), "2 users. "), (("A100", "T4"), "2 users on A100. "), (("A100", "T4", "H100"), "2 users on A100. ")],
)
def test_the_runner_of_a_chart_is_named_where_there_are_several(
    written: Written, runners: tuple[str, ...], words: str
) -> None:
    progression._bar(scene(*runners), frames.bests(2), "A100")
    assert [text.partition("Click")[0] for text in written.captions] == [f"Best so far of {words}"]


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(("runner", "ends"), [("A100", {""}), (None, {"-A100", "-T4"})])
def test_each_runner_has_a_chart_and_a_file_of_its_own(
    monkeypatch: pytest.MonkeyPatch, runner: str | None, ends: set[str]
) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(chart, "show", lambda *_, **given: shown.append(given))
    ranked = pd.concat([frames.ranked([1e-5, 2e-5], runner=name) for name in ("A100", "T4")])
    monkeypatch.setattr(answers, "leaderboard", lambda *_, **__: ranked)
    distribution.show(scene("A100", "T4", runner=runner))
    assert {given["key"].removeprefix("distribution-chart") for given in shown} == ends
    assert {given["file_name"].removeprefix("stem-field") for given in shown} == ends


@pytest.mark.parametrize(("find", "chosen"), [("u1", "u1"), ("u9", None), ("", None)])
def test_a_user_who_is_ranked_is_chosen_in_the_box(
    monkeypatch: pytest.MonkeyPatch, written: Written, find: str, chosen: str | None
) -> None:
    monkeypatch.setattr(state, "control", lambda _, value: {"value": value})
    leaderboard._find(scene("A100", find=find), frames.ranked([1e-5, 2e-5]))
    assert [box["value"] for box in written.boxes] == [chosen]


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("times", [0, 2])
def test_techniques_are_drawn_by_rank_where_somebody_is_ranked(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    shown: list[str] = []
    monkeypatch.setattr(chart, "show", lambda *_, **given: shown.append(given["key"]))
    monkeypatch.setattr(answers, "leaderboard", lambda *_, **__: frames.ranked([1e-5, 2e-5][:times]))
    monkeypatch.setattr(answers, "facets_of_many", lambda _, pairs: [("tma",)] * len(pairs))
    monkeypatch.setattr(widgets, "narrow", lambda: False)
    techniques._field(scene("A100"), pd.DataFrame({"facet": ["tma"]}))
    assert shown == ["technique-field"] * (times > 0)


@pytest.mark.usefixtures("written")
def test_the_first_ranks_stand_beside_those_without_flagged_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: list[bool] = []

    def ranked(*_: object, flagged: bool = True, **__: object) -> pd.DataFrame:
        kinds.append(flagged)
        return frames.ranked([1e-5] if flagged else [])

    given: list[Any] = []
    monkeypatch.setattr(answers, "leaderboard", ranked)
    monkeypatch.setattr(trust, "memoise", lambda _, with_flags, without, *__: given.extend((with_flags, without)))
    monkeypatch.setattr(
        trust, "engine", lambda: SimpleNamespace(find=lambda problem, slug: (slug, problem), linkable=tuple)
    )
    monkeypatch.setattr(trust.table, "show", lambda *_, **__: None)
    monkeypatch.setattr(store_panel, "is_at_hand", lambda _: False)
    monkeypatch.setattr(store_panel, "missing", lambda *_: True)
    trust._first(TrustView(problem="trimul"), "trimul")
    assert sorted(kinds) == [False, True]
    assert [len(frame) for frame in given] == [1, 0]


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    ("q", "has_store", "shown"),
    [("x", True, ["results"]), ("x", False, []), ("", True, ["examples"]), ("", False, ["examples"])],
)
def test_examples_are_shown_until_something_is_searched(
    monkeypatch: pytest.MonkeyPatch, q: str, has_store: bool, shown: list[str]
) -> None:
    told: list[str] = []
    monkeypatch.setattr(state, "view", lambda _: SearchView(q=q))
    monkeypatch.setattr(widgets, "link_notes", lambda: None)
    monkeypatch.setattr(search, "_box", lambda _: None)
    monkeypatch.setattr(search, "_has_store", lambda _: has_store)
    monkeypatch.setattr(search, "_results", lambda _: told.append("results"))
    monkeypatch.setattr(search, "_examples", lambda: told.append("examples"))
    search.show()
    assert told == shown


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("view", [TrustView(), TrustView(problem="trimul")])
def test_the_first_ranks_are_those_of_one_board(monkeypatch: pytest.MonkeyPatch, view: TrustView) -> None:
    told: list[str] = []
    monkeypatch.setattr(state, "view", lambda _: view)
    monkeypatch.setattr(trust.pickers, "board", lambda _: None)
    monkeypatch.setattr(trust.pickers, "competition", lambda given: given.problem)
    for name in ("chips", "link_notes"):
        monkeypatch.setattr(widgets, name, lambda *_: None)
    monkeypatch.setattr(trust, "engine", lambda: SimpleNamespace(readable=lambda: ("trimul", "linalg")))
    for name in ("_first", "_flags", "_boards", "_matches"):
        monkeypatch.setattr(trust, name, lambda *given, name=name: told.append(f"{name} {given[-1]}"))
    trust.show()
    slugs = "('trimul',)" if view.problem else "('trimul', 'linalg')"
    first = ["_first trimul"] if view.problem else []
    assert told == [*first, *(f"{name} {slugs}" for name in ("_flags", "_boards", "_matches"))]
