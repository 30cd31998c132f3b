"""Open one file: inspect it, describe its columns, create its views."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

import pyarrow as pa

from kbdash.database.asking import Asker
from kbdash.database.competition_views import (
    Attached,
    file_views,
    location,
    reason_of,
    rows_version,
    statements,
    views_ahead,
)
from kbdash.database.schema import holds_submissions, misfit
from kbdash.database.workers import submit_with_deadline
from kbdash.dataset.model import Competition, DataFile
from kbdash.dataset.source import Source
from kbdash.deadline import reading
from kbdash.errors import ContentChanged, CorruptData, KbdashError, UnsafeFile

Inspect = Callable[[DataFile], None]
"""Inspects a file with our own bounded reader before DuckDB opens it; UnsafeFile when it must not be opened."""

REFUSED_SECONDS = 600.0
"""Seconds until an unsafe file is inspected again. That is expensive, but its bytes may be damaged only in transit."""


def nothing_to_inspect(file: DataFile) -> None:
    """For callers that trust the files."""


class Opener:
    """Opens the files of one source. A failure makes only its own file unavailable.

    `read_seconds` limits a single read, for silent servers. It is not the limit of the whole opening: on a busy
    machine the reads are quick and the rest is slow.
    """

    def __init__(self, asker: Asker, source: Source, read_seconds: float, inspect: Inspect) -> None:
        self._asker = asker
        self._source = source
        self._read_seconds = read_seconds
        self._inspect = inspect
        self._refused: dict[tuple[str, str], tuple[str, float]] = {}
        self._seen: set[str] = set()

    def open(self, item: Attached, *, asked: bool = False) -> Attached | None:
        """The competition with its views made, or with the reason; None for a file that holds no submissions.

        If a question waits for it (`asked`), its columns are prefetched while the views are made.
        """
        try:
            try:
                return self._opened(item, asked)
            except (ContentChanged, CorruptData):
                # It was replaced between two reads, or cached bytes are damaged. Only fresh bytes can tell.
                self._source.bytes.forget(item.file.name)
                return self._opened(item, asked)
        except CorruptData as error:
            self._source.bytes.forget(item.file.name)
            reason = reason_of(item, error)
        except KbdashError as error:
            reason = reason_of(item, error)
        except Exception as error:
            reason = reason_of(item, KbdashError(str(error) or type(error).__name__))  # without its secrets
        return replace(item, opened=True, reason=reason)

    def _opened(self, item: Attached, asked: bool) -> Attached | None:
        item = replace(item, file=self._source.bytes.listed_again(item.file.name))
        competition, file = item.competition, item.file
        bytes_ = self._source.bytes.open(file.name)
        views = self._views_meanwhile(competition)
        try:
            with reading(self._asker.seconds, self._read_seconds):
                self._check(file)
            if asked:
                self._meanwhile(bytes_.begin)
        finally:
            make = views.result()  # in every case: the next attempt must not make them at the same time
        columns = self._columns(file)
        if not competition.boards and not holds_submissions(columns):
            return None
        reason = misfit(columns, competition.family)
        if reason:
            return replace(item, opened=True, reason=f"{file.name} cannot be used: {reason}.")
        self._run(file, ";\n".join(make(competition, file, columns)))
        return replace(item, opened=True, reason=None, version=rows_version(competition, file, columns))

    def _columns(self, file: DataFile) -> dict[str, str]:
        """The columns of a file: name -> DuckDB type."""
        described = self._run(file, f"describe from read_parquet({location(file)})").to_pydict()
        return dict(zip(described["column_name"], described["column_type"], strict=True))

    def _meanwhile(self, read: Callable[[], None]) -> None:
        """Start to fetch bytes, or to load them from the disk."""
        with reading(self._asker.seconds, self._read_seconds):
            submit_with_deadline(read)

    def _views_meanwhile(self, competition: Competition) -> Future[Callable[..., Iterator[str]]]:
        """Make the views of the ranking rule while the end of the file is fetched.

        Returns the function that lists the views still to be made over the file. This is done only before a file of
        the catalog is opened for the first time. Later a question may be reading the views, and a file outside the
        catalog may hold anything.
        """
        if competition.slug in self._seen or not competition.boards:
            return submit_with_deadline(lambda: statements)
        self._seen.add(competition.slug)
        return submit_with_deadline(partial(self._views_ahead, competition.slug))

    def _views_ahead(self, slug: str) -> Callable[..., Iterator[str]]:
        self._asker.table(";\n".join(views_ahead(slug)))
        return file_views

    def _run(self, file: DataFile, text: str) -> pa.Table:
        return self._asker.table(text, about=file.name, read_seconds=self._read_seconds)

    def _check(self, file: DataFile) -> None:
        """Inspect the file; an unsafe version is not inspected again for a while."""
        key = (file.name, file.version)
        reason, until = self._refused.get(key, ("", 0.0))
        if time.monotonic() < until:
            raise UnsafeFile(reason)
        try:
            self._inspect(file)
        except UnsafeFile as error:
            self._refused[key] = f"{error} {error.advice}".strip(), time.monotonic() + REFUSED_SECONDS
            raise
