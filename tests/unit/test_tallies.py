"""Tallies per user and day, kept in memory: boards made of them are those made of the rows themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

import kbdash
from kbdash.database.materialising import Materialiser
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError, QueryRefused
from tests.conftest import part_of
from tests.examples import examples
from tests.unit.tables import LEGACY, NVFP4, TRIMUL
from tests.unit.test_ranking import DAYS, MIDNIGHT, engine_over, flat_rows, submissions

Frames = dict[tuple[Any, ...], pd.DataFrame]


@contextmanager
def worth(keeping: bool) -> Iterator[None]:
    """Whether every competition that is asked about is worth keeping, or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Materialiser, "_worth_materialising", lambda *_: keeping)
        yield


def days_kept(engine: KernelBot) -> int:
    """How many competitions have their days added up, once nothing is being built."""
    assert engine._database._materialiser.wait(60.0)
    names = engine._database._asker.run(
        "select view_name from duckdb_views() where sql like '%materialised.\"days of %'"
    )
    return len(names)


def answers(engine: KernelBot, boards: list[tuple[str, str]], periods: list[tuple[Any, Any]], *names: str) -> Frames:
    """What each board answers to these questions for each period, every other time without flagged rows."""
    return {
        (slug, problem, since, until, name): getattr(engine, name)(
            problem, competition=slug, since=since, until=until, flagged=(place + turn) % 2 == 0
        )
        for (place, (slug, problem)), (turn, (since, until)) in product(enumerate(boards), enumerate(periods))
        for name in names
    }


def assert_equal(found: Frames, expected: Frames) -> None:
    assert found.keys() == expected.keys()
    for key, frame in expected.items():
        pd.testing.assert_frame_equal(found[key], frame, obj=str(key))


def test_every_board_of_the_sample_is_the_same_either_way(sample_folder: Path, tmp_path: Path) -> None:
    with worth(False):
        folder = part_of(sample_folder, tmp_path / "dataset", NVFP4, LEGACY, TRIMUL, "pmpp_v2_submissions.parquet")
        engine = kbdash.connect(settings=Settings(source=str(folder), cache=tmp_path))
        problems = engine.problems()
        boards = list(dict.fromkeys(zip(problems["competition"], problems["problem"], strict=True)))
        span = [moment.date() for moment in (problems["first_at"].min(), problems["last_at"].max())]
        thirds = [span[0] + timedelta(third * (span[1] - span[0]).days // 3) for third in (1, 2)]
        periods = [(None, None), (None, thirds[1]), (thirds[0], thirds[1])]
        plain = one_period_each(engine, boards, periods)
        assert days_kept(engine) == 0
    with worth(True):
        for slug, problem in boards:
            engine.leaderboard(problem, competition=slug)
        assert days_kept(engine) == len({slug for slug, _ in boards})
        assert_equal(one_period_each(engine, boards, periods), plain)
    engine.close()
    assert len(boards) > 18
    assert sum(len(frame) for frame in plain.values()) > 500


def one_period_each(engine: KernelBot, boards: list[tuple[str, str]], periods: list[tuple[Any, Any]]) -> Frames:
    """The leaderboard of every board, each for another period than its neighbour; the traps are asked about all."""
    frames: Frames = {}
    for number, period in enumerate(periods):
        frames |= answers(engine, boards[number :: len(periods)], [period], "leaderboard")
    return frames


def one_question_each(engine: KernelBot, boards: list[tuple[str, str]], periods: list[tuple[Any, Any]]) -> Frames:
    """Each board for each period: half of them in one question, the others in the other, and the next board in turn."""
    frames: Frames = {}
    for place, board in enumerate(boards):
        for half, name in enumerate(("leaderboard", "summary")):
            frames |= answers(engine, [board], periods[2 * ((half + place) % 2) :][:2], name)
    return frames


@examples(5)
@given(submissions)
def test_traps_are_the_same_either_way(generated: list[Any]) -> None:
    first, *_, last = sorted(day for day in set(DAYS) if day)
    periods = [
        (None, None),
        (None, last - timedelta(1)),
        (first + timedelta(1), None),
        (MIDNIGHT.date(), MIDNIGHT.date()),
    ]
    with engine_over(flat_rows(generated)) as (kb, expected):
        boards = [("nvfp4", problem) for problem, rows in expected.items() if rows]
        with worth(False):
            plain = one_question_each(kb, boards, periods)
        with worth(True):
            kb.leaderboard(boards[0][1])
            assert days_kept(kb) == 1
            assert_equal(one_question_each(kb, boards, periods), plain)


@pytest.fixture(scope="module")
def nvfp4(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of one file: it opens in a third of the time of all."""
    return part_of(sample_folder, tmp_path_factory.mktemp("dataset"), NVFP4)


def no_room(*_: object) -> None:
    raise KbdashError("no room")


@pytest.mark.parametrize(
    ("place", "became"),
    [
        ("Materialiser._copy_days", no_room),
        # A compression that ran out of memory would invalidate every copy for the rest of the process.
        ("_SPARE", 1 << 50),
    ],
)
def test_days_that_cannot_be_kept_are_no_failure_of_a_question(
    kb: KernelBot, nvfp4: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, became: object
) -> None:
    monkeypatch.setattr(f"kbdash.database.materialising.{place}", became)
    engine = kbdash.connect(settings=Settings(source=str(nvfp4), cache=tmp_path))
    with worth(True):
        engine.leaderboard("nvfp4_gemm")
        assert days_kept(engine) == 0
        assert engine.leaderboard("nvfp4_gemm").equals(kb.leaderboard("nvfp4_gemm"))
    engine.close()


def test_rows_are_kept_although_questions_are_under_way(
    nvfp4: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB refuses to pack a database while another question is in it."""
    engine = kbdash.connect(settings=Settings(source=str(nvfp4), cache=tmp_path))
    materialiser = engine._database._materialiser
    run, refusals = materialiser._run, iter(range(3))

    def busy(text: str, /) -> pd.DataFrame:
        if text.startswith("checkpoint") and next(refusals, None) is not None:
            raise QueryRefused("Cannot CHECKPOINT: there are other write transactions active")
        return run(text)

    monkeypatch.setattr(materialiser, "_run", busy)
    with worth(True):
        engine.leaderboard("nvfp4_gemm")
        assert days_kept(engine) == 1
    assert next(refusals, None) is None
    engine.close()
