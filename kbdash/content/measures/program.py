"""Texts that are the same program: equal except for comments, blank lines and trailing space.

Comments are recognised line by line: a line that is only a comment (`#` unless it is a directive of the C
preprocessor, `//` with words, `/* … */`) is dropped, and so is a comment after code on a line without quotes. Comments
that span lines and docstrings stay: the rule may split one program in two, but never merges two.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.content.store.decoded import without_end
from kbdash.content.store.runs import Runs
from kbdash.content.store.spans import before

BLANK = -1
_FACTOR = np.uint64(0xD1342543DE82EF95)
_INVERSE = np.uint64(pow(0xD1342543DE82EF95, -1, 1 << 64))
_DIRECTIVE = r"^[\t\v\f\r ]*#[\t ]*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error|line|warning)\b"
# `//` is a division in Python, also at the start of a continued line; but two adjacent words are not arithmetic.
_WORDS = r"//.*[A-Za-z]{2,}[ ,.:]+[A-Za-z]{2,}.*"
_WHOLE = rf"^[\t\v\f\r ]*(?:#.*|{_WORDS}|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/[\t\v\f\r ]*)?$"
_BEHIND = r"^([^#\"'/]*[^#\"'/\t\v\f\r ])[\t\v\f\r ]+#[^\"']*$"
_BEHIND_C = r"^([^#\"'/]*[;{},])[\t\v\f\r ]*//[^\"']*$"


def program_lines(lines: pa.Array) -> npt.NDArray[np.int32]:
    """Per line a number, equal for lines that do the same; BLANK for lines that do nothing."""
    # Most lines contain no comment sign, and regular expressions are slow.
    remarked = pc.match_substring_regex(lines, "[#/]").to_numpy(zero_copy_only=False).astype(bool)
    some = _without_comments(lines.take(pa.array(np.flatnonzero(remarked))))
    bare = pc.replace_with_mask(lines, pa.array(remarked), some)
    trimmed = without_end(bare, "\t\v\f\r ")
    answer: npt.NDArray[np.int32] = pc.dictionary_encode(trimmed).indices.to_numpy().copy()
    answer[pc.equal(pc.binary_length(trimmed), 0).to_numpy(zero_copy_only=False).astype(bool)] = BLANK
    return answer


def _without_comments(lines: pa.Array) -> pa.Array:
    """The lines without what is certainly a comment."""
    directive = pc.match_substring_regex(lines, _DIRECTIVE)
    bare = pc.replace_substring_regex(lines, _BEHIND, r"\1")
    bare = pc.replace_substring_regex(bare, _BEHIND_C, r"\1")
    bare = pc.if_else(pc.match_substring_regex(lines, _WHOLE), pa.scalar(b"", pa.large_binary()), bare)
    return pc.if_else(directive, lines, bare)


class Programs:
    """Numbers of texts, equal for texts whose lines do the same, in order.

    A hash of 64 bits: the sum of the scrambled numbers of the lines, each times an odd constant to the power of its
    place, from 1, among those that do something. The lines of a run are neighbours in `numbers` too, so that a run is
    the difference of two sums over all lines, times the power that moves it to its place in the text.
    """

    def __init__(self, numbers: npt.NDArray[np.int32]) -> None:
        does = numbers != BLANK
        self._before = before(does)
        doing = int(self._before[-1])
        back = _powers(_INVERSE, doing)
        with np.errstate(over="ignore"):
            terms = _scrambled(numbers[does].astype(np.uint64)) * _powers(_FACTOR, doing)[:-1]
            sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
        self._sums, self._back = sums[self._before], back[self._before]

    def of_texts(self, runs: Runs) -> npt.NDArray[np.int64]:
        """The number of each of these texts."""
        end = runs.line + runs.length
        count = self._before[end] - self._before[runs.line]
        place = np.cumsum(count) - count
        place -= np.repeat(place[runs.opens], np.diff(runs.opens, append=len(place)))
        with np.errstate(over="ignore"):
            moved = (self._sums[end] - self._sums[runs.line]) * self._back[runs.line]
            moved *= _powers(_FACTOR, int(place.max(initial=0)) + 1)[place + 1]
            return np.add.reduceat(moved, runs.opens, dtype=np.uint64).view(np.int64)


def _powers(factor: np.uint64, most: int) -> npt.NDArray[np.uint64]:
    """The powers of a factor up to this one, modulo 2**64."""
    with np.errstate(over="ignore"):
        return np.cumprod(np.concatenate((np.ones(1, np.uint64), np.full(most, factor))), dtype=np.uint64)


def _scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers spread over all 64 bits (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
