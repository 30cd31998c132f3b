"""The two schemas that a file can have: the columns it must have, and the SQL that makes canonical rows of them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kbdash.dataset.model import Family

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
_TEXT = frozenset({"VARCHAR"})
_NUMBER = _WHOLE | {"FLOAT", "DOUBLE", "DECIMAL"}
_TIME = frozenset({"TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"})
_FLAG = frozenset({"BOOLEAN"})
_GPU = frozenset({"STRUCT"})


@dataclass(frozen=True)
class Schema:
    """`required` are columns and the types they may have, `views` the SQL files of the views over them.

    `one_row_each`: a row of the file is a submission on a runner. Otherwise rows must be grouped, which costs more than
    any question and needs the whole file.
    """

    required: Mapping[str, frozenset[str]]
    views: tuple[str, ...]
    one_row_each: bool


# An id stored as DOUBLE has lost digits, so it is refused rather than shown wrong.
SCHEMAS: Mapping[Family, Schema] = {
    "flat": Schema(
        {
            "submission_id": _WHOLE,
            "leaderboard_id": _WHOLE,
            "problem_name": _TEXT,
            "user_id": _TEXT | _WHOLE,
            "user_name": _TEXT,
            "code_id": _WHOLE,
            "file_name": _TEXT,
            "submission_time": _TIME,
            "status": _TEXT,
            "score": _NUMBER,
            "passed": _FLAG,
            "mode": _TEXT,
            "runner": _TEXT,
        },
        views=("view_flat",),
        one_row_each=True,
    ),
    "legacy": Schema(
        {
            "submission_id": _WHOLE,
            "leaderboard_id": _WHOLE,
            "user_id": _TEXT | _WHOLE,
            "code_id": _WHOLE,
            "file_name": _TEXT,
            "submission_time": _TIME,
            "run_mode": _TEXT,
            "run_passed": _FLAG,
            "run_score": _NUMBER,
            "run_system_info": _GPU,
        },
        views=("view_runs", "view_legacy", "view_shapes"),
        one_row_each=False,
    ),
}


def holds_submissions(columns: Collection[str]) -> bool:
    """Whether a file outside the catalog holds submissions: it has all their columns."""
    return set(SCHEMAS["flat"].required) <= set(columns)


def misfit(columns: Mapping[str, str], family: Family) -> str | None:
    """Why a file with these columns (name -> DuckDB type) does not fit the family; None if it does."""
    required = SCHEMAS[family].required
    missing = [name for name in required if name not in columns]
    if missing:
        return f"it lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}"
    if "file_row_number" in columns:
        return "it has a column file_row_number, which is DuckDB's name for the number of a row"
    for name, accepted in required.items():
        kind = columns[name].split("(")[0].strip('"')
        if kind not in accepted | {"NULL"}:
            return f"its column {name} has the type {kind}, which cannot be read as {' or '.join(sorted(accepted))}"
    if family == "legacy" and not re.search(r'[(, ]"?gpu"? VARCHAR', columns["run_system_info"]):
        return "its column run_system_info has no text field gpu"
    return None
