"""What the questions about one board should answer, as whole frames: a list of rows, columns and rows in their order.

`rows` are those of one problem. Plain Python, written from the sentences of the questions, not from their SQL.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.unit import reference
from tests.unit.reference import Row, Scope, bests, grouped

Answer = list[dict[str, Any]]


def last(value: Any) -> tuple[bool, Any]:
    """Key of an order in which what is missing comes last."""
    return value is None, 0 if value is None else value


def down(value: Any) -> tuple[bool, float]:
    """The same for numbers and times, largest first."""
    number = value.timestamp() if hasattr(value, "timestamp") else value
    return value is None, 0.0 if value is None else -number


def in_time(row: Row) -> tuple[Any, ...]:
    return last(row.at), row.submission_id, last(row.runner)


def seen(rows: Iterable[Row], scope: Scope) -> list[Row]:
    """The rows that a question counts."""
    return [row for row in rows if scope.shows(row)]


def eligible(rows: Iterable[Row], scope: Scope) -> list[Row]:
    return [row for row in seen(rows, scope) if row.eligible]


def in_words(answer: Answer, rows: Iterable[Row]) -> Answer:
    """The answer with flags in words instead of their kinds."""
    texts = {(row.submission_id, row.runner, row.score): row.flag_text for row in rows if row.counts}
    return [row | {"flags": texts[row["submission_id"], row["runner"], row["score"]]} for row in answer]


def in_order(rows: Answer, order: str | None) -> Answer:
    """Rows by a column ("-" before it: descending), what is missing last; equal ones stay as they are."""
    if order is None:
        return rows
    name = order.removeprefix("-")
    known = [row for row in rows if row[name] is not None]
    known.sort(
        key=lambda row: row[name].lower() if isinstance(row[name], str) else row[name], reverse=order.startswith("-")
    )
    return known + [row for row in rows if row[name] is None]


def leaderboard(
    rows: Sequence[Row],
    scope: Scope,
    top: int | None = None,
    *,
    users: Sequence[str] = (),
    find: str | None = None,
    score: float | None = None,
    order: str | None = None,
) -> Answer:
    """The first ranks, or five places on each side of somebody; besides, those next to a time and some users."""
    board = in_words(reference.leaderboard(rows, scope), rows)
    board.sort(key=lambda row: (row["runner"], row["rank"], last(row["submitted_at"]), row["user_id"]))
    is_there = find in {row["user_id"] for row in board}
    kept = []
    for field in grouped(board, lambda row: row["runner"]).values():
        ahead = sum(row["ratio"] is not None and row["score"] <= (score or 0) for row in field)
        beside = range(ahead - 2, ahead + 2) if score is not None else range(0)
        own = next((place for place, row in enumerate(field) if row["user_id"] == find), None)
        around = range(0) if own is None else range(own - 5, own + 6)
        for place, row in enumerate(field):
            is_near = place in around if is_there else top is None or row["rank"] <= top or place in beside
            kept += [row] if is_near or row["user_id"] in users else []
    return in_order(kept, order)


def summary(rows: Sequence[Row], scope: Scope) -> Answer:
    return sorted(reference.summary(rows, scope), key=lambda row: (last(row["best"]), row["runner"]))


def standing(rows: Sequence[Row], scope: Scope, score: float) -> Answer:
    return [dict(zip(("rank", "of", "faster_than", "ties"), reference.standing(rows, score, scope), strict=True))]


def records(rows: Sequence[Row], scope: Scope, board: Sequence[Row] | None = None, order: str | None = None) -> Answer:
    found = in_words(reference.records(rows, scope, board), rows)
    return in_order(sorted(found, key=lambda row: (row["runner"], last(row["submitted_at"]))), order)


def steps_of(moments: Sequence[float | None], steps: int) -> Callable[[float | None], int]:
    """In which of so many equal parts of a span a moment lies; one that nobody knows in the last."""
    known = [moment for moment in moments if moment is not None]
    first = min(known, default=0.0)
    width = max(max(known, default=0.0) - first, 1.0)
    return lambda moment: steps - 1 if moment is None else min(steps - 1, math.floor(steps * (moment - first) / width))


def seconds(row: Row) -> float | None:
    return row.at.timestamp() if row.at else None


def trends(rows: Sequence[Row], scope: Scope, users: Sequence[str], points: int) -> Answer:
    answer = []
    for runner, field in sorted(grouped(eligible(rows, scope), lambda row: row.runner).items()):
        step_of = steps_of([seconds(row) for row in field], points)
        for user, own in sorted(grouped(field, lambda row: row.user_id).items()):
            if user not in users:
                continue
            placed = [(step_of(seconds(row)), row.time) for row in own]
            begin = min(step for step, _ in placed)
            trend = [min(time for at, time in placed if at <= step) for step in range(begin, points)]
            answer.append({"user_id": user, "runner": runner, "trend": trend})
    return answer


def ecdf(rows: Sequence[Row], scope: Scope, points: int) -> Answer:
    answer = []
    possible = [row for row in bests(seen(rows, scope), scope) if not row.impossible]
    for runner, field in sorted(grouped(possible, lambda row: row.runner).items()):
        times = sorted(row.time for row in field)
        stride = max(1, math.ceil(len(times) / points))
        kept = {times[0], times[-1], *times[stride - 1 :: stride]}
        answer += [
            {"runner": runner, "score": time, "share": bisect_right(times, time) / len(times)} for time in sorted(kept)
        ]
    return answer


def progression(rows: Sequence[Row], scope: Scope, users: Sequence[str], limit: int) -> Answer:
    best: dict[tuple[str, str | None], float] = {}
    told = []
    mine = [row for row in rows if row.user_id in users and scope.covers(row)]
    for row in sorted(mine, key=in_time):
        key = (row.user_id, row.runner)
        is_best = scope.ranks(row) and row.eligible and row.time < best.get(key, math.inf)
        if is_best:
            best[key] = row.time
        told.append((row, best.get(key), is_best))
    wanted = sorted(told, key=lambda one: (not one[2], down(one[0].at), -one[0].submission_id, last(one[0].runner)))
    kept = {id(one) for one in wanted[:limit]}
    return [
        {"user_id": row.user_id, "user_name": row.user_name, "runner": row.runner, "submission_id": row.submission_id,
         "submitted_at": row.at, "score": row.score, "passed": row.passed, "status": row.status,
         "best_so_far": so_far, "is_best": is_best, "flags": row.flag_text, "total": len(told),
         "impossible": row.too_fast}
        for one in told if id(one) in kept for row, so_far, is_best in [one]
    ]  # fmt: skip


def ladder(rows: Sequence[Row], scope: Scope, user: str) -> Answer:
    steps: Answer = []
    attempts = 0
    for row in sorted((row for row in rows if row.user_id == user and scope.covers(row)), key=in_time):
        attempts += 1
        previous = steps[-1]["score"] if steps else None
        if not (scope.ranks(row) and row.eligible) or (previous is not None and row.time >= previous):
            continue
        since = steps[-1]["submitted_at"] if steps else None
        steps.append(
            {"step": len(steps) + 1, "submission_id": row.submission_id, "runner": row.runner, "submitted_at": row.at,
             "score": row.score, "previous": previous, "gain": (previous - row.time) / previous if previous else None,
             "attempts": attempts, "waited": row.at - since if row.at and since else None}
        )  # fmt: skip
        attempts = 0
    return steps[:500]


def latest_name(rows: Iterable[Row]) -> str:
    """What a user was called last."""
    known = [row for row in rows if row.at] or list(rows)
    return max(known, key=lambda row: row.at or reference.FIRST_TIME).user_name


def same_code(rows: Sequence[Row], scope: Scope) -> Answer:
    everywhere = Scope(None, scope.since, scope.until, scope.flagged)
    codes = grouped(
        (row for row in eligible(rows, everywhere) if row.code_id is not None),
        lambda row: (row.user_id, row.code_id, row.runner),
    )
    answer = []
    for (user, code, a), own in codes.items():
        for (user_b, code_b, b), others in codes.items():
            if (user, code) != (user_b, code_b) or a >= b or scope.runner not in (None, a, b):
                continue
            score_a, score_b = min(row.time for row in own), min(row.time for row in others)
            answer.append(
                {"user_id": user, "user_name": latest_name(own), "code_id": code, "runner_a": a, "runner_b": b,
                 "score_a": score_a, "score_b": score_b, "ratio": score_b / score_a}
            )  # fmt: skip
    keys = ("runner_a", "runner_b", "score_a", "user_id", "code_id")
    return sorted(answer, key=lambda row: [row[key] for key in keys])[:2000]


def paired(rows_a: Sequence[Row], rows_b: Sequence[Row], scope: Scope) -> Answer:
    first, second = (_over_runners(rows, scope) for rows in (rows_a, rows_b))
    both = [(first[user], second[user]) for user in first if user in second]
    return [
        {"user_id": a["user_id"], "user_name": a["user_name"], "score_a": a["score"], "score_b": b["score"],
         "rank_a": a["rank"], "rank_b": b["rank"], "submission_a": a["submission_id"],
         "submission_b": b["submission_id"], "runner_a": a["runner"], "runner_b": b["runner"]}
        for a, b in sorted(both, key=lambda pair: (pair[0]["score"], pair[0]["user_id"]))
    ][:2000]  # fmt: skip


def _over_runners(rows: Sequence[Row], scope: Scope) -> dict[str, dict[str, Any]]:
    """Each user's entry on the leaderboard with the lowest time, whatever the machine."""
    possible = [row for row in reference.leaderboard(rows, scope) if row["ratio"] is not None]
    people = grouped(possible, lambda row: row["user_id"])
    return {
        user: min(own, key=lambda row: (row["score"], row["submission_id"], row["runner"]))
        for user, own in people.items()
    }


SUBMISSION = ("submission_id", "runner", "user_name", "user_id", "at", "status", "mode", "passed", "score",
              "file_name", "code_id", "flag_text")  # fmt: skip
RENAMED = {"at": "submitted_at", "flag_text": "flags"}


def submissions(
    rows: Sequence[Row],
    scope: Scope,
    *,
    users: Sequence[str] = (),
    passed: bool | None = None,
    text: str | None = None,
    sort: str = "submitted_at",
    descending: bool = True,
) -> Answer:
    """All pages, one after the other."""
    part = (text or "").lower()
    fitting = [
        row for row in seen(rows, scope)
        if (not users or row.user_id in users) and passed in (None, row.counts)
        and (part in (row.file_name or "").lower() or part in row.user_name.lower())
    ]  # fmt: skip
    ordered = sorted(fitting, key=lambda row: (down(row.at), -row.submission_id, last(row.runner)))
    keyed = [(_sort_key(row, sort), row) for row in ordered]
    present = sorted((one for one in keyed if one[0] is not None), key=lambda one: one[0], reverse=descending)
    final = [row for _, row in present] + [row for key, row in keyed if key is None]
    return [{RENAMED.get(name, name): getattr(row, name) for name in SUBMISSION} for row in final]


def _sort_key(row: Row, sort: str) -> Any:
    value = getattr(row, RENAMED_BACK.get(sort, sort))
    if sort in ("user_name", "file_name") and value is not None:
        return value.lower()
    return None if isinstance(value, float) and math.isnan(value) else value


RENAMED_BACK = {told: name for name, told in RENAMED.items()}


def shapes(
    rows: Sequence[Row], scope: Scope, timings: Sequence[dict[str, Any]], users: Sequence[str], top: int
) -> Answer:
    """`timings` are the `run_result` of every row of the file."""
    places = {(row.submission_id, row.runner): row.file_row for row in rows}
    chosen = [
        row for row in reference.leaderboard(rows, scope)
        if row["ratio"] is not None and (row["user_id"] in users if users else row["rank"] <= top)
    ]  # fmt: skip
    answer = []
    for row in sorted(chosen, key=lambda row: (row["rank"], row["submission_id"], row["runner"])):
        told = timings[places[row["submission_id"], row["runner"]]] or {}
        whose = {key: row[key] for key in ("rank", "user_id", "user_name", "runner", "submission_id", "score")}
        answer += [whose | one for shape in range(3) if (one := timing(told, shape))["mean_ns"] is not None]
    return answer[:4000]


def timing(told: dict[str, str], shape: int) -> dict[str, Any]:
    def number(field: str) -> float | None:
        try:
            return float(told[f"benchmark.{shape}.{field}"])
        except (KeyError, TypeError, ValueError):
            return None

    def time(field: str) -> float | None:
        value = number(field)
        return value if value is not None and abs(value) < 1e9 * reference.LONGEST_RUN else None

    named = {f"{field}_ns": time(field) for field in ("mean", "best", "worst", "std")}
    return {"shape": shape, "spec": told.get(f"benchmark.{shape}.spec")} | named | {"runs": number("runs")}
