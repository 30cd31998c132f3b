"""The noise of a board against a plain computation."""

import itertools
import math
import random
import statistics

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.content.findings.noise import LEAST_PAIRS, noise
from tests.examples import examples

Row = tuple[str, int, str, float]  # runner, program, user, score


def frame(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"runner": r, "program": p, "user_id": u, "user_name": u.upper(), "score": s, "at": n, "submission_id": n}
            for n, (r, p, u, s) in enumerate(rows)
        ],
        columns=["runner", "program", "user_id", "user_name", "score", "at", "submission_id"],
    )


def plain(rows: list[Row]) -> tuple[float | None, int, int, dict[str, int]]:
    groups: dict[tuple[str, int], list[float]] = {}
    own: dict[tuple[str, int, str], int] = {}
    for runner, program, user, score in rows:
        groups.setdefault((runner, program), []).append(score)
        own[runner, program, user] = own.get((runner, program, user), 0) + 1
    several = [scores for scores in groups.values() if len(scores) > 1]
    steps = [abs(math.log(b / a)) for scores in several for a, b in itertools.pairwise(scores)]
    sigma = 1.4826 * statistics.median(steps) / math.sqrt(2) if len(steps) >= LEAST_PAIRS else None
    pairs = sum(len(list(itertools.combinations(scores, 2))) for scores in several)
    rerolls: dict[str, int] = {}
    for (_, _, user), count in own.items():
        if count > 1:
            rerolls[user.upper()] = rerolls.get(user.upper(), 0) + count - 1
    return sigma, len(several), pairs, rerolls


ROWS = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 3), st.sampled_from(["u", "v", "w"]), st.floats(1e-6, 1.0)),
    max_size=40,
)


@examples(40)
@given(ROWS)
def test_it_is_what_a_plain_computation_says(rows: list[Row]) -> None:
    sigma, programs, pairs, rerolls = plain(rows)
    answer = noise(frame(rows))
    assert (answer["programs"], answer["pairs"]) == (programs, pairs)
    assert answer["sigma"] == (None if sigma is None else pytest.approx(sigma, rel=1e-9, abs=1e-12))
    assert dict(zip(answer["rerolls"]["user"], answer["rerolls"]["count"], strict=True)) == rerolls


def test_it_finds_the_noise_that_was_put_in_and_a_few_wild_runs_do_not_matter() -> None:
    dice = random.Random(7)
    rows: list[Row] = []
    for program in range(60):
        base = dice.uniform(1e-5, 1e-3)
        rows += [("B200", program, f"user {program}", base * math.exp(dice.gauss(0, 0.02))) for _ in range(10)]
    rows = [(r, p, u, s * (5 if dice.random() < 0.03 else 1)) for r, p, u, s in rows]
    sigma = noise(frame(rows))["sigma"]
    assert sigma == pytest.approx(0.02, rel=0.15)


def test_too_few_rows_have_no_noise_but_counts() -> None:
    answer = noise(frame([("A", 1, "u", 1.0), ("A", 1, "v", 1.1), ("A", 2, "u", 2.0)]))
    assert (answer["sigma"], answer["programs"], answer["pairs"], len(answer["rerolls"])) == (None, 1, 1, 0)


def test_another_runner_or_program_is_not_noise() -> None:
    answer = noise(frame([("A", 1, "u", 1.0), ("B", 1, "u", 9.0), ("A", 2, "u", 5.0)]))
    assert (answer["programs"], answer["pairs"]) == (0, 0)
    assert list(answer["rerolls"].columns) == ["user", "count"]


@examples(40)
@given(ROWS, st.data())
def test_the_runs_of_a_submission_are_measurements_but_no_rerolls(rows: list[Row], data: st.DataObject) -> None:
    more = [data.draw(st.lists(st.floats(row[3], 2.0), max_size=2)) for row in rows]
    every = [(*row[:3], score) for row, others in zip(rows, more, strict=True) for score in (row[3], *others)]
    runs = [(n, row[0], score) for n, row in enumerate(rows) for score in (row[3], *more[n])]
    runs.sort(key=lambda run: -run[0])  # stable: the order in the file need not be that of the submissions
    strange = [(len(rows), "A", 1.0), (0, "C", 1.0)]  # not among the rows
    answer = noise(frame(rows), pd.DataFrame([*runs, *strange], columns=["submission_id", "runner", "score"]))
    sigma, programs, pairs, _ = plain(every)
    assert (answer["programs"], answer["pairs"]) == (programs, pairs)
    assert answer["sigma"] == (None if sigma is None else pytest.approx(sigma, rel=1e-9, abs=1e-12))
    assert dict(zip(answer["rerolls"]["user"], answer["rerolls"]["count"], strict=True)) == plain(rows)[3]
