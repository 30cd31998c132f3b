"""A page that was open when the server restarted: it comes back by itself, and every click works."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import READY, Open, settled
from tests.e2e.grid import press, table
from tests.e2e.serving import served


@pytest.fixture
def restart(tmp_path: Path, sample_cache: Path, port: int) -> Iterator[Callable[[], str]]:
    """Starts the dashboard, and each further time stops it first; always at the same address."""
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


def test_every_page_comes_back_after_a_restart(restart: Callable[[], str], open_page: Open) -> None:
    """One restart for three readers: on a board, before the code, and on a page that could not be drawn."""
    base = restart()
    board = open_page(f"{base}/pmpp-v2")
    expect(table(board, "leaderboard-table")).to_be_visible()
    other = open_page(f"{base}/pmpp-v2?problem=matmul_v2")
    expect(table(other, "leaderboard-table")).to_be_visible()
    empty = open_page(f"{base}/submission?id=999999999999")
    expect(empty.locator("[class*=problem-box]")).to_be_visible()
    restart()
    back(board)
    every_click_works(board, base)

    back(other)
    press(other, "leaderboard-table", 0)
    expect(other.locator(".st-key-code .line").first).to_be_visible()
    assert other.url.startswith(f"{base}/submission?id=")

    back(empty)
    empty.get_by_role("link", name="About").click()
    expect(empty).to_have_url(f"{base}/about")
    expect(empty.get_by_role("heading", name="About")).to_be_visible()


def every_click_works(page: Page, base: str) -> None:
    """Tabs, choices and the filters, each with its address."""
    page.get_by_role("tab", name="Progression").click()
    expect(page).to_have_url(f"{base}/pmpp-v2?tab=progression")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.get_by_role("radio", name="matmul").click()
    expect(page).to_have_url(f"{base}/pmpp-v2?problem=matmul_v2&tab=progression")
    expect(page.locator(".st-key-pmpp-v2-problem [aria-checked=true]")).to_have_text("matmul")
    page.get_by_role("button", name="Filters").click()
    page.locator(".st-key-pmpp-v2-hide_flagged label").click()
    expect(page).to_have_url(f"{base}/pmpp-v2?problem=matmul_v2&flags=hide&tab=progression")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Leaderboard").click()
    expect(page).to_have_url(f"{base}/pmpp-v2?problem=matmul_v2&flags=hide")
    expect(table(page, "leaderboard-table")).to_be_visible()
