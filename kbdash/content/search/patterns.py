"""Parse a reader's search pattern, and check it before anything is scanned."""

import re
from dataclasses import dataclass
from re import _constants as sre_constants  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]

import re2

from kbdash.errors import QueryRefused

SHORTEST = 2
_TELLING = 4  # a shorter part is in too many lines
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class BadPattern(QueryRefused):
    """The pattern is invalid; `position` is that of the error, from 0, if known."""

    def __init__(self, what: str, *, advice: str, position: int | None = None) -> None:
        super().__init__(what, advice=advice)
        self.position = position


@dataclass(frozen=True)
class Pattern:
    """What to look for in a line: plain text, or else a regular expression of RE2.

    `part` is a text that every match of the expression contains, if one is known: finding it is faster.
    """

    text: str | None
    expression: str
    part: str | None = None


def parse_pattern(pattern: str, *, regex: bool = False, case: bool = True) -> Pattern:
    """The pattern, or BadPattern that says what is wrong with it."""
    if not pattern.strip():
        raise BadPattern("There is nothing to search for.", advice="Type a word, for example tcgen05.mma.")
    if "\n" in pattern or (regex and "n" in _ESCAPED.findall(pattern)):
        raise BadPattern(
            "A pattern is matched within one line.", advice="Search for one of its lines, and open a result."
        )
    if len(pattern) < SHORTEST:
        raise BadPattern(f"{pattern!r} stands in nearly every text.", advice="Type at least two characters.")
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        raise BadPattern("The pattern holds half a character.", advice="Type it again.", position=error.start) from None
    if not regex:
        return Pattern(pattern if case else None, ("" if case else "(?i)") + re2.escape(pattern))
    _check_expression(pattern)
    return Pattern(None, pattern, _part(pattern)) if case else Pattern(None, f"(?i){pattern}")


def _part(pattern: str) -> str | None:
    """The longest text that stands in the expression as it is, outside of groups, choices and repetitions."""
    try:
        parsed = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None  # what RE2 alone understands
    if parsed.state.flags & (re.IGNORECASE | re.VERBOSE):
        return None
    signs = [chr(value) if kind is sre_constants.LITERAL else "\n" for kind, value in parsed]
    longest = max("".join(signs).split("\n"), key=len)
    return longest if len(longest) >= _TELLING else None


def _check_expression(pattern: str) -> None:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it cannot be understood"
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        position = _position(pattern, reason)
        where = "" if position is None else f" at character {position + 1}"
        raise BadPattern(
            f"This is no regular expression{where}: {reason}.",
            advice="Mend it, or search for it as plain text. RE2 has no look-around and no back references.",
            position=position,
        ) from None
    if compiled.search(""):
        raise BadPattern("This expression matches a line without characters.", advice="Ask for at least one character.")


def _position(pattern: str, reason: str) -> int | None:
    """The position of the error in an expression: Python reports most of them, else RE2 quotes the bad part."""
    try:
        re.compile(pattern)
    except re.error as error:
        if error.pos is not None:
            return error.pos
    except (RecursionError, OverflowError):
        return None
    found = pattern.find(reason.partition(": ")[2])
    return found if ": " in reason and found >= 0 else None
