"""A page whose theme changes while it is open: everything on it follows, also the charts, which the server draws."""

from playwright.sync_api import Page, expect

from kbdash.charts.palette import DARK, LIGHT, Theme
from tests.e2e.conftest import Open, eventually, settled
from tests.e2e.grid import table

TABS = {"Distribution": 1, "Progression": 2, "Hardware": 2, "Techniques": 2, "Submissions": 1}  # charts on each
PAPERS = """() => Array.from(
  document.querySelectorAll(".stApp, .js-plotly-plot .main-svg:first-child"),
  (one) => getComputedStyle(one).backgroundColor,
)"""
FLAG = "(mark) => getComputedStyle(mark, '::before').color"


def rgb(color: str) -> str:
    """A colour such as #0F1318 as browsers tell it."""
    return f"rgb({', '.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))})"


def follows(page: Page, theme: Theme, charts: int) -> None:
    """The page has that theme, and so have its charts, that many."""
    eventually(page, lambda: page.evaluate(PAPERS), [rgb(theme.background)] * (1 + charts))


def test_the_charts_of_every_tab_follow_the_system(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/pmpp-v2?problem=matmul_v2")
    for place, (tab, charts) in enumerate(TABS.items()):
        page.get_by_role("tab", name=tab).click()
        settled(page)
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        theme = (DARK, LIGHT)[place % 2]
        page.emulate_media(color_scheme=theme.name)
        follows(page, theme, charts)


def test_charts_and_tables_follow_the_choice_in_the_menu(app: str, open_page: Open) -> None:
    """The reader's choice counts, whatever the system says; it is kept on the next page."""
    page = open_page(f"{app}/nvfp4?problem=nvfp4_group_gemm&runner=NVIDIA", dark=True)
    flag = table(page, "leaderboard-table").locator(".mark").first
    for theme in (LIGHT, DARK, LIGHT):
        page.get_by_test_id("stMainMenu").click()
        page.get_by_role("menuitemradio", name=theme.name.capitalize()).click()
        page.keyboard.press("Escape")
        follows(page, theme, 0)
        assert flag.evaluate(FLAG) == rgb(theme.flag)
    page.get_by_role("tab", name="Distribution").click()
    settled(page)
    follows(page, LIGHT, 1)
