"""What the questions behind the charts should answer, as whole frames. Plain Python, written from their sentences."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.unit import reference
from tests.unit.reference import Row, Scope, bests, grouped
from tests.unit.reference_boards import Answer, eligible, in_time, last, seconds, seen, timing
from tests.unit.reference_people import by_board, number_of

ALL = Scope()
MOST_RATIOS = 150


def distribution(rows: Sequence[Row], scope: Scope, bins: int) -> Answer:
    own = eligible(rows, scope)
    people = [row for row in bests(seen(rows, scope), scope) if not row.impossible]
    if not own:
        return []
    low, high = (math.log(edge(row.time for row in own)) for edge in (min, max))
    width = max(high - low, 1e-9) / bins
    found: dict[tuple[Any, int], list[int]] = {}
    for kind, group in enumerate((own, people)):
        for row in group:
            place = min(bins - 1, math.floor((math.log(row.time) - low) / width))
            found.setdefault((row.runner, place), [0, 0])[kind] += 1
    return [
        {"runner": runner, "lo": math.exp(low + place * width), "hi": math.exp(low + (place + 1) * width),
         "rows": counts[0], "users": counts[1]}
        for (runner, place), counts in sorted(found.items())
    ]  # fmt: skip


def personal_bests(rows: Sequence[Row], scope: Scope) -> Answer:
    answer = []
    for runner, own in sorted(grouped(eligible(rows, scope), lambda row: row.runner).items()):
        best: dict[str, float] = {}
        for row in sorted(own, key=in_time):
            previous = best.get(row.user_id)
            if previous is not None and row.time >= previous:
                continue
            best[row.user_id] = row.time
            answer.append(
                {"user_id": row.user_id, "user_name": row.user_name, "runner": runner,
                 "submission_id": row.submission_id, "submitted_at": row.at, "score": row.score,
                 "previous": previous, "rank": 1 + sum(time < row.time for time in best.values()), "of": len(best)}
            )  # fmt: skip
    return answer


def rank_history(rows: Sequence[Row], scope: Scope, top: int, steps: int) -> Answer:
    """Rank of the present leaders at equal steps; what has no time counts from the last step on."""
    scored = [row for row in eligible(rows, scope) if row.runner == scope.runner]
    if not scored:
        return []
    board = [row for row in reference.leaderboard(rows, scope) if row["ratio"] is not None]
    board.sort(key=lambda row: (row["rank"], last(row["submitted_at"]), row["user_id"]))
    leaders = {row["user_id"]: row["user_name"] for row in board[:top]}
    moments = [moment for row in scored if (moment := seconds(row)) is not None]
    first, width = min(moments), max(moments) - min(moments)
    answer = []
    for step in range(1, steps + 1):
        standing = {
            user: min(row.time for row in own)
            for user, own in grouped(
                (row for row in scored if _step(seconds(row), first, width, steps) <= step), lambda row: row.user_id
            ).items()
        }
        at = datetime.fromtimestamp(first + width * step / steps, UTC)
        answer += sorted(
            ({"at": at, "user_id": user, "user_name": leaders[user],
              "rank": 1 + sum(time < score for time in standing.values()), "score": score}
             for user, score in standing.items() if user in leaders),
            key=lambda row: (row["rank"], row["user_id"]),
        )  # fmt: skip
    return answer


def _step(moment: float | None, first: float, width: float, steps: int) -> int:
    if moment is None:
        return steps
    return max(1, min(steps, math.ceil(steps * (moment - first) / max(width, 1e-9))))


def runner_ratios(rows: Sequence[Row], scope: Scope) -> Answer:
    everywhere = Scope(None, scope.since, scope.until, scope.flagged)
    possible = eligible(rows, everywhere)
    coded = (row for row in possible if row.code_id is not None)
    codes = grouped(coded, lambda row: ("same code", row.user_id, row.code_id, row.runner))
    people = grouped(possible, lambda row: ("same user best", row.user_id, None, row.runner))
    times = {key: min(row.time for row in own) for key, own in (codes | people).items()}
    found: dict[tuple[str, str, str], list[float]] = {}
    for (kind, user, code, a), time_a in times.items():
        for (kind_b, user_b, code_b, b), time_b in times.items():
            if (kind, user, code) == (kind_b, user_b, code_b) and a != b and scope.runner in (None, a, b):
                found.setdefault((kind, str(a), str(b)), []).append(time_b / time_a)
    return [
        {"kind": kind, "runner_a": a, "runner_b": b, "pairs": len(ratios), "ratio": median(ratios),
         "low": float(np.quantile(ratios, 0.25)), "high": float(np.quantile(ratios, 0.75)),
         "ratios": picked(sorted(ratios), 1)}
        for (kind, a, b), ratios in sorted(found.items())
    ]  # fmt: skip


def picked(values: Sequence[float], first: int) -> list[float]:
    """The first ones, and about 150 of all, evenly picked."""
    stride = math.ceil(len(values) / MOST_RATIOS)
    return [value for place, value in enumerate(values, 1) if place <= first or place % stride == 0]


def status_over_time(rows: Sequence[Row], scope: Scope) -> Answer:
    days = grouped(seen(rows, scope), lambda row: (row.at.date() if row.at else None, row.status or "unknown"))
    return [
        {"day": day, "status": status, "rows": len(own), "passed": sum(row.counts for row in own)}
        for (day, status), own in sorted(days.items(), key=lambda one: (last_day(one[0][0]), one[0][1]))
    ]


def last_day(day: Any) -> tuple[bool, Any]:
    return day is None, day.isoformat() if day else ""


def contested(rows: Mapping[str, Sequence[Row]]) -> Answer:
    answer = []
    for slug, everything in rows.items():
        for problem, own in sorted(by_board(everything), key=lambda board: last(board[0] or None)):
            field = sorted(
                (row for row in bests(own, ALL) if not row.impossible),
                key=lambda row: (row.time, *row.moment, row.runner),
            )
            if not field:
                continue
            times = [row.time for row in field if row.runner == field[0].runner]
            three = [row for row in field if row.runner == field[0].runner][:3]
            place = dict(enumerate(times, 1))
            answer.append(
                {"competition": slug, "problem": problem, "runner": field[0].runner, "users": len(times),
                 "median": median(times), "best": times[0], "second": place.get(2), "third": place.get(3),
                 "tenth": place.get(10), "user_ids": [row.user_id for row in three],
                 "user_names": [row.user_name for row in three],
                 "submission_ids": [str(row.submission_id) for row in three]}
            )  # fmt: skip
    return answer


def weekly(rows: Mapping[str, Sequence[Row]]) -> Answer:
    answer = []
    for slug, everything in rows.items():
        for problem, own in by_board(everything):
            best = min(
                (row for row in own if row.eligible), key=lambda row: (row.time, *row.moment, row.runner), default=None
            )
            weeks = grouped(own, lambda row: row.at.date() - timedelta(days=row.at.weekday()) if row.at else None)
            for week, some in sorted(weeks.items(), key=lambda one: last_day(one[0])):
                answer.append(
                    {"competition": slug, "problem": problem, "leaderboard_id": number_of(own), "week": week,
                     "submissions": len(some), "record_at": best and best.at,
                     "user_id": best and best.user_id, "user_name": best and best.user_name,
                     "submission_id": best and best.submission_id, "runner": best and best.runner,
                     "score": best and best.score}
                )  # fmt: skip
    return answer


def user_field(rows: Mapping[str, Sequence[Row]], user: str) -> Answer:
    answer = []
    for slug, everything in rows.items():
        for problem, own in sorted(by_board(everything), key=lambda board: last(board[0])):
            board = [row for row in reference.leaderboard(own, ALL) if row["ratio"] is not None]
            for runner, field in sorted(grouped(board, lambda row: row["runner"]).items()):
                mine = next((row for row in field if row["user_id"] == user), None)
                if mine is None:
                    continue
                ratios = sorted(row["ratio"] for row in field)
                answer.append(
                    {"competition": slug, "problem": problem, "runner": runner, "users": len(field),
                     "best": min(row["score"] for row in field), "ratios": picked(ratios, 10), "slowest": ratios[-1],
                     "user_name": mine["user_name"], "rank": mine["rank"], "score": mine["score"],
                     "submission_id": mine["submission_id"]}
                )  # fmt: skip
    return answer


def content_rows(rows: Sequence[Row]) -> Answer:
    return [
        {"file_row": row.file_row, "submission_id": row.submission_id, "problem": row.problem, "runner": row.runner,
         "user_id": row.user_id, "user_name": row.user_name, "submitted_at": row.at,
         "at": (row.at - reference.FIRST_TIME) // timedelta(microseconds=1) if row.at else None,
         "passed": row.passed, "score": row.score, "ranked": row.eligible}
        for row in sorted(rows, key=lambda row: row.file_row)
    ]  # fmt: skip


def noise_runs(path: Path, problem: str, runner: str | None) -> Answer:
    return [
        {"submission_id": run["submission_id"], "runner": own, "score": run["run_score"]}
        for _, run, own in reference.ranked_runs(path, problem, runner)
    ]


def noise_shapes(path: Path, rows: Sequence[Row], problem: str, runner: str | None) -> Answer:
    """Of those runs whose submission may be somebody's best, as shares of the mean; only what is no nonsense."""
    able = {(row.submission_id, row.runner) for row in rows if row.eligible}
    shares: dict[tuple[int, str], list[float]] = {}
    for _, run, own in reference.ranked_runs(path, problem, runner):
        for shape in range(3) if (run["submission_id"], own) in able else ():
            told = timing(run["run_result"] or {}, shape)
            mean, std = told["mean_ns"], told["std_ns"]
            if mean is not None and mean > 0 and std is not None and std >= 0:
                shares.setdefault((shape, told["spec"]), []).append(std / mean)
    return [
        {"shape": shape, "spec": spec, "ranked_runs": len(found), "std": median(found)}
        for (shape, spec), found in sorted(shares.items())
    ]
