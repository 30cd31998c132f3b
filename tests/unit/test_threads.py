"""Many readers at once: every answer is the one asked for, also when questions are stopped in between."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import kbdash
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from kbdash.errors import QueryTimeout

THREADS = 16
QUESTIONS_EACH = 30
Question = Callable[[KernelBot], pd.DataFrame]


def _board(problem: str) -> Question:
    return lambda kb: kb.leaderboard(problem)


def _one(number: int) -> Question:
    return lambda kb: kb._database._asker.run(f"select {number} as number, repeat('{number}', 3) as text")


def _attempts(problem: str, user: str) -> Question:
    return lambda kb: kb.progression(problem, users=[user])


def _counted(problem: str) -> Question:
    return lambda kb: kb._database._asker.run(
        f"select count(*) as n, min(score) as best from submissions_of('trimul') where '{problem}' <> ''"
    )


def questions(kb: KernelBot) -> list[tuple[Question, pd.DataFrame]]:
    """Questions with the answers they had while nobody else asked; light ones more often."""
    asked: list[Question] = [_one(number) for number in range(30)]
    for problem in ("fp8_quant", "trimul"):
        board = kb.leaderboard(problem)
        asked += [_board(problem), _counted(problem)]
        asked += [_attempts(problem, user) for user in board["user_id"].head(3)]
    return [(question, question(kb)) for question in asked]


@pytest.fixture
def engine(sample_folder: Path, tmp_path: Path) -> KernelBot:
    return kbdash.connect(sample_folder, settings=Settings(cache=tmp_path, query_seconds=120.0))


def test_sixteen_threads_get_no_wrong_row(engine: KernelBot) -> None:
    known = questions(engine)

    def read(seed: int) -> int:
        order = random.Random(seed)
        right = 0
        for question, expected in order.choices(known, k=QUESTIONS_EACH):
            right += question(engine).equals(expected)
        return right

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(read, range(THREADS))) == [QUESTIONS_EACH] * THREADS
    engine.close()


def test_stopping_one_question_leaves_the_others_alone(sample_folder: Path, tmp_path: Path) -> None:
    """Every second question runs into the limit while the others go on."""
    engine = kbdash.connect(sample_folder, settings=Settings(cache=tmp_path, query_seconds=2.0))

    def read(number: int) -> int:
        if number % 2:
            with pytest.raises(QueryTimeout):
                engine._database._asker.run("select sleep_ms(600000)")
        return int(engine._database._asker.run(f"select {number} as n")["n"].item())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == list(range(8))
    engine.close()


def test_opening_and_closing_engines_side_by_side(sample_folder: Path, tmp_path: Path) -> None:
    settings = Settings(source=str(sample_folder), cache=tmp_path)

    def read(number: int) -> tuple[int, int]:
        engine = kbdash.connect(settings=replace(settings, query_seconds=60.0 + number))
        rows = len(engine.leaderboard("fp8_quant")), engine.submissions("fp8_quant").total
        engine.close()
        return rows

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(read, range(6)))) == 1
