"""What kbdash should answer, computed a second time: plain Python over the parquet files, no SQL, nothing of kbdash.

Written from the published rules: a row counts when it is a ranked run on a known runner that passed with a finite
score above zero; each user has one row per problem and runner, the lowest score that is not impossible, ties to the
earliest time, then to the lowest id; equal scores share a rank.
"""

import hashlib
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
REPORTED = "its user has told that a submission of that day batched all timed calls into one launch"
NEWS = "GPU MODE news of 2026-03-09"
REPORTS = [(730, 506336, None, "reported", REPORTED, NEWS), (730, 506188, None, "reported", REPORTED, NEWS)]
"""Board, submission, machine (None: all), kind, reason and source of what is known of single submissions."""
LONGEST = 500
LONGEST_RUN = 1e9
FIRST_TIME, LAST_TIME = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
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
    leaderboard_id: int | None
    problem: str
    user_id: str
    user_name: str
    code_id: int | None
    at: datetime | None
    mode: str | None
    passed: bool | None
    score: float | None
    runner: str | None
    status: str | None = None
    file_name: str | None = None

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
    def too_fast(self) -> bool:
        return self.score is not None and self.score < IMPOSSIBLE

    @property
    def impossible(self) -> bool:
        return self.counts and self.too_fast

    @property
    def eligible(self) -> bool:
        """Whether it can be somebody's best."""
        return self.counts and not self.too_fast

    @property
    def flag_rows(self) -> list[tuple[str, str, str]]:
        """Kind, reason and source of what speaks against a row that passed, ranked or not: rules, then reports."""
        if self.passed is not True:
            return []
        found = []
        floor = FLOORS.get(self.leaderboard_id or 0, 0.0)
        if self.too_fast:
            found.append(("impossible", "under 100 ns", "rule: no launch is that fast"))
        elif self.score is not None and self.score < floor:
            reason = f"under the heuristic bound of {round(floor * 1e6, 2)} µs"
            found.append(("below floor", reason, "roofline bounds of gpu-mode/kernelguard"))
        own = (self.leaderboard_id, self.submission_id)
        return found + sorted(what for *whose, runner, kind, reason, source in REPORTS
                              if tuple(whose) == own and runner in (None, self.runner)
                              for what in [(kind, reason, source)])  # fmt: skip

    @property
    def flags(self) -> frozenset[str]:
        """Kinds of what speaks against it."""
        return frozenset(kind for kind, _, _ in self.flag_rows)

    @property
    def flag_text(self) -> str:
        return "; ".join(f"{kind}: {reason}" for kind, reason, _ in self.flag_rows)

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

    def shows(self, row: Row) -> bool:
        """Whether a row is among those that are counted."""
        return self.covers(row) and (self.flagged or not row.flags)

    def ranks(self, row: Row) -> bool:
        return row.counts and (self.flagged or not row.flags)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def read(path: Path) -> list[Row]:
    """The rows of one file of either family; one without an id is none."""
    file = pq.ParquetFile(path)
    names = set(file.schema_arrow.names)
    wanted = names & {*Row.__dataclass_fields__, "problem_name", "submission_time"}
    if "run_mode" not in names:
        flat = enumerate(file.read(columns=sorted(wanted)).to_pylist())
        return [_flat(number, row) for number, row in flat if row["submission_id"] is not None]
    runs = file.read(columns=sorted(wanted | {"run_mode", "run_passed", "run_score", "run_system_info"})).to_pylist()
    told = [
        (number, run | {"run_score": as_score(run["run_score"])})
        for number, run in enumerate(runs)
        if run["submission_id"] is not None
    ]
    by_submission = grouped(told, lambda run: (run[1]["submission_id"], _legacy_runner(run[1])))
    return [_legacy(runner, group) for (_, runner), group in by_submission.items()]


def _flat(number: int, row: dict[str, Any]) -> Row:
    return Row(
        file_row=number,
        submission_id=row["submission_id"],
        leaderboard_id=row["leaderboard_id"],
        problem=short(row["problem_name"]),
        user_id=short(row["user_id"]),
        user_name=short(row["user_name"] or ""),
        code_id=row["code_id"],
        at=possible(row["submission_time"]),
        mode=row["mode"],
        passed=row["passed"],
        score=as_score(row["score"]),
        runner=short(row["runner"]),
        status=short(row.get("status")),
        file_name=short(row.get("file_name")),
    )


def short(text: Any) -> Any:
    """A text of which at most 500 characters are kept, with a digest of the whole where it is longer."""
    if text is None or len(text) <= LONGEST:
        return text
    return f"{text[:480]}… {hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:10]}"


def possible(at: datetime | None) -> datetime | None:
    """A time at which something can have been submitted."""
    return at if at is not None and FIRST_TIME <= at < LAST_TIME else None


def as_score(seconds: float | None) -> float | None:
    """A score; what no run can take is infinity of its sign."""
    return seconds if seconds is None or not abs(seconds) >= LONGEST_RUN else math.copysign(math.inf, seconds)


def _legacy_runner(run: dict[str, Any]) -> str | None:
    """The board's own machine unless the GPU's name tells another; none without a run; elsewhere the GPU's name."""
    if run["run_mode"] is None:
        return None
    gpu = (run["run_system_info"] or {}).get("gpu")
    if run["leaderboard_id"] not in LEGACY_BOARDS:
        return short(gpu)
    own = LEGACY_BOARDS[run["leaderboard_id"]][1]
    return own.replace("MI300", "MI325") if (gpu or "").startswith("AMD Instinct MI325X") else own


def _legacy(runner: str | None, group: list[tuple[int, dict[str, Any]]]) -> Row:
    """A submission on one machine: its score is the lowest of its ranked runs that passed, its mode the furthest."""
    runs = [run for _, run in group]
    ranked = [run for run in runs if run["run_mode"] == "leaderboard"]
    good = [run for run in ranked if run["run_passed"]]
    usable = [run for run in good if (score := run["run_score"]) is not None and math.isfinite(score) and score > 0]
    ran = any(run["run_mode"] is not None for run in runs)
    passed = bool(good) if ranked else all(run["run_passed"] is True for run in runs) if ran else None
    first = min(group, key=lambda item: (item[1] not in usable, _lowest([item[1]]) is None, *_rank(item[1]), item[0]))
    run = runs[0]
    return Row(
        file_row=first[0],
        submission_id=run["submission_id"],
        leaderboard_id=run["leaderboard_id"],
        problem=LEGACY_BOARDS.get(run["leaderboard_id"], (f"board-{run['leaderboard_id']}",))[0],
        user_id=str(run["user_id"]),
        user_name=f"user {run['user_id']}",
        code_id=run["code_id"],
        at=run["submission_time"].replace(tzinfo=UTC),
        mode=max((run["run_mode"] for run in runs), key=lambda mode: STAGES.get(mode, 0)),
        passed=passed,
        score=_lowest(usable or good or runs),
        runner=runner,
        status=("succeeded" if passed else "failed") if ran else "no run",
        file_name=run.get("file_name"),
    )


def ranked_runs(path: Path, problem: str, runner: str | None) -> list[tuple[int, dict[str, Any], str | None]]:
    """The ranked runs of a board of a legacy file: place in the file, run and runner."""
    found = []
    for number, run in enumerate(pq.read_table(path).to_pylist()):
        own, score = _legacy_runner(run), as_score(run["run_score"]) or 0.0
        is_ranked = run["run_mode"] == "leaderboard" and run["run_passed"] and math.isfinite(score) and score > 0
        board = LEGACY_BOARDS.get(run["leaderboard_id"], (f"board-{run['leaderboard_id']}",))[0]
        if is_ranked and run["submission_id"] is not None and board == problem and runner in (None, own):
            found.append((number, run, own))
    return found


STAGES = {"leaderboard": 3, "benchmark": 2, "test": 1}


def _rank(run: dict[str, Any]) -> tuple[bool, float]:
    """Key of the order of scores: numbers, then what is no number, then nothing."""
    score = run["run_score"]
    return score is not None and math.isnan(score), 0.0 if score is None or math.isnan(score) else score


def _lowest(runs: list[dict[str, Any]]) -> float | None:
    told = [run for run in runs if run["run_score"] is not None]
    return min(told, key=_rank)["run_score"] if told else None


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
    seen = [row for row in rows if scope.shows(row)]
    board = []
    for runner, field in grouped(bests(seen, scope), lambda row: row.runner).items():
        possible = sorted(row.time for row in field if not row.impossible)
        for row in field:
            ahead = [other for other in field if (other.impossible, other.time) < (row.impossible, row.time)]
            faster = [score for score in possible if score < row.time]
            tries = [s for s in seen if s.user_id == row.user_id and s.runner == runner]
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


def records(rows: Sequence[Row], scope: Scope, board: Sequence[Row] | None = None) -> list[dict[str, Any]]:
    """Every row that was strictly faster than all before it on its runner, in time order.

    The last record stands until the last row of the board, of which `rows` may be a part.
    """
    seen = [row for row in rows if scope.covers(row)]
    end = max((row.at for row in board or seen if row.at and scope.covers(row)), default=None)
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
                    "flags": row.flags,
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
    seen = [row for row in rows if scope.shows(row)]
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
                "pass_rate": sum(row.counts for row in own) / len(own),
            }
        )
    return answer


def spread(rows: Iterable[Row], scope: Scope) -> dict[str, tuple[list[float], list[float]]]:
    """Per runner the scores of the rows that count and of the users' bests, impossible ones left aside."""
    seen = [row for row in rows if scope.covers(row)]
    scores = grouped(_possible(seen, scope), lambda row: row.runner)
    best = grouped((row for row in bests(seen, scope) if not row.impossible), lambda row: row.runner)
    return {r: ([row.time for row in own], [row.time for row in best[r]]) for r, own in scores.items()}
