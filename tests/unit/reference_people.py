"""What the questions about competitions, people and single submissions should answer, as whole frames.

`rows` are those of one competition. Plain Python, written from the sentences of the questions, not from their SQL.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.unit import reference
from tests.unit.reference import Row, Scope, grouped
from tests.unit.reference_boards import Answer, last, latest_name, seconds, steps_of

Rows = Mapping[str, Sequence[Row]]
ALL = Scope()


def number_of(rows: Iterable[Row]) -> int | None:
    return next((row.leaderboard_id for row in rows if row.leaderboard_id is not None), None)


def by_board(rows: Iterable[Row]) -> list[tuple[Any, list[Row]]]:
    """The boards of a competition with their rows, by number and name."""
    found = grouped(rows, lambda row: row.problem)
    return sorted(found.items(), key=lambda board: (last(number_of(board[1])), last(board[0])))


def first_and_last(rows: Iterable[Row]) -> dict[str, datetime | None]:
    moments = [row.at for row in rows if row.at]
    return {"first_at": min(moments, default=None), "last_at": max(moments, default=None)}


def overview(rows: Rows) -> Answer:
    return [_overview(slug, problem, own) for slug, everything in rows.items() for problem, own in by_board(everything)]


def _overview(slug: str, problem: str, rows: list[Row]) -> dict[str, Any]:
    passed = [row for row in rows if row.counts]
    ran = [row for row in rows if row.runner is not None]
    best = min((row for row in rows if row.eligible), key=lambda row: (row.time, *row.moment, row.runner), default=None)
    return {
        "competition": slug, "problem": problem, "leaderboard_id": number_of(rows), "rows": len(rows),
        "passed": len(passed), "users": len({row.user_id for row in passed}),
        "best": best and best.score, "best_user_name": best and best.user_name, "best_user_id": best and best.user_id,
        "best_runner": best and best.runner, "best_submission_id": best and best.submission_id, **first_and_last(rows),
        "runners": reference.runners(rows), "trend": _trend(rows, best), "rows_without_runner": len(rows) - len(ran),
        "pass_rate": len(passed) / len(ran) if ran else None, "best_flags": best.flag_text if best else "",
    }  # fmt: skip


def _trend(rows: list[Row], best: Row | None) -> list[float]:
    """The record at the end of each of forty equal steps in which there was a score."""
    field = [row for row in rows if best and row.eligible and row.runner == best.runner]
    step_of = steps_of([seconds(row) for row in field], 40)
    placed = [(step_of(seconds(row)), row.time) for row in field]
    return [min(time for at, time in placed if at <= step) for step in sorted({step for step, _ in placed})]


def problems(rows: Rows) -> Answer:
    answer = []
    for slug, everything in rows.items():
        groups = grouped(everything, lambda row: (row.problem, row.runner))
        ordered = sorted(groups.items(), key=lambda one: (last(number_of(one[1])), last(one[0][0]), last(one[0][1])))
        for (problem, runner), own in ordered:
            passed = [row for row in own if row.counts]
            answer.append(
                {"competition": slug, "problem": problem, "leaderboard_id": number_of(own), "runner": runner,
                 "rows": len(own), "passed": len(passed), "users": len({row.user_id for row in passed}),
                 "best": min((row.time for row in own if row.eligible), default=None), **first_and_last(own),
                 "pass_rate": None if runner is None else len(passed) / len(own)}
            )  # fmt: skip
    return answer


def flags(rows: Rows, problem: str | None = None) -> Answer:
    answer = []
    for slug, everything in rows.items():
        found = [
            (row, *flag) for row in everything if problem in (None, row.problem) for flag in row.flag_rows
        ]  # fmt: skip
        found.sort(key=lambda one: (last(one[0].problem), one[0].submission_id, last(one[0].runner), one[0].file_row,
                                    one[1], one[2]))  # fmt: skip
        answer += [
            {"competition": slug, "problem": row.problem, "submission_id": row.submission_id, "runner": row.runner,
             "kind": kind, "reason": reason, "source": source}
            for row, kind, reason, source in found
        ]  # fmt: skip
    return answer


def problem_names(rows: Sequence[Row]) -> Answer:
    return [{"problem": problem} for problem, _ in by_board(rows) if problem is not None]


def user(rows: Rows, user_id: str) -> Answer:
    answer = []
    for slug, everything in rows.items():
        fields = {problem: reference.leaderboard(own, ALL) for problem, own in by_board(everything)}
        mine = grouped((row for row in everything if row.user_id == user_id), lambda row: (row.problem, row.runner))
        ordered = sorted(mine.items(), key=lambda one: (last(number_of(one[1])), last(one[0][0]), last(one[0][1])))
        for (problem, runner), own in ordered:
            field = [row for row in fields[problem] if row["runner"] == runner and problem is not None]
            placed: dict[str, Any] = next((row for row in field if row["user_id"] == user_id), {})
            text = next(
                (
                    row.flag_text
                    for row in own
                    if row.counts
                    and placed
                    and (row.submission_id, row.score) == (placed["submission_id"], placed["score"])
                ),
                "",
            )
            answer.append(
                {"competition": slug, "problem": problem, "leaderboard_id": number_of(own), "runner": runner,
                 "user_name": latest_name(own), "rank": placed.get("rank"), "of": len(field) or None,
                 "score": placed.get("score"),
                 "best": min((row["score"] for row in field if row["ratio"] is not None), default=None),
                 "ratio": placed.get("ratio"), "submissions": len(own), "passed": sum(row.counts for row in own),
                 **first_and_last(own), "submission_id": placed.get("submission_id"), "flags": text}
            )  # fmt: skip
    return answer


def found_in(slug: str, rows: Sequence[Row], text: str, limit: int) -> Answer:
    """The people of one competition whose name has the text in it, or whose id it is; the busiest first."""
    fitting = [row for row in rows if text.lower() in row.user_name.lower() or row.user_id == text]
    people = grouped(fitting, lambda row: row.user_id)
    ordered = sorted(people.items(), key=lambda one: (-len(one[1]), one[0]))
    return [
        {"competition": slug, "user_id": user_id, "user_name": latest_name(own), "submissions": len(own)}
        for user_id, own in ordered[:limit]
    ]


def find_users(rows: Rows, text: str, limit: int) -> Answer:
    found = [one for slug, own in rows.items() for one in found_in(slug, own, text, 1000)]
    people = [
        {"user_id": user_id, "user_name": own[0]["user_name"], "competitions": [one["competition"] for one in own],
         "submissions": sum(one["submissions"] for one in own)}
        for user_id, own in grouped(found, lambda one: one["user_id"]).items()
    ]  # fmt: skip
    return sorted(people, key=lambda one: (-one["submissions"], one["user_id"]))[:limit]


def submission_rows(slug: str, file: str, rows: Sequence[Row], submission_id: int, runner: str | None) -> Answer:
    wanted = [row for row in rows if row.submission_id == submission_id and runner in (None, row.runner)]
    machines = grouped(wanted, lambda row: row.runner)
    answer = []
    for _, own in sorted(machines.items(), key=lambda one: last(one[0])):
        row = min(own, key=lambda row: (not row.eligible, _by_score(row), last(row.at), row.file_row))
        answer.append(
            {"competition": slug, "file": file, "file_row": row.file_row, "submission_id": row.submission_id,
             "leaderboard_id": row.leaderboard_id, "problem": row.problem, "user_id": row.user_id,
             "user_name": row.user_name, "code_id": row.code_id, "file_name": row.file_name, "submitted_at": row.at,
             "status": row.status, "mode": row.mode, "passed": row.passed, "score": row.score, "runner": row.runner,
             "flags": row.flag_text, "counts": row.counts, "impossible": row.too_fast,
             "eligible": row.eligible, "copies": len(own)}
        )  # fmt: skip
    return answer[:20]


def _by_score(row: Row) -> tuple[bool, bool, float]:
    """Key of the order of scores: numbers, then what is no number, then nothing."""
    strange = row.score is not None and math.isnan(row.score)
    return row.score is None, strange, 0.0 if row.score is None or strange else row.score


def placement(rows: Sequence[Row], of: Row) -> Answer:
    """What the user of a submission had done before on its board, counted on its machine or before any."""
    earlier = [
        row for row in rows
        if row.problem == of.problem and row.user_id == of.user_id and row.moment < of.moment
        and (of.runner is None or row.runner in (None, of.runner))
    ]  # fmt: skip
    same = [row for row in earlier if row.eligible and row.runner == of.runner]
    best = min(same, key=lambda row: (row.time, *row.moment), default=None)
    return [
        {"attempts": len({row.submission_id for row in earlier}), "best": best and best.score,
         "best_id": best and best.submission_id}
    ]  # fmt: skip


def same_code_elsewhere(rows: Rows, home: str, of: Row, limit: int) -> Answer:
    found = [
        (slug, row) for slug, everything in rows.items() for row in everything
        if of.code_id is not None and row.code_id == of.code_id
        and (slug, row.submission_id, row.runner) != (home, of.submission_id, of.runner)
    ]  # fmt: skip
    found.sort(key=lambda one: (one[0] != home, one[0], last(one[1].problem), _by_score(one[1]), one[1].submission_id,
                                last(one[1].runner)))  # fmt: skip
    return [
        {"competition": slug, "problem": row.problem, "runner": row.runner, "submission_id": row.submission_id,
         "user_name": row.user_name, "user_id": row.user_id, "submitted_at": row.at, "score": row.score}
        for slug, row in found[:limit]
    ]  # fmt: skip


def who(rows: Sequence[Row], texts: Sequence[str]) -> Answer:
    answer = []
    for text in sorted(set(texts)):
        fitting = [row for row in rows if row.user_id == text or row.user_name.lower() == text.lower()]
        for user_id, own in grouped(fitting, lambda row: row.user_id).items():
            exact = any(row.user_name == text for row in own)
            match = "id" if user_id == text else "name" if exact else "other case"
            answer.append({"text": text, "user_id": user_id, "user_name": latest_name(own), "match": match})
    return sorted(answer, key=lambda row: (row["text"], row["match"], row["user_id"]))


def close_names(names: Iterable[str], text: str, limit: int) -> Answer:
    close = [{"name": name, "likeness": likeness(name, text)} for name in set(names)]
    return sorted(_alike(close), key=lambda row: (-row["likeness"], row["name"]))[:limit]


def close_users(rows: Sequence[Row], text: str, limit: int) -> Answer:
    people = grouped(rows, lambda row: row.user_id)
    close = [
        {"user_id": user_id, "user_name": latest_name(own), "likeness": likeness(latest_name(own), text)}
        for user_id, own in people.items()
    ]
    return sorted(_alike(close), key=lambda row: (-row["likeness"], row["user_name"], row["user_id"]))[:limit]


def _alike(close: Answer) -> Answer:
    return [row for row in close if row["likeness"] >= 0.8]


def likeness(one: str, other: str) -> float:
    """Jaro-Winkler similarity of the first 60 characters, without regard to case."""
    a, b = one[:60].lower(), other[:60].lower()
    jaro = _jaro(a, b)
    prefix = next((at for at, (x, y) in enumerate(zip(a[:4], b[:4], strict=False)) if x != y), min(4, len(a), len(b)))
    return jaro + prefix * 0.1 * (1 - jaro) if jaro > 0.7 else jaro


def _jaro(a: str, b: str) -> float:
    if not a or not b:
        return float(a == b)
    reach = max(0, max(len(a), len(b)) // 2 - 1)
    taken: list[int] = []
    common = []
    for at, letter in enumerate(a):
        window = range(max(0, at - reach), min(len(b), at + reach + 1))
        place = next((place for place in window if place not in taken and b[place] == letter), None)
        if place is not None:
            taken.append(place)
            common.append(letter)
    if not common:
        return 0.0
    swapped = sum(x != b[place] for x, place in zip(common, sorted(taken), strict=True)) // 2
    same = len(common)
    return (same / len(a) + same / len(b) + (same - swapped) / same) / 3
