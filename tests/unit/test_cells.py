"""Tables as data: every kind of value written as its column says, and nothing that is not an address as a link."""

import json
import math

import pandas as pd
import pytest

from kbdash.units import MICROSECONDS, MILLISECONDS
from kbdash.web import cells, table
from kbdash.web.cells import Column


def texts(values: list[object], **column: object) -> list[str]:
    """What a column of these values says."""
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    found: list[str] = cells.column_cells(frame, Column("x", "X", **column))["texts"]  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("column", "values", "shown"),
    [
        ({}, ["a", None, math.nan, ""], ["a", "–", "–", ""]),
        ({"kind": "name"}, ["<b>x</b>\u202e"], ["<b>x</b>\u202e"]),
        ({"kind": "rank"}, [1.0, "=3", None], ["1", "=3", "–"]),
        ({"kind": "whole"}, [1234, pd.NA], ["1,234", "–"]),
        ({"kind": "number", "places": 1, "plus": True}, [0.0, -1.25, math.inf], ["+0.0", "−1.2", "Infinity"]),
        ({"kind": "number"}, [1234.6, -0.4, -math.inf], ["1,235", "0", "−Infinity"]),
        ({"kind": "share"}, [0.537, 1.0], ["53.7", "100.0"]),
        ({"kind": "share", "places": 0}, [0.537], ["54"]),
        ({"kind": "ratio"}, [1.0, 1.126, 100.0, 1234.0, math.inf], ["1.00", "1.13", "100", "1,234", "Infinity"]),
        ({"kind": "day"}, [pd.Timestamp("2026-02-21T23:30-05:00"), pd.NaT], ["2026-02-22", "–"]),
        ({"kind": "minute"}, [pd.Timestamp("2026-02-21T07:30Z")], ["2026-02-21 07:30"]),
        ({"kind": "trend"}, [[0.0, 0.1], [0.0], [], None], ["line", "", "", "–"]),
    ],
)  # fmt: skip
def test_values_are_written_as_their_column_says(
    column: dict[str, object], values: list[object], shown: list[str]
) -> None:
    assert texts(values, **column) == shown


@pytest.mark.parametrize(
    ("seconds", "places", "shown"),
    [
        (9.9537e-6, 3, "9.954"), (0.0123, 3, "12,300.000"), (0.0123, None, "12,300"), (9.9537e-6, None, "9.954"),
        (0.0, 3, "0.000"), (None, 3, "–"), (math.nan, 3, "–"), (math.inf, 3, "no time (Infinity)"),
        (-math.inf, 3, "no time (−Infinity)"), (-1.0, 3, "no time (−1 s)"), (-0.25, None, "no time (−0.25 s)"),
    ],
)  # fmt: skip
def test_a_score_that_is_no_time_is_not_a_number_of_microseconds(
    seconds: float | None, places: int | None, shown: str
) -> None:
    assert cells.time_cell(seconds, MICROSECONDS, places) == shown


def test_a_difference_of_times_has_a_sign() -> None:
    gaps = texts([1e-6, -1e-6, None], kind="time", unit=MICROSECONDS, places=2, plus=True)
    assert gaps == ["+1.00", "−1.00", "–"]


def test_the_unit_stands_in_the_head_once() -> None:
    assert Column("a", "Time", "time", unit=MILLISECONDS).title == "Time (ms)"
    assert Column("a", "Passed", "share", unit="%").title == "Passed (%)"
    with pytest.raises(TypeError, match="no unit of time"):
        texts([1.0], kind="time")


def test_columns_without_a_value_take_no_room() -> None:
    frame = pd.DataFrame({"a": [1, 2], "tie": ["", ""], "gap": [None, None], "flags": ["", "odd"]})
    columns = tuple(Column(name, name) for name in frame.columns)
    made = cells.table(frame, columns, caption="c")
    assert [column["name"] for column in made["columns"]] == ["a", "flags"]


def test_what_belongs_to_a_cell_goes_along() -> None:
    frame = pd.DataFrame(
        {
            "time": [1e-6, 2e-6], "to": ["/submission?id=7", None], "why": ["", "below the floor"],
            "ref": ["7@H100", None], "look": ["mine", ""], "ratio": [1.0, 2.0],
            "more": [[("Ladder", "/ladder?a=1")], [("Bad", "https://x.example")]],
        }
    )  # fmt: skip
    columns = (
        Column("time", "Time", "time", unit=MICROSECONDS, link="to", mark="why"),
        Column("ratio", "× best", "ratio"),
        Column("more", "More", "links"),
    )
    made = json.loads(cells.as_json(frame, columns, "Two", "ref", "look"))
    time, ratio, more = made["columns"]
    assert (time["links"], time["marks"], time["notes"]) == (["/submission?id=7", ""], ["", "below the floor"], [])
    assert ratio["parts"] == [1.0, 0.5]
    assert more["choices"] == [[["Ladder", "/ladder?a=1"]], [["Bad", ""]]]
    assert (made["refs"], made["emphasis"], made["rows"]) == (["7@H100", ""], ["mine", ""], 2)


@pytest.mark.parametrize("text", ["javascript:alert(1)", "//evil.example", "/\\evil.example", "https://x", "", "x"])
def test_only_addresses_inside_the_app_are_links(text: str) -> None:
    assert cells.address(text) == ""
    assert cells.address("/user?user=7") == "/user?user=7"


def test_a_head_turns_the_order_round() -> None:
    up = Column("a", "A", sort="score")
    down = Column("b", "B", sort="submitted_at", first="descending")
    assert [table.next_order(up, now) for now in ("", "score", "-score")] == ["score", "-score", "score"]
    assert [table.next_order(down, now) for now in ("score", "-submitted_at")] == ["-submitted_at", "submitted_at"]
    order = table.Order("score", lambda asked: f"/x?sort={asked}")
    assert table.heads((up, down, Column("c", "C")), order) == {
        "score": "/x?sort=-score", "submitted_at": "/x?sort=-submitted_at",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "page", "root"),
    [
        ("http://x/nvfp4", "nvfp4", ""),
        ("http://x/", "", ""),
        ("http://x/base/nvfp4", "nvfp4", "/base"),
        (None, "a", ""),
    ],
)
def test_links_know_the_path_the_app_is_served_under(shown: str | None, page: str, root: str) -> None:
    assert table.root(shown, page) == root
