"""`Database`: read-only SQL over one source. Opening, attaching, asking, materialising and guarding meet here."""

import atexit
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

import duckdb
import pandas as pd
import pyarrow as pa

from kbdash.database.asking import Asker, as_frame
from kbdash.database.attaching import Attachments
from kbdash.database.competition_views import (
    ALL_LINKABLE,
    EMPTY,
    Attached,
    branches,
    location,
    parameters_of,
    part_and_slug,
    planned,
    reason_of,
    sql_text,
    view_name,
    view_of,
)
from kbdash.database.console import SHAPES, Bounds, Console, NotInSnapshot, Snapshots
from kbdash.database.duck import lock
from kbdash.database.failures import NeedsMemory, check_texts, of_file
from kbdash.database.guard import ADVICE, reason_to_refuse, statements_to_check
from kbdash.database.materialising import Materialiser
from kbdash.database.opening import Inspect, Opener, nothing_to_inspect
from kbdash.database.plain_sql import script
from kbdash.database.rules import prepared_connection
from kbdash.database.single_flight import SingleFlight
from kbdash.database.workers import WORKERS, submit_with_deadline
from kbdash.dataset.config import Settings
from kbdash.dataset.source import Source
from kbdash.deadline import all_but, reading, seconds_left
from kbdash.errors import CorruptData, DataUnavailable, KbdashError, QueryRefused, QueryTimeout

_EXIT_SECONDS = 2.0
_OPEN: "WeakSet[Database]" = WeakSet()
LONGEST_STATEMENT = 100_000  # characters
_STATEMENT_SECONDS = 5.0
_UNASKED_SECONDS = 3.0
_ANSWERED_SECONDS = 0.5
"""The remaining files are opened this many seconds after the start (if nobody asks), or after the first answer.
Earlier, they would slow that answer down."""


class Database:
    """Read-only SQL over one source. Thread-safe."""

    def __init__(
        self,
        source: Source,
        settings: Settings,
        inspect: Inspect = nothing_to_inspect,
        connection: Future[duckdb.DuckDBPyConnection] | None = None,
    ) -> None:
        self.source = source
        _OPEN.add(self)
        # Locked by another thread, so that the first bytes are on their way before DuckDB is ready.
        prepared = connection or WORKERS.submit(prepared_connection)
        locked = WORKERS.submit(partial(_locked, prepared, source, settings))
        self._asker = Asker(locked, settings.query_seconds)
        opener = Opener(self._asker, source, settings.hub_seconds, inspect)
        self._attachments = Attachments(planned(source), opener.open)
        self._console = Console(settings.query_seconds, settings.memory_limit)
        self._snapshots = Snapshots(settings.cache)
        self._flights: SingleFlight[tuple[str, str]] = SingleFlight()
        self._materialiser = Materialiser(self._asker.run, self._attachments)
        self._joined: tuple[str, ...] | None = None
        self._joining = threading.Lock()
        self._has_answered = False
        self._attachments.open_all_after(_UNASKED_SECONDS)
        # Whether a file outside the catalog is a competition can only be seen from its columns.
        self._attachments.wait(time.monotonic() + settings.hub_seconds, lambda item: not item.competition.boards)

    def competitions(self) -> tuple[Attached, ...]:
        """Every competition of the source known so far, in catalog order; does no I/O."""
        return self._attachments.items()

    def retry_unavailable(self) -> None:
        """Retry failed files, in the background and at most every few seconds."""
        self._attachments.retry_due()

    def wait_until_opened(self, seconds: float | None = None) -> None:
        """Wait until every file was opened or has failed, or the time is up (default: that of a question)."""
        self._attachments.wait(self._asker.deadline() if seconds is None else time.monotonic() + seconds)

    def frame(self, question: str, **parameters: object) -> pd.DataFrame:
        """Answer of sql/<question>.sql with the given parameters bound."""
        deadline = self._asker.deadline()
        self.retry_unavailable()
        wanted = parameters_of(question)
        bound = {name: value for name, value in parameters.items() if name in wanted}
        check_texts(bound)
        slug = str(parameters.get("competition"))
        ask = partial(self._answer, question, slug, bound, deadline)
        answer = self._flights.run((question, slug), ask, deadline)
        if not self._has_answered:
            self._has_answered = True
            self._attachments.open_all_after(_ANSWERED_SECONDS)
        return answer

    def sql(self, text: str, bounds: Bounds | None = None, stores: Mapping[str, Path] | None = None) -> pd.DataFrame:
        """Answer of any one SELECT, cut to `bounds`; everything else is refused. `stores` are folders of content.

        `attrs` of the frame say whether rows are missing (`truncated`) and which competitions are (`unavailable`).
        """
        with self.question():
            self._refuse(text)
            snapshot, missing = self._snapshot(with_shapes=bool(re.search(rf"\b{SHAPES}\b", text, re.IGNORECASE)))
            answer = self._console.ask(text, snapshot, bounds, stores)
        try:
            frame = as_frame(answer.table)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise QueryRefused(f"The answer is not a table: {error}", advice="Cast that column to text.") from error
        frame.attrs |= {"truncated": answer.truncated, "unavailable": missing}
        return frame

    def plain_sql(self, text: str, competitions: Sequence[str] | None = None) -> str:
        """The statement for plain DuckDB, with the views and macros of these competitions (None: all readable ones)."""
        items = [item for item in self._attachments.items() if not item.reason]
        chosen = [item for item in items if competitions is None or item.competition.slug in competitions]
        return script(text, [(item, self._columns(item)) for item in chosen])

    def _columns(self, item: Attached) -> dict[str, str]:
        """The columns of a file (name -> DuckDB type), if its views depend on them."""
        if not item.competition.has_shapes:
            return {}
        described = self._asker.run(f"describe from read_parquet({location(item.file)})", about=item.file.name)
        return dict(zip(described["column_name"], described["column_type"], strict=True))

    def question(self) -> AbstractContextManager[object]:
        """A block whose statements, reads and waits together take no longer than a question may."""
        self.retry_unavailable()
        return reading(self._asker.seconds)

    def mark_unavailable(self, slug: str, error: KbdashError) -> None:
        """Leave out a competition whose file failed after it was opened; it is retried like any other."""
        self._attachments.mark_unavailable(slug, error)

    def close(self, seconds: float = 0.0) -> None:
        """Stop background work, wait this long for it, then free the connection and everything cached in it."""
        self._attachments.stop()
        self._materialiser.close()
        self._console.close()
        self._snapshots.close()
        self._asker.close(seconds)

    def _refuse(self, text: str) -> None:
        """Raise QueryRefused unless the text is one harmless SELECT."""
        if len(text) > LONGEST_STATEMENT:
            raise QueryRefused("That statement is too long.", advice=f"At most {LONGEST_STATEMENT:,} characters.")
        for statement in statements_to_check(text):
            tree = self._asker.run("select json_serialize_sql($text) as tree", {"text": statement})
            reason = reason_to_refuse(tree["tree"][0])
            if reason:
                raise QueryRefused(reason, advice=ADVICE)

    def _snapshot(self, *, with_shapes: bool) -> tuple[Path, dict[str, str]]:
        """The snapshot that readers' SQL runs on, and the competitions that are not in it, with the reasons.

        Reading leaves time for the statement, so that it still runs when a file does not arrive.
        """
        deadline = time.monotonic() + all_but(_STATEMENT_SECONDS)
        self._attachments.wait(deadline)
        while True:
            ready, missing = self._readable(deadline)
            if missing and not ready:
                raise DataUnavailable("No competition can be read now.", advice=" ".join(missing.values()))
            views = {view_name(item.competition): item for item in ready}
            if with_shapes:
                views |= {view_of(SHAPES, item.competition.slug): item for item in ready if item.competition.has_shapes}
            fetch = partial(self._rows_of, {view: item.file.name for view, item in views.items()}, deadline)
            try:
                return self._written({view: item.version for view, item in views.items()}, fetch), missing
            except NotInSnapshot as failure:
                for view, error in failure.errors.items():
                    if part_and_slug(view)[0] == SHAPES:
                        raise error from failure
                    self.mark_unavailable(views[view].competition.slug, error)

    def _written(self, views: Mapping[str, str], fetch: Callable[[str], pa.Table]) -> Path:
        """The snapshot of these views. Another thread writes it, and goes on writing after the deadline."""
        writing = submit_with_deadline(partial(self._snapshots.of, views, fetch))
        try:
            return writing.result(seconds_left())
        except TimeoutError:
            what = "The rows for SQL were not written in time."
            raise QueryTimeout(what, advice="Retry in a moment: they will be ready then.") from None

    def _rows_of(self, files: Mapping[str, str], deadline: float, view: str) -> pa.Table:
        return self._asker.table(f"from {view}", deadline=deadline, about=files[view])

    def _answer(self, question: str, slug: str, bound: Mapping[str, Any], deadline: float) -> pd.DataFrame:
        """The answer about a competition; a file that changed or is damaged is reopened, once."""
        if slug == ALL_LINKABLE:
            self._join(deadline)
        item = self._current(slug, deadline)
        if item is None:
            return self._ask(question, bound, deadline)
        try:
            answer = self._ask(question, bound, deadline, item)
        except CorruptData:
            if not self._attachments.may_renew(slug):
                raise
            self.source.bytes.forget(item.file.name)
            self._attachments.reopen(slug, deadline)
            answer = self._ask(question, bound, deadline, self._current(slug, deadline))
        self._materialiser.note(item, question)
        return answer

    def _current(self, slug: str, deadline: float) -> Attached | None:
        """The competition, with its file open in the current version."""
        item = self._attachments.need(slug, deadline)
        if item is None or self.source.bytes.listed_again(item.file.name).version == item.file.version:
            return item
        self._attachments.reopen(slug, deadline)
        return self._attachments.need(slug, deadline)

    def _ask(
        self, question: str, bound: Mapping[str, Any], deadline: float, item: Attached | None = None
    ) -> pd.DataFrame:
        text, name = sql_text(question), item.file.name if item else ""
        try:
            try:
                return self._asker.run(text, bound, deadline=deadline, about=name)
            except NeedsMemory:
                # Perhaps rows are being copied in the background; the memory for that is free again afterwards.
                if not self._materialiser.wait(deadline - time.monotonic()):
                    raise
                return self._asker.run(text, bound, deadline=deadline, about=name)
        except KbdashError as error:
            if item is None:
                raise
            raise of_file(error, name) from error

    def _join(self, deadline: float) -> None:
        """Rebuild the view over all linkable competitions if the set of readable ones changed."""
        self._attachments.wait(deadline, _is_linkable)
        ready = [item.competition for item in self._readable(deadline)[0] if _is_linkable(item)]
        slugs = tuple(competition.slug for competition in ready)
        with self._joining:
            if self._joined == slugs:
                return
            view, empty = view_of("submissions", ALL_LINKABLE), view_of("submissions", EMPTY)
            self._asker.run(f"create or replace view {view} as from {empty}{branches(ready)}", deadline=deadline)
            self._joined = slugs

    def _readable(self, deadline: float) -> tuple[list[Attached], dict[str, str]]:
        """Competitions whose files are open, each in its current version; and the others, each with the reason."""
        ready, missing = [], {}
        for item in self._attachments.items():
            slug = item.competition.slug
            if item.reason or not item.opened:
                missing[slug] = item.reason or f"{item.file.name} did not arrive in time."
                continue
            try:
                ready.append(self._current(slug, deadline))
            except DataUnavailable as error:
                missing[slug] = reason_of(item, error)
        return [item for item in ready if item], missing


def _locked(
    prepared: Future[duckdb.DuckDBPyConnection], source: Source, settings: Settings
) -> duckdb.DuckDBPyConnection:
    connection = prepared.result()
    lock(connection, source, settings)
    return connection


def _close_all() -> None:
    """At exit: a thread that returned from DuckDB into Python later would abort the process."""
    for database in list(_OPEN):
        database.source.close()  # ends reads that wait for bytes
        database.close(_EXIT_SECONDS)


atexit.register(_close_all)


def _is_linkable(item: Attached) -> bool:
    return item.competition.linkable
