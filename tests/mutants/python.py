"""Changed functions, tried out: the tests stay collected, and a forked process runs those that call the function.

Which tests those are is seen in one run without any change. What cannot be changed in a loaded module (a constant, a
class) or nobody noticed (it may run when a module is imported) is tried in a process that imports everything anew.
"""

import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.changes import Change
from tests.mutants.child import Tell, told_by
from tests.mutants.functions import Swap, swap_of
from tests.mutants.runs import fails, is_noticed

Mutants = Sequence[tuple[Path, Change]]
Code = tuple[str, str, int]


@dataclass
class Seen:
    """How long a test takes and which functions it calls."""

    seconds: float
    called: set[Code]


class Trials:
    """A plugin that runs the collected tests once as they are, and then those that concern each change."""

    def __init__(self, mutants: Mutants, tell: Tell) -> None:
        self._mutants = mutants
        self._tell = tell
        self._files = {str(file) for file, _ in mutants}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running every test once."""
        assert threading.active_count() == 1, "a forked process has no thread but its own"
        seen = self._seen(session.items)
        quickest = sorted(range(len(seen)), key=lambda number: seen[number].seconds)
        for file, change in self._mutants:
            swap = swap_of(file, change.text)
            callers = [n for n in quickest if swap and _name(swap.loaded) in seen[n].called]
            if swap and callers:
                run = partial(_is_noticed, [session.items[n] for n in callers], swap)
                noticed = fails(run, usual_seconds=sum(seen[n].seconds for n in callers))
                self._tell(file, change, noticed or None)
            else:
                self._tell(file, change, None)
        return True

    def _seen(self, items: Sequence[pytest.Item]) -> list[Seen]:
        """What every test does as long as nothing is changed, found out in a process that ends with its threads."""
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder) / "seen"
            assert not fails(partial(self._watch, items, answer)), "a test fails without any change"
            seen: list[Seen] = pickle.loads(answer.read_bytes())
            return seen

    def _watch(self, items: Sequence[pytest.Item], answer: Path) -> bool:
        seen = []
        for number in range(len(items)):
            called: set[Code] = set()
            start = time.process_time()
            with _calls_noted(self._files, called):
                if _fails(items, number):
                    return True
            seen.append(Seen(time.process_time() - start, called))
        answer.write_bytes(pickle.dumps(seen))
        return False


@contextmanager
def _calls_noted(files: set[str], called: set[Code]) -> Iterator[None]:
    """Note which functions of these files are called."""

    def note(frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_code.co_filename in files:
            called.add(_name(frame.f_code))

    threading.settrace(note)
    sys.settrace(note)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)


def _name(code: CodeType) -> Code:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _is_noticed(tests: Sequence[pytest.Item], swap: Swap) -> bool:
    """Whether one of these tests fails with the changed function."""
    swap.make()
    return any(_fails(tests, number) for number in range(len(tests)))


def _fails(items: Sequence[pytest.Item], number: int) -> bool:
    following = items[number + 1] if number + 1 < len(items) else None
    return any(report.failed for report in runtestprotocol(items[number], log=False, nextitem=following))


def try_python(mutants: Mutants, tests: Sequence[str]) -> Iterator[tuple[Path, Change, bool]]:
    """Every one of these changes with whether a test noticed it."""
    for file, change, noticed in told_by(tests, lambda tell: Trials(mutants, tell)):
        yield file, change, is_noticed(file, change.text, tests) if noticed is None else noticed
