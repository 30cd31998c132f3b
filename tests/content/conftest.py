"""The sample with the content stores that the other tests of a run have too."""

from pathlib import Path

import pytest

from tests.stock import stock


@pytest.fixture(scope="session")
def sample_cache(sample_cache: Path) -> Path:
    """The sample with its content."""
    return stock(sample_cache)


@pytest.fixture(scope="session")
def sample_content(sample_cache: Path) -> Path:
    """The folder of its stores; nobody writes here."""
    return sample_cache / "content"
