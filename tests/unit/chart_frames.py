"""Small frames with the columns of the queries, and names that must be shown exactly as they are."""

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd

from kbdash.database.standings import ranks_then

HOSTILE = (
    "<img src=x>",
    "<b>bold</b>",
    "%{y} &lt;",
    "$x$ and $y$",
    "مرحبا",
    "_spatters 🚀",
    "[a](http://b)",
    "<a href='http://b'>a</a>",
    "{meta}",
    "gau.nernst",
)
START = pd.Timestamp("2025-12-01 10:00", tz="UTC")


def name(user: int) -> str:
    return HOSTILE[user % len(HOSTILE)]


def bests(users: int = 12, each: int = 4, *, runner: str = "NVIDIA", seed: int = 1, scale: float = 1.0) -> pd.DataFrame:
    """Personal bests in time order, as the question gives them: ids count up from 1000, scores fall."""
    random = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        score = np.nan
        for hour in sorted(random.choice(500, size=min(each, 1 + user % each + 1), replace=False)):
            previous = score
            score = float(random.uniform(1.0, 1.6)) if np.isnan(score) else score * float(random.uniform(0.8, 0.99))
            rows.append(
                {
                    "user_id": f"u{user}",
                    "user_name": name(user),
                    "runner": runner,
                    "submitted_at": START + pd.Timedelta(hours=int(hour), minutes=user % 60),
                    "score": scale * 1e-5 * score,
                    "previous": scale * 1e-5 * previous,
                }
            )
    frame = pd.DataFrame(rows).sort_values("submitted_at", kind="stable").reset_index(drop=True)
    return ranks_then(frame.assign(submission_id=1000 + np.arange(len(frame))))


def ranked(scores: Sequence[float], runner: str = "NVIDIA") -> pd.DataFrame:
    """A leaderboard of these bests (seconds, ascending); users are u0, u1, …"""
    times = pd.Series(list(scores), dtype=float)
    return pd.DataFrame(
        {
            "rank": times.rank(method="min").astype(int),
            "user_name": [name(user) for user in range(len(times))],
            "user_id": [f"u{user}" for user in range(len(times))],
            "runner": runner,
            "score": times,
            "gap": times.diff(),
            "ratio": times / times.min(),
            "submission_id": 100 + np.arange(len(times)),
            "submitted_at": START,
            "submissions": 3,
            "flags": "",
        }
    )


def attempts(user: int = 0) -> pd.DataFrame:
    """Runs of one user: every third fails, every fourth is a new best."""
    rows = []
    for number in range(12):
        failed = number % 3 == 2
        rows.append(
            {
                "user_id": f"u{user}",
                "user_name": name(user),
                "runner": None if failed else "NVIDIA",
                "submission_id": 5000 + number,
                "submitted_at": START + pd.Timedelta(hours=number),
                "score": np.nan if failed else 1e-5 * (1.2 - number / 100),
                "passed": not failed,
                "status": "failed" if failed else "succeeded",
                "is_best": number % 4 == 0 and not failed,
                "flags": "",
            }
        )
    return pd.DataFrame(rows)


def ratios(*runners: str) -> pd.DataFrame:
    speed = {name: 2.0**-at for at, name in enumerate(runners)}
    rows = []
    for kind, pairs in (("same code", 7), ("same user best", 3)):
        for a in runners:
            for b in runners:
                if a != b:
                    ratio = speed[a] / speed[b]
                    spread = [ratio * (1 + step / 20) for step in range(pairs)]
                    rows.append((kind, a, b, pairs, ratio, ratio * 0.9, ratio * 1.1, spread))
    columns = ["kind", "runner_a", "runner_b", "pairs", "ratio", "low", "high", "ratios"]
    return pd.DataFrame(rows, columns=columns)


def pairs(users: int = 9) -> pd.DataFrame:
    place = np.arange(users)
    return pd.DataFrame(
        {
            "user_id": [f"u{user}" for user in place],
            "user_name": [name(user) for user in place],
            "score_a": 1e-5 * (1 + place / 50),
            "score_b": 1e-5 * (1 + place / 50) * np.where(place % 2, 1.03, 0.98),
            "rank_a": 1 + place,
            "rank_b": 1 + place,
            "submission_a": 100 + place,
            "submission_b": 900 + place,
            "runner_a": "NVIDIA",
            "runner_b": "B200",
        }
    )


def contested(boards: int = 3) -> pd.DataFrame:
    """Boards with 1, 2, 3 … users of whom the slowest is far off."""
    rows = []
    for board in range(boards):
        best = 1e-5 * (board + 1)
        times = [best, best * 1.01, best * 1.2]
        rows.append(
            {
                "competition": "one" if board % 2 else "<b>two</b>",
                "problem": f"<img src=x> {board}",
                "leaderboard_id": board,
                "runner": "H100",
                "users": board + 1,
                "median": best * (9 if board == 2 else 1.5),
                "best": best,
                "second": times[1] if board > 0 else np.nan,
                "third": times[2] if board > 1 else np.nan,
                "tenth": np.nan,
                "user_ids": [f"u{place}" for place in range(min(board + 1, 3))],
                "user_names": [name(place) for place in range(min(board + 1, 3))],
                "submission_ids": [10 * board + place for place in range(min(board + 1, 3))],
            }
        )
    return pd.DataFrame(rows)


def weekly(boards: int = 3, weeks: int = 5) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "competition": "one" if board % 2 else "<b>two</b>",
                "problem": f"<img src=x> {board}",
                "leaderboard_id": board,
                "week": (START + pd.Timedelta(weeks=week)).date(),
                "submissions": week + 1,
                "record_at": START if board else pd.NaT,
                "user_id": "u0",
                "user_name": HOSTILE[0],
                "submission_id": 7 + board,
                "runner": "H100",
                "score": 1e-5 if board else np.nan,
            }
            for board in range(boards)
            for week in range(weeks)
        ]
    )


def user_field(boards: int = 3) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "competition": "one",
                "problem": f"<img src=x> {board}",
                "leaderboard_id": board,
                "runner": "B200",
                "users": 4,
                "best": 1e-5,
                "ratios": [1.0, 1.5, 2.0, 8.0],
                "slowest": 8.0,
                "user_name": HOSTILE[1],
                "rank": board + 2,
                "score": 1e-5 * (1.5, 2.0, 8.0)[board % 3],
                "submission_id": 40 + board,
            }
            for board in range(boards)
        ]
    )


def ladder(steps: int = 6) -> pd.DataFrame:
    scores = [1e-4, *(1e-5 * 0.98**step for step in range(steps - 1))][:steps]
    return pd.DataFrame(
        {
            "step": 1 + np.arange(steps),
            "submission_id": 60 + np.arange(steps),
            "runner": "NVIDIA",
            "submitted_at": [START + pd.Timedelta(hours=step) for step in range(steps)],
            "score": scores,
            "gain": [np.nan, *(1 - after / before for before, after in pairwise(scores))],
            "rank": pd.array([steps - step for step in range(steps)], dtype="Int64"),
        }
    )


def records() -> pd.DataFrame:
    """The record fell an hour before the first step, and again between the second and the third."""
    moments = [START - pd.Timedelta(hours=1), START + pd.Timedelta(minutes=90)]
    return pd.DataFrame({"submitted_at": moments, "score": [1.1e-5, 0.97e-5]})


def status_days(days: int = 5) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"day": (START + pd.Timedelta(days=day)).date(), "status": name, "rows": rows, "passed": passed}
            for day in range(days)
            for name, rows, passed in (("succeeded", 60, 60), ("failed", 30, 0), ("<img src=x>", 10, 0))
        ]
    )


def shapes(users: int = 3, count: int = 4) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "user_id": f"u{user}",
                "user_name": HOSTILE[user],
                "runner": "MI300",
                "submission_id": 500 + user,
                "shape": shape,
                "spec": f"<img src=x>: 1; m: {shape}",
                "mean_ns": 50_000.0 * (1 + shape) * (1 + user / 2),
                "std_ns": np.nan if user else 100.0,
            }
            for user in range(users)
            for shape in range(count)
        ]
    )


def weeks_held(weeks: int = 5) -> pd.DataFrame:
    """Weeks in which something was held, and by how many for the first time."""
    days = [date(2025, 12, 1) + timedelta(weeks=week) for week in range(weeks)]
    return pd.DataFrame({"week": days, "submissions": range(3, 3 + weeks), "users": 2, "new_users": 1})


def bests_held(users: int = 12) -> pd.DataFrame:
    """Users' bests on two boards, every third of which holds something."""
    boards = [
        pd.DataFrame(
            {
                "competition": "one",
                "problem": problem,
                "runner": "B200",
                "user_id": [f"u{user}" for user in range(users)],
                "user_name": [name(user) for user in range(users)],
                "submission_id": range(100, 100 + users),
                "score": [1e-5 * (1 + user / 9) for user in range(users)],
                "holds": [user % 3 == 0 for user in range(users)],
            }
        )
        for problem in ("<b>one</b>", "two")
    ]
    return pd.concat(boards, ignore_index=True)


def first_uses(users: int = 9) -> pd.DataFrame:
    """When users first used two techniques."""
    moments = pd.date_range("2025-12-01", periods=users, freq="D", tz="UTC")
    part = pd.DataFrame({"user_id": [f"u{user}" for user in range(users)], "first_at": moments, "submission_id": 7})
    return pd.concat([part.assign(facet=facet) for facet in ("tma", "triton")], ignore_index=True)
