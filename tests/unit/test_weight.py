"""What caches count for a value is what it takes: one that counts less grows beyond its limit."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pytest

from kbdash.charts.canvas import figure
from kbdash.charts.palette import theme_of
from kbdash.dataset.model import Page
from kbdash.web import memo
from kbdash.web.weight import bytes_of

MANY = 4


def taken(make: Callable[[], object]) -> int:
    """Bytes of a value that Python and Arrow hold for it, on average of some."""
    made = [make()]  # what is imported or prepared once counts for none
    rounds = []
    for _ in range(3):
        gc.collect()
        arrow = pa.total_allocated_bytes()
        tracemalloc.start()
        made += [make() for _ in range(MANY)]
        gc.collect()
        ours, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        rounds.append((ours + pa.total_allocated_bytes() - arrow) // MANY)
    return min(rounds)  # other threads work too, and can only add


def frame(rows: int) -> pd.DataFrame:
    numbers = np.arange(rows)
    names = pd.array([f"reader number {number}" for number in numbers], dtype="str")
    moments = pd.to_datetime(numbers, unit="s", utc=True)
    return pd.DataFrame(
        {"rank": numbers, "user": names, "code": names.copy(), "score": numbers / 7, "gap": numbers / 3, "at": moments}
    )


def with_lists() -> pd.DataFrame:
    lists = pd.Series([[float(each) for each in range(30)] for _ in range(100)], dtype=object)
    return frame(100).assign(trend=lists)


def chart() -> go.Figure:
    traces = [{"type": "scatter", "x": np.arange(60), "y": np.random.rand(60), "name": f"{i}"} for i in range(20)]
    return figure(traces, theme_of("light"), height=300)


MADE: dict[str, Callable[[], Any]] = {
    "a table as JSON": lambda: bytes(bytearray(40_000)),
    "names": lambda: {f"id {number}": f"reader number {number}" for number in range(300)},
    "numbers": lambda: np.zeros(5_000),
    "a short frame": lambda: frame(3),
    "a long frame": lambda: frame(2_000),
    "lists in cells": with_lists,
    "a page of rows": lambda: Page(frame(50), 10, 1, 1),
    "a chart": lambda: memo._light(chart()),
}


@pytest.mark.parametrize("what", MADE)
def test_the_weight_of_a_value_is_what_it_takes(what: str) -> None:
    weight, real = bytes_of(MADE[what]()), taken(MADE[what])
    assert 0.7 < weight / real < 1.5, f"{weight} said, {real} taken"


def test_part_of_an_array_weighs_what_it_shows() -> None:
    assert bytes_of(np.zeros(10_000)[:1_000]) >= 8_000


def test_a_chart_is_kept_in_a_fraction_of_what_plotly_takes_for_it() -> None:
    def shown() -> tuple[go.Figure, object]:
        drawn = chart()
        return drawn, drawn.to_dict()

    assert taken(MADE["a chart"]) < taken(shown) / 3
