"""Measurement noise: scores of the same program on one board and runner differ only by noise.

People change a comment and submit again. The log-ratio of two consecutive scores of the same program has the noise of
two measurements; its sigma, estimated by the median absolute deviation, divided by the square root of two, is the
noise of one. Where a file has every run of a submission (AMD legacy), runs are compared instead of submissions; only
sending the same program again counts as a reroll.
A best is the minimum of many tries and therefore biased: it lies below the average score of the same text.
"""

from typing import TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd

LEAST_PAIRS = 8
Longs = npt.NDArray[np.int64]
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
    if runs is not None:
        facts = rows[["runner", "program", "submission_id", "at"]]
        measured = runs.merge(facts, on=["submission_id", "runner"])
    else:
        measured = rows
    measured = measured.dropna(subset=["runner", "program"])
    group, sizes = _grouped(measured, "runner", "program")
    several = sizes[sizes > 1]
    pairs = int((several * (several - 1) // 2).sum())
    return BoardNoise(sigma=_sigma(measured, group), programs=len(several), pairs=pairs, rerolls=_rerolls(rows))


def _grouped(rows: pd.DataFrame, *keys: str) -> tuple[Longs, Longs]:
    """The group of each row, numbered in the order of the keys, and the size of each group.

    A board has many small groups, and there are many boards: pandas's own groups take several times as long.
    """
    number = np.zeros(len(rows), np.int64)
    for key in keys:
        codes, names = pd.factorize(rows[key], sort=True)
        number = number * len(names) + codes
    _, group, sizes = np.unique(number, return_inverse=True, return_counts=True)
    return group, sizes


def _sigma(measured: pd.DataFrame, group: Longs) -> float | None:
    """Estimated from differences of consecutive rows of a group, which need no mean."""
    at, id_ = (measured[name].to_numpy(float, na_value=np.nan) for name in ("at", "submission_id"))
    order = np.lexsort((id_, at, group))
    steps = np.diff(np.log(measured["score"].to_numpy(float)[order]))[np.diff(group[order]) == 0]
    steps = steps[~np.isnan(steps)]
    if len(steps) < LEAST_PAIRS:
        return None
    return float(_NORMAL * np.median(np.abs(steps)) / np.sqrt(2.0))


def _rerolls(rows: pd.DataFrame) -> pd.DataFrame:
    """Users by their last name, and how often each sent a program again; most often first."""
    sent = rows.dropna(subset=["runner", "program", "user_id"])
    group, sizes = _grouped(sent, "runner", "program", "user_id")
    again = np.flatnonzero(sizes[group] > 1)
    again = again[np.argsort(group[again], kind="stable")]
    user, ids = pd.factorize(sent["user_id"].iloc[again], sort=True)
    first = np.diff(group[again], prepend=-1) != 0  # sent for the first time
    count = np.bincount(user[~first], minlength=len(ids))
    name = sent["user_name"].iloc[again]
    known = name.notna().to_numpy(bool)
    last = dict(zip(user[known].tolist(), name[known], strict=True))
    names = pd.Series([last.get(each) for each in range(len(ids))], dtype=object)
    made = pd.DataFrame({"user": names.astype(name.dtype), "count": count})
    return made.sort_values(["count", "user"], ascending=[False, True], kind="stable", ignore_index=True)
