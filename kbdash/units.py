"""Values as words: times in the board's unit, ranks, ratios, gains, dates, people. Missing is "–", never 0 or nan."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation

import pandas as pd

MISSING = "–"
THIN = "\u2009"
MINUS = "−"
LONGEST_NAME = 80
"""Characters: a longer name would fill the page, and fifty names of a megabyte each would fill the memory."""
_MEASURABLE = 1e-6
_ID_END = 4  # digits of the id that distinguish people without a name


@dataclass(frozen=True)
class Unit:
    """A unit of time: how it is written, and how many of it make a second."""

    name: str
    per_second: float

    def of(self, seconds: float) -> float:
        """`seconds` in this unit."""
        return seconds * self.per_second


NANOSECONDS = Unit("ns", 1e9)
MICROSECONDS = Unit("µs", 1e6)
MILLISECONDS = Unit("ms", 1e3)
SECONDS = Unit("s", 1.0)

_SPELLINGS = {
    "ns": NANOSECONDS,
    "µs": MICROSECONDS,
    "μs": MICROSECONDS,  # the Greek letter, which many keyboards give instead of the micro sign
    "us": MICROSECONDS,
    "ms": MILLISECONDS,
    "s": SECONDS,
}
_TIME = re.compile(r"\s*((?:[0-9][0-9,.\s]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?)\s*([a-zµμ]*)\s*", re.IGNORECASE)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


def unit_for(best_seconds: float | None) -> Unit:
    """The unit in which a board's times read best; microseconds while there is no time yet."""
    best = _number(best_seconds)
    if best is None or best <= 0:
        return MICROSECONDS
    if best < 1e-6:
        return NANOSECONDS
    if best < 1e-3:
        return MICROSECONDS
    return MILLISECONDS if best < 1 else SECONDS


def time_text(seconds: float | None, unit: Unit) -> str:
    """A time in four significant digits, such as "9.954 µs"."""
    value = _number(seconds)
    return MISSING if value is None else f"{significant(unit.of(value))}{THIN}{unit.name}"


def gap_text(seconds: float | None, unit: Unit) -> str:
    """The distance to the next-better rank, such as "+0.106"; no unit, it stands beside the time."""
    value = _number(seconds)
    if value is None:
        return MISSING
    return f"{MINUS if value < 0 else '+'}{_gap_digits(abs(unit.of(value)))}"


def rank_text(rank: float | None, *, tied: bool = False) -> str:
    """A place: "3", or "=3" when it is shared."""
    value = _number(rank)
    return MISSING if value is None else f"{'=' if tied else ''}{value:,.0f}"


def rank_texts(ranks: Sequence[float | None]) -> list[str]:
    """The places of one whole ranking, shared ones marked: 1, 2, =3, =3, 5."""
    values = [_number(rank) for rank in ranks]
    counts = Counter(values)
    return [rank_text(value, tied=counts[value] > 1) for value in values]


def ratio_text(ratio: float | None) -> str:
    """How many times as long, such as "1.00 ×"."""
    value = _number(ratio)
    if value is None:
        return MISSING
    return f"{value:,.{2 if abs(value) < 100 else 0}f}{THIN}×"


def gain_text(share: float | None) -> str:
    """The time saved, such as "−12.4 %" for a gain of 0.124; a loss carries a plus."""
    value = _number(share)
    if value is None:
        return MISSING
    # Nobody saves all of the time: a step from 226 ms to 66 µs is −99.97 %.
    places = next((places for places in range(1, 9) if round(value * 100, places) != 100), 1)
    percent = f"{abs(value) * 100:,.{places}f}"
    sign = "" if percent == "0.0" else MINUS if value > 0 else "+"
    return f"{sign}{percent}{THIN}%"


def share_text(share: float | None) -> str:
    """A part of a whole, such as "53.7 %"."""
    value = _number(share)
    return MISSING if value is None else f"{signed(value * 100, 1)}{THIN}%"


def count_text(count: float | None) -> str:
    """A count with thousands separators, such as "231,307"."""
    value = _number(count)
    return MISSING if value is None else signed(value, 0)


def plural(count: float, word: str, words: str | None = None) -> str:
    """A count with its noun: "1 user", "2,345 users"."""
    return f"{count_text(count)} {word if count == 1 else words or word + 's'}"


def signed(value: float, places: int) -> str:
    """A finite number with that many decimals, thousands separators and a real minus."""
    text = f"{abs(value):,.{places}f}"
    return f"{MINUS}{text}" if value < 0 and text.strip("0.,") else text


def day_text(moment: date | pd.Timestamp | None) -> str:
    """The UTC day, such as "2026-02-21"."""
    stamp = _utc(moment)
    return MISSING if stamp is None else stamp.strftime("%Y-%m-%d")


def minute_text(moment: date | pd.Timestamp | None) -> str:
    """The UTC minute, such as "2026-02-21 07:30 UTC"."""
    stamp = _utc(moment)
    return MISSING if stamp is None else stamp.strftime("%Y-%m-%d %H:%M UTC")


def duration_text(duration: timedelta | float | None) -> str:
    """A span of time (or seconds) in its two largest parts: "3 d 4 h", "12 min", "45 s"."""
    value = _number(duration.total_seconds() if isinstance(duration, timedelta) else duration)
    if value is None:
        return MISSING
    rest = round(abs(value))
    sign = MINUS if value < 0 and rest else ""
    sizes = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    largest = next((place for place, (_, size) in enumerate(sizes) if rest >= size), 3)
    parts: list[str] = []
    # Seconds beside hours, or minutes beside days, are more than a reader needs.
    for name, size in sizes[largest : largest + 2]:
        count, rest = divmod(rest, size)
        if count or not parts:
            parts.append(f"{count:,}{THIN}{name}")
    return sign + " ".join(parts)


def bytes_text(size: float | None) -> str:
    """An amount of data in decimal units, such as "11.3 MB"."""
    value = _number(size)
    if value is None or value < 0:
        return MISSING
    for name in ("B", "kB", "MB", "GB"):
        if value < (999.5 if name == "B" else 999.95):
            return f"{value:.{0 if name == 'B' else 1}f}{THIN}{name}"
        value /= 1000
    return f"{value:,.1f}{THIN}TB"


def person(name: object, user_id: object) -> str:
    """The display name of a user; without a name, the end of the id distinguishes them, if there is one."""
    if isinstance(name, str) and name.strip():
        return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    return f"unnamed …{user_id[-_ID_END:]}" if isinstance(user_id, str) else "unnamed"


def parse_time(text: str, unit: Unit) -> float | None:
    """Seconds in "30 µs", "30us", "0.03ms", "3e-5 s" or "30" (then in `unit`); None when it is no positive time."""
    match = _TIME.fullmatch(text) if len(text) <= 60 else None
    if match is None:
        return None
    chosen = _SPELLINGS.get(match[2].lower()) if match[2] else unit
    value = _decimal(match[1])
    if chosen is None or value is None:
        return None
    # In decimals, so that 0.07 ms is 70 µs and not 70.00000000000001.
    seconds = float(value / Decimal(chosen.per_second))
    return seconds if 0 < seconds < math.inf else None


def _decimal(text: str) -> Decimal | None:
    """A number as people write it: "1,234.5" has thousands, "0,03" a decimal comma."""
    plain = "".join(text.split())
    plain = plain.replace(",", "") if _GROUPED.fullmatch(plain) else plain.replace(",", ".", 1)
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def _number(value: object) -> float | None:
    """`value` as a finite number; None for None, NaN, NaT and infinities."""
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None


def _utc(moment: date | pd.Timestamp | None) -> pd.Timestamp | None:
    stamp = pd.Timestamp(moment) if moment is not None else pd.NaT
    if pd.isna(stamp):
        return None
    return stamp.tz_convert("UTC") if stamp.tzinfo else stamp.tz_localize("UTC")


def significant(value: float, digits: int = 4) -> str:
    """`value` rounded to significant digits; only what no machine can measure is written with an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    if abs(rounded) < _MEASURABLE:
        return f"{MINUS if rounded < 0 else ''}{abs(rounded):.{digits - 1}e}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return signed(rounded, places)


def _gap_digits(value: float) -> str:
    """Three significant digits, because a difference is less precise than a time."""
    return significant(value, 3)
