"""The questions about all source texts of a source, over the stores that are at hand."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from threading import Thread
from typing import Protocol, TypedDict, Unpack

import pandas as pd

from kbdash.content.building.facts import Ask
from kbdash.content.findings import origins, relatives, steps
from kbdash.content.search import lines
from kbdash.content.search.holding import Holding, holding, whole_line
from kbdash.content.search.lines import LARGEST_LIMIT, Place
from kbdash.content.search.patterns import parse_pattern
from kbdash.content.search.scan import LineScanner
from kbdash.content.store.finished import Store
from kbdash.content.store.layout import NO_TEXT
from kbdash.content.store.text_rows import Filters, TextRows
from kbdash.content.stores import ContentMissing, ContentState, StateName, Stores
from kbdash.content.techniques.facets import TextFacets
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source
from kbdash.errors import QueryRefused

__all__ = [
    "ContentMissing",
    "ContentState",
    "Day",
    "Engine",
    "Library",
    "OpenStore",
    "SearchOptions",
    "StateName",
    "StepOptions",
]

Day = date | str | None


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


class Engine(Protocol):
    """The interface that the questions need from the engine."""

    def find(self, problem: str, competition: str | None = None) -> tuple[str, str]: ...
    def user_ids(self, texts: Sequence[str], competition: str | Sequence[str] | None = None) -> tuple[str, ...]: ...
    def readable(self) -> tuple[str, ...]: ...
    def linkable(self) -> tuple[str, ...]: ...
    def submission(
        self, submission_id: int, runner: str | None = None, competition: str | None = None
    ) -> Submission: ...


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

    def search(self, engine: Engine, pattern: str, **options: Unpack[SearchOptions]) -> pd.DataFrame:
        """One row per distinct line that holds the pattern, best first. See `search.lines.search` for `attrs`."""
        parsed = parse_pattern(pattern, regex=options.get("regex", False), case=options.get("case", True))
        slugs, name = self._where(engine, options.get("problem"), options.get("competition"))
        opened = [self.opened(engine, slug) for slug in slugs]
        users = _users(engine, slugs, options.get("user"))
        linkable = engine.linkable()
        found = lines.search(
            [self._place(slug, each, slug in linkable) for slug, each in zip(slugs, opened, strict=True)],
            parsed,
            [self.filters(each, name, users, options) for each in opened],
            limit=options.get("limit", 100),
            seconds=self._settings.query_seconds,
        )
        found.attrs["searched"] = slugs
        return found

    def holding(self, engine: Engine, pattern: str, line: bool, options: SearchOptions) -> Holding:
        """The submissions that contain a pattern or, with `line`, a whole line as a search returns it."""
        regex, case = options.get("regex", False), options.get("case", True)
        parsed = whole_line(pattern) if line else parse_pattern(pattern, regex=regex, case=case)
        slugs, name = self._where(engine, options.get("problem"), options.get("competition"))
        opened = [self.opened(engine, slug) for slug in slugs]
        users = _users(engine, slugs, options.get("user"))
        linkable = engine.linkable()
        return holding(
            [self._place(slug, each, slug in linkable) for slug, each in zip(slugs, opened, strict=True)],
            parsed,
            [self.filters(each, name, users, options) for each in opened],
            whole=line,
            limit=min(max(options.get("limit", 100), 1), LARGEST_LIMIT),
            seconds=self._settings.query_seconds,
        )

    def at_hand(self) -> tuple[str, ...]:
        """Competitions whose store is ready."""
        return tuple(slug for slug, file in self._files.items() if self._location.has(file))

    def folders(self) -> dict[str, Path]:
        """The folders of the stores that are ready, with all their tables, by competition."""
        stores = {slug: self.store(slug) for slug in self.at_hand()}
        for store in filter(None, stores.values()):
            self.facets_of(store)  # written again when the rules have changed
        return {slug: store.folder for slug, store in stores.items() if store is not None}

    def origins(self, engine: Engine, submission: Submission) -> pd.DataFrame:
        """Who wrote each line of a submission first."""
        opened, text = self.text_of(engine, submission)
        if text == NO_TEXT:
            return pd.DataFrame(columns=list(origins.COLUMNS))
        return origins.origins(opened.store, opened.held, text, submission.user_id)

    def relatives(self, engine: Engine, submission: Submission, least: float = 0.5) -> pd.DataFrame:
        """Other users with a similar text, the closest first."""
        opened, text = self.text_of(engine, submission)
        if text == NO_TEXT:
            return pd.DataFrame(columns=list(relatives.COLUMNS))
        at = pd.Timestamp(submission.submitted_at) if submission.submitted_at else None
        return relatives.relatives(opened.store, opened.held, text, user_id=submission.user_id, at=at, least=least)

    def steps(self, engine: Engine, problem: str | None, runner: str | None, options: StepOptions) -> pd.DataFrame:
        """Personal bests of all users as pairs, the largest gain first."""
        slugs, name = self._where(engine, problem, options.get("competition"))
        gained = options.get("gained")
        opened = [self.opened(engine, slug) for slug in slugs]
        users = _users(engine, slugs, options.get("user"))
        return steps.steps(
            [(each.store, each.held.on_board(name, runner, users)) for each in opened],
            least_gain=options.get("least_gain", 0.1),
            limit=min(max(options.get("limit", 100), 0), LARGEST_LIMIT),
            gained=None if gained is None else lambda store: self.facets_of(store).holding(gained),
        )

    def facets_of(self, store: Store) -> TextFacets:
        """Which texts of a store use which techniques."""
        return store.made(TextFacets, lambda: TextFacets(store))

    def filters(
        self, opened: OpenStore, problem: str | None, users: tuple[str, ...] | None, options: SearchOptions
    ) -> Filters:
        """The filters that options ask for; `users` are the ids that its user means."""
        wanted = options.get("facets", ())
        return Filters(
            problem=problem,
            runner=options.get("runner"),
            users=users,
            passed=options.get("passed"),
            since=_day(options.get("since")),
            until=_day(options.get("until")),
            texts=self.facets_of(opened.store).wanted(wanted) if wanted else None,
        )

    def _where(self, engine: Engine, problem: str | None, competition: str | None) -> tuple[list[str], str | None]:
        """The competitions a question is about, and the exact name of its problem."""
        if problem is not None:
            slug, name = engine.find(problem, competition)
            return [slug], name
        if competition is not None:
            return [competition], None
        slugs = [slug for slug in engine.readable() if self.store(slug) is not None]
        if not slugs:
            raise self.missing()
        return slugs, None

    def opened(self, engine: Engine, competition: str) -> OpenStore:
        """The store of a competition with its rows; ContentMissing without one."""
        store = self.fetched(competition)

        def make() -> TextRows:
            with store.reading_ahead():
                rows = self._ask(competition)
                return TextRows(rows, store.text_of_row, store.manifest.texts)

        # What a store keeps must not lead back to it: then it is freed as soon as nobody uses it.
        return OpenStore(store, store.made(TextRows, make))

    def open_ahead(self, engine: Engine) -> None:
        """Open the stores at hand in the background, each once, so that the first question need not wait for it."""
        fresh = [slug for slug in self.at_hand() if slug not in self._ahead]
        self._ahead.update(fresh)
        if fresh:
            Thread(target=self._open_all, args=(engine, fresh), name="kbdash-content-open", daemon=True).start()

    def _open_all(self, engine: Engine, slugs: Sequence[str]) -> None:
        for slug in slugs:
            # What is wrong with a store is told to the one who asks.
            with suppress(Exception):
                opened = self.opened(engine, slug)
                self._place(slug, opened, False)
                opened.held.choose(Filters())

    def _place(self, slug: str, opened: OpenStore, shared_ids: bool) -> Place:
        store = opened.store
        scanner = store.made(LineScanner, lambda: LineScanner(*store.line_bytes))
        return Place(slug, store, scanner, store.same, opened.held, shared_ids)

    def text_of(self, engine: Engine, submission: Submission) -> tuple[OpenStore, int]:
        """The store of a submission, and its text there; NO_TEXT for null."""
        opened = self.opened(engine, submission.competition)
        opened.store.check_row(submission.file_row, submission.submission_id)
        return opened, int(opened.store.text_of_row[submission.file_row])


def _users(engine: Engine, slugs: Sequence[str], user: str | None) -> tuple[str, ...] | None:
    """The ids that an id or a name means in these competitions; UnknownUser when it means nobody."""
    return None if user is None else engine.user_ids([user], slugs)


def _day(day: Day) -> date | None:
    try:
        return date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError as error:
        raise QueryRefused(f"{day!r} is not a day.", advice="Write it as 2025-12-21.") from error
