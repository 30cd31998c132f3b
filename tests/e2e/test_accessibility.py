"""Accessibility: axe on every page in both themes, the colours that it cannot see, and the way by keyboard."""

from importlib.resources import files
from itertools import product
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from kbdash.engine import KernelBot
from tests.e2e.conftest import Open, eventually, moved, query, settled

AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
Theme = Literal["light", "dark"]
THEMES: dict[Theme, str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}  # the colour behind everything
PAPER = "(colour) => getComputedStyle(document.querySelector('.stApp')).backgroundColor === colour"
OPENED = "[data-testid=stPopoverBody]"
TALL = 5000  # pixels: axe judges contrast only of what is in sight
# Rows, lines and points of a chart are alike, and axe takes most of its time for them: the first of them stand for all,
# and the others are taken out of the page meanwhile, but for those with a look of their own.
ALIKE = "tbody tr:nth-child(n+9), .line:nth-child(n+40), .js-plotly-plot .point:nth-child(n+9)"
# Two texts of one look stand for all of it, on whichever page: axe takes most of its time to find out what lies behind
# a text. A look is the ink, the size, the kind of widget, and every paper below it. Marks the texts whose look is not
# among those judged; gives the looks that can be judged now, because one of their texts is in sight and not covered.
LOOKS = """([judged, place]) => {
  const known = new Set(judged), looks = new Map();
  const within = (node, below, kind) => {
    for (const element of node.children) {
      const style = getComputedStyle(element);
      if (style.display === "none" || style.visibility === "hidden") continue;
      const { backgroundColor: paper, backgroundImage: image, opacity } = style;
      const bare = paper === "rgba(0, 0, 0, 0)" && image === "none" && opacity === "1";
      const papers = bare ? below : `${below} on ${paper} ${image} ${opacity}`;
      const widget = element.dataset.testid ?? kind;
      element.removeAttribute("data-look");
      if ([...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim())) {
        const look = [style.color, style.fontSize, style.fontWeight, style.textShadow, widget, papers].join();
        if (!known.has(look)) looks.set(look, [...(looks.get(look) ?? []), element]);
      }
      if (element.shadowRoot) within(element.shadowRoot, papers, widget);
      within(element, papers, widget);
    }
  };
  const sighted = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.getRootNode().elementsFromPoint(left + width / 2, top + height / 2).includes(element);
  };
  for (const part of document.querySelectorAll(place ?? "body")) within(part, "", "");
  const marked = [...looks].map(([look, texts]) => [look, texts.slice(0, 2)]);
  for (const text of marked.flatMap(([, texts]) => texts)) text.setAttribute("data-look", "");
  return marked.filter(([, texts]) => texts.some(sighted)).map(([look]) => look);
}"""
# Findings that are not allowed, one line each: how bad, the rule, where, why.
RUN = """async ([allowed, runOnly, alike, place]) => {
  const roots = [document, ...[...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
  const others = roots
    .flatMap((root) => [...root.querySelectorAll(alike)])
    .filter((other) => !other.querySelector("[data-look]") && !other.closest("[data-look]"));
  const homes = others.map((other) => other.parentNode);
  const after = others.map((other) => other.nextSibling);
  for (const other of others) other.remove();
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] });
  const options = { resultTypes: ["violations"], elementRef: true, ...(runOnly ? { runOnly } : {}) };
  const { violations } = await axe.run(place ?? document, options);
  for (let at = others.length - 1; at >= 0; at -= 1) homes[at].insertBefore(others[at], after[at]);
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
def judged() -> set[str]:
    """The looks that were judged, by all tests here."""
    return set()


@pytest.fixture(scope="module")
def pages(kb: KernelBot) -> list[str]:
    """Every page and tab, and the states of a page that look different."""
    best = kb.leaderboard("nvfp4_gemm").iloc[0]
    first = kb.ladder("nvfp4_gemm", best["user_id"], runner="NVIDIA")["submission_id"].iloc[0]
    flagged = kb.leaderboard("nvfp4_group_gemm").iloc[0]
    return [
        "/",
        "/nvfp4?problem=nvfp4_gemm",
        "/pmpp-v2?tab=distribution&mine=30us",
        "/pmpp-v2?tab=progression",
        "/nvfp4?problem=nvfp4_dual_gemm&tab=hardware",
        "/amd-mi300?problem=amd-fp8-mm&tab=hardware",
        "/nvfp4?problem=nvfp4_gemm&tab=techniques&facet=tcgen05",
        "/nvfp4?tab=submissions&passed=all",
        "/search?q=tcgen05&open=1",
        "/steps?competition=trimul",
        "/trust?problem=nvfp4_group_gemm",
        f"/submission?id={best['submission_id']}&show=origins&line=3-5",
        f"/submission?id={best['submission_id']}&show=relatives",
        f"/submission?id={flagged['submission_id']}&show=rules",
        "/nvfp4?from=2030-01-01&top=junk",
        "/submission?id=1",
        f"/compare?a={first}&b={best['submission_id']}",
        f"/ladder?problem=nvfp4_gemm&user={best['user_id']}",
        f"/user?user={best['user_id']}",
        "/sql?q=select+runner,+count(*)+as+rows+from+submissions+group+by+all&x=runner&y=rows",
        "/about",
    ]


def drawn(page: Page) -> Page:
    """Wait until every part of the page has its code and its content of now."""
    settled(page)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    return page


def findings(page: Page, judged: set[str], *, inside: str | None = None, colours: bool = False) -> list[str]:
    """What axe finds and is not allowed, by all its rules or in the colours alone; on the page or in a part of it.

    Looks that are judged already, on whichever page, are not judged again; those judged now are added to them.
    """
    looks: list[str] = page.evaluate(LOOKS, [sorted(judged), inside])
    if colours and page.locator("[data-look]").count() == 0:
        return []
    if not page.evaluate("'axe' in window"):  # half a megabyte to send
        page.evaluate(AXE)
    given = [[list(place) for place in ALLOWED], ["color-contrast"] if colours else None, ALIKE, inside]
    found: list[str] = page.evaluate(RUN, given)
    if found:  # of a page that has begun to run again, as it does when its theme changes, all is pale for a moment
        drawn(page)
        looks = page.evaluate(LOOKS, [sorted(judged), inside])
        found = page.evaluate(RUN, given)
    judged.update(looks)
    return found


def in_theme(page: Page, theme: Theme) -> Page:
    """The page in that theme; it follows the system's at once."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(PAPER, arg=THEMES[theme], polling=100)
    return drawn(page)


def findings_in_both_themes(page: Page, judged: set[str]) -> list[str]:
    """The same in the theme the page is in, and what the other can change: the colours. The page stays in the other."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    here: Theme = "dark" if dark else "light"
    other: Theme = "light" if dark else "dark"
    found = findings(in_theme(page, here), judged)
    return found + [f"{other}: {finding}" for finding in findings(in_theme(page, other), judged, colours=True)]


@pytest.mark.parametrize("part", range(4))
def test_axe_finds_nothing_in_either_theme(
    app: str, open_page: Open, pages: list[str], judged: set[str], part: int
) -> None:
    page = open_page(f"{app}/submission?id=1", height=TALL)
    found = []
    for path in pages[part::4]:
        moved(page, app + path)
        found += [f"{path}: {finding}" for finding in findings_in_both_themes(page, judged)]
    assert found == []


def test_axe_finds_nothing_on_a_phone(app: str, open_page: Open, pages: list[str], judged: set[str]) -> None:
    page = open_page(app + pages[0], width=390, height=TALL)
    found = []
    for path in pages[:2]:
        moved(page, app + path)
        found += [f"{path}: {finding}" for finding in findings(drawn(page), judged)]
    assert found == []


def test_axe_finds_nothing_in_what_opens_on_a_click(app: str, open_page: Open, judged: set[str]) -> None:
    page = drawn(open_page(f"{app}/pmpp-v2"))
    opened = (("Filters", "Pinned users"), ("Download", "CSV"), ("SQL", "Runs as it stands"))
    for theme, (button, inside) in product(THEMES, opened):
        in_theme(page, theme)
        page.get_by_role("button", name=button, exact=True).click()
        page.mouse.move(0, 0)  # away from the button, or its tooltip stays open
        expect(page.get_by_text(inside)).to_be_visible()
        expect(page.get_by_test_id("stTooltipContent")).to_have_count(0)
        expect(page.locator(OPENED).filter(has_text=inside)).to_be_visible()
        # The page below is judged above.
        assert findings(page, judged, inside=OPENED, colours=theme == "dark") == [], (button, theme)
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


def test_painted_code_is_legible(app: str, open_page: Open, kb: KernelBot) -> None:
    best = kb.leaderboard("nvfp4_gemm").iloc[0]["submission_id"]
    page = drawn(open_page(f"{app}/submission?id={best}"))
    for theme in THEMES:
        in_theme(page, theme)
        contrasts: dict[str, float] = page.locator(".st-key-code .viewer").evaluate(CONTRASTS)
        assert {ink: ratio for ink, ratio in contrasts.items() if ratio < 4.5} == {}, theme


def test_the_keyboard_is_enough(app: str, open_page: Open) -> None:
    page = drawn(open_page(f"{app}/nvfp4"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.get_by_role("radio", name="gemv").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="gemm", exact=True)).to_have_attribute("aria-checked", "true")
    drawn(page)
    eventually(page, lambda: query(page), {"problem": ["nvfp4_gemm"]})
    page.get_by_role("tab", name="Leaderboard").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Distribution")).to_have_attribute("aria-selected", "true")
    drawn(page)
    page.get_by_role("button", name="Copy link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Link copied")).to_be_attached()
