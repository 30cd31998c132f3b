"""Which files are open. Each is opened in the background; a question waits only for the file it needs."""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from kbdash.database.competition_views import Attached, reason_of
from kbdash.database.workers import AT_ONCE, WORKERS, queue_of
from kbdash.errors import DataUnavailable, KbdashError

RETRY_AFTER_SECONDS = 15.0
_GRACE_SECONDS = 0.4


class Open(Protocol):
    """Opens a file: returns the competition, with the reason if that failed; None for a file without submissions."""

    def __call__(self, item: Attached, /, *, asked: bool) -> Attached | None: ...


@dataclass
class _Entry:
    """The state of one competition. `changing` is the lock for changes of its view."""

    item: Attached
    flight: Future[None] | None = None
    hidden: bool = False
    tried_at: float = 0.0
    renewed_at: float = -RETRY_AFTER_SECONDS
    generation: int = 0
    changing: threading.Lock = field(default_factory=threading.Lock)


class Attachments:
    """The competitions of a source and the state of their files. Thread-safe."""

    def __init__(self, items: Iterable[Attached], open_file: Open) -> None:
        self._entries = {item.competition.slug: _Entry(item) for item in items}
        self._open_file = open_file
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def items(self) -> tuple[Attached, ...]:
        """Every competition known so far; does no I/O and does not wait.

        A file outside the catalog is included only once it was opened: before that, it may hold anything.
        """
        return tuple(
            entry.item
            for entry in self._entries.values()
            if not entry.hidden and (entry.item.opened or entry.item.reason or entry.item.competition.boards)
        )

    def open_all_after(self, seconds: float) -> None:
        """Schedule the opening of every file in this many seconds; only the first call counts."""
        self.stop()
        self._timer = threading.Timer(seconds, self._open_all)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Open no more files in the background."""
        if self._timer:
            self._timer.cancel()

    def _open_all(self) -> None:
        """Open every file in the background, a few at once."""
        work = queue_of([partial(self._open_first, entry) for entry in self._entries.values()])
        for _ in range(min(AT_ONCE, len(self._entries))):
            WORKERS.submit(work)

    def _open_first(self, entry: _Entry) -> None:
        """Open a file that nobody has opened yet."""
        if not entry.item.opened and not entry.item.reason:
            self._flight(entry).result()

    def wait(self, deadline: float, wanted: Callable[[Attached], bool] = lambda _: True) -> None:
        """Wait until every wanted file was opened or has failed, at most until the deadline."""
        unknown = [
            entry
            for entry in self._entries.values()
            if wanted(entry.item) and not (entry.item.opened or entry.item.reason or entry.hidden)
        ]
        for flight in [self._flight(entry) for entry in unknown]:
            _wait(flight, deadline)

    def need(self, slug: str, deadline: float) -> Attached | None:
        """The competition with its file open, or an error with the reason. None if there is no such competition."""
        entry = self._entries.get(slug)
        if entry is None:
            return None
        if not entry.item.opened or entry.item.reason:
            if entry.item.reason and not _due(entry):
                raise DataUnavailable(entry.item.reason, advice="Other competitions still work.")
            # Opening often has the same deadline; wait a little longer, because its error says more than ours.
            _wait(self._flight(entry, asked=True), deadline + _GRACE_SECONDS)
            if entry.item.reason or not entry.item.opened:
                name = entry.item.file.name
                reason = entry.item.reason or f"{name} did not arrive in time."
                raise DataUnavailable(reason, advice="Other competitions still work.")
        return entry.item

    def mark_unavailable(self, slug: str, error: KbdashError) -> None:
        """Leave out a competition whose file failed after it was opened; it is retried like any other."""
        entry = self._entries[slug]
        if entry.item.reason:
            return  # the first reason stays
        with self._lock:
            entry.item = replace(entry.item, reason=reason_of(entry.item, error))
            entry.tried_at = time.monotonic()

    def retry_due(self) -> None:
        """Retry failed files, in the background and at most every few seconds: the Hub may be back."""
        for entry in self._entries.values():
            if entry.item.reason and _due(entry):
                self._flight(entry)

    def may_renew(self, slug: str) -> bool:
        """Whether to fetch a damaged file again; False when that was done a moment ago."""
        entry = self._entries[slug]
        with self._lock:
            if time.monotonic() - entry.renewed_at < RETRY_AFTER_SECONDS:
                return False
            entry.renewed_at = time.monotonic()
            return True

    def reopen(self, slug: str, deadline: float) -> None:
        """Open the file again, and wait for it."""
        entry = self._entries[slug]
        with self._lock:
            entry.item = replace(entry.item, opened=False)
        _wait(self._flight(entry), deadline)

    def change_view(self, slug: str, generation: int, change: Callable[[], None]) -> bool:
        """Change the view of a competition unless its file was reopened meanwhile; returns whether it was changed."""
        entry = self._entries[slug]
        with entry.changing:
            if entry.generation != generation:
                return False
            change()
            return True

    def generation(self, slug: str) -> int:
        """Grows each time the file of a competition is opened."""
        return self._entries[slug].generation

    def _flight(self, entry: _Entry, *, asked: bool = False) -> Future[None]:
        """The opening in progress, started if there is none (single-flight); `asked`: a question waits for it."""
        with self._lock:
            if entry.flight is None:
                entry.flight = WORKERS.submit(partial(self._opened, entry, asked))
            return entry.flight

    def _opened(self, entry: _Entry, asked: bool) -> None:
        with entry.changing:
            entry.generation += 1
            item = self._open_file(entry.item, asked=asked)
        with self._lock:
            entry.hidden = item is None
            entry.item = item or replace(entry.item, opened=True, reason=None)
            entry.tried_at = time.monotonic()
            entry.flight = None


def _due(entry: _Entry) -> bool:
    return time.monotonic() - entry.tried_at >= RETRY_AFTER_SECONDS


def _wait(flight: Future[None], deadline: float) -> None:
    try:
        flight.result(max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        return
