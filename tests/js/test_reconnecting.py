"""After a lost connection clicks are held back until the new session has run once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.js.conftest import WEB, script

APP = """<!doctype html><body><div data-testid="stApp" data-test-connection-state="CONNECTED"
data-test-script-state="notRunning"><section data-testid="stMain"></section></div></body>"""
BECOMES = """async ([name, state]) => {
  document.querySelector("[data-testid=stApp]").setAttribute(`data-test-${name}-state`, state);
  await Promise.resolve();  // observers are told by then
  return document.querySelector("[data-testid=stMain]").inert;
}"""
IS_INERT = "document.querySelector('[data-testid=stMain]').inert"


@pytest.fixture
def waiting(chromium: Page) -> Iterator[Page]:
    """A page of an app that is connected and idle, with the script at work and a clock of its own that stands still."""
    assert chromium.context.browser is not None
    page = chromium.context.browser.new_page()
    page.set_content(APP)
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.add_script_tag(content=script(WEB / "static" / "reconnecting.js"))
    page.evaluate("() => { window.stop = waitAfterReconnecting(); }")
    yield page
    page.close()


def becomes(page: Page, name: str, state: str) -> bool:
    """Change a state of the app, and tell whether clicks are held back then."""
    return bool(page.evaluate(BECOMES, [name, state]))


def test_runs_of_a_session_that_stays_hold_nothing_back(waiting: Page) -> None:
    assert not becomes(waiting, "script", "running")
    assert not becomes(waiting, "script", "notRunning")


def test_clicks_wait_from_the_loss_of_the_connection_to_the_end_of_the_first_run(waiting: Page) -> None:
    assert becomes(waiting, "connection", "PINGING_SERVER")
    assert becomes(waiting, "connection", "CONNECTING")
    assert becomes(waiting, "connection", "CONNECTED"), "the new session has not run yet"
    assert becomes(waiting, "script", "running")
    assert not becomes(waiting, "script", "notRunning")


def test_a_session_that_does_not_run_holds_clicks_back_for_twenty_seconds_at_most(waiting: Page) -> None:
    becomes(waiting, "connection", "PINGING_SERVER")
    waiting.clock.run_for(60_000)
    assert becomes(waiting, "connection", "CONNECTED"), "the time without a connection does not count"
    waiting.clock.run_for(19_000)
    assert waiting.evaluate(IS_INERT)
    waiting.clock.run_for(2_000)
    assert not waiting.evaluate(IS_INERT)


def test_nothing_is_watched_any_more_once_it_is_stopped(waiting: Page) -> None:
    waiting.evaluate("stop()")
    assert not becomes(waiting, "connection", "PINGING_SERVER")
