"""The parts charts are made of: ticks, bounds, labels that do not collide, thinning, escaping."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbdash.charts.axes import log_ticks, ratio_ticks, tick_text
from kbdash.charts.canvas import Sent, figure, thinned
from kbdash.charts.labels import end_label, spread
from kbdash.charts.palette import LIGHT
from kbdash.charts.quick import quick
from kbdash.charts.span import axis_end
from kbdash.charts.sparkline import sparkline
from kbdash.charts.text import escaped
from kbdash.charts.with_without import compared


def test_a_figure_that_is_kept_as_text_is_sent_as_it_was_drawn():
    drawn = figure([{"type": "scatter", "x": np.arange(3), "y": [1.5, 2.5, 3.5]}], LIGHT, height=200)
    assert Sent(drawn).to_dict() == drawn.to_dict()


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (9.5, 210, ["10", "20", "50", "100", "200"]),
        (8, 120_000, ["10", "100", "1,000", "10,000", "100,000"]),
        (9.6, 12.3, ["10", "11", "12"]),
        (9.88, 10.22, ["9.9", "10", "10.1", "10.2"]),
        (0.02, 0.9, ["0.02", "0.05", "0.1", "0.2", "0.5"]),
        (1e-3, 1e9, ["0.01", "1", "100", "10,000", "1,000,000", "100,000,000"]),
    ],
)
def test_ticks_are_round_numbers(low, high, ticks):
    assert [tick_text(tick) for tick in log_ticks(low, high)] == ticks


@given(st.floats(1e-6, 1e6), st.floats(1.02, 1e9))
def test_every_axis_has_a_few_ticks_inside_its_bounds(low, factor):
    high = low * factor
    assume(high < 1e12)
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(set(ticks))
    assert len({tick_text(tick) for tick in ticks}) == len(ticks)
    for tick in ticks:
        assert float(tick_text(tick).replace(",", "")) == pytest.approx(tick)


@given(st.floats(1.05, 1e5))
def test_ratio_axes_have_at_most_five_ticks_with_room_between(end):
    ticks = ratio_ticks(end)
    assert ticks[0] == 1
    assert 2 <= len(ticks) <= 5
    assert ticks[-1] <= end * 1.0001
    assert all(math.log(b / a) >= 0.2 * math.log(end) for a, b in pairwise(ticks))


@given(st.lists(st.floats(0, 300), max_size=12), st.floats(1, 30))
def test_labels_keep_their_order_their_distance_and_the_bounds(positions, gap):
    placed = spread(positions, gap, 0, 300)
    room = min(gap, 300 / max(len(positions) - 1, 1))
    ordered = sorted(zip(positions, placed, strict=True))
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in placed)
    tops = sorted(placed)
    assert all(b - a >= room - 1e-6 for a, b in pairwise(tops))
    assert all(a[1] <= b[1] for a, b in pairwise(ordered) if a[0] < b[0])


def test_labels_that_do_not_collide_stay_where_they_are():
    assert spread([10, 50, 90], 15, 0, 100) == [10, 50, 90]
    assert spread([50, 50], 10, 0, 100) == [50, 60]
    assert spread([100, 100], 10, 0, 100) == [90, 100]


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 60))
def test_thinning_keeps_what_must_stay_and_the_order(keep, limit):
    mask = np.array(keep, dtype=bool)
    places = thinned(mask, limit)
    assert len(places) == min(limit, len(mask))
    assert list(places) == sorted(set(places))
    if mask.sum() <= limit:
        assert mask[places].sum() == mask.sum()
    assert list(places) == list(thinned(mask, limit))


@pytest.mark.parametrize(
    ("raw", "safe"),
    [
        ("gau.nernst", "gau.nernst"),
        ("<b>x</b>", "&#60;b&#62;x&#60;/b&#62;"),
        ("a & b &lt;", "a &#38; b &#38;lt;"),
        ("%{y}", "&#37;&#123;y&#125;"),
        ("$x$", "&#36;x&#36;"),
        ("line\nbreak\x00", "line\ufffdbreak\ufffd"),
        ("rtl \u202eoverride\u2069", "rtl override"),
        ("مرحبا", "\u2068مرحبا\u2069"),
        ("🚀", "🚀"),
        (None, "None"),
    ],
)
def test_text_is_escaped_for_plotly(raw, safe):
    assert escaped(raw) == safe


def test_long_text_is_cut_before_it_is_escaped():
    assert escaped("<" * 10, 4) == "&#60;&#60;&#60;…"
    assert escaped("abcd", 4) == "abcd"
    assert escaped("ab👩\u200d💻", 4) == "ab👩…"


@given(st.text())
def test_nothing_that_plotly_reads_survives(text):
    safe = escaped(text)
    for entity in ("&#38;", "&#60;", "&#62;", "&#36;", "&#37;", "&#123;", "&#125;", "&#34;", "&#39;"):
        safe = safe.replace(entity, "")
    assert not set(safe) & set("&<>$%{}\"'")
    assert not any(0x202A <= ord(sign) <= 0x202E for sign in safe)


def test_labels_without_room_share_what_there_is() -> None:
    assert spread([0.6] * 4, 0.4, 0.5, 1.0) == pytest.approx([0.5, 2 / 3, 5 / 6, 1.0])


def test_a_label_stands_as_far_from_either_end() -> None:
    assert (end_label("a", 0.5, "red", left=True)["xshift"], end_label("a", 0.5, "red")["xshift"]) == (-6, 6)


def test_a_space_that_does_not_break_is_no_control() -> None:
    assert escaped("a\xa0b\x9fc\x7fd\x1f") == "a\xa0b\ufffdc\ufffdd\ufffd"


def test_an_axis_says_how_slow_the_last_are() -> None:
    scores = [*np.linspace(1.0, 1.1, 60), 40.0, 50.0]
    assert axis_end(scores).slowest == 50.0


def test_without_a_best_there_is_no_line_in_a_cell() -> None:
    assert sparkline([2.0, 1.0], 0.0) == sparkline([2.0, 1.0], math.nan) == sparkline(None, 1.0) == []
    assert sparkline([1.1, 1.0], 1.0) == [round(math.log(1.1), 4), 0.0]


def test_a_board_is_compared_with_and_without() -> None:
    bests = pd.DataFrame({"problem": "p", "runner": "r", "holds": [True, True, True, False], "score": [3, 5, 10, 4.0]})
    assert compared(bests).iloc[0].tolist() == ["p", "r", 3, 1, 3.0, 4.0, 5.0, 4.0]


def test_any_answer_is_drawn_by_groups_the_largest_first_and_the_rest_last() -> None:
    names = [f"group {at}" for at in range(9) for _ in range(10 - at)]
    rows = pd.DataFrame({"x": range(len(names)), "y": 1.0, "name": names, "sure": True})
    drawn = [trace.name for trace in quick(rows, "x", "y", "name").data]
    assert drawn == [*(f"group {at}" for at in range(7)), "others"]
    assert [len(trace.x) for trace in quick(rows, "x", "y").data] == [len(names)]
    assert not quick(rows, "x", "sure").data, "yes and no are no heights"
