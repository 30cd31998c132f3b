"""Answers are shared by all readers without a copy: no page may change one."""

import pickle
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from kbdash.engine import KernelBot
from kbdash.view import TABS
from kbdash.web import answers, memo
from tests.app.conftest import healthy, open_app
from tests.forgetting import forget_answers

VIEWS: list[dict[str, str]] = [
    {"page": ""},
    {"page": "user", "find": "a"},
    *({"page": "nvfp4", "tab": tab, "runner": "all"} for tab in TABS),
    *({"page": "amd-mi300", "tab": tab} for tab in TABS),
    {"page": "amd-mi300", "tab": "hardware", "runner": "all"},
    {"page": "pmpp-v2", "tab": "hardware"},
]


@dataclass
class Seen:
    """What was asked and kept after every view was seen once, and after it was seen twice."""

    given: list[tuple[Any, bytes]] = field(default_factory=list)  # every answer, with what it was at the time
    asked_and_kept: list[tuple[int, int]] = field(default_factory=list)


@pytest.fixture(scope="module")
def seen(shared_sample: None) -> Seen:
    """Every view of the sample, seen twice by readers who know nothing before."""
    ask, visits = answers._answer, Seen()

    def noted(kb: KernelBot, *question: Any) -> Any:
        answer = ask(kb, *question)
        visits.given.append((answer, pickle.dumps(answer)))
        return answer

    forget_answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "_answer", noted)
        for _ in range(2):
            for view in VIEWS:
                assert healthy(open_app(**view)), view
            visits.asked_and_kept.append((len(visits.given), len(memo.shared)))
    return visits


def test_pages_leave_shared_answers_as_they_were(seen: Seen) -> None:
    frames = [(answer, was) for answer, was in seen.given if isinstance(answer, pd.DataFrame)]
    assert len(frames) > 20
    for frame, was in frames:
        assert_frame_equal(frame, pickle.loads(was))


def test_a_page_seen_before_asks_and_makes_nothing(seen: Seen) -> None:
    once, twice = seen.asked_and_kept
    assert once == twice
