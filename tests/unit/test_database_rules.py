"""Single rules below the questions, each without a question: opening, waiting, failing, what other processes get."""

import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from kbdash.database import workers
from kbdash.database.asking import Asker, _fetched, _Limits, _too_late
from kbdash.database.attaching import Attachments
from kbdash.database.competition_views import Attached, planned
from kbdash.database.console import Snapshots, snapshot
from kbdash.database.console import asking as console
from kbdash.database.console.content import CONTENT, content_views
from kbdash.database.failures import of_file
from kbdash.database.guard import statements_to_check
from kbdash.database.lookup import placement_of
from kbdash.database.materialising import Materialiser
from kbdash.database.opening import Opener
from kbdash.database.plain_sql import script
from kbdash.database.schema import SCHEMAS, holds_submissions
from kbdash.database.single_flight import SingleFlight
from kbdash.dataset.config import Settings
from kbdash.dataset.model import DataFile, Submission
from kbdash.dataset.source import open_source
from kbdash.deadline import current
from kbdash.errors import CorruptData, DataUnavailable, QueryRefused, QueryTimeout

# --- failures ------------------------------------------------------------------------------------------------------


def test_an_error_without_words_is_told_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "spring.parquet").touch()
    source = open_source(Settings(source=str(tmp_path)))

    def inspect(_: DataFile) -> None:
        raise ZeroDivisionError

    asker = Asker(Future[duckdb.DuckDBPyConnection](), 60.0)
    opened = Opener(asker, source, 60.0, inspect).open(planned(source)[0])
    assert opened is not None
    assert opened.reason == "spring.parquet cannot be read: ZeroDivisionError"


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (CorruptData("It is cut."), CorruptData, "a.parquet cannot be read: It is cut."),
        (DataUnavailable("a.parquet is gone."), DataUnavailable, "a.parquet is gone."),
        (
            QueryTimeout("The question took too long and was stopped."),
            DataUnavailable,
            "a.parquet cannot be read: a question about it took too long and was stopped.",
        ),
        (QueryRefused("Bad day.\nMore."), CorruptData, "a.parquet holds values that cannot be read (Bad day.)."),
    ],
)
def test_whatever_fails_in_a_question_of_ours_is_told_of_the_file(
    error: DataUnavailable, kind: type[DataUnavailable], told: str
) -> None:
    found = of_file(error, "a.parquet")
    assert (type(found), str(found)) == (kind, told)


def test_a_file_with_the_columns_of_submissions_and_no_other_holds_submissions() -> None:
    columns = set(SCHEMAS["flat"].required)
    assert holds_submissions(columns)
    assert holds_submissions({*columns, "code"})
    assert not holds_submissions(columns - {"score"})


# --- waiting -------------------------------------------------------------------------------------------------------


class Flight(Future[None]):
    """Remembers how long somebody was ready to wait for it."""

    waited: float | None = None

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.waited = timeout
        raise TimeoutError


def test_after_the_deadline_nobody_waits_for_another() -> None:
    flights: SingleFlight[str] = SingleFlight()
    flight = flights._flights["question"] = Flight()
    assert flights.run("question", lambda: "my own answer", deadline=time.monotonic() - 1.0) == "my own answer"
    assert flight.waited == 0.0


def test_whoever_asks_first_asks_and_the_next_one_asks_again() -> None:
    flights: SingleFlight[str] = SingleFlight()
    deadline = time.monotonic() + 60.0
    with pytest.raises(DataUnavailable, match="busy"):
        flights.run("question", _busy, deadline)
    assert flights.run("question", lambda: 1, deadline) == 1
    assert flights.run("question", lambda: 2, deadline) == 2


def _busy() -> int:
    raise DataUnavailable("The Hub is busy.")


def test_as_many_threads_work_as_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    helpers: list[Any] = []
    monkeypatch.setattr(workers, "submit_with_deadline", helpers.append)
    assert [done.result() for done in workers.in_parallel([lambda: 1, lambda: 2, lambda: 3])] == [1, 2, 3]
    assert len(helpers) == 2, "and this one"


def test_a_read_ends_before_its_statement() -> None:
    limits = _Limits(time.monotonic() + 100.0)
    with duckdb.connect() as connection:
        asked: Any = _fetched(connection.cursor(), "select 1", {}, limits, lambda _: current())
    assert asked.expires < limits.deadline


def test_what_was_not_read_in_time_is_named() -> None:
    assert isinstance(_too_late(""), QueryTimeout)
    assert isinstance(_too_late("a.parquet"), DataUnavailable)
    assert str(_too_late("a.parquet")) == "a.parquet was not read in time."


class Openings:
    """Opens files as asked: who asked, and with what reason it ends."""

    def __init__(self, folder: Path) -> None:
        (folder / "spring.parquet").touch()
        self.asked: list[bool] = []
        self.reason: str | None = None
        self.may_end = Event()
        self.attachments = Attachments(planned(open_source(Settings(source=str(folder)))), self._open)

    def _open(self, item: Attached, /, *, asked: bool) -> Attached:
        self.asked.append(asked)
        assert self.may_end.wait(60)
        return replace(item, opened=True, reason=self.reason)


def test_those_who_need_a_file_at_once_share_its_opening(tmp_path: Path) -> None:
    openings = Openings(tmp_path)
    attachments, deadline = openings.attachments, time.monotonic() + 60.0
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(attachments.need, "spring", deadline) for _ in range(2)]
        attachments.wait(time.monotonic())
        openings.may_end.set()
        assert all(item.result() for item in waiting)
    assert openings.asked in ([True], [False])
    attachments.reopen("spring", deadline)
    assert len(openings.asked) == 2


def test_a_question_says_that_it_waits_and_a_failure_is_told_until_it_is_due_again(tmp_path: Path) -> None:
    openings = Openings(tmp_path)
    openings.may_end.set()
    openings.reason = "spring.parquet is cut."
    for _ in range(3):
        with pytest.raises(DataUnavailable, match=r"spring\.parquet is cut"):
            openings.attachments.need("spring", time.monotonic() + 60.0)
    assert openings.asked == [True], "not opened again for a while"


def test_rows_are_copied_after_a_few_questions_and_not_after_the_end(tmp_path: Path) -> None:
    openings = Openings(tmp_path)
    openings.may_end.set()
    item = openings.attachments.need("spring", time.monotonic() + 60.0)
    assert item is not None
    for questions, is_closed, is_copied in (("ab", False, False), ("abc", True, False), ("abc", False, True)):
        statements: list[str] = []

        def run(text: str, *_: Any, statements: list[str] = statements, **__: Any) -> pd.DataFrame:
            statements.append(text)
            raise DataUnavailable("The rows are not needed here.")

        copies = Materialiser(run, openings.attachments)
        if is_closed:
            copies.close()
        for question in questions:
            copies.note(item, question)
        assert copies.wait(60.0)
        assert bool(statements) is is_copied, (questions, is_closed)


# --- the console ---------------------------------------------------------------------------------------------------


def test_one_process_waits_for_the_next_statement_until_the_console_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    def start() -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        started.append(subprocess.Popen([sys.executable, "-V"], stdin=pipe, stdout=pipe, stderr=pipe))
        return started[-1]

    monkeypatch.setattr(console, "_start", start)
    asked = console.Console(1.0, "1GB")
    asked._prepare()
    asked._prepare()
    assert len(started) == 1
    asked.close()
    asked._prepare()
    assert len(started) == 1
    assert all(pipe.closed for pipe in (started[0].stdin, started[0].stdout, started[0].stderr))
    assert started[0].returncode is not None


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        ("select 1", ["select 1"]),
        ("pivot t on a", ["select * from t", "select a"]),
        ("PIVOT t ON a USING sum(b) GROUP BY c;", ["select * from t", "select a", "select sum(b)", "select c"]),
        ("pivot t on a in (1, 2)", ["pivot t on a in (1, 2)"]),
        ("pivot t on a -- b", ["pivot t on a -- b"]),
        ("pivot t /* u */ on a", ["pivot t /* u */ on a"]),
    ],
)
def test_the_parts_of_a_pivot_are_checked_where_it_has_no_tree_of_its_own(text: str, checked: list[str]) -> None:
    assert statements_to_check(text) == checked


def test_rows_for_sql_are_written_once_and_elsewhere_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def write(_tables: object, path: Path) -> None:
        if path.is_relative_to(tmp_path) and "full" in path.parts[-3]:
            raise OSError("No space left on device")
        path.touch()
        written.append(path)

    monkeypatch.setattr(snapshot, "_write", write)
    rows = pa.table({"n": [1]})
    for name in ("cache", "full"):
        snapshots = Snapshots(tmp_path / name)
        path = snapshots.of({"a": "1"}, lambda _: rows)
        assert path.exists()
        assert path.is_relative_to(tmp_path / "cache") is (name == "cache")
        assert snapshots.of({"a": "1"}, lambda _: rows) == path == written[-1]
        snapshots.close()
    assert len(written) == 2


def test_the_tables_of_content_have_their_columns_over_the_stores_that_have_the_file(tmp_path: Path) -> None:
    stores = {"nvfp4": tmp_path / "first", "it's": tmp_path / "second"}
    for folder in stores.values():
        folder.mkdir()
        (folder / "rows.parquet").touch()
    (tmp_path / "first" / "facets.parquet").touch()
    columns = {table.name: ", ".join(column.name for column in table.columns[1:]) for table in CONTENT}
    first, second = (str(folder).replace("'", "''") for folder in stores.values())
    assert content_views(stores) == [
        f"create temp view content_rows as select 'nvfp4' as competition, {columns['content_rows']} "
        f"from read_parquet('{first}/rows.parquet') union all select 'it''s' as competition, "
        f"{columns['content_rows']} from read_parquet('{second}/rows.parquet')",
        f"create temp view content_facets as select 'nvfp4' as competition, {columns['content_facets']} "
        f"from read_parquet('{first}/facets.parquet')",
    ]


# --- what is told --------------------------------------------------------------------------------------------------


def test_a_statement_over_no_file_names_no_revision() -> None:
    assert script("select 1", []).startswith("-- For DuckDB alone, in the folder with the files that it names.")


def test_a_board_with_impossible_times_only_has_no_best() -> None:
    of: Any = SimpleNamespace(**dict.fromkeys(Submission.__dataclass_fields__) | {"runner": "B200"})
    ranked = pd.DataFrame({"runner": ["B200"], "user_id": ["7"], "score": [1e-12], "ratio": [float("nan")]})
    placement = placement_of(of, ranked, {"best": None, "best_id": None, "attempts": 0})
    assert (placement.of, placement.best) == (1, None)
