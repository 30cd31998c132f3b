"""Every question with arguments that have an answer, and answers as plain values that every format can give."""

import json
import math
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd

from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.questions.kinds import Column, Question
from kbdash.database.questions.parameters import LARGEST_PAGE
from kbdash.engine import KernelBot

NAMES = tuple(EVERY_QUESTION)
BOARD = "trimul"


def arguments(kb: KernelBot, question: Question) -> dict[str, Any]:
    """Arguments with an answer of at least one row."""
    best = kb.leaderboard(BOARD).iloc[0]
    one = {"user": best["user_name"], "users": [best["user_id"]], "problem": BOARD, "text": "a",
           "submission_id": int(best["submission_id"]), "runner": best["runner"]}  # fmt: skip
    if question.of == "submission":
        return {"of": kb.submission(int(best["submission_id"]), best["runner"])}
    if question.name == "submissions":
        return {"problem": BOARD, "runner": best["runner"], "passed": None, "page_size": LARGEST_PAGE}
    if question.name in ("trends", "progression"):
        return {"problem": BOARD, "users": one["users"]}
    if question.example:
        return dict(question.example)
    asked = {parameter.name: one[parameter.name] for parameter in question.asks if parameter.name in one}
    return asked | ({"least": 0.0} if question.name == "relatives" else {})


def plain(value: Any, column: Column) -> Any:
    """A value of the library's frame as JSON has it."""
    if column.kind in ("texts", "numbers"):
        return None if value is None else [plain(item, Column("", "text", "")) for item in value]
    if value is None or pd.isna(value) or (isinstance(value, float) and math.isinf(value)):
        return None
    if isinstance(value, pd.Timedelta):
        return value / pd.Timedelta(seconds=1)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, date):
        return value.isoformat()
    return value.item() if isinstance(value, np.generic) else value


def rows(frame: pd.DataFrame, question: Question) -> list[dict[str, Any]]:
    """The library's frame as plain values."""
    return [
        {column.name: plain(row[column.name], column) for column in question.columns}
        for row in frame.to_dict("records")
    ]


def cell(text: str, column: Column) -> Any:
    """What a cell of a CSV file says."""
    if not text:
        return None
    match column.kind:
        case "whole":
            return int(text)
        case "number" | "duration":
            return float(text) if math.isfinite(float(text)) else None
        case "switch":
            return text == "True"
        case "texts" | "numbers":
            return json.loads(text)
    return text.removeprefix("'")
