"""Small frames with the columns of the queries, and names that must be shown exactly as they are."""

import numpy as np
import pandas as pd

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
NO_ATTEMPTS = {
    "user_id": str,
    "user_name": str,
    "runner": str,
    "submission_id": int,
    "submitted_at": "datetime64[us, UTC]",
    "score": float,
    "passed": bool,
    "status": str,
    "best_so_far": float,
    "is_best": bool,
    "flags": str,
}
NO_RECORDS = {
    name: NO_ATTEMPTS[name] for name in ("runner", "user_name", "user_id", "submission_id", "submitted_at", "score")
}


def empty(columns: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in columns.items()})


def attempts(users: int = 3, each: int = 8, *, runner: str = "NVIDIA", start: pd.Timestamp = START) -> pd.DataFrame:
    """Every third attempt fails, the others get faster by a tenth; ids count up from 1000."""
    rows = []
    for user in range(users):
        best = np.nan
        for number in range(each):
            failed = number % 3 == 2
            score = np.nan if failed else 1e-5 * (1 + user) * 0.9**number
            is_best = not failed
            best = score if is_best else best
            rows.append(
                {
                    "user_id": f"u{user}",
                    "user_name": HOSTILE[user],
                    "runner": None if failed else runner,
                    "submission_id": 1000 + len(rows),
                    "submitted_at": start + pd.Timedelta(hours=number * users + user),
                    "score": score,
                    "passed": not failed,
                    "status": "failed" if failed else "succeeded",
                    "best_so_far": best,
                    "is_best": is_best,
                    "flags": "",
                }
            )
    return pd.DataFrame(rows).sort_values("submitted_at").reset_index(drop=True)


def records(frame: pd.DataFrame) -> pd.DataFrame:
    """The attempts that were faster than all before them on their runner."""
    timed = frame[frame["passed"]].sort_values("submitted_at")
    before = timed.groupby("runner")["score"].transform(lambda scores: scores.cummin().shift(fill_value=np.inf))
    return timed[timed["score"] < before][list(NO_RECORDS)]


def bins(*runners: str) -> pd.DataFrame:
    edges = np.geomspace(1e-5, 1e-3, 9)
    rows, users = [5, 40, 30, 0, 12, 6, 0, 2], [1, 5, 3, 0, 2, 0, 0, 1]
    parts = [
        pd.DataFrame({"runner": name, "lo": edges[:-1] * scale, "hi": edges[1:] * scale, "rows": rows, "users": users})
        for scale, name in enumerate(runners, start=1)
    ]
    return pd.concat(parts)[lambda frame: (frame["rows"] > 0) | (frame["users"] > 0)]


def cumulative(*runners: str) -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {"runner": name, "score": np.array([1e-5, 2e-5, 5e-5, 4e-4]) * scale, "share": [0.25, 0.5, 0.75, 1]}
        )
        for scale, name in enumerate(runners, start=1)
    ]
    return pd.concat(parts)


def summary(*runners: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"runner": name, "best": 1e-5 * at, "median_best": 4e-5 * at, "users": 12}
            for at, name in enumerate(runners, 1)
        ]
    )


def rank_history(users: int = 10, steps: int = 20) -> pd.DataFrame:
    """Ranks that improve towards their final place: the first user ends first."""
    return pd.DataFrame(
        [
            {
                "at": START + pd.Timedelta(days=step),
                "user_id": f"u{user}",
                "user_name": HOSTILE[user % len(HOSTILE)],
                "rank": user + 1 + 2 * (steps - 1 - step),
                "score": 1e-5 * (user + 1),
            }
            for step in range(steps)
            for user in range(users)
        ]
    )


def ratios(*runners: str) -> pd.DataFrame:
    speed = {name: 2.0**-at for at, name in enumerate(runners)}
    return pd.DataFrame(
        [
            {"runner_a": a, "runner_b": b, "pairs": 1234, "ratio": speed[b] / speed[a], "kind": kind}
            for kind in ("same code", "same user best")
            for a in runners
            for b in runners
            if a != b
        ]
    )


def pairs(users: int = 9) -> pd.DataFrame:
    place = np.arange(users)
    return pd.DataFrame(
        {
            "user_id": [f"u{user}" for user in place],
            "user_name": [HOSTILE[user % len(HOSTILE)] for user in place],
            "score_a": 1e-5 * (1 + place),
            "score_b": 1.1e-5 * (1 + place),
            "rank_a": 1 + place,
            "rank_b": 1 + place,
            "submission_a": 100 + place,
            "submission_b": 900 + place,
            "runner_a": "NVIDIA",
            "runner_b": "B200",
        }
    )


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
                "spec": f"<img src=x>; m: {shape}",
                "mean_ns": 50_000.0 * (1 + shape) * (1 + user / 2),
                "std_ns": np.nan if user else 100.0,
            }
            for user in range(users)
            for shape in range(count)
        ]
    )
