"""Charts as people use them: a click or a tap leads to the code, a swipe scrolls, a link shows the same picture."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from kbdash.engine import KernelBot
from tests.e2e.conftest import HANDLED, Open, moved, settled

PROGRESSION = "/nvfp4?problem=nvfp4_gemm&tab=progression"
FIELD = "/nvfp4?problem=nvfp4_gemm&tab=distribution"
PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36"
)


@pytest.fixture
def phone(browser: Browser, app: str) -> Iterator[Page]:
    """A page on a touch screen of 390 pixels."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, user_agent=PHONE, timezone_id="UTC"
    )
    yield context.new_page()
    context.close()


def chart(page: Page, key: str) -> Locator:
    """A chart that is drawn, knows its points and hears clicks."""
    found = page.locator(f".st-key-{key}-box .js-plotly-plot[data-clickable]")
    expect(found.locator(".point").first).to_be_attached()
    found.scroll_into_view_if_needed()
    return found


def spot(plot: Locator, number: int) -> tuple[float, float]:
    """The middle of a point on the screen."""
    box = plot.locator(".point").nth(number).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def swipe(page: Page, x: float, y: float, by: float) -> None:
    """A finger put down and drawn along, as a touch screen reports it."""
    screen = page.context.new_cdp_session(page)
    screen.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in range(1, 11):
        page.wait_for_timeout(20)
        screen.send(
            "Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y + by * part / 10}]}
        )
    screen.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(500)


def scrolled(page: Page) -> float:
    place: float = page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    return place


def test_on_a_touch_screen_a_swipe_scrolls_and_a_tap_shows_the_sentence_and_offers_the_code(
    phone: Page, app: str
) -> None:
    phone.goto(f"{app}/submission?id=1")
    settled(phone)
    for path, key in ((PROGRESSION, "progression-chart"), (FIELD, "distribution-chart")):
        plot = chart(moved(phone, app + path), key)
        before = scrolled(phone)
        swipe(phone, *spot(plot, 0), 250)
        assert before - scrolled(phone) > 150, key
        expect(plot.locator(".hoverlayer .hovertext")).to_have_count(0)

    plot.scroll_into_view_if_needed()
    code = phone.locator(".st-key-distribution-chart-bar").get_by_role("button", name="Open the code")
    sentence = plot.locator(".hoverlayer .hovertext")
    phone.touchscreen.tap(*spot(plot, 0))
    expect(code).to_be_visible()
    expect(sentence).to_contain_text("rank 1 of")
    phone.evaluate(HANDLED)  # what the browser sends after a tap has come by now
    expect(sentence).to_contain_text("rank 1 of")
    assert "/submission" not in phone.url
    code.click()
    phone.wait_for_url("**/submission?**")
    expect(phone.locator(".st-key-code .line").first).to_be_visible()


def test_a_click_on_a_point_opens_its_code(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(app + FIELD)
    plot = chart(page, "distribution-chart")
    x, y = spot(plot, 1)
    page.mouse.move(x, y)
    expect(plot.locator(".hoverlayer .hovertext")).to_contain_text("rank 2 of")
    page.mouse.click(x, y)
    page.wait_for_url("**/submission?**")
    second = kb.leaderboard("nvfp4_gemm", runner="NVIDIA")["submission_id"].iloc[1]
    assert parse_qs(urlsplit(page.url).query)["id"] == [str(second)]
    expect(page.locator(".st-key-code .line").first).to_be_visible()


def dates(plot: Locator) -> list[str]:
    found: list[str] = plot.evaluate("graph => graph.layout.xaxis.range")
    return found


def test_a_link_to_the_final_shows_the_final_in_another_browser(app: str, open_page: Open) -> None:
    page = open_page(app + PROGRESSION)
    whole = dates(chart(page, "progression-chart"))
    page.get_by_role("radio", name="The final").click()
    page.wait_for_url("**span=final**")
    settled(page)
    begins = "document.querySelector('.st-key-progression-chart-box .js-plotly-plot').layout.xaxis.range[0]"
    page.wait_for_function(f"whole => {begins} > whole", arg=whole[0])
    final = dates(chart(page, "progression-chart"))
    other = open_page(page.url)
    assert dates(chart(other, "progression-chart")) == final
    expect(other.get_by_role("radio", name="The final")).to_be_checked()


def test_a_saved_picture_says_what_it_is_and_where_it_comes_from(app: str, open_page: Open) -> None:
    page = open_page(app + FIELD)
    plot = chart(page, "distribution-chart")
    saved = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.locator(".st-key-distribution-chart-bar").get_by_role("button", name=kind).click()
        assert download.value.suggested_filename.endswith(f"_field_sample.{kind.lower()}")
        saved[kind] = Path(download.value.path()).read_bytes()
    assert saved["PNG"].startswith(b"\x89PNG")
    assert "gemm: the field on B200 (on-prem)" in saved["SVG"].decode()
    assert "synthetic sample" in saved["SVG"].decode()
    # The page itself stays as it was.
    assert "synthetic sample" not in (plot.text_content() or "")


def test_a_point_of_the_overview_leads_to_the_code_of_another_competition(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/?show=contested")
    plot = chart(page, "contested-chart")
    point = plot.locator(".scatterlayer .trace").nth(2).locator(".point").last.bounding_box()
    assert point is not None
    at = point["x"] + point["width"] / 2, point["y"] + point["height"] / 2
    page.mouse.move(*at)
    expect(plot.locator(".hoverlayer .hovertext")).to_contain_text("the best of")
    page.mouse.click(*at)
    page.wait_for_url("**/submission?**")
    expect(page.locator(".st-key-code .line").first).to_be_visible()
