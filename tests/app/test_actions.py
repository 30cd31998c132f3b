"""The links inside tables and the clicks on charts: where they lead."""

from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from kbdash.view import MAX_PINS, CompetitionView, LadderView, SubmissionView
from kbdash.web import chart, state
from kbdash.web.tabs import ranking

BOARD = {"problem": ["nvfp4_gemm"]}


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Where the reader was sent, from the page "nvfp4" of three."""
    seen: list[tuple[Any, ...]] = []
    address = SimpleNamespace(from_dict=lambda query: seen.append(("here", query)))
    pages = {"_page": "nvfp4", "_pages": {"": "overview", "nvfp4": "board", "user": "person"}}
    monkeypatch.setattr(st, "session_state", pages)
    monkeypatch.setattr(st, "query_params", address)
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: seen.append((page, query_params)))
    return seen


def test_a_link_is_followed_inside_the_session(went: list[Any]) -> None:
    state.follow("/user?user=7&find=a%26b")
    state.follow("/nvfp4?problem=nvfp4_gemm&user=1&user=2")
    state.follow("/")
    assert went == [
        ("person", {"user": ["7"], "find": ["a&b"]}), ("here", {**BOARD, "user": ["1", "2"]}), ("overview", {}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "address", ["", "user", "//evil.example/user", "/nowhere", "https://x/user", "/user?" + "a" * 9000]
)
def test_an_address_of_no_page_leads_nowhere(went: list[Any], address: str) -> None:
    state.follow(address)
    assert went == []


def test_a_user_is_pinned_and_unpinned_by_a_link() -> None:
    on = LadderView("nvfp4", "nvfp4_gemm", "NVIDIA")
    view = CompetitionView(problem="nvfp4_gemm", users=("9",))
    assert ranking.actions("7", on, view) == [
        ("Ladder", "/ladder?competition=nvfp4&problem=nvfp4_gemm&runner=NVIDIA&user=7"),
        ("Pin", "/nvfp4?problem=nvfp4_gemm&user=9&user=7"),
    ]
    assert ranking.actions("9", on, view)[1] == ("Unpin", "/nvfp4?problem=nvfp4_gemm")
    assert ranking.actions(None, on, view) == []


def test_pins_are_bounded() -> None:
    assert len(ranking.with_pin("new", tuple(str(number) for number in range(MAX_PINS)))) == MAX_PINS


def test_what_a_click_on_a_chart_names_is_read_like_a_link() -> None:
    asked = SubmissionView(id=32750, runner="H100", competition="trimul")
    assert chart.target("32750@H100 somebody", "trimul") == asked
    assert chart.target("32750@H100 trimul", None) == asked
    assert chart.target("7", "trimul") == SubmissionView(id=7, competition="trimul")
    for nonsense in ("", "x", "-1@H100", "1e3", "<b>"):
        assert chart.target(nonsense, "trimul") is None
