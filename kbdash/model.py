"""The nouns: files, competitions, boards, runners, and what is known about them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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
