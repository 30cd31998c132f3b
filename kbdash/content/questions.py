"""The questions about all source texts of a source, over the stores that are at hand.

Names are resolved by who asks: what a question is about comes as a `Where`.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from threading import Thread
from typing import TypedDict

import pandas as pd

from kbdash.content.building.facts import Ask
from kbdash.content.findings import origins, relatives, steps
from kbdash.content.search import lines
from kbdash.content.search.holding import Holding, holding
from kbdash.content.search.lines import Place
from kbdash.content.search.patterns import Pattern, parse_pattern
from kbdash.content.search.scan import LineScanner
from kbdash.content.store.finished import Store
from kbdash.content.store.layout import NO_TEXT
from kbdash.content.store.text_rows import Filters, TextRows
from kbdash.content.stores import Stores
from kbdash.content.techniques.facets import TextFacets
from kbdash.content.verdicts.table import renew_verdicts
from kbdash.database.questions.parameters import LARGEST_LIMIT, Day
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source
from kbdash.errors import CorruptData, QueryRefused


class SearchOptions(TypedDict, total=False):
    """How and where to search; every key may be left out.

    `regex`: the pattern is an expression of RE2. `case` False: capitals do not matter. `user`: an id or a name.
    `since`, `until`: UTC days, both inclusive. `facets`: techniques the text must hold, or must not with a `!` before.
    """

    regex: bool
    case: bool
    problem: str | None
    runner: str | None
    user: str | None
    passed: bool | None
    since: Day
    until: Day
    facets: Sequence[str]
    limit: int
    competition: str | None


class StepOptions(TypedDict, total=False):
    """Which steps: `user` is an id or a name, `gained` a technique that only the later text holds."""

    least_gain: float
    limit: int
    user: str | None
    gained: str | None
    competition: str | None


@dataclass(frozen=True)
class Where:
    """Which submissions a question is about, by names that are resolved; None: all.

    `problem` is an exact name, `users` are ids. `linkable`: the competitions in which a user id means the same person.
    """

    competitions: tuple[str, ...]
    problem: str | None = None
    users: tuple[str, ...] | None = None
    linkable: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OpenStore:
    """A store with the rows of its file in the order of its texts."""

    store: Store
    held: TextRows


class Library(Stores):
    """The questions over all stores of one source. Thread-safe."""

    def __init__(self, source: Source, settings: Settings, ask: Ask) -> None:
        super().__init__(source, settings)
        self._ask = ask
        self._ahead: set[str] = set()

    def search(self, pattern: Pattern, where: Where, options: SearchOptions) -> pd.DataFrame:
        """One row per distinct line that holds the pattern, best first. See `search.lines.search` for `attrs`.

        Of several competitions those whose store is damaged are left out: `attrs["unavailable"]` has the reasons.
        """
        where, opened, left_out = self._opened_of(where)
        found = lines.search(
            self._places(where, opened),
            pattern,
            [self.filters(each, where, options) for each in opened],
            limit=options.get("limit", 100),
            seconds=self._settings.query_seconds,
        )
        found.attrs |= {"searched": list(where.competitions), "unavailable": left_out}
        return found

    def holding(self, pattern: Pattern, line: bool, where: Where, options: SearchOptions) -> Holding:
        """The submissions that contain a pattern or, with `line`, a whole line as a search returns it."""
        where, opened, left_out = self._opened_of(where)
        found = holding(
            self._places(where, opened),
            pattern,
            [self.filters(each, where, options) for each in opened],
            whole=line,
            limit=min(max(options.get("limit", 100), 1), LARGEST_LIMIT),
            seconds=self._settings.query_seconds,
        )
        return replace(found, unavailable=left_out)

    def at_hand(self) -> tuple[str, ...]:
        """Competitions whose store is ready."""
        return tuple(slug for slug in self._files if self._location.has(self._file(slug)))

    def at_hand_of(self, competitions: Sequence[str]) -> tuple[str, ...]:
        """Those of the competitions whose store is ready; ContentMissing if there is none."""
        ready = tuple(slug for slug in competitions if self.store(slug) is not None)
        if not ready:
            raise self.missing()
        return ready

    def folders(self) -> dict[str, Path]:
        """The folders of the stores that are ready, with all their tables as they are written today, by competition."""
        stores = {slug: self.store(slug) for slug in self.at_hand()}
        for store in filter(None, stores.values()):
            self.facets_of(store)
            renew_verdicts(store)
        return {slug: store.folder for slug, store in stores.items() if store is not None}

    def origins(self, submission: Submission) -> pd.DataFrame:
        """Who wrote each line of a submission first."""
        opened, text = self.text_of(submission)
        if text == NO_TEXT:
            return pd.DataFrame(columns=list(origins.COLUMNS))
        return origins.origins(opened.store, opened.held, text, submission.user_id)

    def relatives(self, submission: Submission, least: float = 0.5) -> pd.DataFrame:
        """Other users with a similar text, the closest first."""
        opened, text = self.text_of(submission)
        if text == NO_TEXT:
            return pd.DataFrame(columns=list(relatives.COLUMNS))
        at = pd.Timestamp(submission.submitted_at) if submission.submitted_at else None
        return relatives.relatives(opened.store, opened.held, text, user_id=submission.user_id, at=at, least=least)

    def steps(self, where: Where, runner: str | None, options: StepOptions) -> pd.DataFrame:
        """Personal bests of all users as pairs, the largest gain first; damaged stores are left out as in a search."""
        gained = options.get("gained")
        where, opened, left_out = self._opened_of(where)
        found = steps.steps(
            [(each.store, each.held.on_board(where.problem, runner, where.users)) for each in opened],
            least_gain=options.get("least_gain", 0.1),
            limit=options.get("limit", 100),
            gained=None if gained is None else lambda store: self.facets_of(store).holding(gained),
        )
        found.attrs["unavailable"] = left_out
        return found

    def facets_of(self, store: Store) -> TextFacets:
        """Which texts of a store use which techniques."""
        return store.derived(TextFacets, lambda: TextFacets(store))

    def filters(self, opened: OpenStore, where: Where, options: SearchOptions) -> Filters:
        """The filters that options ask for; board and users are those of `where`."""
        wanted = options.get("facets", ())
        return Filters(
            problem=where.problem,
            runner=options.get("runner"),
            users=where.users,
            passed=options.get("passed"),
            since=_day(options.get("since")),
            until=_day(options.get("until")),
            texts=self.facets_of(opened.store).wanted(wanted) if wanted else None,
        )

    def opened(self, competition: str) -> OpenStore:
        """The store of a competition with its rows; ContentMissing without one."""
        store = self.fetched(competition)

        def make() -> TextRows:
            with store.reading_ahead():
                rows = self._ask(competition)
                if not store.manifest.fits(self._file(competition)):  # replaced since the store was found
                    raise self.missing(competition)
                return TextRows(rows, store.text_of_row, store.manifest.texts)

        # What a store keeps must not lead back to it: then it is freed as soon as nobody uses it.
        return OpenStore(store, store.derived(TextRows, make))

    def _opened_of(self, where: Where) -> tuple[Where, list[OpenStore], dict[str, str]]:
        """What a question is about without the damaged ones of several stores, their stores, and why others are not."""
        opened: dict[str, OpenStore] = {}
        left_out: dict[str, str] = {}
        for slug in where.competitions:
            try:
                opened[slug] = self.opened(slug)
            except CorruptData as error:  # (a server that does not answer is waited for once, not for each of them)
                left_out[slug] = f"{error} {error.advice}"
                if len(left_out) == len(where.competitions):
                    raise
        return replace(where, competitions=tuple(opened)), list(opened.values()), left_out

    def open_ahead(self) -> None:
        """Open the stores at hand in the background, each once, so that the first question need not wait for it."""
        fresh = [slug for slug in self.at_hand() if slug not in self._ahead]
        self._ahead.update(fresh)
        if fresh:
            Thread(target=self._open_all, args=(fresh,), name="kbdash-content-open", daemon=True).start()

    def _open_all(self, slugs: Sequence[str]) -> None:
        for slug in slugs:
            # What is wrong with a store is told to the one who asks.
            with suppress(Exception):
                opened = self.opened(slug)
                self._place(slug, opened, False)
                opened.held.choose(Filters())

    def _places(self, where: Where, opened: Sequence[OpenStore]) -> list[Place]:
        pairs = zip(where.competitions, opened, strict=True)
        return [self._place(slug, each, slug in where.linkable) for slug, each in pairs]

    def _place(self, slug: str, opened: OpenStore, shared_ids: bool) -> Place:
        store = opened.store
        scanner = store.derived(LineScanner, lambda: LineScanner(*store.line_bytes))
        return Place(slug, store, scanner, store.same, opened.held, shared_ids)

    def text_of(self, submission: Submission) -> tuple[OpenStore, int]:
        """The store of a submission, and its text there; NO_TEXT for null."""
        opened = self.opened(submission.competition)
        opened.store.check_row(submission.file_row, submission.submission_id)
        return opened, int(opened.store.text_of_row[submission.file_row])


def pattern_of(text: str, options: SearchOptions) -> Pattern:
    """The pattern that a reader asks for; BadPattern if it is none."""
    return parse_pattern(text, regex=options.get("regex", False), case=options.get("case", True))


def _day(day: Day) -> date | None:
    try:
        return date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError as error:
        raise QueryRefused(f"{day!r} is not a day.", advice="Write it as 2025-12-21.") from error
