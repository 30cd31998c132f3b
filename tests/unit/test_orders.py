"""Answers in the order asked for, and the part of a leaderboard that a page shows: selected and sorted in SQL."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import kbdash
from kbdash.database.questions.boards import LEADERBOARD, OVERVIEW, RECORDS
from kbdash.database.questions.kinds import Question
from kbdash.database.questions.people import USER
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from kbdash.errors import QueryRefused, UnknownUser
from tests.conftest import part_of
from tests.unit.tables import TRIMUL

HELION = "helion_b200_nebius_submissions.parquet"

ASKED: dict[Question, dict[str, Any]] = {
    LEADERBOARD: {"problem": "trimul"},
    RECORDS: {"problem": "trimul"},
    OVERVIEW: {},
    USER: {"user": "Sample Civet"},
}
CASES = [
    (question, order)
    for question in ASKED
    for parameter in question.parameters
    if parameter.name == "order"
    for order in parameter.choices
]


@pytest.fixture(scope="module")
def two(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    """kbdash over two competitions, one of them with several problems."""
    folder = part_of(sample_folder, tmp_path_factory.mktemp("two"), TRIMUL, HELION)
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path_factory.mktemp("cache"), query_seconds=120.0))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def plain_of(two: KernelBot) -> Callable[[Question], pd.DataFrame]:
    """The answer in its own order, asked for once."""
    return cache(lambda question: two.ask(question.name, **ASKED[question]))


def key_of(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def is_missing(value: Any) -> bool:
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value))


@pytest.mark.parametrize(("question", "order"), CASES, ids=[f"{one.name} {order}" for one, order in CASES])
def test_rows_come_in_the_order_asked_for_with_what_is_missing_last(
    two: KernelBot, plain_of: Callable[[Question], pd.DataFrame], question: Question, order: str
) -> None:
    plain = plain_of(question)
    asked = two.ask(question.name, order=order, **ASKED[question])
    name = order.removeprefix("-")
    pieces = [plain] if question is not OVERVIEW else [part for _, part in plain.groupby("competition", sort=False)]
    expected = []
    for piece in pieces:
        values = piece[name].tolist()
        known = [at for at, value in zip(piece.index, values, strict=True) if not is_missing(value)]
        known.sort(key=lambda at: key_of(plain[name][at]), reverse=order.startswith("-"))
        expected += known + [at for at in piece.index if at not in known]
    assert [key_of(value) for value in asked[name] if not is_missing(value)] == [
        key_of(plain[name][at]) for at in expected if not is_missing(plain[name][at])
    ]
    assert asked[name].isna().tolist() == [is_missing(plain[name][at]) for at in expected]
    assert sorted(asked.iloc[:, :4].map(str).agg(" ".join, axis=1)) == sorted(
        plain.iloc[:, :4].map(str).agg(" ".join, axis=1)
    )


def test_an_unknown_order_is_refused(kb: KernelBot) -> None:
    with pytest.raises(QueryRefused, match="order='code' is not one of rank"):
        kb.leaderboard("trimul", order="code")


def places(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(frame["runner"], frame["user_id"], strict=True))


def test_a_user_is_shown_with_five_neighbours_on_each_side_and_with_the_pinned(kb: KernelBot) -> None:
    whole = kb.leaderboard("trimul")
    middle = whole[whole["runner"] == "A100"]["user_id"].iloc[20]
    last = whole[whole["runner"] == "A100"]["user_id"].iloc[-1]
    expected = []
    for _, board in whole.groupby("runner", sort=False):
        users = board["user_id"].tolist()
        at = users.index(middle) if middle in users else None
        near = range(0) if at is None else range(max(0, at - 5), at + 6)
        expected += [pair for place, pair in enumerate(places(board)) if place in near or pair[1] == last]
    assert places(kb.leaderboard("trimul", find=middle, users=[last], top=1)) == expected
    assert (
        places(kb.leaderboard("trimul", runner="A100", find=middle))
        == [one for one in expected if one[0] == "A100"][:11]
    )


def test_somebody_without_a_rank_leaves_the_first_ranks(kb: KernelBot) -> None:
    there = set(kb.leaderboard("nvfp4_gemm", runner="NVIDIA")["user_id"])
    others = kb.submissions("nvfp4_gemv", page_size=5000).rows["user_id"]
    elsewhere = next(user for user in others if user not in there)
    found = kb.leaderboard("nvfp4_gemm", runner="NVIDIA", find=elsewhere, top=3)
    assert places(found) == places(kb.leaderboard("nvfp4_gemm", runner="NVIDIA", top=3))
    with pytest.raises(UnknownUser):
        kb.leaderboard("nvfp4_gemm", find="nobody of that name")


def test_the_places_next_to_a_time_are_among_the_rows(kb: KernelBot) -> None:
    board = kb.leaderboard("trimul", runner="A100")
    equal, between = board["score"].iloc[20], board["score"].iloc[20:22].mean()
    for mine in (equal, between):
        shown = kb.leaderboard("trimul", runner="A100", top=3, score=mine)
        assert places(shown) == [*places(board)[:3], *places(board)[19:23]]
    slower = kb.leaderboard("trimul", runner="A100", top=3, score=1e3)
    assert places(slower) == [*places(board)[:3], *places(board)[-2:]]
    assert places(kb.leaderboard("trimul", runner="A100", top=3)) == places(board)[:3]
