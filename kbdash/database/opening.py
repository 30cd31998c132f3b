"""Open one file: inspect it, describe its columns, create its views."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from kbdash.database.asking import Asker
from kbdash.database.competition_views import Attached, location, statements, told
from kbdash.database.schema import holds_submissions, misfit
from kbdash.dataset.model import DataFile
from kbdash.dataset.source import Source
from kbdash.deadline import reading
from kbdash.errors import ContentChanged, CorruptData, KbdashError, UnsafeFile

Inspect = Callable[[DataFile], None]
"""Inspects a file with our own bounded reader before DuckDB opens it; UnsafeFile when it must not be opened."""

REFUSED_SECONDS = 600.0
"""Until an unsafe file is inspected again: that is expensive, but its bytes may have been damaged in transit."""


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

    def open(self, item: Attached, *, asked: bool = False) -> Attached | None:
        """The competition with its views made, or with the reason; None for a file that holds no submissions.

        If a question waits for it (`asked`), its columns are prefetched while the views are made.
        """
        try:
            try:
                return self._opened(item, asked)
            except (ContentChanged, CorruptData):
                # Replaced between two reads, or damaged bytes from a cache: only fresh bytes can tell.
                self._source.bytes.forget(item.file.name)
                return self._opened(item, asked)
        except CorruptData as error:
            self._source.bytes.forget(item.file.name)
            reason = told(item, error)
        except KbdashError as error:
            reason = told(item, error)
        except Exception as error:
            reason = f"{item.file.name} cannot be read: {error or type(error).__name__}"
        return replace(item, opened=True, reason=reason)

    def _opened(self, item: Attached, asked: bool) -> Attached | None:
        item = replace(item, file=self._source.bytes.listed_again(item.file.name))
        competition, file = item.competition, item.file
        run = partial(
            self._asker.run, deadline=self._asker.deadline(), about=file.name, read_seconds=self._read_seconds
        )
        with reading(self._asker.seconds, self._read_seconds):
            self._check(file)
            if asked:
                self._source.bytes.open(file.name).begin()
        described = run(f"describe from read_parquet({location(file)})")
        columns = dict(zip(described["column_name"], described["column_type"], strict=True))
        if not competition.boards and not holds_submissions(columns):
            return None
        reason = misfit(columns, competition.family)
        if reason:
            return replace(item, opened=True, reason=f"{file.name} cannot be used: {reason}.")
        for statement in statements(competition, file, columns):
            run(statement)
        return replace(item, opened=True, reason=None)

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
