"""Trying again, as a reader presses it: only where it can help, and the Hub hardly notices."""

import pytest

from kbdash.dataset.config import DATASET
from kbdash.web import engines
from tests.app.conftest import open_app, opened_engine, words
from tests.app.shown import tables
from tests.hub import LoopbackHub


@pytest.fixture
def strict(environment: pytest.MonkeyPatch, hub: LoopbackHub) -> None:
    """That dataset and nothing else."""
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)


@pytest.mark.usefixtures("strict")
def test_an_unknown_id_offers_nothing_to_press_and_asks_the_hub_for_nothing_more(hub: LoopbackHub) -> None:
    app = open_app("submission", id="999999999999")
    assert "999999999999" in words(app)
    assert not [button for button in app.button if button.key and button.key.endswith("-retry")]
    database = opened_engine()._database
    database.wait_until_opened(60.0)
    assert database._materialiser.wait(60.0)
    before = hub.counts.requests
    for _ in range(5):
        app.run()
    assert hub.counts.requests == before


@pytest.mark.usefixtures("strict")
def test_many_presses_open_the_source_once_per_interval(hub: LoopbackHub, environment: pytest.MonkeyPatch) -> None:
    hub.faults.fail(503, "/api/*")
    app = open_app()
    assert "answered 503" in words(app)
    environment.setattr(engines, "REOPEN_SECONDS", 1.0)
    before = len([entry for entry in hub.counts.log if entry.area == "api"])
    app.button(key="problem-retry").click().run()
    per_attempt = len([entry for entry in hub.counts.log if entry.area == "api"]) - before
    for _ in range(10):
        app.run()  # readers who come meanwhile share the failure
    assert len([entry for entry in hub.counts.log if entry.area == "api"]) - before <= 2 * per_attempt
    hub.faults.clear()
    app.button(key="problem-retry").click().run()
    assert tables(app)


@pytest.mark.usefixtures("strict")
def test_a_proxy_that_is_not_understood_is_named_without_its_password(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HTTP_PROXY", "http://user:sesame@127.0.0.1:9/x y")
    environment.setenv("NO_PROXY", "127.0.0.1")
    for page in ("", "nvfp4", "about", "user"):
        assert "sesame" not in words(open_app(page))


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_no_page_tells_the_password_of_a_proxy(environment: pytest.MonkeyPatch, name: str) -> None:
    for address in (
        "http://user:sesame@127.0.0.1:9",
        "http://user:sesame@not a proxy",
        "socks5://user:sesame@127.0.0.1:9",
    ):
        environment.setenv(name, address)
        environment.setenv("KBDASH_SOURCE", DATASET)
        environment.setenv("HF_ENDPOINT", "http://hub.invalid")
        for page in ("", "nvfp4"):
            app = open_app(page)
            assert "sesame" not in words(app)
            assert not app.exception
