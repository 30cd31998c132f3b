"""`kbdash.connect()` against the Hub on loopback: the same answers as the reference, out of few bytes."""

import math
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.database import standings
from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.unit import comparison, reference
from tests.unit.reference import Row, Scope
from tests.unit.tables import NVFP4

FILES = {
    "nvfp4": NVFP4,
    "amd-mi300": "submissions.parquet",
    "amd-1-1m": "amd_1_1m_competition_submissions.parquet",
    "trimul": "trimul_submissions.parquet",
    "helion": "helion_b200_nebius_submissions.parquet",
    "pmpp-v2": "pmpp_v2_submissions.parquet",
    "linalg": "linalg_submissions.parquet",
}
# What a leaderboard needs to know of a row.
RANKING_COLUMNS = {
    "submission_id", "leaderboard_id", "problem_name", "user_id", "user_name", "submission_time", "score", "passed",
    "mode", "runner",
}  # fmt: skip
FOOTER_READ = 16_384  # what DuckDB fetches from the end of a file before it knows how long the footer is
TAIL_READ = 65_536  # what we look at before DuckDB may read the file


@cache
def problems_of(path: Path) -> dict[str, list[Row]]:
    """The reference's rows of a file by problem."""
    return reference.grouped(reference.read(path), lambda row: row.problem)


def some_days(rows: list[Row]) -> list[date]:
    """The day before anything happened, and the days when a third and two thirds of the rows were there."""
    times = sorted(row.at for row in rows if row.at)
    return [times[0].date() - timedelta(days=1), times[len(times) // 3].date(), times[2 * len(times) // 3].date()]


@pytest.mark.parametrize("slug", FILES)
def test_every_leaderboard_is_that_of_the_reference(kb: KernelBot, sample_folder: Path, slug: str) -> None:
    by_problem = problems_of(sample_folder / FILES[slug])
    assert set(kb.problem_names(slug)) == set(by_problem)
    for number, (problem, rows) in enumerate(by_problem.items()):
        first, early, late = some_days(rows)
        scopes = [
            Scope(flagged=False),
            Scope(until=first),
            Scope(until=early),
            Scope(until=late, flagged=False),
            Scope(since=early, until=late),
            *(Scope(runner=runner) for runner in reference.runners(rows)),
        ]
        # Each problem as it is; of the limits all for the first, and one by one for the others.
        for scope in (Scope(), *(scopes if not number else scopes[number % len(scopes) :][:1])):
            comparison.check_leaderboard(kb, problem, rows, scope)


@pytest.mark.parametrize("slug", FILES)
def test_what_is_told_about_every_runner_is_what_the_reference_tells(
    kb: KernelBot, sample_folder: Path, slug: str
) -> None:
    for number, (problem, rows) in enumerate(problems_of(sample_folder / FILES[slug]).items()):
        late = some_days(rows)[-1]
        for scope in (Scope(), Scope(flagged=False, until=late))[: 1 if number else 2]:
            comparison.check_records(kb, problem, rows, scope)
            comparison.check_summary(kb, problem, rows, scope)
        comparison.check_distribution(kb, problem, rows, Scope())
        for runner in reference.runners(rows)[: 1 if number else None]:
            comparison.check_standing(kb, problem, rows, Scope(runner=runner))


@pytest.mark.parametrize("problem", ["nvfp4_gemm", "trimul", "eigh"])
def test_the_way_of_the_leaders_is_that_of_the_reference(kb: KernelBot, sample_folder: Path, problem: str) -> None:
    rows = problems_of(sample_folder / FILES[kb.find(problem)[0]])[problem]
    runner = reference.runners(rows)[0]
    leaders = kb.leaderboard(problem, runner=runner, top=5)["user_id"].head(5)
    for scope in (Scope(runner=runner), Scope(runner=runner, flagged=False), Scope()):
        comparison.check_people(kb, problem, rows, scope, leaders)


def test_the_geometric_mean_of_the_shapes_is_the_score(kb: KernelBot) -> None:
    checked = 0
    for problem in kb.problem_names("amd-mi300"):
        for _, run in kb.shapes(problem, top=200).groupby(["runner", "submission_id"]):
            mean = math.exp(sum(math.log(ns) for ns in run["mean_ns"]) / len(run)) / 1e9
            assert mean == pytest.approx(run["score"].iloc[0], rel=1e-12)
            checked += 1
    assert checked > 50


def test_ranking_again_by_all_shapes_gives_the_leaderboard(kb: KernelBot) -> None:
    board = kb.leaderboard("amd-fp8-mm", runner="MI300").set_index("user_id")
    again = standings.shape_board(kb.shapes("amd-fp8-mm", runner="MI300", top=len(board))).set_index("user_id")
    assert again["score"].to_dict() == pytest.approx(board["score"].to_dict(), rel=1e-12)


@pytest.fixture(scope="module")
def metadata(sample_folder: Path) -> Callable[[str], pq.FileMetaData]:
    return lambda name: pq.ParquetFile(sample_folder / name).metadata


def chunks(footer: pq.FileMetaData, columns: Callable[[str], bool]) -> list[tuple[int, int]]:
    """First and last byte of the column chunks of the top-level columns chosen by name."""
    found = []
    for group in range(footer.num_row_groups):
        for number in range(footer.num_columns):
            chunk = footer.row_group(group).column(number)
            if columns(chunk.path_in_schema.partition(".")[0]):
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                found.append((start, start + chunk.total_compressed_size - 1))
    return found


def ask_everything(kb: KernelBot) -> None:
    """Every question, once in each competition."""
    kb.overview()
    kb.problems()
    kb.find_users("sample")
    for slug in kb.readable():
        problem = kb.problem_names(slug)[0]
        user, runner, number = kb.leaderboard(problem).loc[0, ["user_id", "runner", "submission_id"]]
        kb.trends(problem, [user])
        kb.summary(problem)
        kb.distribution(problem)
        kb.ecdf(problem)
        kb.standing(problem, 1e-4, runner=runner)
        kb.progression(problem, user)
        kb.records(problem)
        kb.rank_history(problem, runner=runner, steps=5)
        kb.same_code(problem)
        kb.runner_ratios(problem)
        kb.paired(problem, problem)
        kb.submissions(problem, text="a", sort="file_name")
        kb.status_over_time(problem)
        kb.ladder(problem, user, runner=runner)
        kb.shapes(problem)
        if slug in kb.linkable():
            kb.user(user)
        found = kb.submission(int(number), runner, slug)
        kb.placement(found)
        kb.same_code_elsewhere(found)
    kb.sql("from submissions limit 3")


def test_no_question_reads_the_source_texts(
    sample_folder: Path, tmp_path: Path, metadata: Callable[[str], pq.FileMetaData]
) -> None:
    """A file of each kind: one text after the other or as bytes, few columns or many."""
    names = (NVFP4, FILES["amd-mi300"], FILES["pmpp-v2"])
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", *names)) as hub:
        settings = Settings(
            source=DATASET, endpoint=hub.endpoint, cache=tmp_path, hub_seconds=30.0, query_seconds=120.0
        )
        kb = kbdash.connect(settings=settings)
        ask_everything(kb)
        kb.close()
    for name in names:
        size = (hub.folder / name).stat().st_size
        # The end of the file is read before anyone knows what is there.
        ranges = [span for span in hub.counts[name].ranges if span[0] < size - TAIL_READ]
        texts = chunks(metadata(name), lambda column: column == "code")
        assert ranges
        assert texts
        overlapping = [
            (asked, text) for asked in ranges for text in texts if asked[0] <= text[1] and text[0] <= asked[1]
        ]
        assert overlapping == []


@pytest.mark.parametrize(
    "scope", [Scope(), Scope(runner="NVIDIA"), Scope("NVIDIA", date(2025, 12, 1), date.max, False)]
)
def test_the_first_leaderboard_reads_its_columns_and_the_footer(
    hub: LoopbackHub, settings: Settings, metadata: Callable[[str], pq.FileMetaData], scope: Scope
) -> None:
    kb = kbdash.connect(settings=settings)
    assert not kb.leaderboard("nvfp4_gemm", **comparison.asked(scope)).empty
    footer = metadata(NVFP4)
    used = sum(last - first + 1 for first, last in chunks(footer, RANKING_COLUMNS.__contains__))
    count = hub.counts[NVFP4]
    assert count.errors == 0
    assert count.bytes <= 1.2 * used + max(footer.serialized_size + 8, FOOTER_READ) + TAIL_READ
    assert count.requests <= 12
    kb.close()


def test_a_second_leaderboard_makes_no_request(hub: LoopbackHub, settings: Settings) -> None:
    kb = kbdash.connect(settings=settings)
    kb.leaderboard("nvfp4_gemm", runner="NVIDIA")
    kb._database.wait_until_opened()  # the other files, which are opened in the background
    hub.reset()
    again = kb.leaderboard("nvfp4_gemm", until="2025-12-10", flagged=False)
    other = kb.leaderboard("nvfp4_group_gemm")
    assert not again.empty
    assert not other.empty
    assert hub.counts.requests == 0
    kb.close()


def test_bytes_moved_are_those_that_the_hub_sent(hub: LoopbackHub, settings: Settings) -> None:
    kb = kbdash.connect(settings=settings)
    kb.leaderboard("trimul")
    sent = sum(count.bytes for count in hub.counts.files.values())
    assert 0.9 * sent <= kb.bytes_moved() <= sent
    kb.close()
