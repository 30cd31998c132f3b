"""Write a question as a link, and read it back: its parameters have the names that page addresses use.

Reading is strict where pages are lenient: a program gets an error, a reader gets a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from kbdash.api.options import Given, Option, Values, plain_option, read_options, time_option, word_option
from kbdash.content.search.patterns import SHORTEST
from kbdash.content.techniques import WITHOUT, facet_names
from kbdash.database.questions.kinds import Parameter, Question
from kbdash.database.questions.parameters import (
    CASE,
    COMPETITION,
    FLAGGED,
    HOLDERS_PASSED,
    ON_RUNNER,
    PASSED,
    REGEX,
    SUBMISSION_ID,
)  # fmt: skip
from kbdash.dataset.model import Submission
from kbdash.view import Ref

# Not only spaces, and no control characters or line breaks.
PATTERN = r"^ *[^\x00-\x20\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
FORMATS = ("csv", "json", "parquet")


def options(question: Question) -> tuple[Option, ...]:
    """The options of a link to the question, in the order of its signature; if two have one name, the first counts."""
    many = any(parameter.name == "users" for parameter in question.parameters)
    found: dict[str, Option] = {}
    for parameter in question.parameters:
        if many and parameter.name == "user":
            continue  # a link gives it among the users
        for option in _options(parameter):
            found.setdefault(option.name, option)
    return tuple(found.values())


def read(question: Question, given: Given) -> Values:
    """The question's arguments; Refused names the parameter that is not understood, unknown, missing or repeated."""
    known = {option.name: option for option in options(question)}
    return read_options(known, given)


def write(question: Question, values: Mapping[str, object]) -> dict[str, list[str]]:
    """The parameters of the link that asks the question with these arguments; defaults are omitted."""
    said = dict(values)
    if said.get("user") is not None and any(parameter.name == "users" for parameter in question.parameters):
        said["users"] = (*said.get("users", ()), said.pop("user"))  # type: ignore[misc]
    written = {option.name: list(option.write(said)) for option in options(question)}
    return {name: texts for name, texts in written.items() if texts}


def path(question: Question, values: Mapping[str, object], format_: str = "csv") -> str:
    """The data link without its host."""
    query = urlencode(write(question, values), doseq=True)
    return f"/api/{question.name}.{format_}" + (f"?{query}" if query else "")


def code_path(one: Submission) -> str:
    """The link to a source text without its host."""
    named = {"runner": one.runner, "competition": one.competition}
    query = urlencode({name: value for name, value in named.items() if value})
    return f"/api/submission/{one.submission_id}/code?{query}"


def patch_path(before: Submission, after: Submission) -> str:
    """The link to a patch without its host."""
    sides = {"a": before, "b": after}
    return "/api/diff.patch?" + urlencode(
        {name: str(Ref(one.submission_id, one.runner, one.competition)) for name, one in sides.items()}
    )


def _options(parameter: Parameter) -> tuple[Option, ...]:
    """The options that a parameter has in a page's address."""
    if parameter in _WORDS:
        return (_WORDS[parameter],)
    match parameter.name:
        case "pattern":
            option = plain_option(parameter)
            return (replace(option, schema=option.schema | {"minLength": SHORTEST, "pattern": PATTERN}),)
        case "facets" | "gained":
            return (_facets(plain_option(parameter)),)
        case "sort":
            orders = {sign + key: {"sort": key, "descending": bool(sign)} for key in parameter.choices
                      for sign in ("", "-")}  # fmt: skip
            return (word_option("sort", "the column to sort by; - before it: largest first", orders, "-submitted_at"),)
        case "descending":
            return ()  # the sign before the column to sort by
        case "score":
            return (time_option(parameter),)
        case "of":
            return tuple(_of(plain_option(part)) for part in (SUBMISSION_ID, ON_RUNNER, COMPETITION))
    return (plain_option(parameter),)


_WORDS: Mapping[Parameter, Option] = {
    FLAGGED: word_option(
        "flags", "hide leaves out the rows that carry a flag, and ranks again",
        {"show": {"flagged": True}, "hide": {"flagged": False}}, "show",
    ),
    PASSED: word_option(
        "passed", "only ranked runs that passed, all, or all others",
        {"only": {"passed": True}, "all": {"passed": None}, "failed": {"passed": False}}, "only", "all",
    ),
    HOLDERS_PASSED: word_option(
        "passed", "only texts that passed, only others, or all",
        {"all": {"passed": None}, "yes": {"passed": True}, "no": {"passed": False}}, "all",
    ),
    REGEX: word_option(
        "mode", "whether q is a plain text or a regular expression (RE2)",
        {"text": {"regex": False}, "regex": {"regex": True}}, "text",
    ),
    CASE: word_option(
        "case", "any: capitals do not matter", {"exact": {"case": True}, "any": {"case": False}}, "exact"
    ),
}  # fmt: skip
"""Switches that the address writes as words."""


def _facets(option: Option) -> Option:
    """Techniques by name, from the list of known ones."""
    names = sorted(facet_names())
    words = [*names, *(WITHOUT + name for name in names if option.repeats)]

    def taken(texts: Sequence[str]) -> Values:
        if not set(texts) <= set(words):
            raise ValueError
        return option.read(texts)

    one = {"type": "string", "enum": words}
    without = ", or one with ! before it" if option.repeats else ""
    schema = option.schema | {"items": one} if option.repeats else one
    return replace(option, schema=schema, read=taken, accepted=f"one of {', '.join(names)}{without}")


def _of(option: Option) -> Option:
    """One part of a submission's name, taken from the submission itself."""
    name = {"id": "submission_id"}.get(option.name, option.name)

    def written(values: Values) -> Sequence[str]:
        of = values.get("of")
        return option.write({name: getattr(of, name)}) if isinstance(of, Submission) else ()

    def taken(texts: Sequence[str]) -> Values:
        return {f"of_{key}": value for key, value in option.read(texts).items()}

    return replace(option, read=taken, write=written)
