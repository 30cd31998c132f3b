"""The nouns: files, competitions, boards, runners, and what is known about them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import pandas as pd

LARGEST_ID = 2**63 - 1
Family = Literal["flat", "legacy"]


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
    """Why to be careful with a number, and the source of that advice."""

    text: str
    source: str


@dataclass(frozen=True)
class FlagCase:
    """Something known about a single submission, on one runner or (None) on all runners."""

    leaderboard_id: int
    submission_id: int
    reason: str
    source: str
    runner: str | None = None
    kind: str = "reported"


@dataclass(frozen=True)
class Board:
    """One problem with one leaderboard. Times are seconds, `deadline` is UTC."""

    id: int
    name: str
    label: str
    summary: str
    runners: tuple[str, ...]
    deadline: datetime | None = None
    speed_of_light: float | None = None
    floor: float | None = None
    caveats: tuple[Caveat, ...] = ()
    aliases: tuple[str, ...] = ()
    twin: str | None = None
    """Name of the board with the same task on another kind of machine."""
    machines: str = ""
    """What its machines are called beside those of its twin."""


@dataclass(frozen=True)
class Competition:
    """A group of boards that share a data file; `files` are alternatives, best first.

    `family` is the schema of the file. The capabilities say what its rows can be used for: `linkable` (user
    and code ids mean the same in all linkable competitions), `has_runs` (every run of a submission), `has_shapes`
    (timings per benchmark shape), `anonymous` (users are numbers without a name). `unfiltered` files were exported
    before secret-run filtering (2026-06-18), so a rank can differ from gpumode.com.
    """

    slug: str
    title: str
    vendor: str
    summary: str
    family: Family
    files: tuple[str, ...]
    boards: tuple[Board, ...]
    caveats: tuple[Caveat, ...] = ()
    linkable: bool = True
    has_runs: bool = False
    has_shapes: bool = False
    anonymous: bool = False
    unfiltered: bool = False


@dataclass(frozen=True)
class Standing:
    """The rank a time would have; `faster_than` is the share (0 to 1) of users it beats."""

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
    eligible: bool
    copies: int = 1
    """Rows with this id and runner in the file; of several, this is the one the ranking takes."""


@dataclass(frozen=True)
class Placement:
    """Where a submission stands among all of its board and runner; times in seconds, None without a ranked score."""

    rank: int | None
    of: int
    best: float | None
    users_best: float | None
    is_users_best: bool
    is_personal_best: bool
    best_before: float | None
    best_before_id: int | None
    attempts_before: int
