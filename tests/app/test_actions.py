"""The buttons inside tables: which row was clicked, and where that leads."""

from typing import Any

import pandas as pd
import pytest
import streamlit as st

from kbdash.ui import filters, overview, state, tables, user
from kbdash.ui.tabs import leaderboard, progression, ranking
from kbdash.view import LadderView, SubmissionView, UserView

LADDERS = (LadderView(problem="a", user="7"), LadderView(problem="b", user="8"))
ROWS = (SubmissionView(id=1, runner="H100"), SubmissionView(id=2, runner="B200"))


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Where the reader was sent, and what was changed in the view."""
    seen: list[tuple[Any, ...]] = []
    monkeypatch.setattr(state, "go", lambda path, view: seen.append((path, view)))
    monkeypatch.setattr(state, "change", lambda **changes: seen.append(("change", changes)))
    monkeypatch.setattr(state, "has", lambda path: True)
    return seen


def click(monkeypatch: pytest.MonkeyPatch, row: int, label: str = "Code") -> None:
    monkeypatch.setattr(st, "session_state", {"clicked": {"row": row, "label": label}})


def test_a_code_button_opens_its_row(monkeypatch: pytest.MonkeyPatch, went: list[Any]) -> None:
    click(monkeypatch, 1)
    tables.open_row("clicked", ROWS)
    assert went == [("submission", ROWS[1])]


def test_a_click_outside_the_rows_opens_nothing(monkeypatch: pytest.MonkeyPatch, went: list[Any]) -> None:
    for row in (-1, 2):
        click(monkeypatch, row)
        tables.open_row("clicked", ROWS)
    monkeypatch.setattr(st, "session_state", {})
    tables.open_row("clicked", ROWS)
    assert went == []


def test_a_board_button_opens_its_board(monkeypatch: pytest.MonkeyPatch, went: list[Any]) -> None:
    click(monkeypatch, 1)
    overview.open_board("clicked", "nvfp4", ("nvfp4_gemv", "nvfp4_gemm"))
    assert went[0][0] == "nvfp4"
    assert went[0][1].query() == {"problem": ["nvfp4_gemm"]}


def test_a_ladder_button_opens_its_ladder(monkeypatch: pytest.MonkeyPatch, went: list[Any]) -> None:
    click(monkeypatch, 1)
    user.open_ladder("clicked", LADDERS)
    assert went == [("ladder", LADDERS[1])]


def test_a_person_found_is_opened(monkeypatch: pytest.MonkeyPatch, went: list[Any]) -> None:
    click(monkeypatch, 1)
    user.open_user("clicked", ("7", "8"))
    assert went == [("change", {"user": "8", "find": ""})]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Pin", ("change", {"users": ("9", "7")})),
        ("Ladder", ("ladder", LADDERS[0])),
        ("User page", ("user", UserView(user="7"))),
    ],
)
def test_a_row_menu_does_what_it_says(
    monkeypatch: pytest.MonkeyPatch, went: list[Any], label: str, expected: tuple[Any, ...]
) -> None:
    click(monkeypatch, 0, label)
    ranking.act("clicked", LADDERS, ("9",))
    assert went == [expected]


def test_a_pinned_user_is_unpinned(monkeypatch: pytest.MonkeyPatch, went: list[Any]) -> None:
    click(monkeypatch, 0, "Unpin")
    ranking.act("clicked", LADDERS, ("7", "9"))
    assert went == [("change", {"users": ("9",)})]


def test_pins_are_bounded(went: list[Any]) -> None:
    filters.pin("new", tuple(str(number) for number in range(12)))
    assert len(went[0][1]["users"]) == 12


def test_a_point_opens_its_submission(went: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    class Scene:
        competition = type("Competition", (), {"slug": "trimul"})

    progression.open_point([32750, "H100", "whatever"], Scene())  # type: ignore[arg-type]
    view = SubmissionView(id=32750, runner="H100", competition="trimul", walk="user")
    assert went == [("submission", view)]


def test_neighbours_are_shown_with_the_pinned() -> None:
    ranked = pd.DataFrame({"runner": "H100", "rank": range(1, 31), "user_id": [str(number) for number in range(1, 31)]})
    shown = leaderboard.chosen_rows(ranked, "20", ("1", "30"), 10)
    assert shown["rank"].tolist() == [1, *range(15, 26), 30]
    assert leaderboard.chosen_rows(ranked, "nobody", (), 3)["rank"].tolist() == [1, 2, 3]
