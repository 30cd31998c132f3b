"""The description of the data links (OpenAPI 3.1), generated from the list of questions."""

from collections.abc import Iterable
from typing import Any

import kbdash
from kbdash.api import address, failures, tables
from kbdash.api.address import FORMATS
from kbdash.api.answers import MEDIA_TYPES, SIDES, TEXT, WHERE, column_facts
from kbdash.api.badge import BADGE_OPTIONS
from kbdash.api.feed import FEED_OPTIONS
from kbdash.api.options import Option, Schema
from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.questions.kinds import Column, Question
from kbdash.dataset.model import LARGEST_ID

_TYPES: dict[str, Schema] = {
    "text": {"type": ["string", "null"]},
    "whole": {"type": ["integer", "null"]},
    "number": {"type": ["number", "null"]},
    "switch": {"type": ["boolean", "null"]},
    "time": {"type": ["string", "null"], "format": "date-time"},
    "day": {"type": ["string", "null"], "format": "date"},
    "texts": {"type": ["array", "null"], "items": {"type": ["string", "null"]}},
    "numbers": {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
}
_HEADERS = {
    "Kbdash-Commit": "The commit of the dataset that was read; for a folder or the sample, what changes with its files",
    "ETag": "Changes when the bytes do; send it back in If-None-Match",
}
_SOMETIMES = {
    "Kbdash-Sample": "synthetic: the rows were made up by kbdash",
    "Kbdash-Rows": "How many rows these are",
    "Kbdash-Total": "How many there are, before the limit and on all pages",
    "Kbdash-Truncated": "Where the rows were cut; missing when they are whole",
    "Kbdash-Unavailable": "Competitions that could not be read and are left out",
    "Link": "The next page",
}


def description() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {f"/api/{name}.{{format}}": {"get": _question(q)} for name, q in EVERY_QUESTION.items()}
    paths["/api/submission/{id}/code"] = {
        "get": _operation("code", "The source text of a submission, as plain text.", WHERE.values(), [TEXT], _ID)
    }
    paths["/api/diff.patch"] = {
        "get": _operation("diff", "What changed between two submissions, as a patch.", SIDES.values(), [TEXT])
    }
    paths["/api/records.atom"] = {
        "get": _operation(
            "records_feed", "Records broken on all boards, on one, or by one user, newest first.",
            FEED_OPTIONS.values(), ["application/atom+xml"],
        )
    }  # fmt: skip
    paths["/badge/{problem}/{user}.svg"] = {
        "get": _operation("badge", "The rank and time of a user as a picture.", BADGE_OPTIONS.values(),
                          ["image/svg+xml"], *_WHOSE)
    }  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kbdash", "version": kbdash.__version__,
            "summary": "The KernelBot GPU-kernel competitions, by link",
            "description": "Scores are seconds, times are UTC. The same for people is at /api.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": {"Problem": _problem_schema()}},
    }  # fmt: skip


def _question(question: Question) -> dict[str, Any]:
    content = {MEDIA_TYPES["csv"]: {"schema": {"type": "string"}}, MEDIA_TYPES["parquet"]: {},
               MEDIA_TYPES["json"]: {"schema": _answer_schema(question)}}  # fmt: skip
    given = {"name": "format", "in": "path", "required": True, "schema": {"type": "string", "enum": list(FORMATS)}}
    made = _operation(question.name, question.sentence, address.options(question), content, given)
    examples = address.write(question, dict(question.example))
    for parameter in made["parameters"]:
        if texts := examples.get(parameter["name"]):
            parameter["example"] = texts if parameter["schema"]["type"] == "array" else texts[0]
    return made


def _operation(
    name: str, sentence: str, options: Iterable[Option], content: Any, *in_path: dict[str, Any]
) -> dict[str, Any]:
    types = content if isinstance(content, dict) else {kind: {"schema": {"type": "string"}} for kind in content}
    return {
        "operationId": name,
        "summary": sentence,
        "parameters": [*in_path, *(_parameter(option) for option in options)],
        "responses": {
            "200": {"description": "The answer", "headers": _headers(), "content": types},
            "206": {"description": "The part of it that was asked for", "headers": _headers(), "content": types},
            "304": {"description": "What you have is still the answer"},
            "416": {"description": "There is no such part"},
            **{str(status): _failure(title) for status, title in failures.STATUSES.items() if status != 500},
        },
    }


def _parameter(option: Option) -> dict[str, Any]:
    described = {"name": option.name, "in": "query", "description": option.meaning, "schema": option.schema}
    return described | ({"required": True} if option.required else {})


def _headers() -> dict[str, Any]:
    always = {name: {"description": said, "required": True, "schema": {"type": "string"}}
              for name, said in _HEADERS.items()}  # fmt: skip
    return always | {name: {"description": said, "schema": {"type": "string"}} for name, said in _SOMETIMES.items()}


def _failure(title: str) -> dict[str, Any]:
    return {
        "description": title,
        "content": {failures.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _answer_schema(question: Question) -> Schema:
    """The body of a question in JSON."""
    text = {"type": "string"}
    column = {"type": "object", "properties": dict.fromkeys(("name", "kind", "unit", "meaning"), text)}
    source = {"dataset": {"type": ["string", "null"]}, "commit": text, "licence": {"type": ["string", "null"]},
              "sample": {"type": "boolean"}}  # fmt: skip
    return _object(
        {
            "question": {"const": question.name},
            "source": _object(source),
            "truncated": {"type": "boolean", "description": "Whether rows were left out because there are too many"},
            "total": {"type": "integer", "description": _SOMETIMES["Kbdash-Total"]},
            "unavailable": {"type": "object", "additionalProperties": text, "description": "Left out, and why"},
            "columns": {"type": "array", "items": column},
            "rows": {"type": "array", "items": _row_schema(question)},
        }
    )


def _row_schema(question: Question) -> Schema:
    columns = {column.name: _column_schema(column) for column in question.columns}
    return _object(columns) | {"properties": {**columns, "sample": {"const": "synthetic"}}}


def _column_schema(column: Column) -> Schema:
    facts = column_facts(column)
    schema = dict(_TYPES[facts["kind"]])
    if column.kind == "whole" and column.unit == "id":
        # If one id of an answer is too large for a float, all ids of its column are texts.
        schema = {"type": ["integer", "string", "null"], "maximum": tables.LARGEST_EXACT}
    unit = f" ({facts['unit']})" if facts["unit"] else ""
    return schema | {"description": f"{column.meaning}{unit}"}


def _object(properties: dict[str, Any]) -> Schema:
    """An object with exactly these members."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _problem_schema() -> Schema:
    text = {"type": "string"}
    always = {"type": text, "title": text, "status": {"type": "integer"}, "detail": text, "advice": text}
    return _object(always) | {"properties": {**always, "parameter": text, "accepted": text}}


_ID = {
    "name": "id", "in": "path", "required": True, "description": "id of a submission",
    "schema": {"type": "integer", "minimum": 0, "maximum": LARGEST_ID // 10},
}  # fmt: skip
_WHOSE = tuple(
    {"name": name, "in": "path", "required": True, "description": said,
     "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[A-Za-z0-9_-]+$"}}
    for name, said in (("problem", "name, nickname or leaderboard id of a board"), ("user", "id or name of a user"))
)  # fmt: skip
