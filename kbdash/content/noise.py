"""Measurement noise: scores of the same program on one board and runner differ only by noise.

People change a comment and submit again. The log-ratio of two consecutive scores of the same program has the noise of
two measurements; its sigma, estimated by the median absolute deviation, divided by the square root of two, is the
noise of one. Where a file has every run of a submission (AMD legacy), runs are compared instead of submissions; only
sending the same program again counts as a reroll.
A best is the minimum of many tries and therefore biased: it lies below the average score of the same text.
"""

from typing import TypedDict

import numpy as np
import pandas as pd

LEAST_PAIRS = 8
_NORMAL = 1.4826  # the median absolute deviation of a normal distribution, as a share of its sigma


class BoardNoise(TypedDict):
    """`sigma`: relative, of one measurement, None where too few; `pairs`: of equal programs; `rerolls`: user, count."""

    sigma: float | None
    programs: int
    pairs: int
    rerolls: pd.DataFrame


class Noise(BoardNoise):
    """`shapes`: shape, spec, ranked_runs, std (relative, of one timing within a run); no rows if none logged."""

    shapes: pd.DataFrame


def noise(rows: pd.DataFrame, runs: pd.DataFrame | None = None) -> BoardNoise:
    """Noise of ranked rows (program, user_name, score in seconds, runner); programs are compared per runner.

    `runs` are their runs in order (submission_id, runner, score), if a submission has several; others are ignored.
    """
    keys = ["runner", "program"]
    submissions = rows[[*keys, "submission_id", "at"]]
    measured = rows if runs is None else runs.merge(submissions, on=["submission_id", "runner"])
    size = measured.groupby(keys)["score"].transform("size")
    again = measured[size > 1]
    sizes = again.groupby(keys).size().to_numpy()
    pairs = int((sizes * (sizes - 1) // 2).sum())
    own = rows.groupby([*keys, "user_id"]).agg(user=("user_name", "last"), count=("score", "size")).reset_index()
    own["count"] -= 1
    rerolls = own[own["count"] > 0].groupby("user_id").agg(user=("user", "last"), count=("count", "sum"))
    rerolls = rerolls.sort_values(["count", "user"], ascending=[False, True], kind="stable").reset_index(drop=True)
    return BoardNoise(sigma=_sigma(again), programs=len(sizes), pairs=pairs, rerolls=rerolls)


def _sigma(again: pd.DataFrame) -> float | None:
    """Estimated from differences of consecutive rows, which need no mean."""
    ordered = again.sort_values(["runner", "program", "at", "submission_id"], kind="stable")
    ordered = ordered.assign(log=np.log(ordered["score"].to_numpy(float)))
    steps = ordered.groupby(["runner", "program"])["log"].diff().dropna()
    if len(steps) < LEAST_PAIRS:
        return None
    return float(_NORMAL * np.median(np.abs(steps)) / np.sqrt(2.0))
