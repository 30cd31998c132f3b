"""What the tests of the code pages share: which submissions there are, and what was sent to the browser."""

import json
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
from streamlit.testing.v1 import AppTest

from kbdash.engine import KernelBot

RUNNER = "NVIDIA"
BOARD = "nvfp4_gemm"


def ranked(kb: KernelBot, place: int, problem: str = BOARD) -> dict[str, Any]:
    """The row of a leaderboard at a place, from 1."""
    row: dict[str, Any] = kb.leaderboard(problem, runner=RUNNER).iloc[place - 1].to_dict()
    return row


def with_text(kb: KernelBot, text: str) -> str:
    """The id of a leader of a board whose code is exactly this text."""
    for row in kb.leaderboard("nvfp4_dual_gemm", runner=RUNNER).head(40).itertuples():
        if kb.code(int(row.submission_id), RUNNER) == text:
            return str(row.submission_id)
    raise AssertionError("the sample has no such text among its leaders")


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
