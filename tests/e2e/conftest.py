"""A real browser and a real server. Every page is watched: no script error, no request to anywhere else."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from tests import browser as chromium
from tests.e2e.serving import served

READY = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
expect.set_options(timeout=30_000)

Serve = Callable[..., str]
Open = Callable[..., Page]


@pytest.fixture(scope="session")
def sample_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KBDASH_CACHE of all servers, so that the sample is made once."""
    return tmp_path_factory.mktemp("kbdash-cache")


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, sample_cache: Path) -> Iterator[str]:
    """Base address of a dashboard over the sample, shared by the tests that change nothing in it."""
    log = tmp_path_factory.mktemp("log") / "app.log"
    with served(log, {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)}) as base:
        yield base


@pytest.fixture
def serve(tmp_path: Path, sample_cache: Path) -> Iterator[Serve]:
    """Start a cold dashboard of the test's own, with these variables; gives its base address."""
    with ExitStack() as stack:

        def start(**environ: str) -> str:
            log = tmp_path / f"app-{len(list(tmp_path.glob('app-*')))}.log"
            return stack.enter_context(served(log, {"KBDASH_CACHE": str(sample_cache)} | environ))

        yield start


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of this folder; later ones need the event loop that it occupies."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium.find(), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open an address in a browser context of its own and wait until the page is drawn.

    At the end every page opened must have been free of script errors and requests to other hosts.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def visit(address: str, *, width: int = 1280, height: int = 1400, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            timezone_id="America/New_York",  # not UTC, so that a time shown in local time is noticed
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"script error: {error}"))
        page.on("request", lambda request: complaints.extend(_elsewhere(request)))
        page.goto(address)
        settled(page)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []


def settled(page: Page) -> Page:
    """Wait until the script has run; no exception may be on the page."""
    page.wait_for_timeout(150)  # a click needs a moment before the app counts as running
    page.wait_for_selector(READY, timeout=60_000)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    return page


def _elsewhere(request: Request) -> list[str]:
    local = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:")
    return [] if request.url.startswith(local) else [f"outside request: {request.url}"]
