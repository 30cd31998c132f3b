"""One parameter of a link: its values, how they are read, and how they are written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kbdash.database.questions.kinds import REQUIRED, Parameter
from kbdash.dataset.model import LARGEST_ID
from kbdash.errors import QueryRefused
from kbdash.view import read_time, write_time

MOST_TEXTS = 100
Schema = dict[str, Any]
Values = dict[str, object]
Given = Mapping[str, Sequence[str]]

# No control characters: no valid name has them.
TEXT = r"^[^\x00-\x1f\x7f-\x9f]+$"
TIME = r"^(0\.0{0,2}[1-9][0-9]{0,16}|[1-9][0-9]{0,5}(\.[0-9]{1,17})?)(ns|us|ms|s)$"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
_NAMES = {
    "since": "from", "until": "to", "users": "user", "page": "p", "text": "find", "submission_id": "id",
    "pattern": "q", "facets": "facet",
}  # fmt: skip
"""Parameters whose name in an address differs from that in the library."""


class Refused(QueryRefused):
    """An invalid parameter of a link; `parameter` is its name there, `accepted` what would be valid."""

    def __init__(self, what: str, *, parameter: str, accepted: str) -> None:
        super().__init__(what, advice=f"Accepted: {accepted}.")
        self.parameter = parameter
        self.accepted = accepted


@dataclass(frozen=True)
class Option:
    """One parameter of a link: its schema, how texts become arguments of the question, and how values are written."""

    name: str
    meaning: str
    schema: Schema
    read: Callable[[Sequence[str]], Values]
    write: Callable[[Values], Sequence[str]]
    accepted: str
    required: bool = False
    repeats: bool = False


def read_options(known: Mapping[str, Option], given: Given) -> Values:
    """The values of these options in the given parameters."""
    for name in given:
        if name not in known:
            raise Refused(f"{_short(name)} is no parameter here.", parameter=_short(name), accepted=_listed(known))
    values: Values = {}
    for option in known.values():
        texts = given.get(option.name, ())
        if texts:
            _check_texts(option, texts)
            values |= _read(option, texts)
        elif option.required:
            raise Refused(f"{option.name} is missing.", parameter=option.name, accepted=option.accepted)
        else:
            values |= option.read(())
    return values


def text_option(name: str, meaning: str, *, required: bool = False) -> Option:
    """An option that is a plain text."""
    return plain_option(Parameter(name, "text", meaning, REQUIRED if required else None))


def choice_option(name: str, meaning: str, *choices: str) -> Option:
    """An option that is one of a few words; the first is the default."""
    return word_option(name, meaning, {word: {name: word} for word in choices}, choices[0])


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text matches a schema's pattern; Python's $ would accept a trailing line end."""
    return re.fullmatch(pattern.removeprefix("^").removesuffix("$"), text) is not None


def plain_option(parameter: Parameter) -> Option:
    """A parameter that is written as it is."""
    name = _NAMES.get(parameter.name, parameter.name)
    schema, repeats = _schema(parameter), parameter.kind == "texts"
    return Option(
        name,
        parameter.meaning,
        schema,
        lambda texts: {parameter.name: parameter.read(_exact(parameter, texts))} if texts else {},
        lambda values: _written(parameter, values.get(parameter.name)),
        _accepted(parameter, schema),
        parameter.default is REQUIRED,
        repeats,
    )


def word_option(
    name: str, meaning: str, words: Mapping[str, Values], default: str, unsaid: str | None = None
) -> Option:
    """An option that is one of a few words, each of which stands for values of the question.

    `unsaid` is the word for omitted arguments, if it differs from the default of the link.
    """

    def written(values: Values) -> Sequence[str]:
        defaults = words[unsaid or default]
        word = _word_of(words, {key: values.get(key, defaults[key]) for key in defaults})
        return () if word == default else (word,)

    schema = {"type": "string", "enum": list(words), "default": default}
    accepted = f"one of {', '.join(words)}"
    return Option(name, meaning, schema, lambda texts: dict(words[texts[0] if texts else default]), written, accepted)


def _word_of(words: Mapping[str, Values], values: Values) -> str:
    return next(word for word, meant in words.items() if meant == values)


def time_option(parameter: Parameter) -> Option:
    """A time as the page takes it, such as 30us."""

    def taken(texts: Sequence[str]) -> Values:
        if not texts:
            return {}
        seconds = read_time(texts[0]) if matches(TIME, texts[0]) else None
        if seconds is None:
            raise ValueError
        return {parameter.name: seconds}

    return Option(
        "mine", "a time with its unit, such as 30us", {"type": "string", "pattern": TIME}, taken,
        lambda values: (write_time(float(str(values[parameter.name]))),) if parameter.name in values else (),
        "a time with its unit, such as 30us, 1.2ms or 0.5s", parameter.default is REQUIRED,
    )  # fmt: skip


def _written(parameter: Parameter, value: Any) -> Sequence[str]:
    if value is None or value in ((), []):
        return ()
    match parameter.kind:
        case "texts":
            return tuple(str(item) for item in value)
        case "switch":
            return (str(value).lower(),)
    return (str(value),)


def _schema(parameter: Parameter) -> Schema:
    """JSON Schema of a value."""
    default = {} if parameter.default in (REQUIRED, None, ()) else {"default": parameter.default}
    match parameter.kind:
        case "whole":
            low, high = bounds(parameter)
            return {"type": "integer", "minimum": low, "maximum": high, **default}
        case "day":
            return {"type": "string", "format": "date"}
        case "texts":
            return {"type": "array", "items": _text_schema(), "minItems": 1, "maxItems": MOST_TEXTS}
        case "switch":
            return {"type": "string", "enum": ["true", "false"]}
        case "choice":
            return {"type": "string", "enum": list(parameter.choices), **default}
        case "number":
            return {"type": "number", "minimum": parameter.low, "maximum": parameter.high, **default}
    return _text_schema()


def bounds(parameter: Parameter) -> tuple[int, int]:
    """The smallest and the largest whole number accepted; an id is never negative."""
    return int(max(parameter.low, 0)), int(min(parameter.high, LARGEST_ID))


def _text_schema() -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": 200, "pattern": TEXT}


def _accepted(parameter: Parameter, schema: Schema) -> str:
    match parameter.kind:
        case "whole":
            return f"a whole number from {schema['minimum']} to {schema['maximum']}"
        case "day":
            return "a day such as 2025-12-21"
        case "text" | "texts":
            return f"a text of at most 200 characters: {parameter.meaning}"
    return parameter.noun


def _exact(parameter: Parameter, texts: Sequence[str]) -> Sequence[str]:
    """The texts, if each matches the schema; Python's own parsers accept more than that."""
    for text in texts:
        if parameter.kind == "whole":
            low, high = bounds(parameter)
            fits = _WHOLE.fullmatch(text) is not None and low <= int(text) <= high
        elif parameter.kind == "number":
            fits = _NUMBER.fullmatch(text) is not None and parameter.low <= float(text) <= parameter.high
        elif parameter.kind == "day":
            fits = _DAY.fullmatch(text) is not None
        else:
            fits = len(text) <= 200 and matches(TEXT, text)
        if not fits:
            raise ValueError
    return texts


def _read(option: Option, texts: Sequence[str]) -> Values:
    try:
        return option.read(texts)
    except (QueryRefused, ValueError, KeyError) as error:
        given = ", ".join(_short(text) for text in texts[:3])
        raise Refused(
            f"{option.name}={given} is not understood.", parameter=option.name, accepted=option.accepted
        ) from error


def _check_texts(option: Option, texts: Sequence[str]) -> None:
    most = MOST_TEXTS if option.repeats else 1
    if len(texts) > most:
        said = f"{option.name} is given {len(texts)} times."
        raise Refused(said, parameter=option.name, accepted=f"at most {most} times, {option.accepted}")


def _listed(known: Mapping[str, Option]) -> str:
    return ", ".join(known) or "none"


def _short(text: str) -> str:
    clean = "".join(character if character.isprintable() else "�" for character in text[:61])
    return clean if len(clean) <= 60 else clean[:60] + "…"
