"""Sentences that readers stumbled over stay away from the pages."""

from pathlib import Path

import pytest

import kbdash
from kbdash.units import plural

HOUSE = Path(kbdash.__file__).parent
PAGES = [
    path
    for part in ("web", "database")
    for path in (HOUSE / part).rglob("*.*")
    if path.suffix in (".py", ".js", ".html")
]
CLUMSY = (
    "Against own best before",
    "Diff to the best before",
    "Times as fast",
    "already at hand, nothing fetched",
    "Nobody else sent this text",
    "What became of them",
    "The same as a table",
    "so not filtered by the secret runs",
    "upstream's and unverified",
    "behind the rank before",
    "Nobody's name holds that text",
    "turn the two round",
    "Finding out where texts lie",
)


@pytest.mark.parametrize("phrase", CLUMSY)
def test_clumsy_sentences_are_gone(phrase: str) -> None:
    assert [path.name for path in PAGES if phrase.lower() in path.read_text("utf-8").lower()] == []


def test_one_is_not_many() -> None:
    assert (plural(1, "person", "people"), plural(2, "person", "people")) == ("1 person", "2 people")
