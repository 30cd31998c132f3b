"""What a reader's SQL may do: one SELECT over the tables and views of this source. Pure functions, no connection."""

import json
import re
from typing import Any

from kbdash.errors import QueryRefused

# The only table functions allowed: generators of rows, and the macros of ranking.sql. DuckDB's others read files, run
# text as SQL, or change the process.
TABLE_FUNCTIONS = frozenset(
    {
        "range",
        "generate_series",
        "unnest",
        "submissions_of",
        "counted",
        "judged",
        "entries",
        "tried",
        "bests",
        "ranking",
    }
)
ADVICE = "Ask one SELECT over the view submissions; the data are read only."
# DuckDB rewrites PIVOT without IN into two statements, which do not serialise to one syntax tree. Its parts do: the
# source it reads, and the expressions after it. Comments are not allowed: they could hide where a part ends.
_PIVOT = re.compile(r"\s*pivot\s+(?P<source>.+?)\s+on\s+(?P<on>.+?)(\s+using\s+(?P<using>.+?))?"
                    r"(\s+group\s+by\s+(?P<keys>.+?))?\s*;?\s*", re.IGNORECASE | re.DOTALL)  # fmt: skip


def check_statement(text: object, rows: object = 0) -> None:
    """Raise QueryRefused for anything but a text and a number of rows."""
    if not isinstance(text, str):
        raise QueryRefused("A statement is a text.", advice=ADVICE)
    if not isinstance(rows, int) or rows < 0:
        raise QueryRefused("rows must be a whole number, 0 or more.", advice="Leave it out for as many as allowed.")


def statements_to_check(text: str) -> list[str]:
    """The statements whose syntax trees cover all that `text` can reach: itself, or the parts of a PIVOT."""
    pivot = _PIVOT.fullmatch(text)
    if pivot is None or "--" in text or "/*" in text or re.search(r"\sin\s*\(", pivot["on"], re.IGNORECASE):
        return [text]
    expressions = [pivot[part] for part in ("on", "using", "keys") if pivot[part]]
    return [f"select * from {pivot['source']}", *(f"select {expression}" for expression in expressions)]


def reason_to_refuse(syntax_tree: str) -> str | None:
    """Why a reader's statement, parsed by json_serialize_sql(), may not run; None for one harmless SELECT."""
    reached: list[str] = []

    def note(node: dict[str, Any]) -> dict[str, Any]:
        match node:
            case {"type": "TABLE_FUNCTION", "function": {"function_name": name}} if name.lower() not in TABLE_FUNCTIONS:
                reached.append(f"{name}()")
            case {"type": "BASE_TABLE", "table_name": name} if re.search(r"[/\\.]", name):  # a file, not a table
                reached.append(name)
        return node

    try:
        tree = json.loads(syntax_tree, object_hook=note)
    except RecursionError:
        return "That statement is nested too deeply."
    if tree["error"] and tree["error_type"] == "parser":
        return f"That is not valid SQL: {tree['error_message']}"
    if tree["error"] or len(tree["statements"]) != 1:
        return "Only one SELECT statement can be run here."
    return f"{reached[0]} cannot be read here, only the data of this source." if reached else None
