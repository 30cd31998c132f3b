"""The figures in a real browser: names appear letter by letter as they are, and nothing in them is obeyed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import plotly
import pytest
from playwright.sync_api import Browser, Page

from kbdash import charts
from kbdash.units import MICROSECONDS as US
from kbdash.units import time_text
from tests.unit import chart_frames as frames

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
# A MathJax that only writes down what it is asked to typeset; Plotly calls it for any text with $…$ in it.
MATHJAX = """
window.typeset = [];
const engine = {
  document: () => ({convert: text => window.typeset.push(text)}),
  handleRetriesFor: convert => { convert(); return Promise.reject("never typeset"); },
};
window.MathJax = {
  version: "3.2.2", config: {}, startup: {input: []},
  _: {output: {svg_ts: {SVG: class {}}}, mathjax: {mathjax: engine}},
};
"""
DRAW = """async text => {
  const figure = JSON.parse(text), chart = document.getElementById("chart");
  Plotly.purge(chart);
  await Plotly.newPlot(chart, figure.data, figure.layout, {displayModeBar: false});
}"""
TEXTS = 'Array.from(document.querySelectorAll("#chart text"), node => node.textContent)'
LIVE = "#chart a, #chart img, #chart foreignObject, #chart [href]"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.set_content("<div id='chart'></div>")
    opened.evaluate(MATHJAX)
    opened.add_script_tag(path=PLOTLY)
    yield opened
    opened.close()


def plain(text: str) -> str:
    """Without the invisible marks that keep right-to-left names apart from the words around them."""
    return text.replace("\u2068", "").replace("\u2069", "")


def drawn(page: Page, figure) -> list[str]:
    page.evaluate(DRAW, figure.to_json())
    return [plain(text) for text in page.evaluate(TEXTS)]


SHORT = [name for name in frames.HOSTILE if len(name) <= 11]
USERS = tuple(f"u{user}" for user in range(9))
LABELS: dict[str, Callable] = {
    "field": lambda: charts.field(frames.ranked([1e-5 * (1 + place / 9) for place in range(9)]), US),
    "progression": lambda: charts.progression(frames.bests(9), US, pinned=USERS),
    "bump": lambda: charts.bump(frames.bests(9)),
    "shapes": lambda: charts.shapes(frames.shapes(9), US),
    "dumbbell": lambda: charts.dumbbell(frames.pairs(9), US, ("a", "b")),
}


@pytest.mark.parametrize("chart", LABELS)
def test_names_are_shown_as_they_are(page: Page, chart: str):
    texts = "\n".join(drawn(page, LABELS[chart]()))
    for name in set(SHORT) - {"gau.nernst"}:
        assert name in texts
    assert page.locator(LIVE).count() == 0
    assert "bold" not in page.locator('#chart tspan[style*="bold"]').all_text_contents(), "only our own words are bold"
    assert page.evaluate("window.typeset") == []


def test_the_stand_in_for_mathjax_would_have_noticed(page: Page):
    """Plotly does typeset $…$ when nobody escapes it, so the check above can fail."""
    figure = charts.message("unused")
    figure.layout.annotations[0].text = "$x$"
    drawn(page, figure)
    assert page.evaluate("window.typeset") == ["x"]
    page.evaluate("window.typeset = []")


def hovered(page: Page, figure, trace: int, point: int) -> str:
    """The words that appear when the pointer is on a point."""
    drawn(page, figure)
    subplot = "x" + (figure.data[trace].yaxis or "y")
    place = [{"curveNumber": trace, "pointNumber": point}]
    page.evaluate("([place, subplot]) => Plotly.Fx.hover('chart', place, subplot)", [place, subplot])
    hover = page.locator("#chart .hoverlayer text").first
    hover.wait_for()
    lines = hover.locator("tspan.line").all_text_contents()
    return plain(" ".join(lines) if lines else hover.text_content())


@pytest.mark.parametrize("name", frames.HOSTILE)
def test_a_hover_is_one_sentence_with_the_name_in_it(page: Page, name: str):
    figure = charts.field(frames.ranked([1e-5, 1.1e-5]).assign(user_name=name), US)
    assert hovered(page, figure, 1, 1) == (
        f"{name}: 11.00\u2009µs, rank 2 of 2, 1.100 × the best, 1.000\u2009µs behind the next-better rank."
    )
    assert page.locator(LIVE).count() == 0


def test_hovers_of_the_other_charts_are_sentences_too(page: Page):
    bests = frames.bests(1, 1)
    climb = charts.progression(bests, US)
    line = next(place for place, trace in enumerate(climb.data) if trace.mode == "lines+markers")
    at = bests["submitted_at"].iloc[0].strftime("%Y-%m-%d %H:%M UTC")
    time = time_text(bests["score"].iloc[0], US)
    assert hovered(page, climb, line, 0) == f"<img src=x>, {at}: {time}, rank 1 of 1 then."
    ranks = charts.bump(bests)
    assert hovered(page, ranks, 0, 0) == f"<img src=x> came to rank 1 on {at}."
    pair = charts.dumbbell(frames.pairs(1), US, ("<b>one</b>", "two"))
    assert hovered(page, pair, 2, 0) == "<img src=x> on <b>one</b>: 10.00\u2009µs, rank 1 of those on both."
    days = charts.status(frames.status_days())
    assert hovered(page, days, 0, 0) == "60 passed (60.0\u2009% of 100), day of 2025-12-01 UTC."
    assert hovered(page, days, 2, 0) == (
        "10 timed out, hacked, not ranked (10.0\u2009% of 100), day of 2025-12-01 UTC."
    )


RUNNERS = ("B200", "NVIDIA", "MI300")
TITLES = (("one", "NVIDIA NVFP4"), ("<b>two</b>", "AMD MI300"))
MORE: dict[str, Callable] = {
    "field, clipped": lambda: charts.field(
        frames.ranked([1e-5 * (1 + place / 99) for place in range(30)] + [9e-3] * 3), US, light=4e-6, mine=1.2e-5
    ),
    "passed by": lambda: charts.passed_by(frames.bests(9), "u3"),
    "lanes": lambda: charts.lanes(frames.bests(9), US),
    "runner strips": lambda: charts.runner_strips(
        pd.concat([frames.ranked([1e-5, 1.3e-5, 2e-5], name) for name in RUNNERS]), US
    ),
    "forest": lambda: charts.forest(frames.ratios(*RUNNERS), RUNNERS),
    "drift": lambda: charts.drift(frames.pairs(40), US, ("on-prem", "Modal")),
    "contested": lambda: charts.contested(frames.contested(), TITLES, ()),
    "timeline": lambda: charts.timeline(frames.weekly(), TITLES, (), narrow=True),
    "person": lambda: charts.person_strips(frames.user_field()),
    "ladder": lambda: charts.ladder(frames.ladder(), frames.records(), US),
    "status": lambda: charts.status(frames.status_days()),
    "message": lambda: charts.message("No passing submission with a time matches these filters."),
}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("chart", [*LABELS, *MORE])
def test_all_text_lies_inside_the_picture(page: Page, chart: str, width: int):
    figure = (LABELS | MORE)[chart]()
    page.set_viewport_size({"width": width, "height": 844})
    drawn(page, figure)
    boxes = page.evaluate(
        """() => {
          const outer = document.querySelector("#chart .main-svg").getBoundingClientRect();
          return Array.from(document.querySelectorAll("#chart text"), node => {
            const box = node.getBoundingClientRect();
            const sides = [box.left - outer.left, outer.right - box.right];
            const ends = [box.top - outer.top, outer.bottom - box.bottom];
            // What has no room, Plotly hides: it has no size.
            return [box.width ? node.textContent : "", ...sides, ...ends];
          });
        }"""
    )
    assert boxes
    outside = [box for box in boxes if box[0] and min(box[1:]) < -1]
    assert outside == [], json.dumps(outside)
