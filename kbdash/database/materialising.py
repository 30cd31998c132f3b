"""Materialise rows that are asked about a lot: copy them into memory, in the background, up to a limit."""

import logging
import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

import pandas as pd

from kbdash.database.attaching import Attachments
from kbdash.database.competition_views import Attached, view_name, view_of
from kbdash.database.duck import MATERIALISED, quoted
from kbdash.database.schema import SCHEMAS
from kbdash.database.workers import WORKERS
from kbdash.errors import CorruptData, DataUnavailable, KbdashError, QueryRefused

WORTH_AFTER = 3
"""The number of different questions about a competition after which its rows are copied. The first few read only some
columns; a reader who goes on needs all of them."""
RETRY_SECONDS = 60.0
_SLICE_ROWS = 200_000
"""Rows copied by one statement: they take 300 bytes each until it ends, and a tenth or less once compressed."""
_SPARE = 8 << 20
"""Bytes that must be free to compress a slice."""
_LIMIT = "parse_formatted_bytes(current_setting('memory_limit'))"
_PACK_PAUSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_log = logging.getLogger(__name__)


class Run(Protocol):
    """Runs one statement."""

    def __call__(self, text: str, /) -> pd.DataFrame: ...


class Materialiser:
    """Copies of the rows of competitions that are asked about a lot, in at most `share` of DuckDB's memory.

    If copying fails, no question fails: the rows are then read from the file.
    """

    def __init__(self, run: Run, attachments: Attachments, share: float = 0.5) -> None:
        self._run = run
        self._attachments = attachments
        self._share = share
        self._lock = threading.Lock()
        self._answered: defaultdict[str, set[str]] = defaultdict(set)
        self._not_before: dict[tuple[str, int], float] = {}
        self._waiting: deque[Attached] = deque()
        self._idle = threading.Event()
        self._idle.set()
        self._stopped = False

    def note(self, item: Attached, question: str) -> None:
        """Record an answered question; starts copying in the background if the competition is worth it."""
        slug = item.competition.slug
        with self._lock:
            self._answered[slug].add(question)
            key = (slug, self._attachments.generation(slug))
            early = time.monotonic() < self._not_before.get(key, 0.0)
            if self._stopped or early or not self._worth_materialising(item):
                return
            self._not_before[key] = math.inf
            self._waiting.append(item)
            if not self._idle.is_set():
                return
            self._idle.clear()
        WORKERS.submit(self._work)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is being copied; False on timeout."""
        return self._idle.wait(seconds)

    def close(self) -> None:
        """Copy nothing more."""
        with self._lock:
            self._stopped = True
            self._waiting.clear()

    def _worth_materialising(self, item: Attached) -> bool:
        """Whether to copy: after a few questions, or at once if every question must group the rows of the file."""
        grouped = not SCHEMAS[item.competition.family].one_row_each
        return grouped or len(self._answered[item.competition.slug]) >= WORTH_AFTER

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._idle.set()
                    return
                item = self._waiting.popleft()
            try:
                self._materialise(item)
            except KbdashError as error:
                if isinstance(error, DataUnavailable) and not isinstance(error, CorruptData):
                    self._try_later(item)
                _log.info("%s is not copied and is read from its file: %s", item.competition.slug, error)
            except Exception:
                _log.exception("The rows of %s could not be copied", item.competition.slug)

    def _try_later(self, item: Attached) -> None:
        """The file did not arrive; schedule a retry."""
        slug = item.competition.slug
        with self._lock:
            self._not_before[slug, self._attachments.generation(slug)] = time.monotonic() + RETRY_SECONDS

    def _materialise(self, item: Attached) -> None:
        """Copy the judged rows, then their daily tallies; without tallies, questions aggregate the rows."""
        slug = item.competition.slug
        generation = self._attachments.generation(slug)
        rows, days = (f'{MATERIALISED}."{what} of {slug} {generation}"' for what in ("rows", "days"))
        columns = ", ".join(self._run(f"describe {view_name(item.competition)}")["column_name"])
        kept = self._keep(
            item, generation, rows, self._copy_rows,
            {view_name(item.competition): f"select {columns} from {rows}", view_of("judged", slug): f"from {rows}"},
        )  # fmt: skip
        if kept:
            self._keep(item, generation, days, self._copy_days, {view_of("tallies", slug): f"from {days}"})

    def _keep(
        self,
        item: Attached,
        generation: int,
        table: str,
        copy: Callable[[Attached, str], None],
        views: Mapping[str, str],
    ) -> bool:
        """Make the table and point the views at it; returns False if the file was reopened meanwhile."""

        def change() -> None:
            for view, text in views.items():
                self._run(f"create or replace view {view} as {text}")

        done = False
        try:
            copy(item, table)
            done = self._attachments.change_view(item.competition.slug, generation, change)
        finally:
            if not done:
                self._run(f"drop table if exists {table}")
        return done

    def _copy_rows(self, item: Attached, table: str) -> None:
        """Copy the rows in slices, compressing each before the next: all at once would take twenty times the memory."""
        judging = f"judging({quoted(item.competition.slug)})"
        self._run(f"create table {table} as from {judging} limit 0")
        for slice_ in self._slices(item, view_name(item.competition)):
            self._run(f"insert into {table} from {judging}{slice_}")
            self._pack()

    def _copy_days(self, item: Attached, table: str) -> None:
        self._run(f"create table {table} as from daily({quoted(item.competition.slug)})")
        self._pack()

    def _pack(self) -> None:
        """Compress what was copied; an error when all copies together exceed the limit.

        DuckDB cannot compress while a question reads another copy. If questions never pause, rows stay uncompressed.
        If DuckDB ran out of memory while it compresses, it would lose all copies. So this needs some free memory.
        """
        if self._memory(f"({_LIMIT} - sum(memory_usage_bytes))") < _SPARE:
            raise KbdashError("too little memory is left to compress the rows")
        for seconds in _PACK_PAUSES:
            time.sleep(seconds)
            with suppress(QueryRefused):
                self._run(f"checkpoint {MATERIALISED}")
                break
        if self._memory(f"(sum(memory_usage_bytes) filter (tag = 'IN_MEMORY_TABLE') - {self._share} * {_LIMIT})") > 0:
            raise KbdashError("the rows kept in memory would exceed their bound")

    def _memory(self, what: str) -> int:
        """Bytes of DuckDB's memory."""
        used: int = self._run(f"select {what}::bigint as n from duckdb_memory()")["n"].tolist()[0]
        return used

    def _slices(self, item: Attached, view: str) -> list[str]:
        if not SCHEMAS[item.competition.family].one_row_each:  # every slice would have to group the whole file
            return [""]
        last: int = self._run(f"select coalesce(max(file_row), 0)::bigint as n from {view}")["n"].tolist()[0]
        if last < _SLICE_ROWS:
            return [""]
        starts = range(0, last + 1, _SLICE_ROWS)
        return [f" where file_row between {start} and {start + _SLICE_ROWS - 1}" for start in starts]
