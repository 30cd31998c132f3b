"""What most tests need: the sample written once, a Hub over it, and an engine that reads it from there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kbdash
from kbdash.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.sample import ensure_sample
from tests.hub import LoopbackHub


@pytest.fixture(scope="session")
def sample_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the sample is written already."""
    cache = tmp_path_factory.mktemp("cache")
    ensure_sample(cache)
    return cache


@pytest.fixture(scope="session")
def sample_folder(sample_cache: Path) -> Path:
    """The eleven files of the sample; nobody writes here."""
    return ensure_sample(sample_cache)


@pytest.fixture(scope="session")
def sample_hub(sample_folder: Path) -> Iterator[LoopbackHub]:
    """A Hub with the sample that stays healthy; tests that count or break things take `hub`."""
    with LoopbackHub(sample_folder) as hub:
        yield hub


@pytest.fixture
def hub(sample_folder: Path) -> Iterator[LoopbackHub]:
    """A Hub with the sample, of one test alone."""
    with LoopbackHub(sample_folder) as hub:
        yield hub


@pytest.fixture
def settings(hub: LoopbackHub, tmp_path: Path) -> Settings:
    """Settings that name the dataset of `hub`, patient enough for a busy machine."""
    return Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path / "cache", hub_seconds=30.0)


@pytest.fixture(scope="session")
def kb(sample_hub: LoopbackHub, sample_cache: Path) -> Iterator[KernelBot]:
    """The engine over the sample on the healthy Hub, shared by all that only ask."""
    settings = Settings(source=DATASET, endpoint=sample_hub.endpoint, cache=sample_cache, hub_seconds=30.0)
    engine = kbdash.connect(settings=settings)
    yield engine
    engine.close()
