"""What most tests need: the sample written once, a Hub over it, and an engine that reads it from there."""

import gc
import importlib
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from filelock import FileLock

import kbdash
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.sample import ensure_sample
from kbdash.engine import KernelBot
from tests import workers
from tests.hub import LoopbackHub

# The same examples in every run, and no limit on the time of one: a busy machine is no failure.
# `--hypothesis-profile=search` looks for new ones.
hypothesis.settings.register_profile("steady", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("search", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Leave the tests themselves, which live to the end, out of garbage collection, as the server does at its start."""
    gc.disable()
    try:
        import_from_own_place(session.config)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)


def import_from_own_place(config: pytest.Config) -> None:
    """Each of several workers imports the tests from another place on: what one compiled, the others find compiled.

    In one order they would all compile all of it at the same time, which takes longer than anything else they collect.
    """
    given = getattr(config, "workerinput", None)
    if given is None:
        return
    below = [Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args]
    files = sorted(file for place in below if place.is_dir() for file in place.rglob("test_*.py"))
    start = len(files) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
    for file in (*files[start:], *files[:start]):
        with suppress(Exception):  # collecting it will say what is wrong with it
            importlib.import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes long first, and mark what `make quick` leaves out."""
    for item in items:
        names = {item.path.name, getattr(item, "originalname", item.name)}
        if item.path.parent.name == "unit" and not names.isdisjoint(workers.SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: workers.turn(item.path.parent.name, item.path.name))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Three workers for two processors: tests in a browser, and of faults, wait now and then; quick ones do not.

    A fourth took away more by sharing their caches than it gave by filling those waits.
    """
    cores = os.cpu_count() or 1
    return cores if config.option.markexpr == "not slow" else cores + (cores + 1) // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> workers.Sharing:
    """Share the tests among processes by our own rule."""
    config.option.loadscopereorder = False
    return workers.Sharing(config, log)


@pytest.fixture(scope="session")
def sample_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the sample is written already; one for all workers of a run, or for many runs."""
    base = tmp_path_factory.getbasetemp()
    own = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    shared = Path(os.environ.get("KBDASH_TEST_CACHE") or own)
    with FileLock(shared / "sample.lock"):
        ensure_sample(shared / "cache")
    return shared / "cache"


@pytest.fixture(scope="session")
def sample_folder(sample_cache: Path) -> Path:
    """The eleven files of the sample; nobody writes here."""
    return ensure_sample(sample_cache)


@pytest.fixture(scope="session", autouse=True)
def packages_are_scanned_once() -> Iterator[None]:
    """Streamlit's AppTest looks for components in every installed package, at each run: 0.2 s that change nothing."""
    if "streamlit.testing.v1" not in sys.modules:  # no test of these opens a page
        yield
        return
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


def part_of(folder: Path, to: Path, *names: str) -> Path:
    """A dataset of some of its files: an engine takes a third of the time to open two of them instead of all."""
    to.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(folder / name, to)
    return to


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
    cache = tmp_path / "cache"
    return Settings(source=DATASET, endpoint=hub.endpoint, cache=cache, hub_seconds=30.0, query_seconds=120.0)


@pytest.fixture(scope="session")
def kb(sample_hub: LoopbackHub, sample_cache: Path) -> Iterator[KernelBot]:
    """The engine over the sample on the healthy Hub, shared by all that only ask."""
    settings = Settings(
        source=DATASET, endpoint=sample_hub.endpoint, cache=sample_cache, hub_seconds=30.0, query_seconds=120.0
    )
    engine = kbdash.connect(settings=settings)
    engine._database.wait_until_opened()
    yield engine
    engine.close()
