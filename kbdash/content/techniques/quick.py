"""A fast path for lines that need no lexer, from a few facts computed for all lines at once.

A line is quiet in a language if it begins and ends no string, no comment over several lines and no message. Then what
stands before a comment belongs to the zone of the state, and only brackets change the state. For such lines
`QuickLines.read` returns what `lexer.read_line` and the rules would, and None for all others.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.content.store.decoded import as_text
from kbdash.content.techniques.lexer import CPP, LONGEST_WORD, MOST_DEPTH, PYTHON, STARTS_DUTY, STATEMENT, State
from kbdash.content.techniques.rules import Rules, alternatives

_BATCH = 1 << 18  # an expression is compiled, and its automaton made, for every batch
_THREADS = 2
_SAMPLE = 2000
_MOST_COMMON = 8
_COMMON_SHARE = 0.01
_MANY = 1000  # lines; in fewer, finding out what is common takes longer than it saves
_FEW = 24  # lines, for which a loop is faster than an array
_STEP = np.zeros(256, np.int8)
_STEP[list(b"([{")], _STEP[list(b")]}")] = 1, -1
_IS_BRACKET = _STEP != 0
_COMMENT = {PYTHON: b"#", CPP: b"//"}
_LOUD = {PYTHON: r"[\"'\\]", CPP: r"[\"'\\]|/\*"}
_ENDS_A_STRING = r"\"\"\"|'''"
Flags = npt.NDArray[np.bool_]
Facts = dict[str, npt.NDArray[Any]]


class QuickLines:
    """Facts about every line of a store, one or two bytes each."""

    def __init__(self, lines: pa.Array, rules: Rules) -> None:
        self._zones = {zone: _Zone(lines, rules, zone) for zone in (PYTHON, CPP)}
        batches = [lines.slice(start, _BATCH) for start in range(0, max(1, len(lines)), _BATCH)]
        with ThreadPoolExecutor(_THREADS, "kbdash-quick") as pool:
            facts = list(pool.map(self._facts, batches))
        # Looking up a single value is faster in bytes and lists than in arrays.
        joined = {name: np.concatenate([each[name] for each in facts]) for name in facts[0]}
        for zone, known in self._zones.items():
            known.loud, known.code, known.more = (joined[f"{zone} {name}"].tobytes() for name in _Zone.FACTS)
            known.next = _next_of(joined[f"{zone} still"])
        self._talk_ends, self._remark, self._statement, self._ends = (
            joined[name].tobytes() for name in ("talk_ends", "remark", "statement", "ends")
        )
        self._net, self._floor = joined["net"], joined["floor"]

    def skip(self, line: int, end: int, state: State) -> tuple[int, int]:
        """The next line before `end` that must be read by itself, and the patterns of those before it, as bits.

        Lines that are passed over leave the state as it is.
        """
        zone = self._zones.get(state.mode)
        if zone is None or state.joined or state.comment or state.raw:
            return line, 0
        if state.duty and (state.mode == CPP or not state.depth):  # a semicolon or the end of the line ends it
            return line, 0
        stop = min(zone.next[line], end)
        return stop, zone.together(line, stop) if stop > line else 0

    def read(self, line: int, state: State) -> tuple[int, State] | None:
        """The patterns of the line as bits, and the next state."""
        match state.mode:
            case "py":
                return self._read_python(line, state)
            case "cpp":
                return self._read_cpp(line, state)
            case "doc" if not self._talk_ends[line]:
                return 0, _next(state, state.depth, state.duty)
        return None

    def _facts(self, lines: pa.Array) -> Facts:
        string = _holding(lines, _ENDS_A_STRING)
        long = _flags(pc.greater(pc.binary_length(lines), LONGEST_WORD))
        facts: Facts = {
            "talk_ends": string | long | _holding(lines, r"\*/"),
            "remark": _holding(lines, r"^\s*#") * np.uint8(1) + _holding(lines, r"^\s*//") * np.uint8(2),
            "statement": _holding(lines, rf"^(?:{STATEMENT})"),
        }
        facts["remark"][long] = 0
        facts["remark"] &= np.where(string, 1, 3).astype(np.uint8)
        for zone, known in self._zones.items():
            loud = _holding(lines, _LOUD[zone]) | long
            code = _without_comments(lines, zone, loud)
            facts |= known.facts(code, loud | _holding(code, STARTS_DUTY))
            still = ~(facts[f"{zone} loud"] | facts[f"{zone} more"])
            if zone == PYTHON:
                facts["net"], facts["floor"] = _brackets(code)
                still &= (facts["net"] == 0) & (facts["floor"] == 0) & ~facts["statement"]
            else:
                facts["ends"] = _holding(code, ";")
            facts[f"{zone} still"] = still
        return facts

    def _read_python(self, line: int, state: State) -> tuple[int, State] | None:
        zone, depth, duty = self._zones[PYTHON], state.depth, state.duty
        if self._remark[line] & 1 and not state.outer:
            return 0, _next(state, depth, duty if depth else "")
        if zone.loud[line]:
            return None
        if depth and self._statement[line]:  # a bracket is missing
            depth, duty = 0, ""
        # Closing brackets that were never opened count for nothing.
        depth = max(depth + int(self._net[line]), int(self._floor[line]))
        return zone.patterns(line), _next(state, min(depth, MOST_DEPTH), duty if depth else "")

    def _read_cpp(self, line: int, state: State) -> tuple[int, State] | None:
        zone = self._zones[CPP]
        if state.raw:
            return None
        if state.comment:
            return None if self._talk_ends[line] else (0, _next(state, state.depth, state.duty))
        if self._remark[line] & 2:
            return 0, _next(state, state.depth, state.duty)
        if zone.loud[line]:
            return None
        return zone.patterns(line), _next(state, state.depth, "" if self._ends[line] else state.duty)


class _Zone:
    """The patterns of a zone in quiet lines. Common ones are searched in all lines at once; for the others, one test
    tells whether a line has any, and only then each is tried."""

    FACTS = ("loud", "code", "more")

    def __init__(self, lines: pa.Array, rules: Rules, zone: str) -> None:
        self._lines, self._rules, self._zone = lines, rules, zone
        self.loud = self.code = self.more = b""
        self.next = memoryview(b"").cast("i")
        bits = dict(rules.expressions(zone))
        self._common = _common(lines, list(bits)) if len(lines) >= _MANY else []
        self._rare = alternatives([each for each in bits if each not in self._common])
        self._meaning = [
            _together(bits[each] for place, each in enumerate(self._common) if number >> place & 1)
            for number in range(1 << len(self._common))
        ]

    def facts(self, code: pa.Array, loud: Flags) -> Facts:
        """Which lines are loud, which common patterns each has, and whether it has any other."""
        common = np.zeros(len(code), np.uint8)
        for place, expression in enumerate(self._common):
            common |= _holding(code, expression).astype(np.uint8) << np.uint8(place)
        more = np.zeros(len(code), bool)
        for expression in self._rare:
            more |= _holding(code, expression)
        return {f"{self._zone} {name}": fact for name, fact in zip(self.FACTS, (loud, common, more), strict=True)}

    def patterns(self, line: int) -> int:
        """The patterns of a quiet line as bits."""
        if self.more[line]:
            code = self._lines[line].as_py().partition(_COMMENT[self._zone])[0]
            return self._rules.patterns({self._zone: as_text(code)})
        return self._meaning[self.code[line]]

    def together(self, first: int, last: int) -> int:
        """The patterns of the lines first to last (exclusive), none of which is loud or has a rare pattern."""
        if last - first < _FEW:
            return self._meaning[reduce(or_, self.code[first:last])]
        return self._meaning[int(np.bitwise_or.reduce(np.frombuffer(self.code, np.uint8)[first:last]))]


def _common(lines: pa.Array, expressions: list[str]) -> list[str]:
    """The few expressions that match most often, judged by a sample of the lines."""
    sample = lines.take(pa.array(np.linspace(0, len(lines) - 1, min(len(lines), _SAMPLE)).astype(np.int64)))
    shares = {each: float(_holding(sample, each).mean()) for each in expressions}
    often = sorted(expressions, key=shares.__getitem__)[-_MOST_COMMON:]
    return [each for each in often if shares[each] > _COMMON_SHARE]


def _without_comments(lines: pa.Array, zone: str, loud: Flags) -> pa.Array:
    """The lines up to a comment; loud ones may stay as they are."""
    holds = _holding(lines, _COMMENT[zone].decode()) & ~loud
    if not holds.any():
        return lines
    cut = pc.replace_substring_regex(lines.filter(pa.array(holds)), rf"(?s){_COMMENT[zone].decode()}.*", "")
    return pc.replace_with_mask(lines, pa.array(holds), cut)


def _together(bits: Iterable[int]) -> int:
    """All bits combined."""
    return reduce(or_, bits, 0)


def _next(state: State, depth: int, duty: str) -> State:
    if depth == state.depth and duty == state.duty and not state.joined:
        return state
    return state._replace(depth=depth, duty=duty, joined=False)


def _holding(lines: pa.Array, expression: str) -> Flags:
    """Which lines match the RE2 expression."""
    return _flags(pc.match_substring_regex(lines, expression))


def _flags(answer: pa.Array) -> Flags:
    flags: Flags = answer.to_numpy(zero_copy_only=False).astype(bool)
    return flags


def _next_of(still: Flags) -> memoryview:
    """Per line the next one, itself included, that is not still; the number of lines if there is none."""
    at = np.where(still, len(still), np.arange(len(still)))
    return memoryview(np.minimum.accumulate(at[::-1])[::-1].astype(np.int32).tobytes()).cast("i")


def _brackets(lines: pa.Array) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Per line the net bracket depth, and the depth behind it of a line that begins with none open."""
    net, floor = np.zeros(len(lines), np.int16), np.zeros(len(lines), np.int16)
    _, offsets, data = lines.buffers()
    if not len(lines) or data is None:
        return net, floor
    bounds = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
    body = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
    place = np.flatnonzero(_IS_BRACKET[body])
    first = np.searchsorted(place, bounds - bounds[0])
    some = np.flatnonzero(np.diff(first))  # lines with brackets
    if not len(some):
        return net, floor
    sums = np.cumsum(_STEP[body[place]], dtype=np.int64)
    begins, ends = first[some], first[some + 1]
    before = np.concatenate(([0], sums))[begins]
    lowest = np.minimum(np.minimum.reduceat(sums, begins) - before, 0)
    net[some] = sums[ends - 1] - before
    floor[some] = net[some] - lowest
    return net, floor
