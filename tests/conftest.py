"""What most tests need: the sample written once, a Hub over it, and an engine that reads it from there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kbdash
from kbdash.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.sample import write_sample
from tests.hub import LoopbackHub


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The eleven files of the sample; nobody writes here."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


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
    """Settings that name the dataset of `hub`."""
    return Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def kb(sample_hub: LoopbackHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    """The engine over the sample on the healthy Hub, shared by all that only ask."""
    cache = tmp_path_factory.mktemp("cache")
    engine = kbdash.connect(settings=Settings(source=DATASET, endpoint=sample_hub.endpoint, cache=cache))
    yield engine
    engine.close()
