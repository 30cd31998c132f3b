"""A page of a real browser with the scripts of the code pages in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests import browser

WEB = Path(__file__).resolve().parents[2] / "kbdash" / "web"
SHARED = [WEB / "code" / "assets" / name for name in ("tokens.js", "paint.js", "text.js")]


def script(*paths: Path) -> str:
    """Scripts as one classic script, whose names are then there for all others."""
    return "\n".join(path.read_text("utf-8") for path in paths).replace("export default function", "function component")


@pytest.fixture(scope="package")
def chromium() -> Iterator[Page]:
    """One page for the tests of this folder; later ones need the event loop that it occupies."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=browser.find(), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield launched.new_page()
        launched.close()


@pytest.fixture
def page(chromium: Page) -> Page:
    """A page that knows tokens.js, paint.js and text.js, and nothing else."""
    chromium.goto("about:blank")
    chromium.set_content("<!doctype html><body></body>")
    chromium.add_script_tag(content=script(*SHARED))
    return chromium
