"""Run one statement by a deadline: each on its own cursor, in a thread that the caller can abandon."""

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from kbdash.database.failures import damaged, explained
from kbdash.database.workers import WORKERS
from kbdash.dataset.http.client import closed_source
from kbdash.deadline import deadline_within, reading, seconds_left
from kbdash.errors import DataUnavailable, KbdashError, QueryRefused, QueryTimeout

T = TypeVar("T")
_GRACE_SECONDS = 0.5
"""Seconds in which an interrupted statement ends if it computes; one that waits for bytes may take longer."""
_READ_LEAD_SECONDS = 0.1


@dataclass(frozen=True)
class _Limits:
    """The deadline of a statement (time.monotonic()), and the longest that one read may take."""

    deadline: float
    read_seconds: float = math.inf


class Asker:
    """Runs statements over one connection, which may not be open yet. Thread-safe."""

    def __init__(self, connection: Future[duckdb.DuckDBPyConnection], seconds: float) -> None:
        self._connection = connection
        self.seconds = seconds
        self._closed = False
        self._running: dict[int, tuple[duckdb.DuckDBPyConnection, Future[Any]]] = {}

    def deadline(self) -> float:
        """The deadline of work that starts now (time.monotonic()), no later than that of the question around it."""
        return deadline_within(self.seconds)

    def run(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
        about: str = "",
        read_seconds: float = math.inf,
    ) -> pd.DataFrame:
        """The answer, or a KbdashError, by the deadline. `about` names the file for the error if it does not arrive.

        A single read of that file may take `read_seconds`.
        """
        cursor, limits = self._begun(deadline, read_seconds)
        return self._run(cursor, as_frame, text, parameters or {}, limits, about)

    def table(
        self, text: str, *, deadline: float | None = None, about: str = "", read_seconds: float = math.inf
    ) -> pa.Table:
        """As `run`, but an Arrow table."""
        cursor, limits = self._begun(deadline, read_seconds)
        return self._run(cursor, _as_it_is, text, {}, limits, about)

    def _begun(self, deadline: float | None, read_seconds: float) -> tuple[duckdb.DuckDBPyConnection, _Limits]:
        """A cursor and the limits of its statement; without a deadline, time counts from when the cursor is there."""
        cursor = self._cursor(seconds_left() if deadline is None else max(0.0, deadline - time.monotonic()))
        return cursor, _Limits(self.deadline() if deadline is None else deadline, read_seconds)

    def _run(
        self,
        cursor: duckdb.DuckDBPyConnection,
        shape: Callable[[pa.Table], T],
        text: str,
        parameters: Mapping[str, Any],
        limits: _Limits,
        about: str,
    ) -> T:
        answer = WORKERS.submit(partial(_fetched, cursor, text, dict(parameters), limits, shape))
        self._running[id(answer)] = cursor, answer
        answer.add_done_callback(lambda done: self._running.pop(id(done), None))
        try:
            try:
                return answer.result(max(0.0, limits.deadline - time.monotonic()))
            except TimeoutError:
                _interrupt(cursor)
                return answer.result(_GRACE_SECONDS)
        except TimeoutError:
            raise _too_late(about) from None
        except KbdashError:
            raise
        except Exception as error:
            raise self._reader_error(error) from error
        except BaseException:  # Ctrl-C
            _interrupt(cursor)
            raise

    def close(self, seconds: float = 0.0) -> None:
        """Stop running statements, wait this long for them, then free the connection and everything cached in it."""
        self._closed = True
        running = list(self._running.values())
        for cursor, _ in running:
            _interrupt(cursor)
        wait([answer for _, answer in running], seconds)
        self._connection.result().close()  # a thread that is still in DuckDB when the process ends would abort it

    def _cursor(self, seconds: float | None) -> duckdb.DuckDBPyConnection:
        """A new cursor, so that results never mix between threads; waits this long for the connection."""
        if self._closed:
            raise closed_source()
        try:
            return self._connection.result(seconds).cursor()
        except TimeoutError:
            raise _too_late("") from None
        except duckdb.ConnectionException as error:
            raise closed_source() from error

    def _reader_error(self, error: Exception) -> KbdashError:
        """The error as a reader should see it."""
        if self._closed:
            return closed_source()
        match error:
            case duckdb.Error():
                return explained(error)
            case UnicodeDecodeError():  # a DuckDB error that quotes bytes of the file
                return damaged("it holds bytes that are not valid text")
            case pa.ArrowException():
                return QueryRefused(f"The answer is not a table: {error}", advice="Cast that column to text.")
        return QueryRefused(f"The answer cannot be shown: {error}", advice="Cast its columns to text.")


def _interrupt(cursor: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # it may have just ended
        cursor.interrupt()


def _too_late(about: str) -> KbdashError:
    """The error for a statement that an interrupt did not end."""
    if not about:
        return QueryTimeout("The question took too long and was abandoned.", advice="Narrow it down.")
    return DataUnavailable(f"{about} was not read in time.", advice="Check the network and retry in a moment.")


def _fetched(
    cursor: duckdb.DuckDBPyConnection,
    text: str,
    parameters: Mapping[str, Any],
    limits: _Limits,
    shape: Callable[[pa.Table], T],
) -> T:
    """The answer. DuckDB passes on only the text of a read's exception, so `reading` keeps the exception itself.

    Reads end a moment before the statement is interrupted, so that the error names the slow server.
    """
    seconds = limits.deadline - time.monotonic()
    with reading(max(seconds - _READ_LEAD_SECONDS, seconds / 2), limits.read_seconds) as asked:
        try:
            return shape(cursor.execute(text, parameters).to_arrow_table())
        except duckdb.Error as error:
            if asked.failure is None:
                raise
            raise asked.failure from error
        finally:
            cursor.close()


def _as_it_is(table: pa.Table) -> pa.Table:
    return table


def as_frame(table: pa.Table) -> pd.DataFrame:
    """The table in pandas; whole numbers stay whole where some are missing, since ids must not become floats."""
    # DuckDB's buffers have room for thousands of rows; a memoised answer should not keep them alive.
    table = table.take(np.arange(len(table)))
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            frame[field.name] = pd.array(column.to_pylist(), dtype="Int64")
    return frame


# pyarrow loads modules and functions lazily, with its first frame: 15 ms that no reader should wait for.
as_frame(pa.table({"text": ["one"]}))
