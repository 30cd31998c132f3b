"""The other questions on the sample: overview, spread, history, hardware, submissions, people."""

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from kbdash.database.questions import QUESTIONS
from kbdash.database.questions.kinds import Parameter, Question
from kbdash.database.questions.parameters import SORTS, Sort
from kbdash.engine import KernelBot
from kbdash.errors import AmbiguousSubmission, QueryRefused, UnknownProblem, UnknownSubmission, UnknownUser
from tests.unit import reference
from tests.unit.reference import Row, Scope
from tests.unit.test_engine import FILES, problems_of


def rows_of(sample_folder: Path, problem: str) -> list[Row]:
    """The reference's rows of a problem."""
    return next(
        rows for name in FILES.values() for own, rows in problems_of(sample_folder / name).items() if own == problem
    )


def of_everything(sample_folder: Path) -> dict[str, list[Row]]:
    return {problem: rows for name in FILES.values() for problem, rows in problems_of(sample_folder / name).items()}


# --- overview ------------------------------------------------------------------------------------------------------


def test_the_overview_counts_every_problem_and_names_its_best(kb: KernelBot, sample_folder: Path) -> None:
    overview = kb.overview().set_index("problem")
    expected = of_everything(sample_folder)
    assert set(overview.index) == set(expected)
    for problem, rows in expected.items():
        told = overview.loc[problem]
        assert told["rows"] == len(rows)
        assert told["passed"] == sum(row.counts for row in rows)
        assert told["users"] == len({row.user_id for row in rows if row.counts})
        assert list(told["runners"]) == reference.runners(rows)
        assert (told["first_at"], told["last_at"]) == (min(r.at for r in rows if r.at), max(r.at for r in rows if r.at))
        possible = [row for row in rows if row.counts and not row.impossible]
        best = min(possible, key=lambda row: (row.time, *row.moment))
        assert (told["best"], told["best_submission_id"]) == (best.score, best.submission_id)
        assert (told["best_user_id"], told["best_runner"]) == (best.user_id, best.runner)
        trend = list(told["trend"])
        assert 1 <= len(trend) <= 40
        assert trend[-1] == best.score
        assert all(later <= earlier for earlier, later in pairwise(trend))


def test_problems_are_counted_per_runner(kb: KernelBot, sample_folder: Path) -> None:
    told = {(row["problem"], row["runner"] if isinstance(row["runner"], str) else None): row
            for row in kb.problems().to_dict("records")}  # fmt: skip
    expected = {
        (problem, runner): own
        for problem, rows in of_everything(sample_folder).items()
        for runner, own in reference.grouped(rows, lambda row: row.runner).items()
    }
    assert set(told) == set(expected)
    for key, own in expected.items():
        possible = [row.time for row in own if row.counts and not row.impossible]
        assert told[key]["rows"] == len(own)
        assert told[key]["passed"] == sum(row.counts for row in own)
        assert told[key]["best"] == min(possible) if possible else pd.isna(told[key]["best"])


# --- spread and history --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [2, 3, 7, 400])
@pytest.mark.parametrize("problem", ["vectoradd_v2", "nvfp4_gemm", "eigh"])
def test_the_share_of_users_at_a_time_is_exact_at_every_point(
    kb: KernelBot, sample_folder: Path, problem: str, points: int
) -> None:
    curve = kb.ecdf(problem, points=points)
    best = reference.grouped(reference.bests(rows_of(sample_folder, problem), Scope()), lambda row: row.runner)
    for runner, group in curve.groupby("runner"):
        times = sorted(row.time for row in best[runner] if not row.impossible)
        assert group["score"].tolist() == sorted(set(group["score"]))
        assert len(group) <= points + 2
        assert (group["score"].iloc[0], group["score"].iloc[-1]) == (times[0], times[-1])
        for score, share in zip(group["score"], group["share"], strict=True):
            assert share == pytest.approx(sum(time <= score for time in times) / len(times))


def test_trends_end_at_each_users_best_and_never_rise(kb: KernelBot) -> None:
    board = kb.leaderboard("trimul")
    board = board[~board["flags"].str.startswith("impossible")]
    trends = kb.trends("trimul", board["user_id"].unique().tolist(), points=12)
    told = {(row["user_id"], row["runner"]): list(row["trend"]) for row in trends.to_dict("records")}
    assert set(told) == set(zip(board["user_id"], board["runner"], strict=True))
    for user, runner, score in board[["user_id", "runner", "score"]].itertuples(index=False):
        trend = told[user, runner]
        assert len(trend) <= 12
        assert trend[-1] == score
        assert all(later <= earlier for earlier, later in pairwise(trend))


@pytest.mark.parametrize(("problem", "runner"), [("nvfp4_gemm", "NVIDIA"), ("vectoradd_v2", "A100"), ("eigh", "B200")])
def test_the_history_of_ranks_is_the_ranking_as_of_each_moment(
    kb: KernelBot, sample_folder: Path, problem: str, runner: str
) -> None:
    history = kb.rank_history(problem, runner=runner, top=4, steps=9)
    rows = [
        row for row in rows_of(sample_folder, problem) if row.runner == runner and row.counts and not row.impossible
    ]
    assert history["at"].nunique() <= 9
    assert history["user_id"].nunique() == 4
    for moment, group in history.groupby("at"):
        best: dict[str, float] = {}
        for row in rows:
            # A moment is rounded to the microsecond, a row on it may fall to either side.
            if row.at and row.at <= moment:
                best[row.user_id] = min(row.time, best.get(row.user_id, 1e9))
        for user, rank, score in group[["user_id", "rank", "score"]].itertuples(index=False):
            assert score == best[user]
            assert rank == 1 + sum(other < score for other in best.values())
    final = history[history["at"] == history["at"].max()].set_index("user_id")["rank"]
    board = kb.leaderboard(problem, runner=runner).set_index("user_id")["rank"]
    assert final.to_dict() == board.loc[final.index].to_dict()


@pytest.mark.parametrize("problem", ["nvfp4_gemm", "trimul", "cholesky"])
def test_every_row_is_in_the_history_of_statuses(kb: KernelBot, sample_folder: Path, problem: str) -> None:
    told = kb.status_over_time(problem)
    rows = rows_of(sample_folder, problem)
    assert told["rows"].sum() == len(rows)
    assert told["passed"].sum() == sum(row.counts for row in rows)
    assert told["day"].is_monotonic_increasing


# --- hardware ------------------------------------------------------------------------------------------------------


def test_the_same_code_of_the_same_user_is_compared_between_runners(kb: KernelBot, sample_folder: Path) -> None:
    best: dict[tuple[str, int, str], float] = {}
    for row in rows_of(sample_folder, "trimul"):
        if row.counts and not row.impossible:
            assert row.runner
            key = (row.user_id, row.code_id, row.runner)
            best[key] = min(row.time, best.get(key, 1e9))
    expected = {
        (user, code, a, b): other / score
        for (user, code, a), score in best.items()
        for (user_b, code_b, b), other in best.items()
        if (user, code) == (user_b, code_b) and a < b
    }
    told = kb.same_code("trimul")
    assert expected
    assert dict(
        zip(
            told[["user_id", "code_id", "runner_a", "runner_b"]].itertuples(index=False, name=None),
            told["ratio"],
            strict=True,
        )
    ) == pytest.approx(expected)
    ratios = kb.runner_ratios("trimul")
    assert ratios[ratios["kind"] == "same code"]["pairs"].sum() == 2 * len(expected)
    both_ways = ratios.set_index(["kind", "runner_a", "runner_b"])["pairs"].to_dict()
    assert all(both_ways[kind, b, a] == pairs for (kind, a, b), pairs in both_ways.items())


def test_two_boards_are_paired_by_user(kb: KernelBot) -> None:
    first, second = kb.leaderboard("598").set_index("user_id"), kb.leaderboard("697").set_index("user_id")
    told = kb.paired("nvfp4_dual_gemm", "modal_nvfp4_dual_gemm").set_index("user_id")
    assert set(told.index) == set(first.index) & set(second.index)
    for user, row in told.iterrows():
        assert (row["score_a"], row["rank_a"]) == (first.loc[user, "score"], first.loc[user, "rank"])
        assert (row["score_b"], row["submission_b"]) == (second.loc[user, "score"], second.loc[user, "submission_id"])


def test_boards_of_different_competitions_are_not_paired(kb: KernelBot) -> None:
    with pytest.raises(UnknownProblem, match="different competitions"):
        kb.paired("nvfp4_gemm", "trimul")


# --- submissions ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gemm(sample_folder: Path) -> list[dict[str, Any]]:
    """All rows of nvfp4_gemm, as they are in the file."""
    columns = ["submission_id", "user_id", "user_name", "file_name", "submission_time", "status", "score", "passed",
               "mode", "runner", "problem_name"]  # fmt: skip
    rows = pq.read_table(sample_folder / FILES["nvfp4"], columns=columns).to_pylist()
    return [row for row in rows if row["problem_name"] == "nvfp4_gemm"]


def test_the_pages_are_all_rows_once(kb: KernelBot, gemm: list[dict[str, Any]]) -> None:
    first = kb.submissions("nvfp4_gemm", page_size=500)
    pages = [kb.submissions("nvfp4_gemm", page_size=500, page=number).rows for number in range(1, first.pages + 1)]
    told = pd.concat(pages)
    assert first.total == len(told) == len(gemm)
    assert Counter(told["submission_id"]) == Counter(row["submission_id"] for row in gemm)
    assert "total" not in told


@pytest.mark.parametrize(("asked", "page"), [(-5, 1), (0, 1), (1, 1), (2, 2), (10**9, None)])
def test_a_page_outside_is_the_nearest_one(kb: KernelBot, asked: int, page: int | None) -> None:
    told = kb.submissions("fp8_quant", page=asked, page_size=7)
    assert told.page == (page or told.pages)
    assert 0 < len(told.rows) <= 7


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("sort", SORTS)
def test_rows_are_sorted_and_missing_values_come_last(kb: KernelBot, sort: Sort, descending: bool) -> None:
    page = kb.submissions("qr_v2", sort=sort, descending=descending, page_size=500)
    told = page.rows[sort].tolist()
    assert len(told) == page.total
    present = [value for value in told if not pd.isna(value)]
    keys = [value.lower() if sort in ("user_name", "file_name") else value for value in present]
    assert keys == sorted(keys, reverse=descending)
    assert all(pd.isna(value) for value in told[len(present) :])


def counts(row: dict[str, Any]) -> bool:
    """Whether a row of the file is a ranked run that passed with a time."""
    usable = row["score"] is not None and math.isfinite(row["score"]) and row["score"] > 0
    return row["passed"] is True and row["mode"] == "leaderboard" and row["runner"] is not None and usable


FILTERS: dict[str, tuple[dict[str, Any], Any]] = {
    "passed": ({"passed": True}, counts),
    "not passed": ({"passed": False}, lambda row: not counts(row)),
    "a text": (
        {"text": "V2"},
        lambda row: "v2" in (row["file_name"] or "").lower() or "v2" in (row["user_name"] or "").lower(),
    ),
    "a text with signs": ({"text": "%_'"}, lambda row: "%_'" in (row["file_name"] or "") + (row["user_name"] or "")),
    "a runner": ({"runner": "NVIDIA"}, lambda row: row["runner"] in ("NVIDIA", None)),
    "days": (
        {"since": "2025-12-10", "until": "2025-12-11"},
        lambda row: row["submission_time"].strftime("%Y-%m-%d") in ("2025-12-10", "2025-12-11"),
    ),
    "nobody": ({"users": ["999"]}, lambda row: False),
}


@pytest.mark.parametrize(("asked", "fits"), FILTERS.values(), ids=FILTERS)
def test_rows_are_filtered(kb: KernelBot, gemm: list[dict[str, Any]], asked: dict[str, Any], fits: Any) -> None:
    told = kb.submissions("nvfp4_gemm", **asked, page_size=500)
    expected = [row["submission_id"] for row in gemm if fits(row)]
    assert told.total == len(expected)
    assert set(told.rows["submission_id"]) <= set(expected)


def test_rows_of_some_users_only(kb: KernelBot, gemm: list[dict[str, Any]]) -> None:
    users = sorted({row["user_id"] for row in gemm})[:2]
    told = kb.submissions("nvfp4_gemm", users=users)
    assert told.total == sum(row["user_id"] in users for row in gemm)


# --- people and single submissions ---------------------------------------------------------------------------------


def test_a_user_has_the_rank_of_each_leaderboard(kb: KernelBot) -> None:
    user = kb.leaderboard("nvfp4_gemm").loc[0, "user_id"]
    told = kb.user(user)
    assert len(told) > 3
    for row in told.dropna(subset=["rank"]).to_dict("records"):
        board = kb.leaderboard(row["problem"], runner=row["runner"]).set_index("user_id")
        own = board.loc[user]
        assert (row["rank"], row["of"]) == (own["rank"], len(board))
        assert (row["score"], row["ratio"]) == (own["score"], own["ratio"])
        assert row["submission_id"] == own["submission_id"]


def test_people_are_found_by_a_part_of_the_name_and_by_id(kb: KernelBot) -> None:
    person = kb.leaderboard("trimul").iloc[0]
    for text in (person["user_name"], person["user_name"].upper(), f"  {person['user_name']} ", person["user_id"]):
        assert person["user_id"] in set(kb.find_users(text)["user_id"])
    assert kb.find_users("no such person anywhere").empty
    assert len(kb.find_users("sample", limit=3)) == 3
    assert not set(kb.find_users("user ")["competitions"].explode()) & {"amd-mi300"}


def test_a_progression_can_be_asked_by_name(kb: KernelBot) -> None:
    person = kb.leaderboard("trimul").iloc[0]
    by_name, by_id = kb.progression("trimul", person["user_name"]), kb.progression("trimul", users=[person["user_id"]])
    assert person["user_id"] in set(by_name["user_id"])
    assert by_name[by_name["user_id"] == person["user_id"]].reset_index(drop=True)["score"].equals(by_id["score"])
    with pytest.raises(UnknownUser, match="Nobody has the id or name nobody"):
        kb.progression("trimul", "nobody")


def test_a_long_progression_keeps_the_bests_and_the_latest(kb: KernelBot) -> None:
    users = kb.leaderboard("nvfp4_gemm")["user_id"].tolist()
    whole, part = kb.progression("nvfp4_gemm", users=users), kb.progression("nvfp4_gemm", users=users, limit=300)
    assert len(part) == 300 < len(whole)
    assert part["is_best"].sum() == min(300, whole["is_best"].sum())
    assert part["submitted_at"].is_monotonic_increasing
    assert (part["total"] == len(whole)).all()


@pytest.mark.parametrize("number", [0, 1, -1, 2**63 - 1, 2**63, 10**30])
def test_an_unknown_submission_is_told(kb: KernelBot, number: int) -> None:
    with pytest.raises(UnknownSubmission, match=str(number)):
        kb.submission(number)


def test_a_submission_on_several_runners_needs_one_named(kb: KernelBot, sample_folder: Path) -> None:
    by_id = reference.grouped(rows_of(sample_folder, "trimul"), lambda row: row.submission_id)
    number, rows = next((number, rows) for number, rows in by_id.items() if len(rows) > 2)
    with pytest.raises(AmbiguousSubmission) as failure:
        kb.submission(number)
    assert set(failure.value.runners) == {row.runner for row in rows}
    for row in rows:
        found = kb.submission(number, row.runner)
        assert (found.file_row, found.score, found.runner) == (row.file_row, row.score, row.runner)
    with pytest.raises(UnknownSubmission, match="on T4"):
        kb.submission(number, "T4")
    assert kb.submission_rows(number, competition="helion") == []
    assert kb.submission_rows(number, competition="no such") == []


def test_the_row_of_every_leader_is_the_one_in_the_file(kb: KernelBot, sample_folder: Path) -> None:
    for problem in ("nvfp4_gemm", "amd-fp8-mm"):
        file = sample_folder / FILES[kb.find(problem)[0]]
        ids = pq.read_table(file, columns=["submission_id"])["submission_id"].to_pylist()
        for number, runner in kb.leaderboard(problem, top=6)[["submission_id", "runner"]].itertuples(index=False):
            assert ids[kb.submission(number, runner).file_row] == number


@pytest.mark.parametrize(("problem", "runner"), [("nvfp4_gemm", "NVIDIA"), ("amd-fp8-mm", "MI300")])
def test_the_place_of_a_submission(kb: KernelBot, sample_folder: Path, problem: str, runner: str) -> None:
    board = kb.leaderboard(problem, runner=runner)
    third = board.iloc[2]
    attempts = list(reference.progression(rows_of(sample_folder, problem), third["user_id"], Scope(runner=runner)))
    bests = [place for place, attempt in enumerate(attempts) if attempt["is_best"]]
    for place in {0, len(attempts) - 1, *bests}:
        attempt = attempts[place]
        if attempt["runner"] is None:
            continue
        told = kb.placement(kb.submission(attempt["submission_id"], runner))
        assert (told.rank, told.of, told.users_best) == (third["rank"], len(board), third["score"])
        assert told.is_users_best == (attempt["submission_id"] == third["submission_id"])
        assert told.is_personal_best == attempt["is_best"]
        assert told.attempts_before == place
        ran = [earlier["best_so_far"] for earlier in attempts[:place] if earlier["runner"] == runner]
        assert told.best_before == (ran[-1] if ran else None)


def test_the_same_code_is_found_on_other_boards(kb: KernelBot, sample_folder: Path) -> None:
    everything = [row for rows in of_everything(sample_folder).values() for row in rows]
    flat = [row for row in everything if row.leaderboard_id not in reference.LEGACY_BOARDS]
    code, rows = next(
        (code, rows) for code, rows in reference.grouped(flat, lambda row: row.code_id).items()
        if len({row.problem for row in rows}) > 1
    )  # fmt: skip
    found = kb.same_code_elsewhere(kb.submission(rows[0].submission_id, rows[0].runner))
    expected = {(row.problem, row.submission_id, row.runner) for row in rows[1:]}
    assert code
    assert set(found[["problem", "submission_id", "runner"]].itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize("day", ["yesterday", "2025-13-01", "2025-12-10T10:00", "1; drop view submissions"])
def test_a_day_that_is_none_is_told(kb: KernelBot, day: str) -> None:
    with pytest.raises(QueryRefused, match="is not a day"):
        kb.leaderboard("trimul", until=day)


@pytest.mark.parametrize("runner", ["", "'", "no such", "A100' or true --"])
def test_text_in_parameters_is_only_text(kb: KernelBot, runner: str) -> None:
    assert kb.leaderboard("trimul", runner=runner).empty


def test_a_text_that_cannot_be_written_is_refused_and_no_file_is_blamed(kb: KernelBot) -> None:
    """A lone surrogate, as JSON can carry one. It once made every competition unavailable, for everybody."""
    odd = "\ud800"
    for ask in (
        lambda: kb.leaderboard("trimul", runner=odd),
        lambda: kb.progression("trimul", user=odd),
        lambda: kb.submission(1, odd),
        lambda: kb.submissions("trimul", text=odd),
        lambda: kb.user(odd),
        lambda: kb.find_users(odd),
    ):
        with pytest.raises(QueryRefused, match="not valid text"):
            ask()
    assert kb.unavailable == {}


def test_a_number_is_read_as_the_id_that_it_writes(kb: KernelBot) -> None:
    assert kb.user_ids([7]) == ("7",)  # type: ignore[list-item]
    assert kb.find_users(123456789012).empty  # type: ignore[arg-type]
    with pytest.raises(QueryRefused, match="user=None is not a text"):
        kb.user(None)  # type: ignore[arg-type]


NAMED = [
    (question, parameter)
    for question in QUESTIONS.values()
    for parameter in question.parameters
    if parameter.name in ("user", "users", "find")
]


@pytest.mark.parametrize(("question", "parameter"), NAMED, ids=[f"{one.name} {what.name}" for one, what in NAMED])
def test_every_question_knows_users_by_id_and_by_name_and_says_who_comes_close(
    kb: KernelBot, question: Question, parameter: Parameter
) -> None:
    board = kb.leaderboard("trimul", runner="A100").drop_duplicates("user_name", keep=False)
    one = board[board["user_name"].str.startswith("Sample ")].iloc[0]
    asked = {"problem": "trimul", "runner": "A100"} if question.of == "board" else {}

    def ask(text: str) -> pd.DataFrame:
        return kb.ask(question.name, **asked, **{parameter.name: [text] if parameter.kind == "texts" else text})

    by_id = ask(one["user_id"])
    assert len(by_id) or question.name == "shapes"  # (this board has none)
    pd.testing.assert_frame_equal(by_id, ask(one["user_name"]))
    with pytest.raises(UnknownUser) as failure:
        ask(f"{one['user_name']}q")
    assert one["user_name"] in failure.value.advice
