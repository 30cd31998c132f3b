"""What holds for every chart: valid, bounded, escaped, legible in both themes, and never empty without a word."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import plotly.graph_objects as go
import pytest

from kbdash import charts
from kbdash.charts import Mark
from kbdash.palette import contrast, theme_of
from kbdash.units import MICROSECONDS as US
from tests.unit import chart_frames as frames

Draw = Callable[[str], go.Figure]

ATTEMPTS = frames.attempts(10)
MARKS = [Mark("best", 1e-5, "best"), Mark(frames.HOSTILE[0], 2e-5, "user", 1), Mark("yours", 3e-5, "yours")]
RUNNERS = ("B200", "H100", "A100", "MI300")

FULL: dict[str, Draw] = {
    "distribution": lambda theme: charts.distribution(frames.bins("NVIDIA"), US, theme, MARKS),
    "distribution of several runners": lambda theme: charts.distribution(frames.bins(*RUNNERS), US, theme, MARKS),
    "ecdf": lambda theme: charts.ecdf(frames.cumulative("NVIDIA"), US, theme, MARKS),
    "ecdf of several runners": lambda theme: charts.ecdf(frames.cumulative(*RUNNERS), US, theme),
    "runner_distributions": lambda theme: charts.runner_distributions(
        frames.bins(*RUNNERS), US, theme, frames.summary(*RUNNERS)
    ),
    "progression": lambda theme: charts.progression(
        ATTEMPTS, frames.records(ATTEMPTS), US, theme, datetime(2025, 12, 6, 7, 59, tzinfo=UTC), ["u2", "u0"]
    ),
    "bump": lambda theme: charts.bump(frames.rank_history(), theme, ["u1"]),
    "ratio_heatmap": lambda theme: charts.ratio_heatmap(frames.ratios(*RUNNERS), theme),
    "paired": lambda theme: charts.paired(frames.pairs(), US, ("<b>one</b>", "$two$"), theme, ["u0", "u3"]),
    "status": lambda theme: charts.status(frames.status_days(), theme),
    "shapes": lambda theme: charts.shapes(frames.shapes(), US, theme),
}
EMPTY: dict[str, Draw] = {
    "distribution": lambda theme: charts.distribution(frames.bins("NVIDIA")[:0], US, theme, MARKS),
    "ecdf": lambda theme: charts.ecdf(frames.cumulative("NVIDIA")[:0], US, theme, MARKS),
    "runner_distributions": lambda theme: charts.runner_distributions(frames.bins("NVIDIA")[:0], US, theme),
    "progression": lambda theme: charts.progression(
        frames.empty(frames.NO_ATTEMPTS), frames.empty(frames.NO_RECORDS), US, theme
    ),
    "progression of failures only": lambda theme: charts.progression(
        ATTEMPTS[~ATTEMPTS["passed"]], frames.empty(frames.NO_RECORDS), US, theme
    ),
    "bump": lambda theme: charts.bump(frames.rank_history()[:0], theme),
    "ratio_heatmap": lambda theme: charts.ratio_heatmap(frames.ratios(*RUNNERS), theme, "another kind"),
    "paired": lambda theme: charts.paired(frames.pairs()[:0], US, ("a", "b"), theme),
    "status": lambda theme: charts.status(frames.status_days()[:0], theme),
    "shapes": lambda theme: charts.shapes(frames.shapes()[:0], US, theme),
}
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
EVERY = pytest.mark.parametrize("draw", FULL.values(), ids=FULL)


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
    colors += [layout[name].tickfont.color for name in ("xaxis", "yaxis")]
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
    figure = draw(theme)
    assert len(figure.data) == 0
    [note] = figure.layout.annotations
    assert note.text.replace("<br>", " ").endswith(".")
    assert note.font.color == theme_of(theme).muted
    go.Figure(figure.to_dict())


@EVERY
def test_no_chart_sends_more_than_a_browser_can_take(draw: Draw):
    assert 0 < points(draw("light")) <= charts.POINT_LIMIT


def test_a_chart_that_would_send_too_much_is_a_mistake():
    many = frames.cumulative("H100").sample(charts.POINT_LIMIT, replace=True, random_state=1)
    with pytest.raises(AssertionError, match="points in one chart"):
        charts.ecdf(many, US)


def test_the_camera_saves_under_the_name_of_the_view():
    assert charts.config("nvfp4_gemm")["toImageButtonOptions"] == {
        "format": "png",
        "filename": "nvfp4_gemm",
        "scale": 2,
    }


def test_clickable_points_carry_submission_and_runner():
    figure = FULL["progression"]("light")
    known = {(row.submission_id, row.runner if row.passed else None) for row in ATTEMPTS.itertuples()}
    carried = {(row[0], row[1]) for trace in figure.data for row in trace.customdata}
    assert carried == known
    spec = spec_of(figure)
    assert all(isinstance(trace["customdata"][0][0], int) for trace in spec["data"])
