"""The figures in a real browser: names appear letter by letter as they are, and nothing in them is obeyed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import plotly
import pytest
from playwright.sync_api import Page, sync_playwright

from kbdash import charts
from kbdash.charts import Mark
from kbdash.units import MICROSECONDS as US
from tests import browser
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
LIVE = '#chart a, #chart img, #chart foreignObject, #chart [href], #chart tspan[style*="bold"]'


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser.find(), args=["--no-sandbox"])
        opened = chromium.new_page(viewport={"width": 390, "height": 844})
        opened.set_content("<div id='chart'></div>")
        opened.evaluate(MATHJAX)
        opened.add_script_tag(path=PLOTLY)
        yield opened
        chromium.close()


def plain(text: str) -> str:
    """Without the invisible marks that keep right-to-left names apart from the words around them."""
    return text.replace("\u2068", "").replace("\u2069", "")


def drawn(page: Page, figure) -> list[str]:
    page.evaluate(DRAW, figure.to_json())
    return [plain(text) for text in page.evaluate(TEXTS)]


SHORT = [name for name in frames.HOSTILE if len(name) <= 11]
LABELS: dict[str, Callable] = {
    "progression": lambda: charts.progression(frames.attempts(9), frames.records(frames.attempts(9)), US),
    "bump": lambda: charts.bump(frames.rank_history(9)),
    "shapes": lambda: charts.shapes(frames.shapes(9), US),
    "distribution": lambda: charts.distribution(
        frames.bins("NVIDIA"),
        US,
        "light",
        [Mark(name, 1e-5 * (2 + place), "user", place) for place, name in enumerate(frames.HOSTILE[:9])],
    ),
    "paired": lambda: charts.paired(frames.pairs(), US, ("a", "b"), "light", [f"u{user}" for user in range(9)]),
}


@pytest.mark.parametrize("chart", LABELS)
def test_names_are_shown_as_they_are(page: Page, chart: str):
    texts = "\n".join(drawn(page, LABELS[chart]()))
    for name in set(SHORT) - {"gau.nernst"}:
        assert name in texts
    assert page.locator(LIVE).count() == 0
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
    frame = frames.attempts(1).assign(user_name=name, flags="")
    figure = charts.progression(frame, frames.empty(frames.NO_RECORDS), US)
    lines = next(place for place, trace in enumerate(figure.data) if trace.mode == "lines+markers")
    assert hovered(page, figure, lines, 0) == f"{name}, 2025-12-01 10:00 UTC: 10\u2009µs, the best so far."
    assert page.locator(LIVE).count() == 0


def test_hovers_of_the_other_charts_are_sentences_too(page: Page):
    failures = charts.progression(frames.attempts(1), frames.records(frames.attempts(1)), US)
    assert hovered(page, failures, 1, 0) == "<img src=x>, 2025-12-01 12:00 UTC: no time, status failed."
    assert hovered(page, failures, 0, 0) == "Record of <img src=x>, 2025-12-01 10:00 UTC: 10\u2009µs."
    ranks = charts.bump(frames.rank_history(2))
    assert hovered(page, ranks, 0, 0) == "<img src=x> was rank 39 on 2025-12-01 10:00 UTC."
    share = charts.ecdf(frames.cumulative("NVIDIA"), US)
    assert hovered(page, share, 0, 2) == "B200 (on-prem): 50.0% of the users need 20.00\u2009µs or less."
    pair = charts.paired(frames.pairs(), US, ("<b>one</b>", "two"))
    assert hovered(page, pair, 1, 0) == (
        "<img src=x>: 10.00\u2009µs on <b>one</b> (rank 1), 11.00\u2009µs on two (rank 1)."
    )
    days = charts.status(frames.status_days())
    assert hovered(page, days, 2, 0) == "10 <img src=x>, day of 2025-12-01 UTC."
    assert hovered(page, days, 3, 0) == "60.0% passed (60 of 100), day of 2025-12-01 UTC."


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("chart", [*LABELS, "status", "ratio_heatmap", "ecdf", "message"])
def test_all_text_lies_inside_the_picture(page: Page, chart: str, width: int):
    more = {
        "status": lambda: charts.status(frames.status_days()),
        "ratio_heatmap": lambda: charts.ratio_heatmap(frames.ratios("B200", "NVIDIA", "MI300")),
        "ecdf": lambda: charts.ecdf(frames.cumulative("B200", "NVIDIA", "MI300"), US),
        "message": lambda: charts.message("No passing submission with a time matches these filters."),
    }
    figure = (LABELS | more)[chart]()
    page.set_viewport_size({"width": width, "height": 844})
    drawn(page, figure)
    boxes = page.evaluate(
        """() => {
          const outer = document.querySelector("#chart .main-svg").getBoundingClientRect();
          return Array.from(document.querySelectorAll("#chart text"), node => {
            const box = node.getBoundingClientRect();
            const sides = [box.left - outer.left, outer.right - box.right];
            const ends = [box.top - outer.top, outer.bottom - box.bottom];
            return [node.textContent, ...sides, ...ends];
          });
        }"""
    )
    assert boxes
    outside = [box for box in boxes if box[0] and min(box[1:]) < -1]
    assert outside == [], json.dumps(outside)
