"""What kbdash should answer, computed a second time: plain Python over the parquet files, no SQL, nothing of kbdash.

Written from the published rules: a row counts when it is a ranked run on a known runner that passed with a finite
score above zero; each user has one row per problem and runner, the lowest score that is not impossible, ties to the
earliest time, then to the lowest id; equal scores share a rank.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import pyarrow.parquet as pq

IMPOSSIBLE = 1e-7
FLOORS = {
    595: 8.27e-06,
    597: 4.27e-06,
    598: 7.20e-06,
    697: 7.20e-06,
    730: 1.203e-05,
    763: 4.0e-06,
    764: 6.2e-06,
    765: 8.86e-06,
}
REPORTED = {(730, 506336), (730, 506188)}
LEGACY_BOARDS = {
    398: ("amd-identity", "MI300"),
    399: ("amd-fp8-mm", "MI300"),
    430: ("amd-mixture-of-experts", "MI300"),
    463: ("amd-mla-decode", "MI300"),
    563: ("amd-all2all", "MI300x8"),
    564: ("amd-gemm-rs", "MI300x8"),
    565: ("amd-ag-gemm", "MI300x8"),
}
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class Row:
    """One submission on one runner; `score` in seconds."""

    file_row: int
    submission_id: int
    leaderboard_id: int
    problem: str
    user_id: str
    user_name: str
    code_id: int
    at: datetime | None
    mode: str | None
    passed: bool | None
    score: float | None
    runner: str | None

    @property
    def counts(self) -> bool:
        return (
            self.runner is not None
            and self.mode == "leaderboard"
            and self.passed is True
            and self.score is not None
            and math.isfinite(self.score)
            and self.score > 0
        )

    @property
    def time(self) -> float:
        """The score of a row that counts."""
        assert self.score is not None
        return self.score

    @property
    def impossible(self) -> bool:
        return self.counts and self.time < IMPOSSIBLE

    @property
    def flags(self) -> frozenset[str]:
        """Kinds of what speaks against a row that counts."""
        kinds = set()
        if self.impossible:
            kinds.add("impossible")
        elif self.time < FLOORS.get(self.leaderboard_id, 0.0):
            kinds.add("below floor")
        if (self.leaderboard_id, self.submission_id) in REPORTED:
            kinds.add("reported")
        return frozenset(kinds)

    @property
    def moment(self) -> tuple[datetime, int]:
        """Key of the order in time."""
        return self.at or _END_OF_TIME, self.submission_id


@dataclass(frozen=True)
class Scope:
    """Which rows of a problem a question is about; days are UTC and inclusive."""

    runner: str | None = None
    since: date | None = None
    until: date | None = None
    flagged: bool = True

    def covers(self, row: Row) -> bool:
        if self.since and (row.at is None or row.at < _midnight(self.since)):
            return False
        if self.until and (row.at is None or row.at >= _midnight(self.until) + timedelta(days=1)):
            return False
        return self.runner is None or row.runner in (self.runner, None)

    def ranks(self, row: Row) -> bool:
        return row.counts and (self.flagged or not row.flags)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def read(path: Path) -> list[Row]:
    """The rows of one file of either family."""
    file = pq.ParquetFile(path)
    names = set(file.schema_arrow.names)
    wanted = names & {*Row.__dataclass_fields__, "problem_name", "submission_time"}
    if "run_mode" not in names:
        return [_flat(number, row) for number, row in enumerate(file.read(columns=sorted(wanted)).to_pylist())]
    runs = file.read(columns=sorted(wanted | {"run_mode", "run_passed", "run_score", "run_system_info"})).to_pylist()
    by_submission = grouped(enumerate(runs), lambda run: (run[1]["submission_id"], _legacy_runner(run[1])))
    return [_legacy(runner, group) for (_, runner), group in by_submission.items()]


def _flat(number: int, row: dict[str, Any]) -> Row:
    return Row(
        file_row=number,
        submission_id=row["submission_id"],
        leaderboard_id=row["leaderboard_id"],
        problem=row["problem_name"],
        user_id=row["user_id"],
        user_name=row["user_name"] or "",
        code_id=row["code_id"],
        at=row["submission_time"],
        mode=row["mode"],
        passed=row["passed"],
        score=row["score"],
        runner=row["runner"],
    )


def _legacy_runner(run: dict[str, Any]) -> str | None:
    """The board's own machine unless the GPU's name tells another; none without a run."""
    if run["run_mode"] is None:
        return None
    own = LEGACY_BOARDS[run["leaderboard_id"]][1]
    gpu = (run["run_system_info"] or {}).get("gpu") or ""
    return own.replace("MI300", "MI325") if gpu.startswith("AMD Instinct MI325X") else own


def _legacy(runner: str | None, group: list[tuple[int, dict[str, Any]]]) -> Row:
    """A submission on one machine: the lowest of its ranked runs that passed, or none."""
    best: Row | None = None
    for number, run in group:
        row = Row(
            file_row=number,
            submission_id=run["submission_id"],
            leaderboard_id=run["leaderboard_id"],
            problem=LEGACY_BOARDS[run["leaderboard_id"]][0],
            user_id=str(run["user_id"]),
            user_name=f"user {run['user_id']}",
            code_id=run["code_id"],
            at=run["submission_time"].replace(tzinfo=UTC),
            mode=run["run_mode"],
            passed=run["run_passed"],
            score=run["run_score"],
            runner=runner,
        )
        if best is None or (row.counts and (not best.counts or row.time < best.time)):
            best = row
    assert best is not None
    return best


def grouped(items: Iterable[Any], key: Callable[[Any], _Key]) -> dict[_Key, list[Any]]:
    """Items by key, in their order."""
    groups: dict[_Key, list[Any]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)


def runners(rows: Iterable[Row]) -> list[str]:
    """The runners of some rows, sorted."""
    return sorted({row.runner for row in rows if row.runner is not None})


def bests(rows: Iterable[Row], scope: Scope) -> list[Row]:
    """Each user's row per runner; `rows` are those of one problem."""
    ranked = [row for row in rows if scope.covers(row) and scope.ranks(row)]
    people = grouped(ranked, lambda row: (row.runner, row.user_id))
    return [min(own, key=lambda row: (row.impossible, row.time, *row.moment)) for own in people.values()]


def leaderboard(rows: Sequence[Row], scope: Scope) -> list[dict[str, Any]]:
    """The ranking of one problem, in no promised order; `flags` are kinds."""
    seen = [row for row in rows if scope.covers(row)]
    board = []
    for runner, field in grouped(bests(seen, scope), lambda row: row.runner).items():
        possible = sorted(row.time for row in field if not row.impossible)
        for row in field:
            ahead = [other for other in field if (other.impossible, other.time) < (row.impossible, row.time)]
            faster = [score for score in possible if score < row.time]
            tries = {s.submission_id for s in seen if s.user_id == row.user_id and s.runner in (runner, None)}
            board.append(
                {
                    "rank": 1 + len(ahead),
                    "user_name": row.user_name,
                    "user_id": row.user_id,
                    "runner": runner,
                    "score": row.score,
                    "gap": row.time - faster[-1] if faster and not row.impossible else None,
                    "ratio": row.time / possible[0] if not row.impossible else None,
                    "submission_id": row.submission_id,
                    "submitted_at": row.at,
                    "submissions": len(tries),
                    "flags": row.flags,
                }
            )
    return board


def standing(rows: Iterable[Row], score: float, scope: Scope) -> tuple[int, int, float, int]:
    """Rank, number of users, share of users it beats, users with the same time."""
    field = bests(rows, scope)
    possible = [row.time for row in field if not row.impossible]
    slower = sum(row.impossible or row.time > score for row in field)
    ties = possible.count(score)
    return 1 + sum(time < score for time in possible), len(field), slower / len(field) if field else 0.0, ties


def records(rows: Iterable[Row], scope: Scope) -> list[dict[str, Any]]:
    """Every row that was strictly faster than all before it on its runner, in time order."""
    seen = [row for row in rows if scope.covers(row)]
    end = max((row.at for row in seen if row.at), default=None)
    found = []
    for runner, scored in grouped(_possible(seen, scope), lambda row: row.runner).items():
        line: list[Row] = []
        for row in sorted(scored, key=lambda row: (row.at or _END_OF_TIME, row.time, row.submission_id)):
            if not line or row.time < line[-1].time:
                line.append(row)
        for place, row in enumerate(line):
            previous = line[place - 1].time if place else None
            following = line[place + 1].at if place + 1 < len(line) else None
            ended = following or end
            found.append(
                {
                    "runner": runner,
                    "user_name": row.user_name,
                    "user_id": row.user_id,
                    "submission_id": row.submission_id,
                    "submitted_at": row.at,
                    "score": row.score,
                    "previous": previous,
                    "gain": None if previous is None else (previous - row.time) / previous,
                    "held_days": (ended - row.at) / timedelta(days=1) if ended and row.at else None,
                    "until_at": following,
                }
            )
    return found


def _possible(rows: Iterable[Row], scope: Scope) -> list[Row]:
    return [row for row in rows if scope.ranks(row) and not row.impossible]


def progression(rows: Iterable[Row], user_id: str, scope: Scope) -> Iterator[dict[str, Any]]:
    """Every attempt of a user in time order with the best so far on its runner."""
    best: dict[str | None, float] = {}
    mine = [row for row in rows if row.user_id == user_id and scope.covers(row)]
    for row in sorted(mine, key=lambda row: (*row.moment, row.runner or "~")):
        eligible = scope.ranks(row) and not row.impossible
        improves = eligible and row.time < best.get(row.runner, math.inf)
        if improves:
            best[row.runner] = row.time
        yield {
            "submission_id": row.submission_id,
            "runner": row.runner,
            "submitted_at": row.at,
            "best_so_far": best.get(row.runner),
            "is_best": improves,
        }


def ladder(rows: Iterable[Row], user_id: str, scope: Scope) -> list[dict[str, Any]]:
    """Each new best of a user on one runner, and what came between; the scope names the runner."""
    steps: list[dict[str, Any]] = []
    attempts = 0
    scores = {(row.submission_id, row.runner): row.score for row in rows}
    for attempt in progression(rows, user_id, scope):
        attempts += 1
        if not attempt["is_best"]:
            continue
        score = scores[attempt["submission_id"], attempt["runner"]]
        last = steps[-1] if steps else None
        steps.append(
            {
                "step": len(steps) + 1,
                "submission_id": attempt["submission_id"],
                "runner": attempt["runner"],
                "submitted_at": attempt["submitted_at"],
                "score": score,
                "gain": (last["score"] - score) / last["score"] if last else None,
                "waited": attempt["submitted_at"] - last["submitted_at"] if last else None,
                "attempts": attempts,
            }
        )
        attempts = 0
    return steps


def summary(rows: Iterable[Row], scope: Scope) -> list[dict[str, Any]]:
    """One entry per runner that has any row."""
    seen = [row for row in rows if scope.covers(row)]
    field = grouped(bests(seen, scope), lambda row: row.runner)
    answer = []
    for runner, own in grouped((row for row in seen if row.runner is not None), lambda row: row.runner).items():
        times = [row.time for row in field.get(runner, []) if not row.impossible]
        moments = [row.at for row in own if row.at]
        answer.append(
            {
                "runner": runner,
                "rows": len(own),
                "passed": sum(row.counts for row in own),
                "users": len(field.get(runner, [])),
                "best": min(times, default=None),
                "median_best": median(times) if times else None,
                "first_at": min(moments, default=None),
                "last_at": max(moments, default=None),
                "rows_without_runner": sum(row.runner is None for row in seen),
            }
        )
    return answer


def spread(rows: Iterable[Row], scope: Scope) -> dict[str, tuple[list[float], list[float]]]:
    """Per runner the scores of the rows that count and of the users' bests, impossible ones left aside."""
    seen = [row for row in rows if scope.covers(row)]
    scores = grouped(_possible(seen, scope), lambda row: row.runner)
    best = grouped((row for row in bests(seen, scope) if not row.impossible), lambda row: row.runner)
    return {r: ([row.time for row in own], [row.time for row in best[r]]) for r, own in scores.items()}
