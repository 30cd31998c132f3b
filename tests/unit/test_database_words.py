"""What the database says and reads without any rows: literals, reasons, help, ranks of a few hand-made bests."""

import json
import time
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from kbdash.database.answer import readable
from kbdash.database.asking import Asker
from kbdash.database.competition_views import planned
from kbdash.database.duck import literal
from kbdash.database.failures import check_texts
from kbdash.database.guard import reason_to_refuse
from kbdash.database.names import _quoted, _there_are
from kbdash.database.opening import Opener, nothing_to_inspect
from kbdash.database.plain_sql import statement
from kbdash.database.queries import add_missing
from kbdash.database.questions import EVERY_QUESTION, known
from kbdash.database.questions.columns import DID_PASS, GLOSSARY, columns
from kbdash.database.rules import _rows, prepared_connection, rule_statements
from kbdash.database.schema import SCHEMAS, misfit
from kbdash.database.standings import rank_changes, ranks_then, shape_board
from kbdash.dataset import catalog
from kbdash.dataset.cards import official_board
from kbdash.dataset.config import Settings
from kbdash.dataset.http.ranges import LocalBytes
from kbdash.dataset.source import open_source
from kbdash.engine import KernelBot
from kbdash.errors import CorruptData, DataUnavailable, QueryRefused


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (1e-6, "1e-06"),
        ("it's", "'it''s'"),
        (date(2025, 12, 21), "'2025-12-21'"),
        (datetime(2025, 12, 21, 7, 59, tzinfo=UTC), "'2025-12-21T07:59:00+00:00'"),
        (("a", None), "['a', null]"),
    ],
)
def test_a_value_is_written_as_sql(value: object, sql: str) -> None:
    assert literal(value) == sql


def test_values_take_the_place_of_parameters_but_not_in_comments() -> None:
    written = statement("problem_names", {"competition": "it's"})
    head, _, body = written.rpartition("\n--")
    assert "'it''s'" in body
    assert "$" not in body.partition("\n")[2]
    assert "$competition" in f"{head}{body.partition(chr(10))[0]}"
    assert statement("problem_names", {}, ["it's"]) == written


def test_parameters_of_a_statement_are_bound() -> None:
    connection = Future[duckdb.DuckDBPyConnection]()
    connection.set_result(duckdb.connect())
    asker = Asker(connection, 60.0)
    assert asker.run("select $n + 1 as n", {"n": 41})["n"].tolist() == [42]
    asker.close()


def test_a_text_with_half_a_character_is_refused_and_named() -> None:
    check_texts({"users": ("ada", "bob"), "text": None, "top": 3})
    for parameters in ({"text": "\ud800"}, {"text": ["ada", "\ud800"]}):
        with pytest.raises(QueryRefused, match="text contains characters"):
            check_texts(parameters)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({"error": False, "statements": [{}]}, None),
        ({"error": False, "statements": [{}, {}]}, "Only one SELECT statement can be run here."),
        ({"error": True, "error_type": "not implemented"}, "Only one SELECT statement can be run here."),
        ({"error": True, "error_type": "parser", "error_message": "at end"}, "That is not valid SQL: at end"),
    ],
)
def test_why_a_statement_is_refused(tree: dict[str, object], reason: str | None) -> None:
    assert reason_to_refuse(json.dumps(tree)) == reason


def test_why_a_file_does_not_fit() -> None:
    fits = {name: min(kinds) for name, kinds in SCHEMAS["flat"].required.items()}
    assert misfit(fits, "flat") is None
    assert misfit(
        {**fits, "file_row_number": "BIGINT"},
        "flat",
    ) == ("it has a column file_row_number, which is DuckDB's name for the number of a row")
    one, two = dict(fits), dict(fits)
    del one["score"], two["score"], two["runner"]
    assert misfit(one, "flat") == "it lacks the column score"
    assert misfit(two, "flat") == "it lacks the columns score, runner"


@pytest.mark.parametrize(
    ("name", "is_best"), [("submissions.parquet", True), ("successful_submissions.parquet", False)]
)
def test_the_file_without_failures_is_used_with_a_caveat(tmp_path: Path, name: str, is_best: bool) -> None:
    (tmp_path / name).touch()
    [item] = planned(open_source(Settings(source=str(tmp_path))))
    assert item.file.name == name
    assert (catalog.FAILURES_UNKNOWN in item.competition.caveats) is not is_best


def test_rows_of_the_catalog_are_inserted_unless_there_are_none() -> None:
    assert list(_rows("t", [])) == []
    assert list(_rows("t", [(1, "a"), (2, None)])) == ["insert into t values\n    (1, 'a'),\n    (2, null)"]
    board = catalog.COMPETITIONS[0].boards[0]
    assert f"({board.id}, '{board.name}', '{board.runners[0]}')" in "\n".join(rule_statements([board], []))


def test_the_views_of_a_competition_are_made_ahead_once(tmp_path: Path) -> None:
    connection = Future[duckdb.DuckDBPyConnection]()
    connection.set_result(prepared_connection())
    (tmp_path / "trimul_submissions.parquet").touch()
    source = open_source(Settings(source=str(tmp_path)))
    opener = Opener(Asker(connection, 60.0), source, 60.0, nothing_to_inspect)
    [item] = planned(source)
    first, again = (opener._views_meanwhile(item.competition).result(60.0) for _ in range(2))
    assert (first.__name__, again.__name__) == ("file_views", "statements")
    made = connection.result().sql("select view_name from duckdb_views() where view_name like '%of trimul'").fetchall()
    assert {name for (name,) in made} == {f"{what} of trimul" for what in ("submissions", "judged", "tallies", "tries")}
    connection.result().close()


# --- words ---------------------------------------------------------------------------------------------------------


def test_seconds_are_shown_with_their_unit_and_other_numbers_as_they_are() -> None:
    frame = pd.DataFrame({"score": [9.954e-6], "ratio": [1.5], "user_name": ["a\x1b"], "previous": [None]})
    assert readable(frame).to_dict("records") == [
        {"score": "9.954 µs", "ratio": 1.5, "user_name": "a\ufffd", "previous": None}
    ]


def test_names_to_choose_from_are_told_if_there_are_any() -> None:
    assert _there_are([]) == ""
    assert _there_are(["a", "b"]) == "There are a, b."
    assert _there_are(["a"] * 60) == f"There are {', '.join(['a'] * 60)}."
    assert _there_are(["a"] * 100_000) == f"There are {', '.join(['a'] * 60)} and more."


def test_a_long_text_is_quoted_by_its_beginning() -> None:
    assert _quoted("a" * 60) == "a" * 60
    assert _quoted("a" * 1_000_000) == f"{'a' * 60}…"


@pytest.mark.parametrize(
    ("question", "example"),
    [
        ("leaderboard", "kb.leaderboard('nvfp4_gemm', runner='NVIDIA', until='2025-12-21')"),
        ("summary", "kb.summary('trimul')"),
        ("standing", "kb.standing('nvfp4_gemm', 3e-05, runner='NVIDIA')"),
        ("placement", "kb.placement(kb.submission(187476))"),
    ],
)
def test_help_ends_with_a_call_that_can_be_copied(question: str, example: str) -> None:
    assert EVERY_QUESTION[question].help.rpartition("\n")[2] == f"Example: {example}"


def test_a_column_has_the_meaning_of_the_glossary_unless_an_answer_gives_its_own() -> None:
    assert columns("score passed", passed=DID_PASS) == (GLOSSARY["score"], DID_PASS)


def test_a_question_is_known_by_its_name() -> None:
    assert known("leaderboard") is EVERY_QUESTION["leaderboard"]
    with pytest.raises(QueryRefused, match="no question nonsense"):
        known("nonsense")


def test_a_question_has_its_method_and_one_that_is_written_out_stays() -> None:
    class Methods:
        def leaderboard(self) -> str:
            return "written out"

    add_missing(Methods, [EVERY_QUESTION["leaderboard"], EVERY_QUESTION["records"]])
    assert Methods().leaderboard() == "written out"
    assert Methods.records.question is EVERY_QUESTION["records"]  # type: ignore[attr-defined]


def test_a_board_has_an_official_page_if_its_number_is_known() -> None:
    board = catalog.COMPETITIONS[0].boards[0]
    assert official_board(board) == f"https://www.gpumode.com/leaderboard/{board.id}?tab=rankings"
    assert official_board(replace(board, id=-1)) is None


def test_linkable_are_the_competitions_whose_ids_mean_the_same(kb: KernelBot) -> None:
    assert kb.linkable() == tuple(item.slug for item in catalog.COMPETITIONS if item.linkable)
    assert kb.linkable() != kb.readable()


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"reason": "trimul is cut."}, "trimul is cut."),
        ({"opened": False}, "trimul_submissions.parquet did not arrive in time."),
    ],
)
def test_what_cannot_be_read_now_is_left_out_of_the_rows_for_sql_with_the_reason(
    kb: KernelBot, monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], told: str
) -> None:
    items = kb._database.competitions()
    now = tuple(replace(item, **state) if item.competition.slug == "trimul" else item for item in items)
    monkeypatch.setattr(kb._database._attachments, "items", lambda: now)
    ready, missing = kb._database._readable(time.monotonic() + 60.0)
    assert missing == {"trimul": told}
    assert [item.competition.slug for item in (*ready, *now)].count("trimul") == 1
    assert len(ready) == len(items) - 1


def test_a_competition_that_is_asked_for_by_name_and_cannot_be_read_is_told(
    kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = kb._database.competitions()
    now = [replace(item, reason="trimul is cut.") if item.competition.slug == "trimul" else item for item in items]
    monkeypatch.setattr(kb._database, "competitions", lambda: tuple(now))
    with pytest.raises(DataUnavailable, match="trimul is cut"):
        kb.submission(1, competition="trimul")


def test_bytes_outside_a_file_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"0123456789")
    with pytest.raises(CorruptData, match=r"points to bytes 8 to 12, outside its 10 bytes"):
        LocalBytes(tmp_path / "a.parquet").read(8, 4)


# --- ranks ---------------------------------------------------------------------------------------------------------


def test_a_rank_changes_by_whoever_passes_and_by_an_own_best_only_if_it_does() -> None:
    bests = pd.DataFrame(
        {
            "user_id": ["a", "b", "c", "a"],
            "user_name": ["A", "B", "C", "A"],
            "runner": "B200",
            "submitted_at": pd.date_range("2026-01-01", periods=4, tz="UTC"),
            "submission_id": [1, 2, 3, 4],
            "score": [10.0, 9.0, 8.0, 9.5],
            "previous": [None, None, None, 10.0],
        }
    )
    changes = rank_changes(ranks_then(bests), ["a"])
    assert changes["rank"].tolist() == [1, 2, 3]
    assert changes["by_id"].tolist()[1:] == ["b", "c"]
    assert changes["submission_id"].tolist() == [1, 2, 3]


def test_a_board_over_shapes_is_over_all_unless_some_are_chosen() -> None:
    timings = pd.DataFrame(
        {
            "user_id": ["a", "a", "b", "b"], "user_name": ["A", "A", "B", "B"], "runner": "MI300",
            "submission_id": [1, 1, 2, 2], "shape": [0, 1, 0, 1], "mean_ns": [4e9, 1e9, 1e9, 9e9],
        }
    )  # fmt: skip
    assert shape_board(timings)["score"].tolist() == pytest.approx([2.0, 3.0])
    assert shape_board(timings, [0])["user_id"].tolist() == ["b", "a"]
