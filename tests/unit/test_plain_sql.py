"""SQL for DuckDB alone: run by a DuckDB that knows nothing of kbdash, over the files on the Hub."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import kbdash
from kbdash.database.asking import as_frame
from kbdash.database.plain_sql import statement
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Page
from kbdash.engine import KernelBot

NVFP4 = {"competition": "nvfp4", "problem": "nvfp4_gemm", "runner": None, "since": None, "until": None, "flagged": True}
MI300 = {**NVFP4, "competition": "amd-mi300", "problem": "amd-fp8-mm"}


@pytest.fixture
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that can fetch over HTTP, in another time zone."""
    with duckdb.connect() as connection:
        extension = next(Path(str(files("duckdb_extension_httpfs"))).rglob("*.duckdb_extension"))
        connection.execute(f"load '{extension}'")
        connection.execute("set TimeZone = 'America/New_York'")
        yield connection


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("leaderboard", {**NVFP4, "top": 9, "until": "2025-12-20"}),
        ("leaderboard", {**MI300, "top": None, "flagged": False}),
        ("leaderboard", {**NVFP4, "top": 3, "users": [], "score": 2e-5, "order": "-gap"}),
        ("distribution", {**NVFP4, "bins": 60}),
        ("ecdf", {**NVFP4, "points": 400}),
        ("progression", {**NVFP4, "users": None, "limit": 4000}),
        ("records", NVFP4),
        ("shapes", {**MI300, "users": [], "top": 5}),
    ],
)
def test_a_question_about_a_board(
    kb: KernelBot, plain: duckdb.DuckDBPyConnection, question: str, asked: dict[str, Any]
) -> None:
    if "users" in asked and asked["users"] is None:
        asked = {**asked, "users": kb.leaderboard("nvfp4_gemm")["user_id"].tolist()[:2]}
    text = kb.plain_sql(statement(question, asked), [asked["competition"]])
    _same(_run(plain, text), kb.ask(question, **asked))


def test_personal_bests_but_for_the_ranks_that_kbdash_adds(kb: KernelBot, plain: duckdb.DuckDBPyConnection) -> None:
    found = _run(plain, kb.plain_sql(statement("personal_bests", NVFP4), ["nvfp4"]))
    expected = kb.personal_bests("nvfp4_gemm")
    assert set(expected) - set(found) <= {"rank", "of", "rank_then", "of_then"}
    common = [name for name in found if name in expected]
    _same(found[common], expected[common])


def test_a_page_of_submissions(kb: KernelBot, plain: duckdb.DuckDBPyConnection) -> None:
    asked = {**NVFP4, "users": (), "passed": True, "text": None, "sort": "score", "descending": False}
    found = kb.submissions(**asked, page=2, page_size=20)  # type: ignore[arg-type]
    assert isinstance(found, Page)
    text = kb.plain_sql(statement("submissions", {**asked, "size": 20, "skip": 20}), ["nvfp4"])
    _same(_run(plain, text), found.rows)


def test_questions_over_all_competitions_cover_all_of_them(kb: KernelBot, plain: duckdb.DuckDBPyConnection) -> None:
    text = statement("overview", {}, kb.readable())
    expected = kb.overview()
    assert expected["competition"].nunique() == 7
    _same(_run(plain, kb.plain_sql(text)), expected)
    _same(kb.sql(text), expected)
    person = str(kb.leaderboard("nvfp4_gemm")["user_id"].iloc[0])
    text = statement("user", {"user": person}, kb.linkable())
    _same(_run(plain, kb.plain_sql(text, kb.linkable())), kb.user(person))


@pytest.mark.parametrize("order", ["problem", "-last_at", "of"])
def test_the_boards_of_a_user_are_in_one_order_over_all_competitions(kb: KernelBot, order: str) -> None:
    person = str(kb.leaderboard("nvfp4_gemm")["user_id"].iloc[0])
    expected = kb.user(person, order=order)
    assert expected["competition"].ne(expected["competition"].shift()).sum() > expected["competition"].nunique()
    _same(kb.sql(statement("user", {"user": person, "order": order}, kb.linkable())), expected)


def test_boards_of_the_overview_are_in_order_within_their_competition(kb: KernelBot) -> None:
    asked = {"order": "-best_user_name"}
    _same(kb.sql(statement("overview", asked, kb.readable())), kb.overview(**asked))


def test_what_readers_type_runs_there_too(kb: KernelBot, plain: duckdb.DuckDBPyConnection) -> None:
    text = "select competition, count(*) as rows from submissions group by all order by all;"
    _same(_run(plain, kb.plain_sql(text)), kb.sql(text))


def test_local_files_are_named_without_the_paths_of_this_machine(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: duckdb.DuckDBPyConnection
) -> None:
    local = kbdash.connect(sample_folder, Settings(cache=tmp_path))
    text = local.plain_sql(statement("leaderboard", {**NVFP4, "top": None}), ["nvfp4"])
    assert str(sample_folder) not in text
    monkeypatch.chdir(sample_folder)
    _same(_run(plain, text), local.leaderboard("nvfp4_gemm"))
    local.close()


def _run(plain: duckdb.DuckDBPyConnection, text: str) -> pd.DataFrame:
    return as_frame(plain.execute(text).to_arrow_table())


def _same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert len(expected)
    expected.attrs = {}
    found.attrs = {}
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_frame_type=False)
