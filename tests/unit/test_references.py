"""Every question over rows with traps: the whole frame is that of the reference, columns, order and values."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.database.questions import PARTS, QUESTIONS
from kbdash.database.questions.parameters import SORTS
from kbdash.dataset import catalog
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from tests.unit import reference, reference_boards, reference_charts, reference_people
from tests.unit.comparison import asked
from tests.unit.reference import Row, Scope
from tests.unit.reference_boards import Answer
from tests.unit.reference_traps import (
    BOARDS,
    BRIEF,
    CASED,
    CROWD,
    FILES,
    LONG,
    PODIUM,
    REPORTS,
    REVERSED,
    USERS,
    crowd_ratio,
    write_crowd,
    write_traps,
)
from tests.unit.tables import LEGACY
from tests.unit.test_tallies import days_kept, worth

DAY, NEXT = date(2025, 12, 20), date(2025, 12, 21)
SCOPES = {
    "all": Scope(),
    "one runner": Scope(runner="B200"),
    "since": Scope(since=NEXT),
    "until": Scope(until=DAY),
    "a day": Scope(since=NEXT, until=NEXT),
    "without flagged": Scope(flagged=False),
    "everything at once": Scope(runner="NVIDIA", since=DAY, until=NEXT, flagged=False),
    "no such runner": Scope(runner="T4"),
}
PROBLEMS = (*BOARDS.values(), REVERSED, "trimul", BRIEF, "a_late_board", "ages", "loose", "nobody ran")
LEGACY_PROBLEMS = ("amd-fp8-mm", "amd-all2all", "board-77")
Data = dict[str, list[Row]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files with traps."""
    path = tmp_path_factory.mktemp("traps")
    write_traps(path)
    return path


@pytest.fixture(scope="module")
def traps(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    """kbdash over them; some rows are reported."""
    settings = Settings(cache=tmp_path_factory.mktemp("cache"), query_seconds=120.0)
    known = [(r.leaderboard_id, r.submission_id, r.runner, r.kind, r.reason, r.source) for r in REPORTS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "FLAG_CASES", REPORTS)
        patch.setattr(reference, "REPORTS", known)
        engine = kbdash.connect(str(folder), settings=settings)
        yield engine
        engine.close()


@pytest.fixture(scope="module")
def rows(folder: Path) -> Data:
    """The reference's rows of each competition."""
    return {slug: reference.read(folder / name) for slug, name in FILES.items()}


@pytest.fixture(params=SCOPES.values(), ids=SCOPES)
def scope(request: pytest.FixtureRequest) -> Scope:
    chosen: Scope = request.param
    return chosen


def asked_of(scope: Scope, *more: str) -> tuple[str, ...]:
    """Every problem without limits; with some the ones that have every trap."""
    return (*PROBLEMS, *more) if scope == Scope() else (BOARDS[598], BOARDS[730], REVERSED)


@cache
def some(*choices: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """Combinations of choices in which every two values meet: planning a statement takes most of a question's time.

    The first choice is a scope, the second a problem; which go together is said by `asked_of`.
    """
    every = [one for one in product(SCOPES, *choices) if one[1] in asked_of(SCOPES[one[0]])]
    meetings = {one: set(combinations(enumerate(one), 2)) for one in every}
    missing, chosen = set().union(*meetings.values()), []
    while missing:
        chosen.append(max(every, key=lambda one: len(meetings[one] & missing)))
        missing -= meetings[chosen[-1]]
    return tuple(chosen)


def chosen(scope: Scope, *choices: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Those of a scope, without it."""
    return [one[1:] for one in some(*choices) if SCOPES[one[0]] == scope]


def of(rows: Data, problem: str) -> list[Row]:
    return [row for own in rows.values() for row in own if row.problem == problem]


def linkable(rows: Data) -> Data:
    return {slug: own for slug, own in rows.items() if slug != "amd-mi300"}


def plain(value: Any) -> Any:
    """A value as Python knows it; whatever is missing is None."""
    if isinstance(value, list | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if value is None or pd.isna(value) else value


def same(told: Any, expected: Any) -> bool:
    """Whether two values are one; computed numbers may differ in the last digits."""
    if isinstance(expected, list):
        return len(told) == len(expected) and all(map(same, told, expected))
    if isinstance(told, float) and isinstance(expected, int | float):
        return math.isclose(told, expected, rel_tol=1e-12)
    return bool(told == expected)


def agree(frame: pd.DataFrame, expected: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The frame is the expected one: columns, number of rows, order and every value."""
    assert list(frame.columns) == list(columns)
    told = [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    wanted = [{name: plain(value) for name, value in row.items()} for row in expected]
    for number, (one, other) in enumerate(zip(told, wanted, strict=False)):
        assert list(other) == list(columns)
        wrong = {name: (one[name], other[name]) for name in columns if not same(one[name], other[name])}
        assert not wrong, f"row {number}: {wrong}"
    assert len(told) == len(wanted)


def columns_of(name: str) -> list[str]:
    return [column.name for column in (QUESTIONS | PARTS)[name].columns]


def ask(traps: KernelBot, name: str, expected: Sequence[Mapping[str, Any]], **values: Any) -> None:
    """The answer of the method is the expected one."""
    agree(traps.ask(name, **values), expected, columns_of(name))


# --- one board -----------------------------------------------------------------------------------------------------


def test_leaderboard(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope, *LEGACY_PROBLEMS):
        for top in (None, 2) if problem in (BOARDS[730], REVERSED, *LEGACY_PROBLEMS[:1]) else (None,):
            expected = reference_boards.leaderboard(of(rows, problem), scope, top)
            ask(traps, "leaderboard", expected, problem=problem, top=top, **asked(scope))


SELECTED: tuple[dict[str, Any], ...] = (
    *({"find": user, "users": ("p03", "42")} for user in ("p00", "p01", "p03", "p07", "p11")),
    {"find": "p08", "top": 1}, {"find": "8", "top": 2}, {"find": "43", "top": 1, "users": ("7", "p09")},
    *({"top": 1, "score": score} for score in (1e-6, 1.2e-5, 2.1e-5, 4e-5, 5.5e-5, 1.0)), {"score": 3e-5},
)  # fmt: skip


def test_part_of_a_leaderboard(traps: KernelBot, rows: Data) -> None:
    for problem, values in product((PODIUM, BOARDS[730]), SELECTED):
        expected = reference_boards.leaderboard(of(rows, problem), Scope(), **values)
        ask(traps, "leaderboard", expected, problem=problem, **values)


def once(frame: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """The same frames, each asked for once."""
    known: dict[str, pd.DataFrame] = {}

    def ask(question: str, /, **values: Any) -> pd.DataFrame:
        key = repr((question, sorted(values.items())))
        if key not in known:
            known[key] = frame(question, **values)
        return known[key]

    return ask


def orders_of(name: str) -> tuple[str, ...]:
    return next(tuple(one.choices) for one in QUESTIONS[name].parameters if one.name == "order")


def test_orders(traps: KernelBot, rows: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "frame", once(traps.frame))  # what is asked of all is not asked of each again
    podium = of(rows, PODIUM)
    for order in orders_of("leaderboard"):
        ask(
            traps,
            "leaderboard",
            reference_boards.leaderboard(podium, Scope(), order=order),
            problem=PODIUM,
            order=order,
        )
    for order, problem in product(orders_of("records"), (BOARDS[730], CASED)):
        expected = reference_boards.records(of(rows, problem), Scope(), order=order)
        ask(traps, "records", expected, problem=problem, order=order)
    first, *_, last = orders_of("overview")
    for order in (first, last):
        told = [reference_boards.in_order(reference_people.overview({slug: rows[slug]}), order) for slug in rows]
        ask(traps, "overview", [row for one in told for row in one], order=order)
    every = reference_people.overview({"nvfp4": rows["nvfp4"]})
    for order in orders_of("overview"):
        told = traps.frame("overview", competition="nvfp4", order=order)
        agree(told, reference_boards.in_order(every, order), columns_of("overview"))
    people = linkable(rows)
    for order, user in product(orders_of("user"), ("7", "9")):
        every = reference_boards.in_order(reference_people.user(people, user), order)
        ask(traps, "user", every, user=user, order=order)
        for slug in people:
            told = traps.frame("user", competition=slug, user=user, order=order)
            agree(told, [row for row in every if row["competition"] == slug], columns_of("user"))


def test_summary(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope, *LEGACY_PROBLEMS):
        ask(traps, "summary", reference_boards.summary(of(rows, problem), scope), problem=problem, **asked(scope))


SCORES = (1e-9, 1e-5, 2.1e-5, 1e9)


def test_standing(traps: KernelBot, rows: Data, scope: Scope) -> None:
    cases = [*chosen(scope, PROBLEMS, SCORES), *product((PODIUM,), SCORES if scope == Scope() else SCORES[1:2])]
    for problem, score in cases:
        expected = reference_boards.standing(of(rows, problem), scope, score)
        ask(traps, "standing", expected, problem=problem, score=score, **asked(scope))


def test_records(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope, *LEGACY_PROBLEMS):
        ask(traps, "records", reference_boards.records(of(rows, problem), scope), problem=problem, **asked(scope))


def test_trends(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, points, users in chosen(scope, PROBLEMS, (1, 7), (USERS, ("7", "8"))):
        expected = reference_boards.trends(of(rows, problem), scope, users, points)
        ask(traps, "trends", expected, problem=problem, users=users, points=points, **asked(scope))


def test_ecdf(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, points in chosen(scope, PROBLEMS, (2, 3, 400)):
        expected = reference_boards.ecdf(of(rows, problem), scope, points)
        ask(traps, "ecdf", expected, problem=problem, points=points, **asked(scope))


def test_progression(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, limit, users in chosen(scope, PROBLEMS, (7, 4000), (USERS, ("42", "9"), ("9",))):
        expected = reference_boards.progression(of(rows, problem), scope, users, limit)
        ask(traps, "progression", expected, problem=problem, users=users, limit=limit, **asked(scope))


def test_ladder(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, user in chosen(scope, (*BOARDS.values(), REVERSED), USERS):
        expected = reference_boards.ladder(of(rows, problem), scope, user)
        ask(traps, "ladder", expected, problem=problem, user=user, **asked(scope))


def test_same_code(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope, "amd-fp8-mm"):
        ask(traps, "same_code", reference_boards.same_code(of(rows, problem), scope), problem=problem, **asked(scope))


def test_paired(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for a, b in ((598, 697), (697, 730), (730, 598)):
        first, second = BOARDS[a], BOARDS[b]
        expected = reference_boards.paired(of(rows, first), of(rows, second), scope)
        ask(traps, "paired", expected, problem_a=first, problem_b=second, **asked(scope))


FILTERS: tuple[dict[str, Any], ...] = (
    {}, {"passed": True}, {"passed": False}, {"users": ("7", "42")}, {"text": "B.PY"}, {"text": "AdA"}, {"text": "%_'"},
    {"text": "RLY"},
    {"passed": True, "users": ("8", "9"), "text": "a"},
)  # fmt: skip


def test_submissions_filtered(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, wanted in product((BOARDS[730],), FILTERS):
        expected = reference_boards.submissions(of(rows, problem), scope, **wanted)
        page = traps.submissions(problem, page_size=500, **wanted, **asked(scope))
        agree(page.rows, expected, columns_of("submissions"))
        assert page.total == len(expected)
        if scope != Scope():  # a page of some rows is a page of all
            continue
        part = traps.submissions(problem, page_size=7, page=2, **wanted, **asked(scope))
        agree(part.rows, expected[7:14] if len(expected) > 7 else expected, columns_of("submissions"))


def test_submissions_sorted(traps: KernelBot, rows: Data) -> None:
    problems = (BOARDS[730], "trimul", "loose", "amd-fp8-mm")
    for number, (sort, descending, problem) in enumerate(product(SORTS, (True, False), problems)):
        if problem != BOARDS[730] and number % 3:
            continue
        expected = reference_boards.submissions(of(rows, problem), Scope(), sort=sort, descending=descending)
        page = traps.submissions(problem, page_size=500, sort=sort, descending=descending)
        agree(page.rows, expected, columns_of("submissions"))


def test_shapes(traps: KernelBot, rows: Data, folder: Path) -> None:
    for problem in (*LEGACY_PROBLEMS, "trimul"):
        timings = pq.read_table(folder / LEGACY, columns=["run_result"])["run_result"].to_pylist()
        own = of(rows, problem) if problem != "trimul" else []
        for scope in (Scope(), Scope(runner="MI325"), Scope(until=DAY, flagged=False)):
            for users, top in (((), 1), ((), 2), ((), 30), (("2", "3"), 1)) if scope == Scope() else (((), 2),):
                expected = reference_boards.shapes(own, scope, timings, users, top)
                ask(traps, "shapes", expected, problem=problem, users=users, top=top, **asked(scope))


def test_noise(traps: KernelBot, rows: Data, folder: Path) -> None:
    def agrees(name: str, expected: Answer, **values: Any) -> None:
        agree(traps.frame(name, **values), expected, columns_of(name))

    legacy = folder / LEGACY
    for problem, runner in product(LEGACY_PROBLEMS, (None, "MI300", "MI325", "MI300x8")):
        board = {"competition": "amd-mi300", "problem": problem, "runner": runner}
        agrees("noise_runs", reference_charts.noise_runs(legacy, problem, runner), **board)
        agrees("noise_shapes", reference_charts.noise_shapes(legacy, of(rows, problem), problem, runner), **board)
    for name, problem in product(("noise_runs", "noise_shapes"), ("loose", *LEGACY_PROBLEMS)):
        agrees(name, [], competition="loose", problem=problem, runner=None)


# --- rows whose source text holds something ------------------------------------------------------------------------


HELD: tuple[tuple[str, Callable[..., Answer], dict[str, Any]], ...] = (
    ("leaderboard", reference_boards.leaderboard, {}),
    ("summary", reference_boards.summary, {}),
    ("standing", reference_boards.standing, {"score": 2.1e-5}),
    ("trends", reference_boards.trends, {"users": USERS, "points": 7}),
    ("ecdf", reference_boards.ecdf, {"points": 400}),
    ("progression", reference_boards.progression, {"users": USERS, "limit": 4000}),
    ("ladder", reference_boards.ladder, {"user": "7"}),
    ("same_code", reference_boards.same_code, {}),
    ("distribution", reference_charts.distribution, {"bins": 6}),
    ("personal_bests", reference_charts.personal_bests, {}),
    ("rank_history", reference_charts.rank_history, {"top": 4, "steps": 5}),
    ("runner_ratios", reference_charts.runner_ratios, {}),
    ("status_over_time", reference_charts.status_over_time, {}),
)


@pytest.mark.parametrize("rest", [0, 1])
def test_every_question_about_some_rows_of_the_file(
    traps: KernelBot, rows: Data, rest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Techniques become a bit for each row of the file; here every other row holds them."""
    wanted = [number % 2 == rest for number in range(1 + max(row.file_row for row in rows["nvfp4"]))]
    monkeypatch.setattr(KernelBot, "_rows_holding", lambda *_: np.packbits(wanted).tobytes())
    problem = BOARDS[730]
    board = of(rows, problem)
    add_up_days(traps)
    held = [row for row in board if wanted[row.file_row]]
    for scope in (Scope(), Scope(runner="NVIDIA", since=DAY, flagged=False)):
        for name, expected, values in HELD:
            ask(traps, name, expected(held, scope, **values), problem=problem, **values, **asked(scope))
        ask(traps, "records", reference_boards.records(held, scope, board), problem=problem, **asked(scope))
        page = traps.submissions(problem, page_size=500, **asked(scope))
        agree(page.rows, reference_boards.submissions(held, scope), columns_of("submissions"))
        assert page.total == len(page.rows) < len(board)


# --- competitions, people, submissions -----------------------------------------------------------------------------


def test_overview(traps: KernelBot, rows: Data) -> None:
    ask(traps, "overview", reference_people.overview(rows))


def test_problems(traps: KernelBot, rows: Data) -> None:
    ask(traps, "problems", reference_people.problems(rows))
    ask(traps, "problems", reference_people.problems({"nvfp4": rows["nvfp4"]}), competition="nvfp4")


def test_flags(traps: KernelBot, rows: Data) -> None:
    ask(traps, "flags", reference_people.flags(rows))
    for problem in (*BOARDS.values(), "trimul", "twin_a", "floored"):
        ask(traps, "flags", reference_people.flags(rows, problem), problem=problem)


def test_problem_names(traps: KernelBot, rows: Data) -> None:
    for slug in FILES:
        told = traps.frame("problem_names", competition=slug)
        agree(told, reference_people.problem_names(rows[slug]), columns_of("problem_names"))


def test_user(traps: KernelBot, rows: Data) -> None:
    for user in (*USERS, "u0", "timeless", "long", "c1"):
        ask(traps, "user", reference_people.user(linkable(rows), user), user=user)


def test_find_users(traps: KernelBot, rows: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "frame", once(traps.frame))
    for text in ("a", "ADA", "7", "42", "late", "early", "user 1", "timeless", "r", "", "nobody"):
        for limit in (1, 3, 1000) if text in ("a", "r", "") else (3,):
            expected = reference_people.find_users(linkable(rows), text, limit)
            ask(traps, "find_users", expected, text=text, limit=limit)
            for slug, own in rows.items():
                told = traps.frame("find_users", competition=slug, text=text, limit=limit)
                agree(told, reference_people.found_in(slug, own, text, limit), FOUND)


FOUND = ("competition", "user_id", "user_name", "submissions")


def test_submission_rows(traps: KernelBot, rows: Data) -> None:
    for slug in FILES:
        numbers = {row.submission_id for row in rows[slug]}
        special = {number for number in numbers if number > 3999}
        several = {number for number in numbers if sum(row.submission_id == number for row in rows[slug]) > 1}
        for number in (*sorted(special | set(sorted(numbers)[:8])), -1):
            for runner in (None, "NVIDIA") if number in {min(numbers), -1} | several else (None,):
                told = traps.frame("submission_rows", competition=slug, submission_id=number, runner=runner)
                expected = reference_people.submission_rows(slug, FILES[slug], rows[slug], number, runner)
                agree(told, expected, columns_of("submission_rows"))


def test_placement(traps: KernelBot, rows: Data) -> None:
    for slug in FILES:
        for row in rows[slug][:: 9 if slug == "nvfp4" else 6]:
            told = traps.frame(
                "placement", competition=slug, problem=row.problem, runner=row.runner, user=row.user_id,
                id=row.submission_id, at=row.at.isoformat() if row.at else None,
            )  # fmt: skip
            if row.problem is not None:
                agree(told, reference_people.placement(rows[slug], row), ("attempts", "best", "best_id"))


def test_same_code_elsewhere(traps: KernelBot, rows: Data) -> None:
    for slug in FILES:
        places = {slug: rows[slug]} if slug == "amd-mi300" else linkable(rows)
        for row in rows[slug][::17]:
            submission = traps.submission(row.submission_id, row.runner, slug) if row.runner else None
            if submission is None:
                continue
            for limit in (3, 1000):
                expected = reference_people.same_code_elsewhere(places, slug, row, limit)
                told = traps.same_code_elsewhere(submission, limit)
                agree(told, expected, columns_of("same_code_elsewhere"))


def test_who(traps: KernelBot, rows: Data) -> None:
    for slug in FILES:
        texts = [
            "7",
            "42",
            "ada",
            "ADA",
            "Ada",
            "late",
            "EARLY",
            "user 1",
            "nobody",
            "",
            "timeless",
            "2",
            "miXed",
            "swap",
        ]
        told = traps.frame("who", competition=slug, texts=texts)
        agree(told, reference_people.who(rows[slug], texts), columns_of("who"))


@pytest.mark.parametrize(
    "text", ["sandra", "SANDRO", "korp", "ada", "late", "timeles", "user 11", "s" * 60 + "zzz", "xq", LONG]
)
def test_close_names_and_users(traps: KernelBot, rows: Data, text: str) -> None:
    names = [*(row.user_name for own in rows.values() for row in own), "ada", "sandra"]
    for limit in (1, 3, 50) if text in ("sandra", "late", "user 11") else (50,):
        told = traps.frame("close_names", competition="nothing", names=names, text=text, limit=limit)
        agree(told, reference_people.close_names(names, text, limit), columns_of("close_names"))
        for slug, own in rows.items():
            told = traps.frame("close_users", competition=slug, text=text, limit=limit)
            agree(told, reference_people.close_users(own, text, limit), columns_of("close_users"))


# --- charts --------------------------------------------------------------------------------------------------------


def test_distribution(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, bins in chosen(scope, PROBLEMS, (1, 6)):
        expected = reference_charts.distribution(of(rows, problem), scope, bins)
        ask(traps, "distribution", expected, problem=problem, bins=bins, **asked(scope))


def test_personal_bests(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope):
        expected = reference_charts.personal_bests(of(rows, problem), scope)
        ask(traps, "personal_bests", expected, problem=problem, **asked(scope))


def test_rank_history(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem, (top, steps) in chosen(scope, (*BOARDS.values(), REVERSED), ((1, 5), (2, 5), (4, 16))):
        expected = reference_charts.rank_history(of(rows, problem), scope, top, steps)
        ask(traps, "rank_history", expected, problem=problem, top=top, steps=steps, **asked(scope))


def test_runner_ratios(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope):
        expected = reference_charts.runner_ratios(of(rows, problem), scope)
        ask(traps, "runner_ratios", expected, problem=problem, **asked(scope))


def test_status_over_time(traps: KernelBot, rows: Data, scope: Scope) -> None:
    for problem in asked_of(scope, *LEGACY_PROBLEMS):
        expected = reference_charts.status_over_time(of(rows, problem), scope)
        ask(traps, "status_over_time", expected, problem=problem, **asked(scope))


def test_contested(traps: KernelBot, rows: Data) -> None:
    ask(traps, "contested", reference_charts.contested(rows))


def test_weekly(traps: KernelBot, rows: Data) -> None:
    ask(traps, "weekly", reference_charts.weekly(rows))


def test_user_field(traps: KernelBot, rows: Data) -> None:
    for user in (*USERS, "u0", "timeless"):
        ask(traps, "user_field", reference_charts.user_field(linkable(rows), user), user=user)


def test_content_rows(traps: KernelBot, rows: Data) -> None:
    for slug in FILES:
        told = traps.frame("content_rows", competition=slug).sort_values("file_row")
        expected = reference_charts.content_rows(rows[slug])
        agree(told, expected, list(expected[0]))


def test_the_rows_behind_every_question(traps: KernelBot, rows: Data) -> None:
    assert traps._database._asker.run("from submissions").empty  # it only fixes names and types
    for slug in FILES:
        told = traps._database._asker.run(f"select file_row, flag_rows from judged('{slug}') order by file_row")
        expected = [
            {"file_row": row.file_row,
             "flag_rows": [dict(zip(("kind", "reason", "source"), flag, strict=True)) for flag in row.flag_rows]}
            for row in sorted(rows[slug], key=lambda row: row.file_row)
        ]  # fmt: skip
        agree(told, expected, ["file_row", "flag_rows"])


def test_boards_of_days_added_up(traps: KernelBot, rows: Data) -> None:
    """Days are added up in the background once a competition is asked about a lot; here at once."""
    add_up_days(traps)
    every = [(problem, Scope()) for problem in ("trimul", REVERSED)]
    for problem, scope in [*every, *product((BOARDS[598],), SCOPES.values())]:
        own = of(rows, problem)
        ask(traps, "leaderboard", reference_boards.leaderboard(own, scope), problem=problem, **asked(scope))
        ask(traps, "summary", reference_boards.summary(own, scope), problem=problem, **asked(scope))


def add_up_days(engine: KernelBot) -> None:
    with worth(True):
        for problem in (BOARDS[598], "trimul"):
            engine.leaderboard(problem)
        assert days_kept(engine) >= 2


# --- many ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    """kbdash over more people than any answer holds."""
    path = tmp_path_factory.mktemp("crowd")
    write_crowd(path)
    engine = kbdash.connect(str(path), settings=Settings(cache=tmp_path_factory.mktemp("cache"), query_seconds=120.0))
    yield engine
    engine.close()


def test_limits(crowd: KernelBot) -> None:
    first, second = BOARDS[598], BOARDS[697]
    assert len(crowd.same_code(first)) == len(crowd.paired(first, second)) == 2000
    assert len(crowd.shapes("amd-fp8-mm", top=1000)) == 4000
    assert len(crowd.ladder(first, "climber", runner="A100")) == 500
    assert len(crowd.submission_rows(1, competition="nvfp4")) == 20
    boards = crowd.frame("problem_names", competition="nvfp4")["problem"].tolist()
    assert boards[0] == "twice", "the lowest of its numbers says where it comes"
    share = crowd.ecdf(first, runner="NVIDIA", points=100)
    assert len(share) == 2 + CROWD // math.ceil(CROWD / 100)
    field = crowd.user_field("u1").set_index(["problem", "runner"]).loc[(first, "NVIDIA")]
    assert field["ratios"].tolist() == pytest.approx(reference_charts.picked([1 + n / CROWD for n in range(CROWD)], 10))
    ratios = crowd.runner_ratios(first).set_index(["kind", "runner_a", "runner_b"])
    expected = reference_charts.picked(sorted(crowd_ratio(user) for user in range(CROWD)), 1)
    for kind in ("same code", "same user best"):
        assert ratios.loc[(kind, "NVIDIA", "B200")]["ratios"].tolist() == pytest.approx(expected, rel=1e-12)
        assert ratios.loc[(kind, "NVIDIA", "H100")]["ratios"].tolist() == [2.0] * 141
