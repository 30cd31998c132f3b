"""Questions about techniques, verdicts and measurement noise."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
import pandas as pd

from kbdash.cache import SharedCache
from kbdash.content.findings import adoption, noise
from kbdash.content.questions import Library, OpenStore, SearchOptions, Where
from kbdash.content.store.decoded import as_text
from kbdash.content.store.layout import NO_TEXT
from kbdash.content.store.text_rows import Filters, Flags
from kbdash.content.verdicts.batch import kept_about_bests
from kbdash.content.verdicts.examiner import Examiner, Verdict
from kbdash.content.verdicts.kept import KeptVerdicts, verdict_bytes
from kbdash.content.verdicts.table import write_verdicts
from kbdash.database.questions.parameters import Day
from kbdash.dataset.model import Submission


class TechniqueOptions(TypedDict, total=False):
    """Which submissions of a board; as for a search."""

    user: str | None
    passed: bool | None
    since: Day
    until: Day
    facets: Sequence[str]
    competition: str | None


class Insight:
    """The questions, over the stores of a library. Thread-safe."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._verdicts: SharedCache[str, KeptVerdicts] = SharedCache(64, lambda _: 1)
        self._examiners: SharedCache[str, Examiner] = SharedCache(1, lambda _: 1)

    def facets(self, submission: Submission) -> tuple[str, ...]:
        """The techniques that the text of a submission uses."""
        opened, text = self._library.text_of(submission)
        return () if text == NO_TEXT else self._library.facets_of(opened.store).of(text)

    def techniques(self, where: Where, runner: str | None, options: TechniqueOptions) -> pd.DataFrame:
        """Who uses which technique on a board, since when, and how fast they are."""
        opened, mask = self._chosen(where, runner, options)
        return adoption.techniques(opened.held, self._library.facets_of(opened.store), mask)

    def _chosen(self, where: Where, runner: str | None, options: TechniqueOptions) -> tuple[OpenStore, Flags]:
        """The store of a board, and which of its rows a question is about."""
        [competition] = where.competitions
        opened = self._library.opened(competition)
        narrowed = SearchOptions(
            runner=runner,
            passed=options.get("passed"),
            since=options.get("since"),
            until=options.get("until"),
            facets=options.get("facets", ()),
        )
        return opened, opened.held.choose(self._library.filters(opened, where, narrowed)).mask

    def adoption(self, where: Where, runner: str | None, options: TechniqueOptions) -> pd.DataFrame:
        """When each user first used each technique on a board."""
        opened, mask = self._chosen(where, runner, options)
        return adoption.adoption(opened.held, self._library.facets_of(opened.store), mask)

    def facets_of_many(
        self, competition: str, submissions: Sequence[tuple[int, str | None]]
    ) -> list[tuple[str, ...] | None]:
        """The techniques of many submissions, each an id and a runner; None where one has no text."""
        opened = self._library.opened(competition)
        held, facets = opened.held, self._library.facets_of(opened.store)
        at = np.flatnonzero(np.isin(held.submission, [id_ for id_, _ in submissions]))
        runners = held.rows["runner"].iloc[at].astype(object)
        ids, texts = held.submission[at].tolist(), held.text[at].tolist()
        of_run = {(id_, run): text for id_, run, text in zip(ids, runners, texts, strict=True)}
        of_id = dict(zip(ids, texts, strict=True))
        found = [of_run.get(pair, of_id.get(pair[0])) for pair in submissions]
        return [None if text is None else facets.of(text) for text in found]

    def verdicts_known(self) -> int:
        """Bytes of all verdicts in the stores at hand: verdicts are only appended, so this works as a version."""
        stores = [self._library.store(slug) for slug in self._library.at_hand()]
        return sum(verdict_bytes(store.folder) for store in stores if store is not None)

    def verdicts(self, competition: str) -> pd.DataFrame:
        """KernelGuard's rules that match users' bests, one row per best and rule; only those checked so far.

        `attrs` has the number of bests (`bests`), how many of them KernelGuard has checked (`asked`), and how many of
        these took too long (`timed_out`).
        """
        opened = self._library.opened(competition)
        version = self._examiners.get("", Examiner).version
        return kept_about_bests(opened.store, opened.held.rows, KeptVerdicts(opened.store.folder), version)

    def rows_holding(self, competition: str, facets: Sequence[str]) -> bytes:
        """A bitmap of the rows of the competition's file, the first one first: whether the text uses the techniques.

        A technique with a `!` before it must not be used. A row without a text is never included.
        """
        store = self._library.opened(competition).store
        wanted = np.append(self._library.facets_of(store).wanted(facets), False)  # the last entry is for NO_TEXT
        return np.packbits(wanted[store.text_of_row]).tobytes()

    def noise(self, problem: str, runner: str | None, competition: str, runs: pd.DataFrame | None) -> noise.BoardNoise:
        """Measurement noise of a board; `runs` are its ranked runs where the file has several of a submission."""
        opened = self._library.opened(competition)
        held = opened.held
        ranked = held.rows["ranked"].fillna(False).to_numpy(bool)
        mask = held.choose(Filters(problem=problem, runner=runner)).mask & ranked
        program = opened.store.texts.column("program").to_numpy()[held.text]
        return noise.noise(held.rows.assign(program=program)[mask], runs)

    def verdict(self, submission: Submission) -> Verdict:
        """KernelGuard's rules that match the text of a submission; checked once per text, then kept in the store."""
        examiner = self._examiners.get("", Examiner)
        opened, text = self._library.text_of(submission)
        if text == NO_TEXT:
            return Verdict(status="no text", rules=[], version=examiner.version)
        store = opened.store
        kept = self._verdicts.get(str(store.folder), lambda: KeptVerdicts(store.folder))
        digest = store.texts.column("sha256")[text].as_py()
        verdict = kept.get(digest, examiner.version)
        if verdict is None:
            verdict = examiner.examine(as_text(store.text(text)))
            kept.keep(digest, verdict)
            write_verdicts(store)
        return verdict

    def close(self) -> None:
        """End the KernelGuard process, if there is one."""
        if "" in self._examiners:
            self._examiners.get("", Examiner).close()
