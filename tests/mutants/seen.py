"""Which functions each test calls and what it costs, found out in one run without any change and kept."""

import hashlib
import os
import pickle
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import pytest
from _pytest.fixtures import FixtureDef
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[2]
SOURCE = f"{ROOT}/kbdash/"
MOST_SECONDS = 30.0  # of the tests that one change is shown to; the quickest come first
Code = tuple[str, str]


@dataclass(frozen=True)
class Seen:
    """What a test, or a fixture that many share, takes and which functions it calls; None: it fails."""

    seconds: float
    called: frozenset[Code] | None

    def __add__(self, other: "Seen") -> "Seen":
        called = None if self.called is None or other.called is None else self.called | other.called
        return Seen(self.seconds + other.seconds, called)


Book = dict[str, Seen]


def mark(nodeid: str) -> str:
    """A test as it is written now: after an edit of its file it is looked at again."""
    file = nodeid.partition("::")[0]
    return f"{nodeid} {_digest(ROOT / file)}"


@cache
def _digest(file: Path) -> str:
    return hashlib.md5(file.read_bytes()).hexdigest()


def name(code: CodeType) -> Code:
    """A function, wherever in its file it stands, and in whichever copy of the tree."""
    return code.co_filename.removeprefix(f"{ROOT}/"), code.co_qualname


def telling(book: Book, nodeids: Iterable[str], of: Path | Code) -> list[str]:
    """The tests that call this function: the quickest first, until they take too long.

    Of a whole file, whose classes and constants can be used without a call: all tests beside those that call it.
    """
    known = {nodeid: seen for nodeid in nodeids if (seen := book.get(mark(nodeid)))}
    calling = [nodeid for nodeid, seen in known.items() if any(_is_of(code, of) for code in seen.called or ())]
    if isinstance(of, Path):
        files = {nodeid.partition("::")[0] for nodeid in calling}
        calling = [
            nodeid for nodeid, seen in known.items() if seen.called is not None and nodeid.partition("::")[0] in files
        ]
    chosen: list[str] = []
    seconds = 0.0
    for nodeid in sorted(calling, key=lambda nodeid: known[nodeid].seconds):
        seconds += known[nodeid].seconds
        if chosen and seconds > MOST_SECONDS:
            break
        chosen.append(nodeid)
    return chosen


def _is_of(code: Code, of: Path | Code) -> bool:
    return code == of if isinstance(of, tuple) else code[0] == str(of.relative_to(ROOT))


def read(path: Path) -> Book:
    """What was noted so far; an entry that was cut off when a run was stopped is dropped."""
    book: Book = {}
    path.touch()
    with path.open("r+b") as entries:
        whole = 0
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                book.update([pickle.load(entries)])
                whole = entries.tell()
        entries.truncate(whole)
    return book


class Watch:
    """A plugin that notes the calls; those of a fixture that many tests share belong to each of them."""

    def __init__(self) -> None:
        self._called: set[Code] = set()
        self._fixtures: dict[tuple[str, str], Seen] = {}

    def run(self, items: Sequence[pytest.Item], path: Path) -> None:
        """Run these tests, each noted as soon as it has ended."""
        with path.open("ab") as entries, self._noting():
            for item, following in zip(items, [*items[1:], None], strict=True):
                self._called, start, before = set(), _seconds(), sum(one.seconds for one in self._fixtures.values())
                reports = runtestprotocol(item, log=False, nextitem=following)
                shared = sum(one.seconds for one in self._fixtures.values()) - before
                is_well = all(report.passed for report in reports)
                own = Seen(_seconds() - start - shared, frozenset(self._called) if is_well else None)
                pickle.dump((mark(item.nodeid), sum(self._shared(item), own)), entries)
                entries.flush()

    def _shared(self, item: pytest.Item) -> list[Seen]:
        found: dict[str, Sequence[FixtureDef[object]]] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
        keys = {(one.baseid, one.argname) for definitions in found.values() for one in definitions}
        return [self._fixtures[key] for key in keys if key in self._fixtures]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: FixtureDef[object]) -> Iterator[None]:
        """Note the calls of a fixture that lives longer than a test."""
        if fixturedef.scope == "function":
            return (yield)
        outer, self._called, start = self._called, set(), _seconds()
        try:
            return (yield)
        finally:
            key = (fixturedef.baseid, fixturedef.argname)
            self._fixtures[key] = Seen(max(_seconds() - start, 0.0), frozenset(self._called))
            self._called = outer

    @contextmanager
    def _noting(self) -> Iterator[None]:
        def note(frame: FrameType, _event: str, _argument: object) -> None:
            if frame.f_code.co_filename.startswith(SOURCE):
                self._called.add(name(frame.f_code))

        threading.settrace(note)
        sys.settrace(note)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)


def _seconds() -> float:
    """Processor time, own and of processes that have ended; the clock would count what else the machine does."""
    return sum(os.times()[:4])
