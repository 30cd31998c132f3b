"""Texts that are the same program: equal except for comments, blank lines and trailing space.

Comments are recognised line by line: a line that is only a comment (`#` unless it is a directive of the C
preprocessor, `//` with words, `/* … */`) is dropped, and so is a comment after code on a line without quotes. Comments
that span lines and docstrings stay: the rule may split one program in two, but never merges two.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.content.decoded import without_end

VERSION = "1"
BLANK = -1
_FACTOR = np.uint64(0xD1342543DE82EF95)
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


def programs(numbers: npt.NDArray[np.int32], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A number per text that two texts share when their lines do the same, in order.

    `numbers` are those of `program_lines` for the lines of all texts, concatenated; `ends` is where each ends.
    A hash of 64 bits: the sum of scrambled numbers times powers of an odd constant.
    """
    does = numbers != BLANK
    before = np.concatenate(([0], np.cumsum(does)))
    bounds = before[np.concatenate(([0], ends))]
    scrambled = _scrambled(numbers[does].astype(np.uint64))
    place = np.arange(len(scrambled)) - np.repeat(bounds[:-1], np.diff(bounds))
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(int(place.max(initial=0)) + 1, _FACTOR), dtype=np.uint64)
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(scrambled * powers[place], dtype=np.uint64)))
        return (sums[bounds[1:]] - sums[bounds[:-1]]).view(np.int64)


def _scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers spread over all 64 bits (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
