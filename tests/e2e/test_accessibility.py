"""Accessibility: axe on every page in both themes, the colours that it cannot see, and the way by keyboard."""

from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from kbdash.engine import KernelBot
from tests.e2e.conftest import Open, settled

AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
TALL = 5000  # pixels: axe judges contrast only of what is in sight
# Findings that are not allowed, one line each: how bad, the rule, where, why.
RUN = """async (allowed) => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], elementRef: true });
  const ours = (rule, element) => !allowed.some(([name, place]) => name === rule && element.closest(place));
  return violations.flatMap(({ id, impact, nodes }) => nodes
    .filter(({ element }) => ours(id, element))
    .map(({ target, failureSummary }) => `${impact} ${id} ${target}: ${failureSummary}`));
}"""

# Findings inside Streamlit's own widgets that we cannot change: (rule, selector of the widget) -> why.
ALLOWED = {
    ("list", "[data-testid=stSidebarNavItems]"): "On a phone Streamlit's menu groups pages by div inside its ul.",
    ("listitem", "[data-testid=stSidebarNavItems]"): "The same: the grouped entries are li inside a div.",
}


@pytest.fixture(scope="module")
def pages(kb: KernelBot) -> list[str]:
    """Every page and tab, and the states of a page that look different."""
    best = kb.leaderboard("nvfp4_gemm").iloc[0]
    first = kb.ladder("nvfp4_gemm", best["user_id"], runner="NVIDIA")["submission_id"].iloc[0]
    return [
        "/",
        "/nvfp4?problem=nvfp4_gemm",
        "/nvfp4?tab=distribution&mine=30us",
        "/nvfp4?tab=progression",
        "/nvfp4?problem=nvfp4_dual_gemm&tab=hardware",
        "/amd-mi300?problem=amd-fp8-mm&tab=hardware",
        "/nvfp4?tab=submissions&passed=all",
        "/nvfp4?from=2030-01-01&top=junk",
        f"/submission?id={best['submission_id']}&line=3-5",
        "/submission?id=1",
        f"/compare?a={first}&b={best['submission_id']}",
        f"/ladder?problem=nvfp4_gemm&user={best['user_id']}",
        f"/user?user={best['user_id']}",
        "/about",
    ]


def drawn(page: Page) -> Page:
    """Wait until every part of the page has its code and its content."""
    settled(page)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    return page


def findings(page: Page) -> list[str]:
    """What axe finds and is not allowed."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN, [list(place) for place in ALLOWED])
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(app: str, open_page: Open, pages: list[str], dark: bool) -> None:
    page = open_page(f"{app}/about", dark=dark, height=TALL)
    found = []
    for path in pages:
        page.goto(app + path)
        found += [f"{path}: {finding}" for finding in findings(drawn(page))]
    assert found == []


def test_axe_finds_nothing_on_a_phone(app: str, open_page: Open, pages: list[str]) -> None:
    page = open_page(f"{app}/about", width=390, height=TALL)
    found = []
    for path in pages[:2]:
        page.goto(app + path)
        found += [f"{path}: {finding}" for finding in findings(drawn(page))]
    assert found == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_in_what_opens_on_a_click(app: str, open_page: Open, dark: bool) -> None:
    page = drawn(open_page(f"{app}/nvfp4", dark=dark, height=TALL))
    for button, inside in (("Filters", "Pinned users"), ("Download", "CSV"), ("SQL", "Runs as it stands")):
        page.get_by_role("button", name=button, exact=True).click()
        page.mouse.move(0, 0)  # away from the button, or its tooltip stays open
        expect(page.get_by_text(inside)).to_be_visible()
        expect(page.get_by_test_id("stTooltipContent")).to_have_count(0)
        assert findings(page) == [], button
        page.keyboard.press("Escape")
        expect(page.get_by_text(inside)).to_be_hidden()


CONTRASTS = """(viewer) => {
  const style = getComputedStyle(viewer);
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (name) => {
    pixel.fillStyle = style.getPropertyValue(name);
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pixel.getImageData(0, 0, 1, 1).data].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light("--st-code-background-color");
  const inks = ["gray", "green", "violet", "orange", "red", "blue"].map((name) => `--st-${name}-text-color`);
  return Object.fromEntries(inks.map((ink) => {
    const both = [light(ink), paper].sort((a, b) => b - a);
    return [ink, (both[0] + 0.05) / (both[1] + 0.05)];
  }));
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_painted_code_is_legible(app: str, open_page: Open, kb: KernelBot, dark: bool) -> None:
    best = kb.leaderboard("nvfp4_gemm").iloc[0]["submission_id"]
    page = drawn(open_page(f"{app}/submission?id={best}", dark=dark))
    contrasts: dict[str, float] = page.locator(".st-key-code .viewer").evaluate(CONTRASTS)
    assert {ink: ratio for ink, ratio in contrasts.items() if ratio < 4.5} == {}


def test_the_keyboard_is_enough(app: str, open_page: Open) -> None:
    page = drawn(open_page(f"{app}/nvfp4"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.get_by_role("radio", name="gemv").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="gemm", exact=True)).to_have_attribute("aria-checked", "true")
    drawn(page)
    assert parse_qs(urlsplit(page.url).query) == {"problem": ["nvfp4_gemm"]}
    page.get_by_role("tab", name="Leaderboard").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Distribution")).to_have_attribute("aria-selected", "true")
    drawn(page)
    page.get_by_role("button", name="Copy link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Link copied")).to_be_attached()
