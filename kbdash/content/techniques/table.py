"""Techniques of all texts of a store: the table `facets`, made from the store's own lines.

A line that needs the lexer is read once per state that it occurs in; whole runs of lines are memoised too. Most texts
are edits of the text before them: the runs that both begin and end with are not read again.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.content.store.decoded import as_text
from kbdash.content.store.layout import table_path
from kbdash.content.store.runs import RunReader
from kbdash.content.techniques.lexer import START, State, read_line
from kbdash.content.techniques.quick import QuickLines
from kbdash.content.techniques.rules import rules

TABLE = "facets"
SCHEMA = pa.schema([("text_id", pa.int32()), ("facet", pa.string())])
VERSION_KEY = b"techniques"
_LENGTH_BITS = 31
_RUN_BITS = 2 * _LENGTH_BITS
_LENGTH_MASK = (1 << _LENGTH_BITS) - 1
_LOOK_EVERY = 256
_MOST_RUNS = 1 << 18
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Reading:
    """A text that was read: its runs, the state before each and after the last, and the patterns of each."""

    runs: Longs
    before: list[int]
    found: list[int]
    after: int


class TextReader:
    """Patterns in texts that are runs over a dictionary of lines."""

    def __init__(self, lines: pa.Array) -> None:
        self._lines = lines
        self._rules = rules()
        self._quick = QuickLines(lines, self._rules)
        self._states: list[State] = [START]
        self._numbers: dict[State, int] = {START: 0}
        self._answers: dict[tuple[int, int], tuple[int, int]] = {}
        self._lines_read: dict[int, tuple[int, int]] = {}
        self._runs_read: dict[int, tuple[int, int]] = {}
        self._last = _Reading(np.empty(0, np.int64), [], [], 0)

    def patterns(self, first: Ints, length: Ints) -> int:
        """Patterns of a text, given as runs of consecutive line numbers."""
        runs = first.astype(np.int64) << _LENGTH_BITS | length
        last = self._last
        head, tail = _in_common(runs, last.runs)
        before, found = last.before[:head], last.found[:head]
        state = last.before[head] if head < len(last.before) else last.after
        at, shift = head, len(last.runs) - len(runs)
        # Behind the change the states are soon as they were, and then nothing more is new.
        while at < len(runs) and (at < len(runs) - tail or state != last.before[at + shift]):
            more, after = self._run(int(runs[at]), state)
            before.append(state)
            found.append(more)
            state, at = after, at + 1
        if at < len(runs):
            before += last.before[at + shift :]
            found += last.found[at + shift :]
            state = last.after
        self._last = _Reading(runs, before, found, state)
        return reduce(or_, found, 0)

    def _run(self, run: int, state: int) -> tuple[int, int]:
        key = state << _RUN_BITS | run
        known = self._runs_read.get(key)
        if known is None:
            line, found, after = run >> _LENGTH_BITS, 0, state
            end = line + (run & _LENGTH_MASK)
            while line < end:
                line, more = self._quick.skip(line, end, self._states[after])
                found |= more
                if line < end:
                    more, after = self._line(line, after)
                    found |= more
                    line += 1
            if len(self._runs_read) >= _MOST_RUNS:
                self._runs_read.clear()
            known = self._runs_read[key] = self._kept(found, after)
        return known

    def _line(self, line: int, state: int) -> tuple[int, int]:
        before = self._states[state]
        quick = self._quick.read(line, before)
        if quick is not None:
            found, after = quick
            return found, state if after is before else self._number(after)
        key = state << _RUN_BITS | line
        known = self._lines_read.get(key)
        if known is None:
            zones, after = read_line(as_text(self._lines[line].as_py()), before)
            known = self._lines_read[key] = self._kept(self._rules.patterns(zones), self._number(after))
        return known

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number

    def _kept(self, found: int, state: int) -> tuple[int, int]:
        """The answer as one object: millions of lines share a few thousand."""
        return self._answers.setdefault((found, state), (found, state))


def _in_common(one: Longs, other: Longs) -> tuple[int, int]:
    """How many runs two texts have in common at their beginning, and at their end apart from those."""
    size = min(len(one), len(other))
    head = _equal(one[:size], other[:size])
    size -= head
    return head, _equal(one[len(one) - size :][::-1], other[len(other) - size :][::-1])


def _equal(one: Longs, other: Longs) -> int:
    """How many values are equal from the first on."""
    differ = one != other
    at = int(differ.argmax()) if len(differ) else 0
    return at if len(differ) and differ[at] else len(differ)


def facets_table(lines: pa.Array, runs: RunReader, check: Callable[[], None] = lambda: None) -> pa.Table:
    """The table `facets` of texts, by the current rules. `check` may raise to stop."""
    reader, known = TextReader(lines), rules()
    names: dict[int, tuple[str, ...]] = {}
    ids: list[int] = []
    held: list[str] = []
    for text in range(len(runs)):
        if text % _LOOK_EVERY == 0:
            check()
        found = reader.patterns(*runs.of(text))
        if found not in names:
            names[found] = known.names(found)
        held += names[found]
        ids += [text] * len(names[found])
    table = pa.table([pa.array(ids, pa.int32()), pa.array(held, pa.string())], schema=SCHEMA)
    return table.replace_schema_metadata({VERSION_KEY: known.version.encode()})


def write_facets(folder: Path, table: pa.Table) -> None:
    """Write the table into the folder of a store, atomically."""
    draft = table_path(folder, TABLE).with_suffix(f".{os.getpid()}.part")
    pq.write_table(table, draft, compression="zstd")
    draft.replace(table_path(folder, TABLE))


def current_facets(folder: Path) -> pa.Table:
    """The table as it is written today: read, or rebuilt from the lines if rules or columns have changed."""
    with suppress(OSError, pa.ArrowException):  # there is none, or it is damaged
        table = pq.read_table(table_path(folder, TABLE))
        by_rules = (table.schema.metadata or {}).get(VERSION_KEY) == rules().version.encode()
        if by_rules and table.schema.equals(SCHEMA):
            return table
    lines = pq.read_table(table_path(folder, "lines"), columns=["line"]).column(0).combine_chunks()
    texts = pq.read_table(table_path(folder, "texts"), columns=["first", "count"])
    first, count = (texts.column(name).to_numpy() for name in ("first", "count"))
    table = facets_table(lines, RunReader(folder, first, count))
    with suppress(OSError):  # a read-only store
        write_facets(folder, table)
    return table
