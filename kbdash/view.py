"""The link is the view: one frozen state per page, read from and written to URL parameters.

`parse` never raises: what cannot be understood falls back to the default and is named in the notes. `query`
leaves defaults out and always writes in the same order, so equal views have equal links.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar, Self, get_type_hints
from urllib.parse import urlencode

Params = Mapping[str, Sequence[str]]
Notes = tuple[str, ...]

TABS = ("leaderboard", "distribution", "progression", "hardware", "submissions")
SORTS = ("submitted_at", "score", "user_name", "submission_id")
MAX_PINS = 12
MAX_TOP = 1000
MAX_ID = 2**63 - 1
MAX_NOTES = 5
TIME_UNITS = (("ns", -9), ("us", -6), ("ms", -3), ("s", 0))


@dataclass(frozen=True)
class Param:
    """How one field travels: its name in the URL, how it is read (None = not understood) and written."""

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    most: int = 1  # more than one: the parameter repeats and the field is a tuple


def _text(limit: int) -> Callable[[str], str | None]:
    """A reader of short text without control characters (a lone surrogate cannot be written back)."""

    def read(text: str) -> str | None:
        odd = len(text) > limit or any(unicodedata.category(c) in ("Cc", "Cs") for c in text)
        return None if odd else text

    return read


def _whole(low: int, high: int) -> Callable[[str], int | None]:
    """A reader of whole numbers, drawn into [low, high]."""

    def read(text: str) -> int | None:
        if not (text.isascii() and text.isdigit() and len(text) <= 19):
            return None
        return min(max(int(text), low), high)

    return read


def _choice(*options: str) -> Callable[[str], str | None]:
    return lambda text: text if text in options else None


def _switch(word: str) -> Callable[[str], bool | None]:
    """A reader of a switch that is on when the parameter says `word`."""
    return lambda text: True if text == word else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def read_time(text: str) -> float | None:
    """Seconds from a time such as `30us`, `30 µs`, `1.2 ms` or `3e-05` (bare numbers are seconds)."""
    plain = text.strip().replace("µ", "u").replace("μ", "u").lower()
    power = 0
    for suffix, exponent in TIME_UNITS:
        if plain.endswith(suffix):
            plain, power = plain[: -len(suffix)].strip(), exponent
            break
    try:
        seconds = float(Decimal(plain).scaleb(power))
    except (InvalidOperation, OverflowError):
        return None
    return seconds if 1e-12 <= seconds <= 1e6 else None


def write_time(seconds: float) -> str:
    """The shortest of `30us`, `1.2ms` … that reads back as exactly these seconds."""
    digits = Decimal(repr(seconds)).normalize()
    return min((f"{digits.scaleb(-power):f}{suffix}" for suffix, power in TIME_UNITS), key=len)


def _lines(text: str) -> tuple[int, int] | None:
    """A line range `10-20` or a single line `10`, in order, counted from 1."""
    low, _, high = text.partition("-")
    number = _whole(1, 10_000_000)
    first, last = number(low), number(high or low)
    return None if first is None or last is None else (min(first, last), max(first, last))


def _write_lines(lines: tuple[int, int]) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


@dataclass(frozen=True)
class Ref:
    """A submission as a link names it: `187476`, or `32750@H100` where the id ran on several runners."""

    id: int
    runner: str | None = None

    def __str__(self) -> str:
        return f"{self.id}@{self.runner}" if self.runner else str(self.id)


def _ref(text: str) -> Ref | None:
    number, _, runner = text.partition("@")
    id_ = _whole(0, MAX_ID)(number)
    return None if id_ is None or _text(60)(runner) is None else Ref(id_, runner or None)


@dataclass(frozen=True)
class View:
    """What every page's view can do: come from URL parameters and go back into them."""

    @classmethod
    def parse(cls, params: Params) -> tuple[Self, Notes]:
        """The view these parameters ask for, and what was ignored in them. Never raises."""
        values: dict[str, Any] = {}
        notes: list[str] = []
        for name, _, param in params_of(cls):
            given = [text for text in _as_list(params.get(param.name, ())) if text]
            read = _read_all(param, given, notes)
            if read:
                values[name] = read[-1] if param.most == 1 else tuple(read)
        if odd := params.keys() - {param.name for _, _, param in params_of(cls)}:
            notes.append("This page does not know: " + ", ".join(_short(name) for name in sorted(odd)[:MAX_NOTES]))
        return cls(**values), tuple(notes[:MAX_NOTES])

    def query(self) -> dict[str, list[str]]:
        """URL parameters of this view: only what differs from the default, always in the same order."""
        written: dict[str, list[str]] = {}
        for name, default, param in params_of(type(self)):
            value = getattr(self, name)
            if value != default:
                items = value if param.most > 1 else (value,)
                written[param.name] = [param.write(item) for item in items]
        return written

    def after(self, before: Self) -> Self:
        """This view as a change from `before` leaves it."""
        return self


_PARAMS: dict[type[View], tuple[tuple[str, Any, Param], ...]] = {}


def params_of(kind: type[View]) -> tuple[tuple[str, Any, Param], ...]:
    """(field, default, Param) of each field of a view, in the order links are written."""
    if kind not in _PARAMS:
        hints = get_type_hints(kind, include_extras=True)
        _PARAMS[kind] = tuple((spec.name, spec.default, hints[spec.name].__metadata__[0]) for spec in fields(kind))
    return _PARAMS[kind]


def _as_list(value: Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _read_all(param: Param, given: Sequence[str], notes: list[str]) -> list[Any]:
    """The values understood, without repeats; whatever else was given goes into `notes`."""
    read: list[Any] = []
    for text in given[: 10 * param.most]:
        value = param.read(text)
        if value is None:
            notes.append(f"Ignored {param.name}={_short(text)}")
        elif value not in read:
            read.append(value)
            if param.write(value) != text:
                notes.append(f"Read {param.name}={_short(text)} as {_short(param.write(value))}")
    if len(read) > param.most or len(given) > 10 * param.most:
        notes.append(f"Too many values for {param.name}: only {param.most} can be shown")
    return read[-1:] if param.most == 1 else read[: param.most]


def _short(text: str) -> str:
    """A value as a note quotes it: no control characters, not longer than a glance."""
    clean = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else "�" for c in text[:41])
    return clean if len(clean) <= 40 else clean[:40] + "…"


@dataclass(frozen=True)
class OverviewView(View):
    """The front page has no state of its own yet; links to it are always the same."""


@dataclass(frozen=True)
class CompetitionView(View):
    """One board as the reader asked for it. Days are UTC and inclusive, `my_time` is seconds."""

    # What narrows the rows; a change here leads back to the first page of a list.
    FILTERS: ClassVar[tuple[str, ...]] = (
        "problem", "runner", "users", "since", "until", "failures", "hide_flagged", "find", "sort",
    )  # fmt: skip

    problem: Annotated[str | None, Param("problem", _text(100))] = None
    runner: Annotated[str | None, Param("runner", _text(60))] = None
    users: Annotated[tuple[str, ...], Param("user", _text(60), most=MAX_PINS)] = ()
    since: Annotated[date | None, Param("from", _day, date.isoformat)] = None
    until: Annotated[date | None, Param("to", _day, date.isoformat)] = None
    failures: Annotated[bool, Param("passed", _switch("all"), lambda _: "all")] = False
    hide_flagged: Annotated[bool, Param("flags", _switch("hide"), lambda _: "hide")] = False
    tab: Annotated[str, Param("tab", _choice(*TABS))] = TABS[0]
    top: Annotated[int, Param("top", _whole(5, MAX_TOP))] = 100
    find: Annotated[str, Param("find", _text(100))] = ""
    sort: Annotated[str, Param("sort", _choice(*SORTS, *(f"-{key}" for key in SORTS)))] = "-submitted_at"
    page: Annotated[int, Param("p", _whole(1, 1_000_000))] = 1
    my_time: Annotated[float | None, Param("mine", read_time, write_time)] = None
    ecdf: Annotated[bool, Param("chart", _switch("ecdf"), lambda _: "ecdf")] = False
    skip_shapes: Annotated[tuple[int, ...], Param("skip", _whole(0, 999), most=100)] = ()

    @property
    def scope(self) -> tuple[object, ...]:
        """What the whole page depends on; the rest belongs to a single tab."""
        return self.problem, self.runner, self.users, self.since, self.until, self.hide_flagged, self.tab

    def after(self, before: Self) -> Self:
        """This view as a change from `before` leaves it: another problem or filter starts its lists anew."""
        if self.problem != before.problem:
            return replace(self, runner=None, page=1, find="", skip_shapes=(), my_time=None)
        if self.tab != before.tab:
            return replace(self, find="", page=1)
        moved = any(getattr(self, name) != getattr(before, name) for name in self.FILTERS)
        return replace(self, page=1) if moved else self


@dataclass(frozen=True)
class SubmissionView(View):
    """One submission; `walk` and the filters tell which list previous and next go through."""

    id: Annotated[int | None, Param("id", _whole(0, MAX_ID))] = None
    runner: Annotated[str | None, Param("runner", _text(60))] = None
    competition: Annotated[str | None, Param("competition", _text(100))] = None
    line: Annotated[tuple[int, int] | None, Param("line", _lines, _write_lines)] = None
    find: Annotated[str, Param("find", _text(200))] = ""
    walk: Annotated[str, Param("list", _choice("board", "user", "bests"))] = "board"
    since: Annotated[date | None, Param("from", _day, date.isoformat)] = None
    until: Annotated[date | None, Param("to", _day, date.isoformat)] = None
    hide_flagged: Annotated[bool, Param("flags", _switch("hide"), lambda _: "hide")] = False


@dataclass(frozen=True)
class CompareView(View):
    """Two submissions side by side."""

    a: Annotated[Ref | None, Param("a", _ref)] = None
    b: Annotated[Ref | None, Param("b", _ref)] = None
    mode: Annotated[str, Param("mode", _choice("unified", "split"))] = "unified"


@dataclass(frozen=True)
class LadderView(View):
    """The personal bests of one user on one board and runner; days are UTC and inclusive."""

    competition: Annotated[str | None, Param("competition", _text(100))] = None
    problem: Annotated[str | None, Param("problem", _text(100))] = None
    runner: Annotated[str | None, Param("runner", _text(60))] = None
    user: Annotated[str | None, Param("user", _text(60))] = None
    since: Annotated[date | None, Param("from", _day, date.isoformat)] = None
    until: Annotated[date | None, Param("to", _day, date.isoformat)] = None
    top: Annotated[int, Param("top", _whole(5, 500))] = 15


@dataclass(frozen=True)
class UserView(View):
    """One person, or those whose name holds a text."""

    user: Annotated[str | None, Param("user", _text(60))] = None
    find: Annotated[str, Param("find", _text(100))] = ""


@dataclass(frozen=True)
class AboutView(View):
    """The About page has no state."""


def href(page: str, view: View) -> str:
    """The path and parameters that reopen `view` on `page` ("" is the overview)."""
    query = urlencode(view.query(), doseq=True)
    return f"/{page}?{query}" if query else f"/{page}"


def forward(params: Params, pages: Sequence[str]) -> tuple[str, dict[str, list[str]]] | None:
    """Where `/?page=submission&id=…` leads: a known page and its parameters, or None."""
    page = next(iter(_as_list(params.get("page", ()))), "")
    if not page or page not in pages:
        return None
    return page, {name: list(_as_list(values)) for name, values in params.items() if name != "page"}
