"""A real browser and a real server. Every page is watched: no script error, no request to anywhere else."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Request, expect, sync_playwright

from tests import browser as chromium
from tests.e2e.serving import free_port, served
from tests.stock import stock

READY = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    # Scripts are compiled once for all pages: kept code is used only where nothing is compiled while it arrives.
    # The other two are what Playwright switches off by a switch of the same name, of which the last counts.
    "--disable-features=ScriptStreaming,PaintHolding,HttpsUpgrades",
    # A page lives for seconds: code made faster costs more than it saves, and so does parsing twice for line numbers.
    "--js-flags=--no-opt --no-maglev --no-enable-lazy-source-positions",
    # Tabs share one process, which has read and compiled the scripts of the first.
    "--renderer-process-limit=1",
    "--in-process-gpu",
]
# Nothing moves, above all not the bars that stand for what is still to come: each frame would be drawn.
STILL = """const still = new CSSStyleSheet();
still.replaceSync("*, *::before, *::after { animation: none !important; transition: none !important; }");
document.adoptedStyleSheets.push(still);"""
# What a click on a link inside the dashboard does: another address, the same session, nothing loaded again.
MOVE = """(address) => {
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""
# Resolves once the page has handled what was done to it, however busy the machine is: only then does the app count as
# running. Measured by the page's own thread, because the test's clock knows nothing of it.
HANDLED = """() => new Promise((done) => {
  const idle = (next) => scheduler.postTask(next, { priority: "background" });
  idle(() => setTimeout(() => idle(done), 60));
})"""
# Resolves once the app is ready and idle, to the number of exceptions it shows. The page itself tells: one that is
# asked again and again has to be laid out each time.
SETTLED = f"""async (ready) => {{
  await ({HANDLED})();
  await new Promise((done, failed) => {{
    const look = () => {{
      if (!document.querySelector(ready)) return;
      watch.disconnect();
      requestAnimationFrame(() => scheduler.postTask(done, {{ priority: "background" }}));
    }};
    const watch = new MutationObserver(look);
    const attributeFilter = ["data-test-connection-state", "data-test-script-state"];
    watch.observe(document, {{ subtree: true, childList: true, attributeFilter }});
    setTimeout(() => failed(new Error("the app is not ready after a minute")), 60_000);
    look();
  }});
  return document.querySelectorAll("[data-testid=stException]").length;
}}"""
PATIENCE = 30.0  # seconds for what a page shows a moment later
expect.set_options(timeout=PATIENCE * 1000)

Serve = Callable[..., str]
Open = Callable[..., Page]
Value = TypeVar("Value")


@pytest.fixture(scope="session")
def sample_cache(sample_cache: Path) -> Path:
    """The sample with its content."""
    return stock(sample_cache)


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, sample_cache: Path) -> Iterator[str]:
    """Base address of a dashboard over the sample, shared by the tests that change nothing in it."""
    log = tmp_path_factory.mktemp("log") / "app.log"
    with served(log, {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)}) as base:
        yield base


@pytest.fixture(scope="session")
def port() -> int:
    """Where the cold dashboards of this process stand, one after the other: the browser knows their scripts by then."""
    return free_port()


@pytest.fixture
def serve(tmp_path: Path, sample_cache: Path, port: int) -> Iterator[Serve]:
    """Start a cold dashboard of the test's own, with these variables; gives its base address."""
    with ExitStack() as stack:

        def start(**environ: str) -> str:
            variables = {"KBDASH_CACHE": str(sample_cache)} | environ
            return stack.enter_context(served(tmp_path / "app.log", variables, port))

        yield start


@pytest.fixture(scope="package")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Where pages are opened: one Chromium for the tests of this folder; later ones need the event loop it occupies.

    Its profile is on disk, so that Streamlit's scripts are fetched and compiled once and not by every test.
    """
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=chromium.find(),
            args=ARGUMENTS,
            locale="en-GB",
            timezone_id="America/New_York",  # not UTC, so that a time shown in local time is noticed
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
            accept_downloads=True,
        )
        opened.add_init_script(STILL)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def browser(readers: BrowserContext) -> Browser:
    """The same Chromium, for who needs a reader with nothing of the others."""
    assert readers.browser is not None
    return readers.browser


@pytest.fixture
def open_page(readers: BrowserContext) -> Iterator[Open]:
    """Open an address in a tab of a reader who was never there, and wait until the page is drawn.

    At the end every page opened must have been free of script errors and requests to other hosts. Two tabs stay for the
    next test, without anything of this one: a new tab costs as much as the page in it.
    """
    complaints: list[str] = []
    used: list[Page] = []

    def failed(error: Error) -> None:
        complaints.append(f"script error: {error}")

    def asked(request: Request) -> None:
        complaints.extend(_elsewhere(request))

    def visit(address: str, *, width: int = 1280, height: int = 1400, dark: bool = False, wait: bool = True) -> Page:
        free = [page for page in readers.pages if page not in used]
        page = free[0] if free else readers.new_page()
        used.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.on("pageerror", failed)
        page.on("request", asked)
        page.goto(address)
        return settled(page) if wait else page

    yield visit
    for page in used:
        if not page.is_closed():
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            page.remove_listener("pageerror", failed)
            page.remove_listener("request", asked)
    for page in readers.pages[2:]:
        page.close()
    for page in readers.pages:
        if page.url != "about:blank":
            page.goto("about:blank")
    readers.clear_cookies()
    assert complaints == []


def moved(page: Page, address: str) -> Page:
    """Go to another address as a link inside the dashboard does, and wait until the page is drawn."""
    page.evaluate(MOVE, address)
    return settled(page)


def settled(page: Page) -> Page:
    """Wait until the script has run; no exception may be on the page."""
    assert page.evaluate(SETTLED, READY) == 0
    return page


def eventually(page: Page, read: Callable[[], Value], wanted: Value) -> None:
    """Assert that `read` gives the wanted value, now or a moment later."""
    deadline = time.monotonic() + PATIENCE
    while (found := read()) != wanted and time.monotonic() < deadline:
        page.wait_for_timeout(100)
    assert found == wanted


def query(page: Page) -> dict[str, list[str]]:
    """The parameters in the address bar."""
    return parse_qs(urlsplit(page.url).query)


def _elsewhere(request: Request) -> list[str]:
    local = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:")
    return [] if request.url.startswith(local) else [f"outside request: {request.url}"]
