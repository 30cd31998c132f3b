"""The catalog: consistent in itself, with the sample's files and with what is known about the boards."""

from collections import Counter
from datetime import UTC
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kbdash import catalog
from kbdash.engine import KernelBot
from kbdash.errors import UnknownProblem
from kbdash.model import Board
from tests.unit import reference

BOARDS = [board for competition in catalog.COMPETITIONS for board in competition.boards]
SLUGS = ("nvfp4", "amd-mi300", "amd-1-1m", "trimul", "helion", "pmpp-v2", "linalg")
# From the task definitions: id, name, shapes of the benchmark.
KNOWN = {
    398: ("amd-identity", 7), 399: ("amd-fp8-mm", 18), 430: ("amd-mixture-of-experts", 2), 463: ("amd-mla-decode", 2),
    496: ("trimul", 7), 537: ("conv2d_v2", 5), 538: ("grayscale_v2", 6), 539: ("histogram_v2", 6),
    540: ("matmul_v2", 8), 541: ("prefixsum_v2", 11), 542: ("sort_v2", 5), 543: ("vectoradd_v2", 5),
    544: ("vectorsum_v2", 6), 563: ("amd-all2all", 5), 564: ("amd-gemm-rs", 6), 565: ("amd-ag-gemm", 6),
    595: ("nvfp4_gemv", 3), 597: ("nvfp4_gemm", 3), 598: ("nvfp4_dual_gemm", 4), 697: ("modal_nvfp4_dual_gemm", 4),
    730: ("nvfp4_group_gemm", 4), 763: ("amd-mxfp4-mm", 6), 764: ("amd-moe-mxfp4", 7), 765: ("amd-mixed-mla", 8),
    766: ("causal_conv1d", 3), 767: ("fp8_quant", 3), 768: ("gated_deltanet_chunk_fwd_h", 3),
    769: ("gated_deltanet_chunk_fwd_o", 3), 770: ("gated_deltanet_recompute_w_u", 3), 774: ("qr_v2", 12),
    775: ("eigh", 13), 776: ("cholesky", 15),
}  # fmt: skip


def twice(values: list[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def test_every_board_is_there_once_with_its_id_and_exact_name() -> None:
    assert {board.id: board.name for board in BOARDS} == {number: name for number, (name, _) in KNOWN.items()}
    assert len(BOARDS) == len(KNOWN)


def test_slugs_files_and_names_are_unique() -> None:
    assert tuple(competition.slug for competition in catalog.COMPETITIONS) == SLUGS
    assert twice([name for competition in catalog.COMPETITIONS for name in competition.files]) == []
    assert twice([name for board in BOARDS for name in {board.name, *board.aliases}]) == []
    for competition in catalog.COMPETITIONS:
        assert twice([board.label for board in competition.boards]) == []


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_board_is_plausible(board: Board) -> None:
    assert board.label
    assert board.summary.endswith(".")
    assert set(board.runners) <= set(catalog.RUNNERS)
    assert board.deadline is None or board.deadline.tzinfo is UTC
    assert board.statistic == ("last" if 537 <= board.id <= 544 else "geom")
    assert board.shapes == KNOWN[board.id][1]
    assert board.floor == reference.FLOORS.get(board.id)
    assert board.speed_of_light is None or 1e-6 < board.speed_of_light < 1e-3
    for caveat in board.caveats:
        assert caveat.text.endswith(".")
        assert caveat.source


@pytest.mark.parametrize(
    ("number", "deadline"),
    [
        (399, "2025-09-02T00:00:00+00:00"),
        (564, "2025-10-15T07:00:00+00:00"),
        (595, "2025-11-29T06:59:00+00:00"),
        (597, "2025-12-21T07:59:00+00:00"),
        (598, "2026-01-20T07:59:00+00:00"),
        (730, "2026-02-21T07:30:00+00:00"),
        (763, "2026-04-07T07:59:00+00:00"),
        (766, "2026-03-15T01:00:00+00:00"),
        (543, None),
    ],
)
def test_deadlines_are_those_of_the_tasks(number: int, deadline: str | None) -> None:
    [board] = [board for board in BOARDS if board.id == number]
    assert (board.deadline.isoformat() if board.deadline else None) == deadline


@pytest.mark.parametrize("competition", catalog.COMPETITIONS, ids=lambda competition: competition.slug)
def test_the_sample_has_the_boards_of_the_catalog_on_their_runners(
    kb: KernelBot, sample_folder: Path, competition: catalog.Competition
) -> None:
    rows = reference.read(sample_folder / competition.files[0])
    by_board = reference.grouped(rows, lambda row: (row.leaderboard_id, row.problem))
    assert set(by_board) == {(board.id, board.name) for board in competition.boards}
    for board in competition.boards:
        own = set(reference.runners(by_board[board.id, board.name]))
        assert set(board.runners) <= own
        assert own <= {
            *board.runners,
            *(other for _, runner, other in catalog.OTHER_HARDWARE if runner in board.runners),
        }
        assert kb.find(str(board.id)) == (competition.slug, board.name)
        assert kb.board(board.name) is board


@pytest.mark.parametrize("board", [board for board in BOARDS if board.aliases], ids=lambda board: board.name)
def test_nicknames_lead_to_the_board(kb: KernelBot, board: Board) -> None:
    for alias in board.aliases:
        assert kb.board(alias) is board


def test_the_definitions_in_the_data_know_the_same_names(sample_folder: Path) -> None:
    table = pq.read_table(sample_folder / catalog.DEFINITIONS, columns=["id", "name"]).to_pylist()
    defined = {row["id"]: row["name"] for row in table}
    known = {board.id: board.name for board in BOARDS}
    shared = defined.keys() & known.keys()
    assert len(shared) > 25
    assert {number: defined[number] for number in shared} == {number: known[number] for number in shared}


def test_the_caveats_of_the_card_stand_where_the_number_is_shown() -> None:
    told = {board.name: " ".join(caveat.text for caveat in board.caveats) for board in BOARDS}
    assert "697" in told["nvfp4_dual_gemm"]
    assert "598" in told["modal_nvfp4_dual_gemm"]
    assert "without moving data" in told["amd-all2all"]
    shared = {c.slug: " ".join(caveat.text for caveat in c.caveats) for c in catalog.COMPETITIONS}
    assert "brittle" in shared["helion"]
    assert "secret" in shared["amd-mi300"]
    for slug in ("nvfp4", "amd-1-1m", "trimul", "helion", "pmpp-v2"):
        assert "2026-06-18" in shared[slug]
    assert "2026-06-18" not in shared["linalg"]


def test_known_cases_belong_to_boards_and_say_where_it_is_told() -> None:
    assert {(case.leaderboard_id, case.submission_id) for case in catalog.FLAG_CASES} == reference.REPORTED
    assert all(case.reason and case.source for case in catalog.FLAG_CASES)


@pytest.mark.parametrize(
    ("runner", "name"),
    [("NVIDIA", "B200 (on-prem)"), ("B200", "B200 (Modal)"), ("GB300", "GB300"), (None, "–"), ("", "–")],
)
def test_runners_have_the_names_that_readers_know(runner: str | None, name: str) -> None:
    assert catalog.runner_name(runner) == name


@pytest.mark.parametrize(
    ("problem", "advice"), [("nvfp4_gem", "nvfp4_gemm"), ("zzzzzzzz", "kb.problems()"), ("", "kb.problems()")]
)
def test_an_unknown_problem_offers_what_is_near(kb: KernelBot, problem: str, advice: str) -> None:
    with pytest.raises(UnknownProblem) as failure:
        kb.leaderboard(problem)
    assert advice in failure.value.advice


def test_a_problem_is_looked_for_only_where_it_is_asked_for(kb: KernelBot) -> None:
    with pytest.raises(UnknownProblem, match="in helion"):
        kb.leaderboard("trimul", competition="helion")
