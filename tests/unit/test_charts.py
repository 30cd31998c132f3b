"""What holds for every chart: valid, bounded, escaped, legible in both themes, and never empty without a word."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from kbdash import charts
from kbdash.charts.canvas import figure
from kbdash.charts.palette import contrast, theme_of
from kbdash.units import MICROSECONDS as US
from kbdash.view import read_ref
from tests.unit import chart_frames as frames

Draw = Callable[[str], go.Figure]

RUNNERS = ("B200", "H100", "A100", "MI300")
BESTS = frames.bests()
SCORES = [1e-5 * (1 + place / 50) for place in range(20)] + [9e-4]
EVERY_RUNNER = pd.concat([frames.ranked([at * score for score in SCORES], name) for at, name in enumerate(RUNNERS, 1)])
TITLES = (("one", "One"), ("<b>two</b>", "<b>Two</b>"))
LABELS = ((("one", "<img src=x> 1"), "$label$"),)
HELD_ON = ((("<b>one</b>", "B200"), "<b>one</b>, $B200$"),)
FACETS = tuple(f"facet{at}" for at in range(60))
DEADLINE = datetime(2025, 12, 20, 7, 59, tzinfo=UTC)

FULL: dict[str, Draw] = {
    "field": lambda theme: charts.field(frames.ranked(SCORES), US, theme, light=4e-6, mine=1.1e-5, pinned=("u3",)),
    "progression": lambda theme: charts.progression(BESTS, US, theme, deadline=DEADLINE, pinned=("u2", "u0")),
    "progression of one": lambda theme: charts.progression(
        BESTS, US, theme, attempts=frames.attempts(), pinned=("u0",), span="final"
    ),
    "bump": lambda theme: charts.bump(BESTS, theme, pinned=("u1",)),
    "passed by": lambda theme: charts.passed_by(BESTS, "u3", theme),
    "lanes": lambda theme: charts.lanes(BESTS, US, theme),
    "runner strips": lambda theme: charts.runner_strips(EVERY_RUNNER, US, theme, pinned=("u1",)),
    "forest": lambda theme: charts.forest(frames.ratios(*RUNNERS), RUNNERS, theme),
    "dumbbell": lambda theme: charts.dumbbell(frames.pairs(), US, ("<b>one</b>", "$two$"), theme, pinned=("u0",)),
    "drift": lambda theme: charts.drift(frames.pairs(40), US, ("<b>one</b>", "$two$"), theme, pinned=("u0",)),
    "contested": lambda theme: charts.contested(frames.contested(), TITLES, LABELS, theme),
    "timeline": lambda theme: charts.timeline(frames.weekly(), TITLES, LABELS, theme, narrow=True),
    "person": lambda theme: charts.person_strips(frames.user_field(), theme, labels=LABELS),
    "status": lambda theme: charts.status(frames.status_days(), theme, DEADLINE),
    "ladder": lambda theme: charts.ladder(frames.ladder(), frames.records(), US, theme),
    "shapes": lambda theme: charts.shapes(frames.shapes(), US, theme),
    "spread": lambda theme: charts.spread(frames.weeks_held(), theme),
    "with and without": lambda theme: charts.with_without(frames.bests_held(), HELD_ON, theme),
    "adoption": lambda theme: charts.adoption(frames.first_uses(), 20, theme, narrow=True),
    "technique field": lambda theme: charts.technique_field(
        frames.ranked(SCORES), (("tma", "triton"), None) * 10, ("tma", "triton"), US, theme
    ),
}
EMPTY: dict[str, Draw] = {
    "field": lambda theme: charts.field(frames.ranked([])[:0], US, theme, mine=1e-5),
    "progression": lambda theme: charts.progression(BESTS[:0], US, theme),
    "bump": lambda theme: charts.bump(BESTS[:0], theme),
    "passed by": lambda theme: charts.passed_by(BESTS[:0], "u0", theme),
    "passed by, of a stranger": lambda theme: charts.passed_by(BESTS, "nobody", theme),
    "lanes": lambda theme: charts.lanes(BESTS[:0], US, theme),
    "runner strips": lambda theme: charts.runner_strips(EVERY_RUNNER[:0], US, theme),
    "forest": lambda theme: charts.forest(frames.ratios("H100"), RUNNERS, theme),
    "dumbbell": lambda theme: charts.dumbbell(frames.pairs()[:0], US, ("a", "b"), theme),
    "drift": lambda theme: charts.drift(frames.pairs()[:0], US, ("a", "b"), theme),
    "contested": lambda theme: charts.contested(frames.contested()[:0], TITLES, LABELS, theme),
    "timeline": lambda theme: charts.timeline(frames.weekly()[:0], TITLES, LABELS, theme),
    "person": lambda theme: charts.person_strips(frames.user_field()[:0], theme),
    "status": lambda theme: charts.status(frames.status_days()[:0], theme),
    "ladder": lambda theme: charts.ladder(frames.ladder()[:0], frames.records(), US, theme),
    "shapes": lambda theme: charts.shapes(frames.shapes()[:0], US, theme),
    "spread": lambda theme: charts.spread(frames.weeks_held()[:0], theme),
    "with and without": lambda theme: charts.with_without(frames.bests_held()[:0], HELD_ON, theme),
    "adoption": lambda theme: charts.adoption(frames.first_uses()[:0], 20, theme),
    "technique field": lambda theme: charts.technique_field(frames.ranked(SCORES), (None,) * 20, ("tma",), US, theme),
}
ONE = frames.bests(1, 1)
FEW: dict[str, Draw] = {
    "field of one": lambda theme: charts.field(frames.ranked([1e-5]), US, theme),
    "field of equals": lambda theme: charts.field(frames.ranked([1e-5] * 30), US, theme, mine=1e-5),
    "progression of one": lambda theme: charts.progression(ONE, US, theme, pinned=("u0",)),
    "final of one": lambda theme: charts.progression(ONE, US, theme, span="final"),
    "bump of one": lambda theme: charts.bump(ONE, theme),
    "passed by nobody": lambda theme: charts.passed_by(ONE, "u0", theme),
    "lanes of one": lambda theme: charts.lanes(ONE, US, theme),
    "strips of one": lambda theme: charts.runner_strips(frames.ranked([1e-5]), US, theme),
    "one pair": lambda theme: charts.dumbbell(frames.pairs(1), US, ("a", "b"), theme, narrow=True),
    "drift of one": lambda theme: charts.drift(frames.pairs(1), US, ("a", "b"), theme),
    "one board": lambda theme: charts.contested(frames.contested(1), TITLES, LABELS, theme, span="all", narrow=True),
    "one week": lambda theme: charts.timeline(frames.weekly(1, 1), TITLES, LABELS, theme),
    "one day": lambda theme: charts.status(frames.status_days(1).head(1), theme),
    "one step": lambda theme: charts.ladder(frames.ladder(1), frames.records()[:0], US, theme),
}
CROWD = np.sort(np.random.default_rng(3).lognormal(-11, 1, 5_000))


@cache
def many() -> pd.DataFrame:
    """The bests of five thousand users. Made when a test asks: every process that runs any test imports this file."""
    return frames.bests(5_000, 6)


CROWDED: dict[str, Draw] = {
    "field": lambda theme: charts.field(frames.ranked(CROWD), US, theme, span="all", pinned=("u4000",)),
    "progression": lambda theme: charts.progression(many(), US, theme, span="all"),
    "bump": lambda theme: charts.bump(many(), theme, pinned=("u4000", "u17")),
    "passed by": lambda theme: charts.passed_by(many(), "u17", theme),
    "lanes": lambda theme: charts.lanes(many(), US, theme),
    "runner strips": lambda theme: charts.runner_strips(
        pd.concat([frames.ranked(CROWD, name) for name in RUNNERS]), US, theme, span="all"
    ),
    "dumbbell": lambda theme: charts.dumbbell(frames.pairs(2_000), US, ("a", "b"), theme),
    "drift": lambda theme: charts.drift(frames.pairs(2_000), US, ("a", "b"), theme, span="all"),
    "person": lambda theme: charts.person_strips(
        pd.concat([frames.user_field(40).assign(ratios=[list(np.linspace(1, 3, 150))] * 40)] * 2), theme
    ),
    "with and without": lambda theme: charts.with_without(frames.bests_held(5_000), HELD_ON, theme),
    "adoption": lambda theme: charts.adoption(
        pd.concat([frames.first_uses(3_000).assign(facet=f"facet {at}") for at in range(60)]), 3_000, theme
    ),
    "technique field": lambda theme: charts.technique_field(frames.ranked(CROWD), (FACETS,) * 5_000, FACETS, US, theme),
}
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
# Nobody changes a figure, so each is drawn once.
EVERY = pytest.mark.parametrize("draw", [cache(draw) for draw in FULL.values()], ids=FULL)


def spec_of(figure: go.Figure) -> dict:
    return json.loads(figure.to_json(validate=False))


def points(figure: go.Figure) -> int:
    return sum(np.size(trace.z) if trace.type == "heatmap" else len(trace.x) for trace in figure.data)


def strings(value: object) -> list[str]:
    """All texts of a figure, wherever they stand."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


@EVERY
@THEMES
def test_every_property_is_one_plotly_knows(draw: Draw, theme: str):
    """Figures are built unchecked for speed, so this is where a misspelt property shows."""
    go.Figure(draw(theme).to_dict())


@EVERY
def test_the_page_decides_nothing_about_the_look(draw: Draw):
    layout = draw("dark").layout
    assert layout.height > 100
    assert layout.uirevision
    assert layout.paper_bgcolor == layout.plot_bgcolor == theme_of("dark").background
    assert layout.font.color == theme_of("dark").text
    assert layout.dragmode is False, "anything else traps the finger on a phone"
    assert "zoom" in layout.modebar.remove
    assert "toImage" not in layout.modebar.remove


@EVERY
@THEMES
def test_every_visible_mark_has_an_explicit_legible_colour(draw: Draw, theme: str):
    background = theme_of(theme).background
    for trace in draw(theme).data:
        if trace.type == "heatmap":
            assert trace.colorscale
            continue
        mode = "markers" if trace.type == "bar" else trace.mode
        found = [trace.marker.color] if "markers" in mode and trace.marker.opacity != 0 else []
        found += [trace.line.color] if "lines" in mode and trace.line.width != 0 else []
        for color in (color for colors in found for color in np.atleast_1d(colors)):
            assert color, trace
            assert str(color).startswith("rgba(") or contrast(str(color), background) >= 3


@EVERY
@THEMES
def test_text_is_legible(draw: Draw, theme: str):
    background = theme_of(theme).background
    layout = draw(theme).layout
    colors = [note.font.color for note in layout.annotations]
    colors += [layout[name].tickfont.color for name in ("xaxis", "yaxis") if layout[name].visible is not False]
    assert all(contrast(color, background) >= 4.5 for color in colors)


@EVERY
def test_user_text_never_reaches_plotly_unescaped(draw: Draw):
    texts = "\n".join(strings(spec_of(draw("light"))))
    for name in (*frames.HOSTILE[:4], frames.HOSTILE[7]):
        assert name not in texts
    assert "<img" not in texts
    assert "$" not in texts.replace("&#36;", "")


@EVERY
def test_hovers_are_sentences_without_the_second_box(draw: Draw):
    templates = [trace.hovertemplate for trace in draw("light").data if trace.hoverinfo != "skip"]
    assert templates
    assert all(template.endswith("<extra></extra>") for template in templates)


@pytest.mark.parametrize("draw", EMPTY.values(), ids=EMPTY)
@THEMES
def test_nothing_to_draw_is_said_in_words(draw: Draw, theme: str):
    drawn = draw(theme)
    assert len(drawn.data) == 0
    [note] = drawn.layout.annotations
    assert note.text.replace("<br>", " ").endswith(".")
    assert note.font.color == theme_of(theme).muted
    go.Figure(drawn.to_dict())


@EVERY
def test_no_chart_sends_more_than_a_browser_can_take(draw: Draw):
    assert 0 < points(draw("light")) <= charts.POINT_LIMIT


@pytest.mark.parametrize("draw", FEW.values(), ids=FEW)
@THEMES
def test_a_single_row_and_equal_rows_are_drawn(draw: Draw, theme: str):
    drawn = draw(theme)
    assert points(drawn) > 0
    go.Figure(drawn.to_dict())
    assert "nan" not in "".join(strings(spec_of(drawn)["layout"])).lower()


@pytest.mark.parametrize("draw", CROWDED.values(), ids=CROWDED)
def test_five_thousand_users_stay_small(draw: Draw):
    drawn = draw("dark")
    assert 0 < points(drawn) <= charts.POINT_LIMIT
    assert len(drawn.to_json(validate=False)) <= 200_000


def test_a_chart_that_would_send_too_much_is_a_mistake():
    with pytest.raises(AssertionError, match="points in one chart"):
        figure([{"type": "scatter", "x": np.zeros(charts.POINT_LIMIT + 1)}], theme_of("light"), height=100)


def test_the_camera_saves_under_the_name_of_the_view():
    assert charts.config("nvfp4_gemm")["toImageButtonOptions"]["filename"] == "nvfp4_gemm"


CLICKABLE = [name for name in FULL if name not in ("forest", "status", "spread", "adoption")]


@pytest.mark.parametrize("name", CLICKABLE)
def test_points_carry_what_a_click_opens(name: str):
    spec = spec_of(FULL[name]("light"))
    carried = [row for trace in spec["data"] for row in _cells(trace.get("customdata", []))]
    refs = [row[0] for row in carried if row[0]]
    assert refs
    assert all(read_ref(ref) is not None for ref in refs)


def _cells(rows: list) -> list:
    return [cell for row in rows for cell in (row if row and isinstance(row[0], list) else [row])]


def test_the_readers_own_time_crosses_the_progression() -> None:
    mine = float(BESTS["score"].min()) * 1.001
    lines = [note.text for note in charts.progression(BESTS, US, mine=mine).layout.annotations]
    assert any(text.startswith("<b>yours") for text in lines)
    outside = [note.text for note in charts.progression(BESTS, US, mine=1e3).layout.annotations]
    assert any("is outside of this axis" in text for text in outside)
