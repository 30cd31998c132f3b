"""`KernelBot`: the questions as methods over one open source."""

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import TypedDict, Unpack

import duckdb
import pandas as pd

from kbdash.board_charts import BoardCharts
from kbdash.code.export import write_study_set
from kbdash.code.parquet import inspect
from kbdash.code.reader import CodeReader, Indexing, SourceText
from kbdash.code.study import Cost
from kbdash.content.findings.noise import BoardNoise, Noise
from kbdash.content.frames import as_frame
from kbdash.content.insight import Insight, TechniqueOptions
from kbdash.content.questions import Library, SearchOptions, StepOptions, Where, pattern_of
from kbdash.content.search.holding import Holding, whole_line
from kbdash.content.stores import ContentState
from kbdash.content.verdicts.examiner import Verdict
from kbdash.database.answer import answers, in_time
from kbdash.database.connection import Database
from kbdash.database.console import CONTENT_PREFIX, MOST_ROWS, Bounds
from kbdash.database.guard import check_statement
from kbdash.database.questions import known, texts
from kbdash.database.questions.parameters import Day
from kbdash.database.rules import prepared_connection
from kbdash.database.workers import WORKERS
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source, newer_commit, open_source


class Dates(TypedDict, total=False):
    """A period of UTC days, both inclusive."""

    since: Day
    until: Day


class KernelBot(BoardCharts):
    """The KernelBot data of one source, pinned to one revision. Thread-safe.

    Frames are pandas; scores are seconds and are printed with their unit; times are UTC. Boards are given by name,
    nickname or number, users by name or id. Failures raise a `KbdashError` that says what to do.

    Example:
        kb = kbdash.connect()
        kb.problems()                                    # what there is
        kb.leaderboard("nvfp4_gemm", runner="NVIDIA")    # who is fastest
        kb.chart("progression", "nvfp4_gemm")            # how it got fast, as the page draws it
        kb.code(187476)                                  # a source text
    """

    def __init__(
        self, source: Source, settings: Settings, connection: Future[duckdb.DuckDBPyConnection] | None = None
    ) -> None:
        self.source = source
        self._settings = settings
        # First, because it raises for an invalid setting: then no thread has been started yet.
        self._content = Library(source, settings, lambda slug: self._database.frame("content_rows", competition=slug))
        super().__init__(Database(source, settings, lambda file: inspect(source.bytes.open(file.name)), connection))
        self._insight = Insight(self._content)
        self._texts = CodeReader(source, settings, self._content)
        self._newer: str | None = None
        self._asked_at = time.monotonic()

    def sql(self, text: str, rows: int = MOST_ROWS, bounds: Bounds | None = None) -> pd.DataFrame:
        """Answer of one SELECT over the view `submissions`: read-only, in a process with limits, at most `rows` rows.

        The tables of content stores at hand are `content_lines`, `content_texts` and so on.
        `frame.attrs` say whether there were more (`truncated`) and which competitions are missing (`unavailable`).

        Example: kb.sql("select runner, count(*) from submissions group by all")
        """
        check_statement(text, rows)
        stores = self._content.folders() if CONTENT_PREFIX in text.lower() else {}
        return self._database.sql(text, bounds or Bounds(rows), stores)

    def plain_sql(self, text: str, competitions: Sequence[str] | None = None) -> str:
        """The statement as a script that plain DuckDB can run: with our views and macros, over the files of the source.

        Example: kb.plain_sql("select count(*) from submissions")
        """
        check_statement(text)
        return self._database.plain_sql(text, competitions)

    def code(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> str:
        """Source text of a submission, without downloading its file. Example: kb.code(187476)"""
        return self.source_text(submission_id, runner, competition).text

    @in_time
    def source_text(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> SourceText:
        """Source text of a submission with its facts. Example: kb.source_text(187476).language"""
        return self.text_of(self.submission(submission_id, runner, competition))

    def text_of(self, submission: Submission) -> SourceText:
        """Source text of a submission object. Example: kb.text_of(kb.submission(187476)).text"""
        return self._texts.read(submission)

    def texts_of(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, SourceText]]:
        """Source texts of several submissions, in file order so that each page is fetched once.

        Example: dict(kb.texts_of([kb.submission(187476), kb.submission(187477)]))
        """
        return self._texts.read_many(submissions)

    def cost_of(self, submissions: Iterable[Submission]) -> Cost:
        """Bytes that reading these texts would transfer, as far as is known; fetches nothing.

        Example: kb.cost_of([kb.submission(187476)])
        """
        return Cost(*self._texts.cost(submissions))

    def submissions_at(self, named: Iterable[tuple[int, str | None]], competition: str) -> list[Submission]:
        """The submissions of a competition with these ids and runners, in that order.

        Example: kb.submissions_at([(187476, "NVIDIA")], "nvfp4")
        """
        return [self.submission(id_, runner, competition) for id_, runner in named]

    def index_code(self, competition: str) -> Indexing:
        """Progress of the index of a competition's source texts; the first call starts the indexing.

        Example: kb.index_code("nvfp4")
        """
        file = next((item.file for item in self._database.competitions() if item.competition.slug == competition), None)
        return self._texts.index(file.name) if file else Indexing()

    def dump(
        self, problem: str, runner: str | None = None, *, folder: str | Path, top: int = 20, **scope: Unpack[Dates]
    ) -> pd.DataFrame:
        """Write the top kernels of a board as files, with a CSV of facts and the citation; returns the facts.

        Example: kb.dump("nvfp4_gemm", "NVIDIA", top=20, folder="study")
        """
        competition, name = self.find(problem)
        board = self.leaderboard(name, runner=runner, competition=competition, **scope)
        first = board.groupby("runner", sort=False).head(top)
        return write_study_set(self.source_text, first, competition, name, self.source, Path(folder))

    def content(self, competition: str) -> ContentState:
        """State of the content store of a competition: built, building, fetching, absent, or off.

        Example: kb.content("nvfp4").state
        """
        return self._content.state(competition)

    def build_content(self, competition: str) -> None:
        """Start to build a content store in a process that ends with this one; `content` reports the progress.

        Example: kb.build_content("nvfp4")
        """
        self._content.build(competition)

    def stop_content(self, competition: str) -> None:
        """Stop a build, whoever started it; what is done is kept. Example: kb.stop_content("nvfp4")"""
        self._content.ask_to_stop(competition)

    def prepare_content(self) -> None:
        """Build the content stores of the sample, which takes seconds. Example: kb.prepare_content()"""
        self._content.prepare()

    def open_content(self) -> None:
        """Open the content stores at hand in the background, before anybody asks. Example: kb.open_content()"""
        self._content.open_ahead()

    @answers(texts.SEARCH)
    def search(self, pattern: str, **options: Unpack[SearchOptions]) -> pd.DataFrame:
        parsed = pattern_of(pattern, options)
        return self._content.search(parsed, self._where(options.get("problem"), options), options)

    def holding(self, pattern: str, *, line: bool = False, **options: Unpack[SearchOptions]) -> Holding:
        """The submissions that hold a pattern: the fastest, week by week, and users' bests with and without it.

        `line`: the pattern is a whole line, as a search gives it.

        Example: kb.holding("tcgen05.mma", problem="nvfp4_gemm")
        """
        parsed = whole_line(pattern) if line else pattern_of(pattern, options)
        return self._content.holding(parsed, line, self._where(options.get("problem"), options), options)

    def content_at_hand(self) -> tuple[str, ...]:
        """Competitions whose content store is ready. Example: kb.content_at_hand()"""
        return self._content.at_hand()

    @property
    def may_build_content(self) -> bool:
        """Whether content stores may be built here."""
        return self._settings.content_build

    @answers(texts.ORIGINS)
    def origins(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> pd.DataFrame:
        return self._content.origins(self.submission(submission_id, runner, competition))

    @answers(texts.RELATIVES)
    def relatives(
        self, submission_id: int, runner: str | None = None, competition: str | None = None, *, least: float = 0.5
    ) -> pd.DataFrame:
        return self._content.relatives(self.submission(submission_id, runner, competition), least)

    @answers(texts.STEPS)
    def steps(
        self, problem: str | None = None, runner: str | None = None, **options: Unpack[StepOptions]
    ) -> pd.DataFrame:
        return self._content.steps(self._where(problem, options), runner, options)

    @answers(texts.FACETS)
    def facets(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> tuple[str, ...]:
        return self._insight.facets(self.submission(submission_id, runner, competition))

    @answers(texts.TECHNIQUES)
    def techniques(self, problem: str, runner: str | None = None, **options: Unpack[TechniqueOptions]) -> pd.DataFrame:
        return self._insight.techniques(self._where(problem, options), runner, options)

    def adoption(self, problem: str, runner: str | None = None, **options: Unpack[TechniqueOptions]) -> pd.DataFrame:
        """When each user first used each technique on a board: facet, user_id, first_at, submission_id; by time.

        Example: kb.adoption("nvfp4_gemm")
        """
        return self._insight.adoption(self._where(problem, options), runner, options)

    def facets_of_many(
        self, competition: str, submissions: Sequence[tuple[int, str | None]]
    ) -> list[tuple[str, ...] | None]:
        """The techniques of many submissions of a competition, each an id and a runner.

        Example: kb.facets_of_many("nvfp4", [(187476, "NVIDIA")])
        """
        return self._insight.facets_of_many(competition, submissions)

    def verdicts(self, competition: str) -> pd.DataFrame:
        """KernelGuard's rules that match users' bests, as far as these were checked; a hint, not a judgement.

        Example: kb.verdicts("nvfp4")
        """
        return self._insight.verdicts(competition)

    def verdicts_known(self) -> int:
        """A value that changes whenever any process adds a verdict to a store that is ready.

        Example: kb.verdicts_known()
        """
        return self._insight.verdicts_known()

    @answers(texts.VERDICT)
    def verdict(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> Verdict:
        return self._insight.verdict(self.submission(submission_id, runner, competition))

    @answers(texts.NOISE)
    def noise(self, problem: str, runner: str | None = None, competition: str | None = None) -> Noise:
        slug, name = self.find(problem, competition)
        answer = self.board_noise(name, runner, slug)
        return {**answer, "shapes": self.frame("noise_shapes", competition=slug, problem=name, runner=runner)}

    def board_noise(self, problem: str, runner: str | None = None, competition: str | None = None) -> BoardNoise:
        """Noise of a board as `noise` gives it, without the shapes: these need many more columns of the file.

        Example: kb.board_noise("amd-fp8-mm")
        """
        slug, name = self.find(problem, competition)
        has_runs = any(each.slug == slug and each.has_runs for each in self.competitions)
        runs = self.frame("noise_runs", competition=slug, problem=name, runner=runner) if has_runs else None
        return self._insight.noise(name, runner, slug, runs)

    def ask(self, name: str, **values: object) -> pd.DataFrame:
        """The answer to the question of that name as a frame, whatever its method returns.

        Example: kb.ask("standing", problem="nvfp4_gemm", score=3e-05)
        """
        return as_frame(getattr(self, known(name).name)(**values))

    def _where(self, problem: str | None, options: SearchOptions | StepOptions | TechniqueOptions) -> Where:
        """What a question about source texts is about, resolved in this order: the problem, the stores, the user."""
        competition, name, user = options.get("competition"), None, options.get("user")
        if problem is not None:
            competition, name = self.find(problem, competition)
        slugs = self._content.at_hand_of(self.readable()) if competition is None else (competition,)
        for slug in slugs:
            self._content.fetched(slug)
        users = None if user is None else self.user_ids([user], slugs)
        return Where(slugs, name, users, frozenset(self.linkable()))

    def _rows_holding(self, competition: str, facets: Sequence[str]) -> bytes | None:
        return self._insight.rows_holding(competition, facets) if facets else None

    def bytes_moved(self) -> int:
        """Bytes transferred over the network since this source was opened. Example: kb.bytes_moved()"""
        return self.source.bytes.bytes_moved()

    def newer(self) -> str | None:
        """A commit published since this source was opened; the Hub is asked at most every 15 minutes.

        Example: kb.newer()
        """
        if time.monotonic() - self._asked_at >= self._settings.newer_every_seconds:
            self._asked_at = time.monotonic()
            self._newer = newer_commit(self.source, self._settings)
        return self._newer

    def close(self) -> None:
        """Stop background work and free the connections. Example: kb.close()"""
        self._texts.close()
        self._insight.close()
        self._database.close()
        self.source.close()


def connect(source: str | Path | None = None, settings: Settings | None = None) -> KernelBot:
    """Open a source: the public dataset, `org/name[@revision]`, a folder, or `sample`.

    Example: kb = kbdash.connect("sample")
    """
    base = settings or Settings.from_env()
    chosen = base if source is None else base.with_source(str(source))
    connection = WORKERS.submit(prepared_connection)  # meanwhile: it takes about as long as the Hub's first response
    with ExitStack() as unless_opened:
        # A thread that is still in DuckDB when the process ends would abort it.
        unless_opened.callback(lambda: connection.result().close())
        opened = open_source(chosen)
        unless_opened.callback(opened.close)
        engine = KernelBot(opened, chosen, connection)
        unless_opened.pop_all()
    return engine
