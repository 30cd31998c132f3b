"""Changed SQL, tried out in one process: the tests stay collected and engines stay open from one change to the next.

An engine reads the SQL of a question when it is asked, so a change needs no new engine. The views and the ranking rule
are read when an engine is opened: a change of those closes all of them first.
"""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.changes import Change
from tests.mutants.child import Tell, told_by
from tests.mutants.kept import Mutants

SECONDS = 30  # of the processor, for one test of one change: a busy machine is no failure
REMEMBERED = {"problem_names.sql"}  # an engine keeps the answer, so that a change of it needs a new engine


class Trials:
    """A plugin that runs the collected tests once as they are, and then those that concern each change."""

    def __init__(self, mutants: Mutants, tell: Tell) -> None:
        self._mutants = mutants
        self._tell = tell
        self._changed: tuple[Path, str] | None = None
        self._reading: set[str] = set()
        self._while_opening: set[str] = set()
        self._is_called = False
        self._is_spoilt = False
        self._readers: dict[str, list[pytest.Item]] = {}
        self._seconds: dict[pytest.Item, float] = {}
        self._noticed: Counter[pytest.Item] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running every test once."""
        self._watch()
        self._time(session.items)
        for file, mutants in groupby(self._mutants, key=itemgetter(0)):
            is_fresh = file.name in self._while_opening | REMEMBERED
            tests = sorted(
                session.items if is_fresh else self._readers.get(file.name, []), key=self._seconds.__getitem__
            )
            for _, change in mutants:
                self._changed = (file, change.text)
                self._tell(file, change, self._is_noticed(self._likeliest_first(tests), is_fresh=is_fresh))
                self._changed = None
                if self._is_spoilt:
                    session._setupstate.teardown_exact(None)
                    self._is_spoilt = False
            assert not any(self._fails(item) for item in tests[:1]), f"{tests[0].nodeid} fails after the changes"
        session._setupstate.teardown_exact(None)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """What is read here is read for this test, and not for the fixtures that many share."""
        self._is_called = True
        try:
            return (yield)
        finally:
            self._is_called = False

    def _watch(self) -> None:
        """Give the changed text to whoever reads the file, and note who reads which.

        An engine that leaves out a competition after an error would fail the tests of the changes that follow, too.
        """
        read = Path.read_text

        def read_text(path: Path, *args: Any, **kwargs: Any) -> str:
            (self._reading if self._is_called else self._while_opening).add(path.name)
            return self._changed[1] if self._changed and path == self._changed[0] else read(path, *args, **kwargs)

        Path.read_text = read_text  # type: ignore[method-assign]
        attachments = sys.modules["kbdash.database.attaching"].Attachments
        mark_unavailable = attachments.mark_unavailable

        def spoil(*args: Any) -> None:
            self._is_spoilt = True
            mark_unavailable(*args)

        attachments.mark_unavailable = spoil

    def _time(self, items: Sequence[pytest.Item]) -> None:
        """How long each test takes and which files it reads; all of them pass as long as nothing is changed."""
        for item in items:
            self._reading, start = set(), time.process_time()
            assert not self._fails(item), f"{item.nodeid} fails without any change"
            self._seconds[item] = time.process_time() - start
            for name in self._reading:
                self._readers.setdefault(name, []).append(item)

    def _likeliest_first(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """The test that noticed most changes for its time comes first, then the quickest."""
        return sorted(items, key=lambda item: -self._noticed[item] / (self._seconds[item] + 0.01))

    def _is_noticed(self, items: Sequence[pytest.Item], *, is_fresh: bool) -> bool:
        if is_fresh and items:
            items[0].session._setupstate.teardown_exact(None)
        try:
            for item in items:
                if self._fails(item):
                    self._noticed[item] += 1
                    return True
            return False
        finally:
            if is_fresh and items:
                items[0].session._setupstate.teardown_exact(None)

    def _fails(self, item: pytest.Item) -> bool:
        sys.modules["kbdash.database.competition_views"].sql_text.cache_clear()
        sys.modules["kbdash.database.competition_views"].parameters_of.cache_clear()
        assert item.parent is not None
        item.session._setupstate.teardown_exact(item.parent)  # type: ignore[arg-type]
        item._initrequest()  # type: ignore[attr-defined]
        with _bounded(SECONDS):
            reports = runtestprotocol(item, log=False, nextitem=item.parent)  # type: ignore[arg-type]
        return any(report.failed for report in reports)


@contextmanager
def _bounded(seconds: int) -> Iterator[None]:
    """A test that takes longer fails."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def try_sql(mutants: Mutants, tests: Sequence[str]) -> Iterator[tuple[Path, Change, bool]]:
    """Every one of these changes with whether a test noticed it; tried in a process of its own."""
    for file, change, noticed in told_by(tests, lambda tell: Trials(mutants, tell)):
        yield file, change, bool(noticed)
