"""The rows that readers' SQL runs on are written anew when anything changes that they are made from."""

from dataclasses import replace
from pathlib import Path

import pytest

import kbdash
from kbdash.database import competition_views, rules
from kbdash.database.competition_views import sql_text
from kbdash.dataset import catalog
from kbdash.dataset.config import Settings
from kbdash.dataset.model import FlagCase
from kbdash.engine import KernelBot
from tests.conftest import part_of
from tests.unit.tables import LEGACY, TRIMUL

VIEWS = ("view_values", "view_flat", "view_runs", "view_legacy", "view_shapes", "view_submissions", "ranking")


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a row per submission, and one with a row per run."""
    return part_of(sample_folder, tmp_path_factory.mktemp("dataset"), TRIMUL, LEGACY)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path, query_seconds=60.0)


def snapshot_of(engine: KernelBot) -> Path:
    """The file that a statement would run on."""
    engine._database.wait_until_opened(60.0)
    with engine._database.question():
        path, missing = engine._database._snapshot(with_shapes=True)
    engine.close()
    assert missing == {}
    return path


def edit(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Change an SQL file."""

    def edited(asked: str) -> str:
        return sql_text(asked).replace("create or replace", "create or  replace") if asked == name else sql_text(asked)

    assert edited(name) != sql_text(name)
    for module in (competition_views, rules):
        monkeypatch.setattr(module, "sql_text", edited)


@pytest.mark.parametrize("name", VIEWS)
def test_an_edited_view(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = snapshot_of(kbdash.connect(folder, settings=settings))
    edit(monkeypatch, name)
    assert snapshot_of(kbdash.connect(folder, settings=settings)) != before


@pytest.mark.parametrize("changed", ["COMPETITIONS", "FLAG_CASES", "IMPOSSIBLE_SECONDS", "OTHER_HARDWARE"])
def test_a_changed_catalog(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    before = snapshot_of(kbdash.connect(folder, settings=settings))
    first, *others = catalog.COMPETITIONS
    with_floor = replace(first, boards=(replace(first.boards[0], floor=1.5), *first.boards[1:]))
    values = {
        "COMPETITIONS": (with_floor, *others),
        "FLAG_CASES": (*catalog.FLAG_CASES, FlagCase(1, 2, "seen", "a test")),
        "IMPOSSIBLE_SECONDS": 2e-7,
        "OTHER_HARDWARE": catalog.OTHER_HARDWARE[1:],
    }
    monkeypatch.setattr(catalog, changed, values[changed])
    assert snapshot_of(kbdash.connect(folder, settings=settings)) != before


def test_nothing_is_written_anew_when_nothing_changes(folder: Path, settings: Settings) -> None:
    first, second = (snapshot_of(kbdash.connect(folder, settings=settings)) for _ in range(2))
    assert first == second
    assert len(list(first.parent.glob("*.duckdb"))) == 1


def test_a_new_case_is_in_the_next_answer(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    flagged = "select count(*) as n from judged('trimul') where contains(flags, 'seen by a test')"
    engine = kbdash.connect(folder, settings=settings)
    one = engine.sql("select * from judged('trimul') where counts and flags = '' limit 1").iloc[0]
    assert engine.sql(flagged)["n"].tolist() == [0]
    engine.close()
    case = FlagCase(int(one["leaderboard_id"]), int(one["submission_id"]), "seen by a test", "a test", one["runner"])
    monkeypatch.setattr(catalog, "FLAG_CASES", (*catalog.FLAG_CASES, case))
    again = kbdash.connect(folder, settings=settings)
    assert again.sql(flagged)["n"].tolist() == [1]
    again.close()
