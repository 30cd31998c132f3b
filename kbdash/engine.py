"""`KernelBot`: the questions as methods over one open source."""

import difflib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict, Unpack

import pandas as pd

from kbdash import lookup, queries
from kbdash.code import CodeReader, Indexing, SourceText
from kbdash.config import Settings
from kbdash.db import Database
from kbdash.errors import DataUnavailable, KbdashError, UnknownProblem
from kbdash.export import write_study_set
from kbdash.model import Board, Competition, Submission
from kbdash.source import Source, newer_commit, open_source


class Dates(TypedDict, total=False):
    """A period of UTC days, both inclusive."""

    since: queries.Day
    until: queries.Day


class KernelBot:
    """The KernelBot data of one source, pinned to one revision. Safe to share between threads."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.source = source
        self._settings = settings
        self._database = Database(source, settings)
        self._texts = CodeReader(source, settings)
        self._names: dict[str, tuple[str, ...]] = {}
        self._newer: str | None = None
        self._asked_at = time.monotonic()

    overview = queries.overview
    problems = queries.problems
    leaderboard = queries.leaderboard
    trends = queries.trends
    summary = queries.summary
    distribution = queries.distribution
    ecdf = queries.ecdf
    standing = queries.standing
    progression = queries.progression
    records = queries.records
    rank_history = queries.rank_history
    same_code = queries.same_code
    runner_ratios = queries.runner_ratios
    paired = queries.paired
    submissions = queries.submissions
    status_over_time = queries.status_over_time
    user = queries.user
    find_users = queries.find_users
    submission = lookup.submission
    submission_rows = lookup.submission_rows
    placement = lookup.placement
    same_code_elsewhere = lookup.same_code_elsewhere
    ladder = queries.ladder
    shapes = queries.shapes

    @property
    def competitions(self) -> tuple[Competition, ...]:
        """Every competition of the source, readable or not."""
        return tuple(item.competition for item in self._database.competitions())

    @property
    def unavailable(self) -> dict[str, str]:
        """Slug -> reason, for the competitions that cannot be read now."""
        return {item.competition.slug: item.problem for item in self._database.competitions() if item.problem}

    def readable(self) -> tuple[str, ...]:
        """Slugs of the competitions that can be asked."""
        return tuple(item.competition.slug for item in self._database.competitions() if not item.problem)

    def linkable(self) -> tuple[str, ...]:
        """Slugs of the readable competitions whose user and code ids mean the same everywhere."""
        return tuple(
            item.competition.slug
            for item in self._database.competitions()
            if not item.problem and item.competition.family == "flat"
        )

    def frame(self, question: str, /, **parameters: object) -> pd.DataFrame:
        """Answer of sql/<question>.sql with the given parameters bound."""
        return self._database.frame(question, **parameters)

    def set_aside(self, competition: str, error: KbdashError) -> None:
        """Leave a competition out of the questions about all of them, until its file can be read again."""
        self._database.set_aside(competition, error)

    def sql(self, text: str) -> pd.DataFrame:
        """Answer of one SELECT over the view `submissions`; read only, locked down."""
        return self._database.sql(text)

    def find(self, problem: str, competition: str | None = None) -> tuple[str, str]:
        """Competition slug and exact name of a problem, given by name, nickname or leaderboard id."""
        wanted = str(problem)
        for item in self.competitions:
            if competition not in (None, item.slug):
                continue
            for board in item.boards:
                if wanted in (board.name, str(board.id), *board.aliases):
                    return self._checked(item.slug), board.name
        for item in self.competitions:
            if competition in (None, item.slug) and wanted in self.problem_names(item.slug):
                return item.slug, wanted
        raise self._unknown(wanted, competition)

    def board(self, problem: str, competition: str | None = None) -> Board:
        """What is known about a problem; little for boards outside the catalog."""
        slug, name = self.find(problem, competition)
        known = next((b for c in self.competitions if c.slug == slug for b in c.boards if b.name == name), None)
        return known or Board(id=-1, name=name, label=name, summary="", runners=())

    def problem_names(self, competition: str) -> tuple[str, ...]:
        """Names of the problems that have rows in a competition, catalog order first; () when it cannot be read."""
        if competition not in self.readable():
            return ()
        if competition not in self._names:
            rows = self.frame("problem_names", competition=competition)
            present = [str(name) for name in rows["problem"]]
            known = [b.name for c in self.competitions if c.slug == competition for b in c.boards]
            ordered = [name for name in known if name in present]
            self._names[competition] = (*ordered, *(name for name in present if name not in ordered))
        return self._names[competition]

    def code(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> str:
        """Source text of a submission, without downloading its file."""
        return self.source_text(submission_id, runner, competition).text

    def source_text(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> SourceText:
        """Source text of a submission with its facts."""
        return self.text_of(self.submission(submission_id, runner, competition))

    def text_of(self, submission: Submission) -> SourceText:
        """Source text of a submission that was looked up before."""
        return self._texts.read(submission, self)

    def texts_of(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, SourceText]]:
        """Source texts of several submissions in the order of their file, which fetches each page once."""
        return self._texts.read_many(submissions, self)

    def index_code(self, competition: str) -> Indexing:
        """How far the source texts of a competition can be addressed by now; asking starts the work."""
        file = next((item.file for item in self._database.competitions() if item.competition.slug == competition), None)
        return self._texts.index(file.name) if file else Indexing()

    def dump(
        self, problem: str, runner: str | None = None, *, folder: str | Path, top: int = 20, **scope: Unpack[Dates]
    ) -> pd.DataFrame:
        """Write the top kernels of a board as files with a CSV of facts and the citation; the facts."""
        competition, name = self.find(problem)
        board = self.leaderboard(name, runner=runner, competition=competition, **scope)
        first = board.groupby("runner", sort=False).head(top)
        return write_study_set(self, first, competition, name, self.source, Path(folder))

    def bytes_moved(self) -> int:
        """Bytes read over the network since this source was opened."""
        return self._database.bytes_moved() + self._texts.bytes_moved()

    def newer(self) -> str | None:
        """A commit published since this source was opened; the Hub is asked at most every 15 minutes."""
        if time.monotonic() - self._asked_at >= self._settings.newer_every_seconds:
            self._asked_at = time.monotonic()
            self._newer = newer_commit(self.source, self._settings)
        return self._newer

    def close(self) -> None:
        """Stop background work and free the connections."""
        self._texts.close()
        self._database.close()

    def _checked(self, slug: str) -> str:
        reason = self.unavailable.get(slug)
        if reason:
            raise DataUnavailable(reason, advice="Other competitions still work.")
        return slug

    def _unknown(self, problem: str, competition: str | None) -> UnknownProblem:
        names = [name for c in self.competitions for name in self.problem_names(c.slug)]
        close = difflib.get_close_matches(problem, names, n=3)
        where = f" in {competition}" if competition else ""
        advice = f"Did you mean {' or '.join(close)}?" if close else "kb.problems() lists them all."
        return UnknownProblem(f"There is no problem {problem}{where}.", advice=advice)


def connect(source: str | Path | None = None, settings: Settings | None = None) -> KernelBot:
    """Open a source: the public dataset, `org/name[@revision]`, a folder, or `sample`."""
    base = settings or Settings.from_env()
    chosen = base if source is None else base.with_source(str(source))
    return KernelBot(open_source(chosen), chosen)
