"""The real server, over the Hub on loopback and over the sample, and who asks it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from filelock import FileLock

from kbdash.content.building.build import Build
from kbdash.content.building.jobs import Opened
from kbdash.content.store.finished import find_store
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.source import open_source
from tests.api.asked import BOARD
from tests.e2e.serving import served
from tests.hub import LoopbackHub

Ask = Callable[..., httpx2.Response]


def build_store(settings: Settings, slug: str) -> None:
    """The content store of a competition, built once per cache."""
    root = settings.cache / "content"
    opened = Opened(open_source(settings), settings)
    with FileLock(settings.cache / "content.lock"):
        for order in opened.jobs([slug], root):
            if find_store(root, order.file) is None:
                Build(order).run()
    opened.close()


@pytest.fixture(scope="session")
def store(sample_hub: LoopbackHub, sample_cache: Path) -> None:
    """The content store of a board, for the sample and for the Hub that serves it."""
    hub = Settings(source=DATASET, endpoint=sample_hub.endpoint, cache=sample_cache, hub_seconds=30.0)
    for settings in (hub, Settings(source="sample", cache=sample_cache)):
        build_store(settings, BOARD)


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, sample_hub: LoopbackHub, sample_cache: Path, store: None
) -> Iterator[str]:
    """Base address of a server that reads the Hub."""
    environ = {"KBDASH_SOURCE": DATASET, "HF_ENDPOINT": sample_hub.endpoint, "KBDASH_CACHE": str(sample_cache)}
    with served(tmp_path_factory.mktemp("log") / "api.log", environ) as base:
        yield base


@pytest.fixture(scope="session")
def sample_server(tmp_path_factory: pytest.TempPathFactory, sample_cache: Path, store: None) -> Iterator[str]:
    """Base address of a server that reads the sample."""
    environ = {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache), "KBDASH_CONTENT_BUILD": "off"}
    with served(tmp_path_factory.mktemp("log") / "sample.log", environ) as base:
        yield base


@pytest.fixture(scope="session")
def ask(server: str) -> Iterator[Ask]:
    """Ask the server that reads the Hub."""
    with httpx2.Client(base_url=server, timeout=60) as client:
        yield client.get


@pytest.fixture(scope="session")
def ask_sample(sample_server: str) -> Iterator[Ask]:
    """Ask the server that reads the sample."""
    with httpx2.Client(base_url=sample_server, timeout=60) as client:
        yield client.get
