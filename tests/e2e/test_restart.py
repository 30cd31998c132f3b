"""A page that was open when the server restarted: it comes back by itself, and every click works."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import READY, Open, settled
from tests.e2e.grid import press, table
from tests.e2e.serving import free_port, served


@pytest.fixture
def restart(tmp_path: Path, sample_cache: Path) -> Iterator[Callable[[], str]]:
    """Starts the dashboard, and each further time stops it first; always at the same address."""
    port = free_port()
    with ExitStack() as running:

        def start() -> str:
            running.close()
            environ = {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)}
            return running.enter_context(served(tmp_path / "app.log", environ, port))

        yield start


def back(page: Page) -> None:
    """Wait until the page has noticed the loss and is connected again."""
    page.wait_for_selector(READY, timeout=60_000)
    settled(page)


def test_every_click_works_after_a_restart(restart: Callable[[], str], open_page: Open) -> None:
    base = restart()
    page = open_page(f"{base}/nvfp4")
    expect(table(page, "leaderboard-table")).to_be_visible()
    restart()
    back(page)
    page.get_by_role("tab", name="Progression").click()
    expect(page).to_have_url(f"{base}/nvfp4?tab=progression")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.get_by_role("radio", name="gemm", exact=True).click()
    expect(page).to_have_url(f"{base}/nvfp4?problem=nvfp4_gemm&tab=progression")
    expect(page.locator(".st-key-nvfp4-problem [aria-checked=true]")).to_have_text("gemm")
    page.get_by_role("button", name="Filters").click()
    page.locator(".st-key-nvfp4-hide_flagged label").click()
    expect(page).to_have_url(f"{base}/nvfp4?problem=nvfp4_gemm&flags=hide&tab=progression")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Leaderboard").click()
    expect(page).to_have_url(f"{base}/nvfp4?problem=nvfp4_gemm&flags=hide")
    expect(table(page, "leaderboard-table")).to_be_visible()


def test_the_first_click_after_a_restart_opens_the_code(restart: Callable[[], str], open_page: Open) -> None:
    base = restart()
    page = open_page(f"{base}/nvfp4?problem=nvfp4_gemm")
    expect(table(page, "leaderboard-table")).to_be_visible()
    restart()
    back(page)
    press(page, "leaderboard-table", 0)
    expect(page.locator(".st-key-code .line").first).to_be_visible()
    assert page.url.startswith(f"{base}/submission?id=")


def test_a_page_that_could_not_be_drawn_comes_back_too(restart: Callable[[], str], open_page: Open) -> None:
    base = restart()
    page = open_page(f"{base}/submission?id=999999999999")
    expect(page.locator("[class*=problem-box]")).to_be_visible()
    restart()
    back(page)
    page.get_by_role("link", name="About").click()
    expect(page).to_have_url(f"{base}/about")
    expect(page.get_by_role("heading", name="About")).to_be_visible()
