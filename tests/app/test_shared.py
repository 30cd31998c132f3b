"""Answers are shared by all readers without a copy: no page may change one."""

import pickle
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from kbdash.engine import KernelBot
from kbdash.view import TABS
from kbdash.web import answers, memo
from tests.app.conftest import Open, healthy

VIEWS: list[dict[str, str]] = [
    {"page": ""},
    {"page": "user", "find": "a"},
    *({"page": "nvfp4", "tab": tab, "runner": "all"} for tab in TABS),
    *({"page": "amd-mi300", "tab": tab} for tab in TABS),
    {"page": "amd-mi300", "tab": "hardware", "runner": "all"},
    {"page": "pmpp-v2", "tab": "hardware"},
]


@pytest.fixture
def given_answers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, bytes]]:
    """Every answer given from now on, with what it was at the time."""
    given: list[tuple[Any, bytes]] = []
    ask = answers._answer

    def noted(kb: KernelBot, *question: Any) -> Any:
        answer = ask(kb, *question)
        given.append((answer, pickle.dumps(answer)))
        return answer

    memo.shared.clear()
    monkeypatch.setattr(answers, "_answer", noted)
    return given


def test_pages_leave_shared_answers_as_they_were(sample: Open, given_answers: list[tuple[Any, bytes]]) -> None:
    for view in (*VIEWS, *VIEWS):
        assert healthy(sample(**view)), view
    frames = [(answer, was) for answer, was in given_answers if isinstance(answer, pd.DataFrame)]
    assert len(frames) > 20
    for frame, was in frames:
        assert_frame_equal(frame, pickle.loads(was))


def test_a_page_seen_before_asks_and_makes_nothing(sample: Open, given_answers: list[tuple[Any, bytes]]) -> None:
    for view in VIEWS:
        sample(**view)
    asked, kept = len(given_answers), len(memo.shared)
    for view in VIEWS:
        assert healthy(sample(**view)), view
    assert (len(given_answers), len(memo.shared)) == (asked, kept)
