"""Frames shaped for the eye: digits, units, steps, rows that can be opened."""

import pandas as pd
import pytest

from kbdash.ui import tables
from kbdash.ui.tabs.hardware import shape_rows
from kbdash.units import MICROSECONDS, MILLISECONDS
from kbdash.view import SubmissionView


@pytest.mark.parametrize(
    ("seconds", "digits"), [(9.954e-6, 3), (31.2e-6, 2), (554e-6, 1), (5e-7, 3), (None, 3), (float("nan"), 3)]
)
def test_four_significant_digits_at_the_best_time(seconds: float | None, digits: int) -> None:
    assert tables.places(MICROSECONDS, seconds) == digits


def test_a_series_is_held_between_its_values() -> None:
    assert tables.steps([2e-6, 2e-6, 1e-6], MICROSECONDS) == [2.0] * 8 + [1.0] * 4
    assert tables.steps([2e-6, 2e-6, 2e-6], MICROSECONDS) == [2.0, 2.0]
    assert tables.steps([], MICROSECONDS) == []
    assert tables.steps(None, MICROSECONDS) == []


def test_readable_tables_name_their_unit_and_keep_utc() -> None:
    frame = pd.DataFrame(
        {
            "runner": ["NVIDIA", None],
            "score": [0.0015, None],
            "submitted_at": pd.to_datetime(["2026-02-21T07:30Z", None], format="ISO8601"),
        }
    )
    shown = tables.readable(frame, MILLISECONDS)
    assert shown["runner"].tolist() == ["B200 (on-prem)", "–"]
    assert shown["score (ms)"].iloc[0] == 1.5
    assert shown["submitted_at"].iloc[0] == pd.Timestamp("2026-02-21 07:30")
    assert frame["score"].iloc[0] == 0.0015


def test_links_name_the_runner_and_survive_missing_values() -> None:
    frame = pd.DataFrame({"submission_id": [7.0, None], "runner": ["H100", None]})
    assert list(tables.links(frame, "trimul", walk="user")) == [
        SubmissionView(id=7, runner="H100", competition="trimul", walk="user"),
        SubmissionView(),
    ]


def test_a_rank_over_shapes_stands_beside_the_rank_on_the_same_runner() -> None:
    """A user can be on the board with two runners."""
    board = {"user_id": ["7", "7", "8"], "user_name": "", "runner": ["MI300", "MI250", "MI300"]}
    official = pd.DataFrame(board | {"rank": [1, 9, 2]})
    ranking = pd.DataFrame(board | {"rank": [2, 1, 1], "score": [2e-3, 1e-3, 1e-3], "submission_id": [1, 2, 3]})
    assert shape_rows(ranking, official, MICROSECONDS)["official"].tolist() == [1, 9, 2]
