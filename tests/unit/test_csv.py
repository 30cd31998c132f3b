"""CSV files hold no formulas, whatever people call themselves."""

import csv
import io
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.csv import csv_safe, csv_text

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.mark.parametrize("start", STARTS)
def test_texts_that_a_spreadsheet_would_run_are_quoted(start: str) -> None:
    frame = pd.DataFrame({"user": [f"{start}1+1", "a=b", None, ""], "score": [-1.5, 2.0, None, -0.0]})
    safe = csv_safe(frame)
    assert safe["user"].tolist()[:2] == [f"'{start}1+1", "a=b"]
    assert safe["user"].isna().tolist() == [False, False, True, False]
    pd.testing.assert_series_equal(safe["score"], frame["score"])


def test_texts_among_other_values_are_quoted() -> None:
    mixed = pd.DataFrame({"what": pd.Series(["=1", 2, None], dtype=object)})
    assert csv_safe(mixed)["what"].tolist() == ["'=1", 2, None]


def test_headers_are_texts_too() -> None:
    assert csv_safe(pd.DataFrame({"=x": [1], "y": [2]})).columns.tolist() == ["'=x", "y"]


@given(
    st.lists(st.text(max_size=12) | st.text(st.sampled_from((*STARTS, "'", "a")), max_size=4), min_size=1, max_size=8)
)
def test_no_cell_begins_a_formula_and_the_others_stay(names: list[str]) -> None:
    names = [name.encode("utf-8", "replace").decode() for name in names]
    table = list(csv.reader(io.StringIO(csv_text(pd.DataFrame({"n": range(len(names)), "user": names})), newline="")))
    cells = [row[1] for row in table[1:]]
    assert not any(cell.startswith(STARTS) for cell in cells)
    assert [
        cell.removeprefix("'") if name.startswith(STARTS) else cell for name, cell in zip(names, cells, strict=True)
    ] == names


def test_numbers_times_and_truth_values_stay_as_they_are() -> None:
    frame = pd.DataFrame({
        "score": [-0.1 + 0.3, np.nan], "id": [2**62, -5], "passed": [True, False], "big": pd.array([1, None], "Int64"),
        "at": pd.to_datetime([datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), None]),
    })  # fmt: skip
    assert csv_text(frame).splitlines() == [
        "score,id,passed,big,at",
        "0.19999999999999998,4611686018427387904,True,1,2026-01-02T03:04:05.678901Z",
        ",-5,False,,",
    ]
