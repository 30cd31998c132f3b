"""How single values are read from a link, and written back. A reader returns None for what it does not understand."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kbdash.content.techniques import WITHOUT, facet_names
from kbdash.dataset.model import LARGEST_ID
from kbdash.units import SECONDS, parse_time

MAX_STATEMENT = 4000  # characters of SQL in a link: proxies reject or cut much longer addresses
TIME_UNITS = (("ns", -9), ("us", -6), ("ms", -3), ("s", 0))


def text_up_to(limit: int) -> Callable[[str], str | None]:
    """A reader of short text without control characters (a lone surrogate cannot be written back)."""

    def read(text: str) -> str | None:
        odd = len(text) > limit or any(unicodedata.category(c) in ("Cc", "Cs") for c in text)
        return None if odd else text

    return read


def statement(text: str) -> str | None:
    """SQL short enough for a link; it may have lines and tabs."""
    plain = text.replace("\r\n", "\n").strip()
    odd = any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in plain)
    return None if odd or len(plain) > MAX_STATEMENT else plain


def whole(low: int, high: int) -> Callable[[str], int | None]:
    """A reader of whole numbers, clamped to [low, high]."""

    def read(text: str) -> int | None:
        if not (text.isascii() and text.isdigit() and len(text) <= 19):
            return None
        return min(max(int(text), low), high)

    return read


def choice(*options: str) -> Callable[[str], str | None]:
    return lambda text: text if text in options else None


def column_order(*names: str) -> Callable[[str], str | None]:
    """A reader of the column to sort by; a minus means descending."""
    return choice(*names, *(f"-{name}" for name in names))


def switch(word: str) -> Callable[[str], bool | None]:
    """A reader of a switch that is on when the parameter says `word`."""
    return lambda text: True if text == word else None


def day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def read_time(text: str) -> float | None:
    """Seconds from a time such as `30us`, `30 µs`, `1.2 ms` or `3e-05` (bare numbers are seconds)."""
    seconds = parse_time(text, SECONDS)
    return seconds if seconds is not None and 1e-12 <= seconds <= 1e6 else None


def write_time(seconds: float) -> str:
    """The shortest of `30us`, `1.2ms` … that reads back as exactly these seconds."""
    digits = Decimal(repr(seconds)).normalize()
    return min((f"{digits.scaleb(-power):f}{suffix}" for suffix, power in TIME_UNITS), key=len)


def line_range(text: str) -> tuple[int, int] | None:
    """A line range `10-20` or a single line `10`, in order, counted from 1."""
    low, _, high = text.partition("-")
    number = whole(1, 10_000_000)
    first, last = number(low), number(high or low)
    return None if first is None or last is None else (min(first, last), max(first, last))


def write_lines(lines: tuple[int, int]) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def facet_words(facet: str) -> str:
    return f"without {facet.removeprefix(WITHOUT)}" if facet.startswith(WITHOUT) else f"with {facet}"


def facet(text: str) -> str | None:
    """A technique that the text must use, or with a `!` before its name must not use."""
    return text if text.removeprefix(WITHOUT) in facet_names() else None


def gained_facet(text: str) -> str | None:
    return text if text in facet_names() else None


@dataclass(frozen=True)
class Ref:
    """A submission as a link names it: `187476`, `32750@H100` where the id ran on several runners, or
    `32750@H100@trimul` where two competitions have it."""

    id: int
    runner: str | None = None
    competition: str | None = None

    def __str__(self) -> str:
        # A label may contain the separator.
        named = [(part or "").replace("%", "%25").replace("@", "%40") for part in (self.runner, self.competition)]
        return "@".join([str(self.id), *named]).rstrip("@")


def read_ref(text: str) -> Ref | None:
    """The submission that `187476`, `32750@H100` or `32750@H100@trimul` names; None for any other text."""
    number, *named = (*text.split("@", 2), "", "")[:3]
    runner, competition = (part.replace("%40", "@").replace("%25", "%") for part in named)
    id_ = whole(0, LARGEST_ID)(number)
    if id_ is None or text_up_to(60)(runner) is None or text_up_to(100)(competition) is None:
        return None
    return Ref(id_, runner or None, competition or None)
