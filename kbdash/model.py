"""The nouns: files, competitions, boards, runners, and what is known about them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import pandas as pd

Family = Literal["flat", "legacy"]
Statistic = Literal["geom", "last"]


@dataclass(frozen=True)
class DataFile:
    """One parquet file of the dataset; `version` changes whenever its bytes do."""

    name: str
    location: str
    size: int
    version: str


@dataclass(frozen=True)
class Runner:
    """A machine label of the platform and the name a reader knows it by."""

    id: str
    name: str


@dataclass(frozen=True)
class Caveat:
    """Why a number deserves care, and who says so."""

    text: str
    source: str


@dataclass(frozen=True)
class FlagCase:
    """A single submission that is publicly known not to measure what it claims."""

    leaderboard_id: int
    submission_id: int
    reason: str
    source: str


@dataclass(frozen=True)
class Board:
    """One problem with one leaderboard. Times are seconds, `deadline` is UTC."""

    id: int
    name: str
    label: str
    summary: str
    runners: tuple[str, ...]
    deadline: datetime | None = None
    statistic: Statistic = "geom"
    shapes: int | None = None
    speed_of_light: float | None = None
    floor: float | None = None
    caveats: tuple[Caveat, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Competition:
    """A group of boards that share a data file; `files` are alternatives, best first."""

    slug: str
    title: str
    vendor: str
    summary: str
    family: Family
    files: tuple[str, ...]
    boards: tuple[Board, ...]
    caveats: tuple[Caveat, ...] = ()


@dataclass(frozen=True)
class Standing:
    """Where a time would stand; `faster_than` is the share (0 to 1) of users it beats."""

    rank: int
    of: int
    faster_than: float
    ties: int


@dataclass(frozen=True)
class Page:
    """One page of submissions; `page` counts from 1."""

    rows: pd.DataFrame
    total: int
    page: int
    pages: int


@dataclass(frozen=True)
class Submission:
    """One submission on one runner; `file` and `file_row` are the address of its source text."""

    competition: str
    file: str
    file_row: int
    submission_id: int
    leaderboard_id: int | None
    problem: str
    user_id: str
    user_name: str
    code_id: int | None
    file_name: str | None
    submitted_at: datetime | None
    status: str | None
    mode: str | None
    passed: bool | None
    score: float | None
    runner: str | None
    flags: str
    counts: bool
    impossible: bool


@dataclass(frozen=True)
class Placement:
    """A submission among all of its board and runner; times in seconds, None where it has no ranked score."""

    rank: int | None
    of: int
    best: float | None
    users_best: float | None
    is_users_best: bool
    is_personal_best: bool
    best_before: float | None
    best_before_id: int | None
    attempts_before: int
