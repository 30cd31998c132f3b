"""Sentences that readers stumbled over stay away from the pages."""

import re
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


def test_what_the_guide_for_contributors_names_is_there() -> None:
    text = (HOUSE.parent / "CONTRIBUTING.md").read_text("utf-8")
    steps = [line for line in text.replace("\n   ", " ").splitlines() if re.match(r"\| |\d\. ", line)]
    assert len(steps) > 25
    for step in steps:
        named = re.findall(r"`([^`]+)`", step)
        folders = [HOUSE.parent / name for name in named if "/" in name and "*" not in name]
        assert [path for path in folders if not path.exists()] == []
        files = [path for folder in folders for path in ([folder] if folder.is_file() else folder.rglob("*.py"))]
        files += [file.parent / name for file in files for name in named if (file.parent / name).is_file()]
        words = "\n".join(path.read_text("utf-8") for path in files)
        assert [name for name in named if re.fullmatch(r"[A-Z_]{3,}", name) and name not in words] == [], step
