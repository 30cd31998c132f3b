"""Which columns a file must have to be read as one of the two schema families."""

from collections.abc import Mapping

from kbdash.model import Family

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
_TEXT = frozenset({"VARCHAR"})
_NUMBER = _WHOLE | {"FLOAT", "DOUBLE"}
_TIME = frozenset({"TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"})
_FLAG = frozenset({"BOOLEAN"})
_GPU = frozenset({"STRUCT"})

# An id as DOUBLE has lost digits already, so it is refused rather than shown wrong.
REQUIRED: Mapping[Family, Mapping[str, frozenset[str]]] = {
    "flat": {
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
    "legacy": {
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
}


def misfit(columns: Mapping[str, str], family: Family) -> str | None:
    """Why a file with these columns (name -> DuckDB type) is not of the family, or None when it is."""
    required = REQUIRED[family]
    missing = [name for name in required if name not in columns]
    if missing:
        return f"it lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}"
    for name, accepted in required.items():
        kind = columns[name].split("(")[0].strip('"')
        if kind not in accepted | {"NULL"}:
            return f"its column {name} has the type {kind}, which cannot be read as {' or '.join(sorted(accepted))}"
    return None
