"""Ranks at every moment, against a plain computation over all rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdash.database.standings import lanes, rank_changes, ranks_then
from kbdash.engine import KernelBot

START = pd.Timestamp("2026-01-01", tz="UTC")


def bests_of(runs: list[tuple[int, int]]) -> pd.DataFrame:
    """The personal bests among runs (user, score), one a minute."""
    held: dict[int, float] = {}
    rows = []
    for minute, (user, score) in enumerate(runs):
        if score < held.get(user, np.inf):
            at = START + pd.Timedelta(minutes=minute)
            rows.append((f"u{user}", f"name {user}", "H100", minute, at, float(score), held.get(user, np.nan)))
            held[user] = score
    columns = ["user_id", "user_name", "runner", "submission_id", "submitted_at", "score", "previous"]
    return pd.DataFrame(rows, columns=columns)


def plain_ranks(runs: list[tuple[int, int]]) -> list[dict[str, int]]:
    """Everybody's rank after each run, counted anew each time."""
    told = []
    for count in range(1, len(runs) + 1):
        best: dict[str, int] = {}
        for user, score in runs[:count]:
            best[f"u{user}"] = min(score, best.get(f"u{user}", score))
        told.append({user: 1 + sum(other < mine for other in best.values()) for user, mine in best.items()})
    return told


RUNS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 12)), min_size=1, max_size=30)


@given(RUNS)
@settings(deadline=None)
def test_every_change_of_rank_is_the_one_a_plain_count_finds(runs):
    told = plain_ranks(runs)
    bests = ranks_then(bests_of(runs))
    for row in bests.itertuples():
        assert row.rank == told[row.submission_id][row.user_id]
        assert row.of == len(told[row.submission_id])
    changes = rank_changes(bests, [f"u{user}" for user in range(6)])
    found = {(row.user_id, int((row.at - START).total_seconds() // 60)): row for row in changes.itertuples()}
    for minute, ranks in enumerate(told):
        before = told[minute - 1] if minute else {}
        for user, rank in ranks.items():
            change = found.pop((user, minute), None)
            assert (change is not None) == (before.get(user) != rank)
            if change is not None:
                assert change.rank == rank
                mover = f"u{runs[minute][0]}"
                assert change.by_id == mover if mover != user else pd.isna(change.by_id)
    assert not found


def test_runners_are_ranked_apart():
    """Four users on two runners, counted by hand."""
    bests = bests_of([(0, 9), (1, 8), (2, 7), (3, 9)]).assign(runner=["A100", "H100", "A100", "H100"])
    told = ranks_then(bests)
    assert told["rank"].tolist() == [1, 1, 1, 2]
    assert told["of"].tolist() == [1, 1, 2, 2]


@given(RUNS)
@settings(deadline=None)
def test_lanes_hold_everybody_at_their_place_without_gaps(runs):
    bests = bests_of(runs)
    stays = lanes(bests, 3)
    for place, part in stays.groupby("place"):
        assert part["until"].iloc[:-1].tolist() == part["since"].iloc[1:].tolist()
        assert pd.isna(part["until"].iloc[-1])
        last = bests.groupby("user_id").tail(1).sort_values(["score", "submission_id"])["user_id"].tolist()
        assert part["user_id"].iloc[-1] == last[place - 1]


def test_nobody_has_changes_of_nobody():
    assert rank_changes(ranks_then(bests_of([(1, 5)])), ["nobody"]).empty
    assert rank_changes(ranks_then(bests_of([])), ["u1"]).empty
    assert lanes(bests_of([])).empty


@pytest.mark.parametrize(("problem", "runner"), [("nvfp4_gemm", "NVIDIA"), ("trimul", "A100"), ("amd-fp8-mm", "MI300")])
def test_the_last_ranks_are_those_of_the_leaderboard(kb: KernelBot, problem: str, runner: str):
    board = kb.leaderboard(problem, runner=runner)
    possible = board[board["ratio"].notna()]
    bests = kb.personal_bests(problem, runner=runner)
    assert set(bests["user_id"]) == set(possible["user_id"])
    changes = rank_changes(bests, possible["user_id"])
    final = changes.groupby("user_id")["rank"].last()
    assert final.loc[possible["user_id"]].tolist() == possible["rank"].tolist()
    assert bests.groupby("user_id")["score"].min().loc[possible["user_id"]].tolist() == possible["score"].tolist()
