"""The app without a browser: opened at a link, against the sample or the Hub on loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from kbdash.engine import KernelBot
from kbdash.web import engines, session
from tests.app.shown import odd_looks
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.stock import stock

# A flat file of each size: an engine opens them in half of the time that it takes for all.
FEW = (
    "nvidia_nvfp4_submissions.parquet",
    "trimul_submissions.parquet",
    "helion_b200_nebius_submissions.parquet",
    "linalg_submissions.parquet",
)
MAIN = Path(__file__).resolve().parents[2] / "kbdash" / "main.py"
KINDS_OF_TEXT = ("title", "header", "subheader", "markdown", "caption", "warning", "error")
Open = Callable[..., AppTest]


@pytest.fixture(scope="session")
def sample_cache(sample_cache: Path) -> Path:
    """The sample with its content."""
    return stock(sample_cache)


@pytest.fixture(scope="session", autouse=True)
def scanned_once() -> Iterator[None]:
    """Streamlit looks through every installed package whenever an app starts, which took most of a test's time."""
    found = manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: found)
        yield


@pytest.fixture(scope="session")
def few_files(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some files of the sample; nobody writes here."""
    return part_of(sample_folder, tmp_path_factory.mktemp("few"), *FEW)


@pytest.fixture
def hub(few_files: Path) -> Iterator[LoopbackHub]:
    """A Hub with these files, of one test alone."""
    with LoopbackHub(few_files) as hub:
        yield hub


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, sample_cache: Path) -> Iterator[pytest.MonkeyPatch]:
    """The environment of one test, with no engine left over from the last."""
    for name in ("KBDASH_SOURCE", "HF_ENDPOINT", "HF_TOKEN", "SPACE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KBDASH_CACHE", str(sample_cache))
    monkeypatch.setenv("KBDASH_CONTENT_BUILD", "off")
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)  # whoever tries again in a test does not wait
    monkeypatch.setattr("kbdash.dataset.http.retry.PAUSES_S", (0.0, 0.0, 0.0))  # as many attempts, at once
    st.cache_resource.clear()
    yield monkeypatch
    st.cache_resource.clear()


@pytest.fixture(scope="session")
def shared_sample(sample_cache: Path) -> Iterator[None]:
    """The sample for all tests that only look: opened once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBDASH_SOURCE", "sample")
        patch.setenv("KBDASH_CACHE", str(sample_cache))
        patch.setenv("KBDASH_CONTENT_BUILD", "off")
        for name in ("HF_ENDPOINT", "HF_TOKEN", "SPACE_HOST"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def sample(shared_sample: None, monkeypatch: pytest.MonkeyPatch, sample_cache: Path) -> Open:
    """Opens a page of the sample."""
    monkeypatch.setenv("KBDASH_SOURCE", "sample")
    monkeypatch.setenv("KBDASH_CACHE", str(sample_cache))
    return open_app


def open_app(page: str = "", **params: str | list[str]) -> AppTest:
    """The app after its first run at a link; pages other than the overview are reached as a Space reaches them."""
    app = AppTest.from_file(str(MAIN), default_timeout=60)
    if page:
        app.query_params["page"] = page
    for name, value in params.items():
        app.query_params[name.rstrip("_")] = value
    return app.run()


def opened_engine() -> KernelBot:
    """The engine behind the pages."""
    return session.engines().get(None).kb


def link(app: AppTest) -> dict[str, list[str]]:
    """The parameters in the address bar."""
    return {name: value if isinstance(value, list) else [value] for name, value in app.query_params.items()}


def words(app: AppTest) -> str:
    """All text on the page outside of tables and charts."""
    said: dict[str, list[str]] = {kind: [] for kind in KINDS_OF_TEXT}
    for node in app._tree:  # once: the app's own list of each kind goes through the whole page
        if isinstance(node, Element) and node.type in said:
            said[node.type].append(node.value)
    return "\n".join(text for texts in said.values() for text in texts)


def healthy(app: AppTest) -> bool:
    """Whether nothing on the page failed, and everything looks as its name says."""
    return not app.exception and ":material/error:" not in words(app) and not odd_looks(app)
