"""An answer as a notebook shows it: times with their unit, names inert. The frame itself keeps seconds and texts."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import wraps
from typing import Any, TypeVar, cast

import pandas as pd

from kbdash.database.questions.columns import GLOSSARY
from kbdash.database.questions.kinds import Question
from kbdash.dataset.model import Page
from kbdash.terminal import inert
from kbdash.units import time_text, unit_for

Method = TypeVar("Method", bound=Callable[..., Any])
MOST_COLUMNS = 20
SECONDS = frozenset(column.name for column in GLOSSARY.values() if (column.kind, column.unit) == ("number", "seconds"))


class Answer(pd.DataFrame):
    """A frame like any other, except for how it is printed.

    Example: kb.leaderboard("nvfp4_gemm")["score"].min()  # seconds, in full precision
    """

    @property
    def _constructor(self) -> Callable[..., "Answer"]:
        return Answer

    def __repr__(self) -> str:
        # Wrap columns that do not fit: pandas would omit the middle ones, where the times are.
        with pd.option_context("display.max_columns", MOST_COLUMNS):
            return repr(readable(self))

    def _repr_html_(self) -> str | None:
        html: str | None = readable(self)._repr_html_()  # type: ignore[operator]
        return html


def answers(question: Question) -> Callable[[Method], Method]:
    """Decorate the method that answers a question: it gets the question's signature and help, its frame a display."""

    def mark(method: Method) -> Method:
        signature, of_texts = question.signature, question.of == "texts"
        limited = method if of_texts else in_time(method)  # a search of all texts has limits of its own

        @wraps(method)
        def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = dict(signature.bind(self, *args, **kwargs).arguments)  # TypeError for a keyword that is not known
            del given["self"]
            # Other questions check their parameters when they are bound to SQL.
            return shown(limited(self, **(question.checked(given) if of_texts else given)))

        ask.__doc__ = question.help
        ask.__signature__ = signature  # type: ignore[attr-defined]
        ask.question = question  # type: ignore[attr-defined]
        return cast(Method, ask)

    return mark


def in_time(method: Method) -> Method:
    """Decorate a method of `NameLookup` that asks several questions: together they get the time of one."""

    @wraps(method)
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.question():
            return method(self, *args, **kwargs)

    return cast(Method, ask)


def shown(answer: Any) -> Any:
    """The answer of a question for a notebook; anything but a frame is returned as it is."""
    match answer:
        case Answer():
            return answer
        case pd.DataFrame():
            return cast(Any, Answer(answer)).__finalize__(answer)
        case Page():
            return replace(answer, rows=shown(answer.rows))
    return answer


def as_frame(answer: object) -> pd.DataFrame:
    """Any answer as a frame: the rows of a page, a row for each object."""
    match answer:
        case pd.DataFrame():
            return answer
        case Page():
            return answer.rows
        case list():
            return pd.DataFrame([asdict(item) for item in answer])
    return pd.DataFrame([asdict(answer)])  # type: ignore[call-overload]


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy for display: seconds as texts such as 9.954 µs, texts without terminal control characters."""
    copy = pd.DataFrame(frame)
    for name in copy.columns:
        column = copy[name]
        if name in SECONDS and pd.api.types.is_float_dtype(column):
            copy[name] = column.map(_time).astype(object)
        elif pd.api.types.is_string_dtype(column) or column.dtype == object:
            copy[name] = column.map(_inert, na_action="ignore")
    return copy


def _time(seconds: float) -> str:
    return time_text(seconds, unit_for(seconds)).replace("\u2009", " ")


def _inert(value: object) -> object:
    return inert(value) if isinstance(value, str) else value
