"""The DuckDB connection: opened once, locked down, a view per file, one cursor per query."""

import logging
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from kbdash import catalog
from kbdash.config import Settings
from kbdash.duck import KEPT, Deadlines, asked_to_wait, damaged, explained, open_connection, quoted, reason_to_refuse
from kbdash.errors import CorruptData, KbdashError, QueryRefused
from kbdash.hub import within
from kbdash.model import Competition
from kbdash.schema import misfit
from kbdash.source import Source
from kbdash.views import (
    LINKABLE,
    NOTHING,
    Attached,
    branches,
    no_shapes,
    planned,
    sql_text,
    statements,
    view_name,
    without_comments,
)

_log = logging.getLogger(__name__)
RETRY_AFTER_SECONDS = 15.0
KEEP_AFTER = 2
"""Different questions about a competition before its rows are kept."""


class Database:
    """Read-only SQL over one source. Safe to use from many threads."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.source = source
        self._settings = settings
        self._lock = threading.Lock()
        self._tried_at = 0.0
        self._attached: dict[str, Attached] = {}
        self._met: set[tuple[str, str]] = set()
        self._turns: dict[str, threading.Lock] = {}
        self._kept: set[str] = set()
        self._deadlines = Deadlines(settings.query_seconds)
        self._connection = open_connection(source, settings)
        _load_catalog(self._connection)
        self._attach(planned(source))

    def competitions(self) -> tuple[Attached, ...]:
        """Every competition of the source, in catalog order; failed ones are tried again now and then."""
        self._heal()
        return tuple(self._attached.values())

    def frame(self, question: str, **parameters: object) -> pd.DataFrame:
        """Answer of sql/<question>.sql with the given parameters bound."""
        text = sql_text(question)
        wanted = set(re.findall(r"\$([a-z_]+)", without_comments(text)))
        bound = {name: value for name, value in parameters.items() if name in wanted}
        place = str(parameters.get("competition"))
        if (question, place) in self._met:
            return self._run(text, bound)
        # The first to ask fetches the columns; whoever asks meanwhile waits and finds them here.
        with ExitStack() as turn:
            for slug in self._places(place):
                turn.enter_context(self._turns.setdefault(slug, threading.Lock()))
            self._keep(place)
            answer = self._run(text, bound)
            self._met.add((question, place))
        return answer

    def sql(self, text: str) -> pd.DataFrame:
        """Answer of any one SELECT; everything else is refused."""
        tree = self._run("select json_serialize_sql($text) as tree", {"text": text})["tree"][0]
        reason = reason_to_refuse(tree)
        if reason:
            raise QueryRefused(reason, advice="Ask one SELECT over the view submissions; the data are read only.")
        return self._run(text, {})

    def set_aside(self, slug: str, error: KbdashError) -> None:
        """Leave out a competition whose file failed after it was opened; it is tried again like any other."""
        with self._lock:
            item = self._attached[slug]
            name = item.file.name if item.file else slug
            self._attached[slug] = replace(item, problem=f"{name} cannot be read: {error} {error.advice}".strip())
            self._tried_at = time.monotonic()

    def bytes_moved(self) -> int:
        """Bytes that DuckDB holds from the network since start; local files move none."""
        if self.source.kind != "hub":
            return 0
        held: list[int] = self._run("select nr_bytes from duckdb_external_file_cache()", {})["nr_bytes"].tolist()
        return sum(held)

    def close(self) -> None:
        """Free the connection and everything cached in it."""
        self._connection.close()

    def _run(self, text: str, parameters: Mapping[str, Any]) -> pd.DataFrame:
        waited = 0.0
        while True:
            try:
                with self._cursor() as cursor:
                    return _as_frame(cursor.execute(text, dict(parameters)).to_arrow_table())
            except duckdb.HTTPException as error:
                wait = asked_to_wait(error)
                if wait is None or waited + wait > self._settings.retry_wait_seconds:
                    raise explained(error, self.source) from error
                waited += wait
                time.sleep(wait)
            except duckdb.Error as error:
                raise explained(error, self.source) from error
            except UnicodeDecodeError as error:  # an error of DuckDB that quotes bytes of the file
                raise damaged("it holds bytes that are no text") from error
            except pa.ArrowException as error:
                raise QueryRefused(f"The answer is no table: {error}", advice="Cast that column to text.") from error

    def _places(self, place: str) -> list[str]:
        """The competitions that a question reads, always in the same order, so that nobody waits in a circle."""
        flat = (slug for slug, item in self._attached.items() if item.competition.family == "flat")
        return sorted(flat) if place == LINKABLE else [place]

    def _keep(self, slug: str) -> None:
        """Keep the rows of a competition here once that pays: from then on no question about it decodes its file."""
        item = self._attached.get(slug)
        if item is None or slug in self._kept or not self._pays(item.competition):
            return
        # DuckDB fetches neighbouring columns as one range, so some that were read before come again, once.
        view, rows = view_name(item.competition), f'{KEPT}."{slug}"'
        try:
            self._run(f"create or replace table {rows} as from {view}", {})
            self._run(f"create or replace view {view} as from {rows}", {})
        except CorruptData:
            _log.warning("%s is read where it lies: some of its columns are damaged", slug)
        self._kept.add(slug)

    def _pays(self, competition: Competition) -> bool:
        """Grouping the runs of a legacy file costs more than any question. Elsewhere the first few questions want
        some columns only; whoever goes on asking wants them all."""
        asked = sum(place == competition.slug for _, place in self._met)
        return competition.family == "legacy" or asked >= KEEP_AFTER

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor that is interrupted when it takes too long: results never mix between threads."""
        cursor = self._connection.cursor()
        try:
            with self._deadlines.watch(cursor):
                yield cursor
        finally:
            cursor.close()

    def _heal(self) -> None:
        """Try failed files again, at most every few seconds: a Hub that was down may be back."""
        failed = [item for item in self._attached.values() if item.problem]
        if not failed or time.monotonic() - self._tried_at < RETRY_AFTER_SECONDS:
            return
        self._attach(failed)

    def _attach(self, items: list[Attached]) -> None:
        with self._lock:
            self._tried_at = time.monotonic()
            with ThreadPoolExecutor(16, thread_name_prefix="kbdash-attach") as pool:
                for item in pool.map(self._view_in_time, items):
                    if item is not None:
                        self._attached[item.competition.slug] = item
            readable = [item.competition for item in self._attached.values() if not item.problem]
            linkable = [competition for competition in readable if competition.family == "flat"]
            self._run(sql_text("view_submissions") + branches(readable), {})
            together = f'create or replace view "submissions of {LINKABLE}" as from "submissions of {NOTHING}"'
            self._run(together + branches(linkable), {})

    def _view_in_time(self, item: Attached) -> Attached | None:
        """As `_view`; a file that keeps silent is marked and tried again later, for it must not hold up the start."""
        seconds = self._settings.hub_seconds
        try:
            return within(seconds, lambda: self._view(item))
        except TimeoutError:
            name = item.file.name if item.file else item.competition.title
            return replace(item, problem=f"{name} did not arrive within {seconds:g} s. It is tried again by itself.")

    def _view(self, item: Attached) -> Attached | None:
        """The competition with its view made; None for an unknown file that holds something else."""
        competition, file = item.competition, item.file
        if file is None:
            return item
        try:
            described = self._run(f"describe from read_parquet({quoted(file.location)})", {})
        except KbdashError as error:
            if isinstance(error, CorruptData) and self.source.kind == "hub":
                # DuckDB keeps the bytes of an address for good: only another one is asked for anew.
                item = replace(
                    item, file=replace(file, location=f"{self.source.files[file.name].location}?{time.time_ns()}")
                )
            return replace(item, problem=f"{file.name} cannot be read: {error} {error.advice}".strip())
        columns = dict(zip(described.column_name, described.column_type, strict=True))
        reason = misfit(columns, competition.family)
        if reason and not competition.boards:
            return None
        if reason:
            return replace(item, problem=f"{file.name} cannot be used: {reason}.")
        for statement in statements(competition, file, columns):
            self._run(statement, {})
        self._kept.discard(competition.slug)
        return replace(item, problem=None)


def _load_catalog(connection: duckdb.DuckDBPyConnection) -> None:
    """What SQL needs of the catalog, and the ranking rule."""
    boards = [board for competition in catalog.COMPETITIONS for board in competition.boards]
    connection.execute("create table boards (leaderboard_id bigint, name varchar, runner varchar)")
    _insert(connection, "boards", [(b.id, b.name, b.runners[0]) for b in boards])
    connection.execute("create table other_hardware (gpu varchar, own_runner varchar, runner varchar)")
    _insert(connection, "other_hardware", catalog.OTHER_HARDWARE)
    # Macros, not tables: a join per row would cost more than the ranking itself.
    connection.execute(f"create macro is_impossible(score) as coalesce(score < {catalog.IMPOSSIBLE_SECONDS!r}, false)")
    floors = " ".join(f"when {board.id} then {board.floor!r}" for board in boards if board.floor)
    connection.execute(f"create macro floor_of(board) as case board {floors} end")
    reports = " ".join(
        f"when board = {case.leaderboard_id} and submission = {case.submission_id} then {quoted(case.reason)}"
        for case in catalog.FLAG_CASES
    )
    connection.execute(f"create macro report_on(board, submission) as case {reports} end")
    connection.execute(sql_text("view_submissions"))
    # A table, because the view `submissions` gets its branches later.
    connection.execute(f'create table "submissions of {NOTHING}" as from submissions')
    connection.execute(no_shapes())
    connection.execute(sql_text("ranking"))


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Add rows in one statement: one for each took most of the time to open a source."""
    places = ", ".join(f"({', '.join('?' * len(row))})" for row in rows)
    connection.execute(f"insert into {table} values {places}", [value for row in rows for value in row])


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """The table in pandas; whole numbers stay whole where some are missing, since ids must not become floats."""
    # DuckDB's buffers have room for thousands of rows; an answer that is kept should not hold on to them.
    table = table.take(np.arange(len(table)))
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            frame[field.name] = pd.array(column.to_pylist(), dtype="Int64")
    return frame
