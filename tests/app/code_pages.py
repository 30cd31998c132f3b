"""What the tests of the code pages share: which submissions there are, and what was sent to the browser."""

import json
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
from streamlit.testing.v1 import AppTest

from kbdash.api import address
from kbdash.code.reader import SourceText
from kbdash.database.questions import EVERY_QUESTION
from kbdash.engine import KernelBot

RUNNER = "NVIDIA"
BOARD = "nvfp4_gemm"


def ranked(kb: KernelBot, place: int, problem: str = BOARD) -> dict[str, Any]:
    """The row of a leaderboard at a place, from 1."""
    row: dict[str, Any] = kb.leaderboard(problem, runner=RUNNER).iloc[place - 1].to_dict()
    return row


@cache
def source(kb: KernelBot, id_: int) -> SourceText:
    """The source text of a submission."""
    return kb.source_text(id_, RUNNER)


def with_text(kb: KernelBot, text: str, note: str = "") -> str:
    """The id of a leader, on the board that shows the odd ones first, with exactly this code and that remark on it."""
    board = kb.leaderboard("nvfp4_dual_gemm", runner=RUNNER).head(40)
    read = ((id_, source(kb, int(id_))) for id_ in board["submission_id"])
    return str(next(id_ for id_, found in read if found.text == text and note in " ".join(found.notes)))


@cache
def on_several_runners(kb: KernelBot) -> tuple[str, list[str]]:
    """An id that ran on several machines, and which."""
    rows = kb.sql("select submission_id, runner from submissions where runner is not null")
    counts: pd.Series[Any] = rows.groupby("submission_id")["runner"].nunique()
    id_ = counts.idxmax()
    return str(id_), sorted(rows.loc[rows["submission_id"] == id_, "runner"])


def sent(app: AppTest, component: str) -> dict[str, Any] | None:
    """What a component of ours was given, or None when it is not on the page."""
    for element in app.get("bidi_component"):
        if element.proto.component_name == component:
            data: dict[str, Any] = json.loads(element.proto.json)
            return data
    return None


def rows_by_data_link(app: AppTest, kb: KernelBot) -> pd.DataFrame:
    """What the engine answers to the data link that the page offers to copy."""
    given = [json.loads(element.proto.json) for element in app.get("bidi_component")
             if element.proto.component_name == "kbdash_copy_link"]  # fmt: skip
    copied = [each for data in given for each in data["links"] if each["label"] == "Copy data link"]
    [link] = [urlsplit(each["link"]) for each in copied if "/code?" not in each["link"]]
    question = EVERY_QUESTION[link.path.removeprefix("/api/").removesuffix(".csv")]
    return kb.ask(question.name, **address.read(question, parse_qs(link.query)))


def links(app: AppTest) -> dict[str, tuple[str, dict[str, list[str]]]]:
    """Links on the page by their label: the page they lead to, and its parameters."""
    return {
        element.proto.label.replace("\\", ""): (element.proto.page, parse_qs(element.proto.query_string))
        for element in app.get("page_link")
        if not element.proto.disabled
    }


def plain(text: str) -> str:
    """Markdown text as a reader sees it, near enough."""
    return text.replace("\\", "").replace("\u2060", "")
