"""A view as a link: a frozen state, read from and written to URL parameters.

`parse` never raises: a value it does not understand falls back to the default and is named in the notes. `query`
omits defaults and always writes in the same order, so equal views have equal links.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Self, get_type_hints
from urllib.parse import quote_plus

Params = Mapping[str, Sequence[str]]
Notes = tuple[str, ...]

MAX_NOTES = 5


@dataclass(frozen=True)
class Param:
    """How one field is stored in a URL: its name there, how it is read (None = not understood) and written."""

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    most: int = 1  # more than one: the parameter repeats and the field is a tuple
    said: Callable[[Any], str] | None = None  # the text of its chip; without it, the field is not a filter
    many_spellings: bool = False  # whether a value may be written in several ways, without a note


@dataclass(frozen=True)
class View:
    """Base of all views: reads them from URL parameters and writes them back."""

    @classmethod
    def parse(cls, params: Params) -> tuple[Self, Notes]:
        """The view of these parameters, and notes about what was ignored. Never raises."""
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
        """URL parameters of this view: only those that differ from the default, always in the same order."""
        written: dict[str, list[str]] = {}
        for name, default, param in params_of(type(self)):
            value = getattr(self, name)
            if value != default:
                items = value if param.most > 1 else (value,)
                written[param.name] = [param.write(item) for item in items]
        return written

    def after(self, before: Self) -> Self:
        """This view, with the fields reset that a change from `before` makes invalid."""
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
    """The values understood, without duplicates; the others go into `notes`."""
    read: list[Any] = []
    for text in given[: 10 * param.most]:
        value = param.read(text)
        if value is None:
            notes.append(f"Ignored {param.name}={_short(text)}")
        elif value not in read:
            read.append(value)
            if param.write(value) != text and not param.many_spellings:
                notes.append(f"Read {param.name}={_short(text)} as {_short(param.write(value))}")
    if len(read) > param.most or len(given) > 10 * param.most:
        notes.append(f"Too many values for {param.name}: only {param.most} can be shown")
    return read[-1:] if param.most == 1 else read[: param.most]


def _short(text: str) -> str:
    """A value as a note quotes it: short, without control characters."""
    clean = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else "�" for c in text[:41])
    return clean if len(clean) <= 40 else clean[:40] + "…"


def href(page: str, view: View) -> str:
    """The path and parameters that reopen `view` on `page` ("" is the overview)."""
    query = "&".join(f"{name}={_quoted(item)}" for name, items in view.query().items() for item in items)
    return f"/{page}?{query}" if query else f"/{page}"


# A table has hundreds of links that differ in one value; quoting the others again took most of their time.
_quoted = lru_cache(maxsize=4096)(quote_plus)


def forward(params: Params, pages: Sequence[str]) -> tuple[str, dict[str, list[str]]] | None:
    """Where `/?page=submission&id=…` leads: a known page and its parameters, or None."""
    page = next(iter(_as_list(params.get("page", ()))), "")
    if not page or page not in pages:
        return None
    return page, {name: list(_as_list(values)) for name, values in params.items() if name != "page"}
