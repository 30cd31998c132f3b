"""How much work a new view takes, counted in function calls, which are the same on every machine."""

import cProfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from kbdash.database.standings import rank_changes, ranks_then
from kbdash.view import CompetitionView, href


def calls(function: Callable[[], object]) -> int:
    """How many functions are called."""
    profile = cProfile.Profile()
    profile.runcall(function)
    return sum(entry.callcount for entry in profile.getstats())


def test_the_links_of_a_table_quote_what_they_share_once() -> None:
    view = CompetitionView(problem="nvfp4_gemm", runner="B200", tab="progression", order="-score")
    others = [replace(view, users=(str(number),)) for number in range(200)]
    href("nvfp4", view)
    assert calls(lambda: [href("nvfp4", each) for each in others]) < 75 * len(others)


def test_rank_changes_cost_little_more_than_there_are_changes() -> None:
    count, users = 2_000, 100
    scores = 1.0 / np.arange(1, count + 1)  # each best is the record, so everybody is passed all the time
    bests = pd.DataFrame(
        {
            "user_id": [str(place % users) for place in range(count)],
            "user_name": [f"user {place % users}" for place in range(count)],
            "runner": "B200",
            "submitted_at": pd.date_range("2026-01-01", periods=count, freq="h", tz="UTC"),
            "submission_id": np.arange(count),
            "score": scores,
            "previous": [scores[place - users] if place >= users else None for place in range(count)],
        }
    )
    ranked = ranks_then(bests)
    wanted = [str(user) for user in range(10)]
    assert len(rank_changes(ranked, wanted)) > 10_000
    assert calls(lambda: rank_changes(ranked, wanted)) < 100_000
