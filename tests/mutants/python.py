"""Changed functions and constants, tried out: the tests stay collected, and a forked process runs the telling ones.

What cannot be changed in a loaded module (a class, a default) and what nobody noticed (it may have been used already
when modules were imported) is tried in a process that imports everything anew.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants import seen
from tests.mutants.changes import Change
from tests.mutants.child import Tell, told_by
from tests.mutants.functions import Rebound, Swap, rebound_of, swap_of
from tests.mutants.kept import Mutants
from tests.mutants.runs import fails, is_noticed


class Trials:
    """A plugin that runs the collected tests once as they are, and then those that concern each change."""

    def __init__(self, mutants: Mutants, notes: Path, tell: Tell) -> None:
        self._mutants = mutants
        self._notes = notes
        self._tell = tell

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running every test once."""
        assert threading.active_count() == 1, "a forked process has no thread but its own"
        items = {item.nodeid: item for item in session.items}
        known = seen.read(self._notes)
        new = [item for nodeid, item in items.items() if seen.mark(nodeid) not in known]
        fails(partial(_watch, session, new, self._notes))
        book = seen.read(self._notes)
        for file, change in self._mutants:
            swap = swap_of(file, change.text)
            tests = seen.telling(book, items, seen.name(swap.loaded) if swap else file)
            change_it = swap or rebound_of(file, change.text)
            if change_it is None or not tests:
                self._tell(file, change, None)
                continue
            costs = [book[seen.mark(nodeid)].seconds for nodeid in tests]
            run = partial(_is_noticed, [items[nodeid] for nodeid in tests], costs, change_it)
            self._tell(file, change, fails(run, usual_seconds=sum(costs)))
        return True


def _watch(session: pytest.Session, items: Sequence[pytest.Item], notes: Path) -> bool:
    watch = seen.Watch()
    session.config.pluginmanager.register(watch)
    watch.run(items, notes)
    return False


def _is_noticed(tests: Sequence[pytest.Item], costs: Sequence[float], change: Swap | Rebound) -> bool:
    """Whether one of these tests fails after the change."""
    change.make()
    for test, cost, following in zip(tests, costs, [*tests[1:], None], strict=True):
        signal.alarm(60 + round(30 * cost))  # whoever waits for ever is ended, and with it this process
        if any(report.failed for report in runtestprotocol(test, log=False, nextitem=following)):
            return True
    return False


def try_python(
    mutants: Mutants, tests: Sequence[str], notes: Path, *, is_first_look: bool = False
) -> Iterator[tuple[Path, Change, bool]]:
    """Every one of these changes with whether a test noticed it; a first look imports anew only what it has to."""
    plugin: Callable[[Tell], Trials] = partial(Trials, mutants, notes)
    for file, change, noticed in told_by(tests, plugin):
        if noticed is None or not (noticed or is_first_look):
            book = seen.read(notes)
            nodeids = [entry.rpartition(" ")[0] for entry in book]
            noticed = is_noticed(file, change.text, seen.telling(book, nodeids, file))  # noqa: PLW2901
        yield file, change, bool(noticed)
