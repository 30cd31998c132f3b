"""What a question consists of: parameters, columns, and the error for an invalid value."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Literal

from kbdash.dataset.model import Submission
from kbdash.errors import QueryRefused

ParameterKind = Literal["text", "texts", "whole", "number", "day", "switch", "choice", "submission"]
ColumnKind = Literal["text", "whole", "number", "switch", "time", "day", "duration", "texts", "numbers"]
Unit = Literal["", "id", "count", "rank", "seconds", "nanoseconds", "days", "ratio", "share", "UTC", "row"]
AskedOf = Literal["board", "each", "linkable", "submission", "texts", "part"]
"""What a question is about: one board; each competition; each with linked users; one submission; all source texts; or
it is a part of other questions."""

REQUIRED = Argument.empty
_TYPES: Mapping[ParameterKind, object] = {
    "text": str, "texts": Sequence[str], "whole": int, "number": float, "day": date | str, "switch": bool,
    "submission": Submission,
}  # fmt: skip

_SHOWN: Mapping[str, object] = {"problem": "nvfp4_gemm", "user": "gau.nernst", "submission_id": 187476}
"""Arguments for examples in help texts, for questions whose own example would not work with every source."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a question. A number outside the bounds is clamped."""

    name: str
    kind: ParameterKind
    meaning: str
    default: object = REQUIRED
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    annotation: object = None

    @property
    def type(self) -> Any:
        """The Python type of a value."""
        known = self.annotation or _TYPES[self.kind]
        return known | None if self.default is None else known  # type: ignore[operator]

    @property
    def noun(self) -> str:
        """What a value must be, as the end of a sentence."""
        match self.kind:
            case "whole" | "number":
                kind = "a whole number" if self.kind == "whole" else "a number"
                low = "" if self.low == -math.inf else f" from {self.low:g}"
                return kind + low + ("" if self.high == math.inf else f" to {_digits(self.high)}")
            case "choice":
                return f"one of {', '.join(self.choices)}"
            case "submission":
                return "a submission"
        return {"text": "a text", "texts": "a list of texts", "day": "a day", "switch": "true or false"}[self.kind]

    @property
    def advice(self) -> str:
        """How to write a value."""
        examples = {"day": "Write it as 2025-12-21.", "switch": "Write true or false.",
                    "submission": "Write it as id@runner@competition."}  # fmt: skip
        return examples.get(self.kind, f"{self.name}: {self.meaning}.")

    def check(self, value: object) -> object:
        """The value as bound in SQL; QueryRefused when it is invalid."""
        if value is None and self.default is None:
            return None
        try:
            checked = _CHECKS[self.kind](value)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.refusal(value) from error
        if self.kind in ("whole", "number"):
            return min(max(checked, self.low), self.high)
        if self.choices and checked not in self.choices:
            raise self.refusal(value)
        return checked

    def read(self, texts: Sequence[str]) -> object:
        """The value of a text from a link or the command line; QueryRefused when it is invalid."""
        if self.kind == "texts":
            return tuple(texts)
        text = texts[-1]
        try:
            value = _READS[self.kind](text) if self.kind in _READS else text
        except (KeyError, ValueError) as error:
            raise self.refusal(text) from error
        if isinstance(value, int | float) and not self.low <= value <= self.high:
            raise self.refusal(text)
        return self.check(value)

    def refusal(self, value: object) -> QueryRefused:
        """The error for an invalid value."""
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        return QueryRefused(f"{self.name}={shown} is not {self.noun}.", advice=self.advice)


@dataclass(frozen=True)
class Column:
    """A column of an answer: what kind of value, in which unit, and what it means."""

    name: str
    kind: ColumnKind
    meaning: str
    unit: Unit = ""


@dataclass(frozen=True)
class Question:
    """A question, defined once: its method, its memo, its data link and its help are derived from this object.

    `name` is that of the SQL file and of the method of `KernelBot`. `asks` are its positional parameters, `options`
    its keywords. `example` are arguments that have an answer in the public dataset and in the sample.
    """

    name: str
    sentence: str
    of: AskedOf
    columns: tuple[Column, ...]
    asks: tuple[Parameter, ...] = ()
    options: tuple[Parameter, ...] = ()
    example: tuple[tuple[str, object], ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the signature."""
        return (*self.asks, *self.options)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def signature(self) -> Signature:
        """The signature of its method."""
        return Signature(
            [
                Argument("self", Argument.POSITIONAL_OR_KEYWORD),
                *(_argument(parameter, Argument.POSITIONAL_OR_KEYWORD) for parameter in self.asks),
                *(_argument(parameter, Argument.KEYWORD_ONLY) for parameter in self.options),
            ]
        )

    def checked(self, given: Mapping[str, object]) -> dict[str, object]:
        """Every parameter with its value, or its default."""
        values = {}
        for parameter in self.parameters:
            value = given.get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise QueryRefused(f"{self.name} needs {parameter.name}.", advice=parameter.advice)
            values[parameter.name] = parameter.check(value)
        return values

    @property
    def help(self) -> str:
        """The docstring of its method."""
        said = [f"    {parameter.name}: {parameter.meaning}." for parameter in self.parameters]
        told = [
            f"    {column.name}: {column.meaning}{f' ({column.unit})' if column.unit else ''}."
            for column in self.columns
        ]
        asked = [parameter.name for parameter in self.asks]
        example = self.example or tuple((name, _SHOWN[name]) for name in asked if name in _SHOWN)
        call = ", ".join(repr(value) if name in asked else f"{name}={value!r}" for name, value in example)
        parts = [self.sentence]
        if said:
            parts.append("\n".join(["Parameters:", *said]))
        parts.append("\n".join(["Columns:", *told]))
        call = "kb.submission(187476)" if self.of == "submission" else call
        parts.append(f"Example: kb.{self.name}({call})")
        return "\n\n".join(parts)


def _argument(parameter: Parameter, kind: Any) -> Argument:
    return Argument(parameter.name, kind, default=parameter.default, annotation=parameter.type)


def _digits(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:g}"


def _text(value: object) -> str:
    if not isinstance(value, str | int):
        raise TypeError
    return str(value)


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise TypeError
    return tuple(_text(item) for item in value)


def _day(value: object) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value)
    if not isinstance(value, date):
        raise TypeError
    return value.date() if isinstance(value, datetime) else value


def _number(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise ValueError
    return number


def _whole(value: Any) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _switch(value: object) -> bool:
    if value not in (True, False):
        raise TypeError
    return bool(value)


def _submission(value: object) -> Submission:
    if not isinstance(value, Submission):
        raise TypeError
    return value


_CHECKS: Mapping[ParameterKind, Callable[[Any], Any]] = {
    "text": _text, "texts": _texts, "whole": _whole, "number": _number, "day": _day, "switch": _switch,
    "choice": _text, "submission": _submission,
}  # fmt: skip
_READS: Mapping[ParameterKind, Callable[[str], object]] = {
    "whole": int, "number": float, "switch": {"true": True, "1": True, "false": False, "0": False}.__getitem__,
}  # fmt: skip
