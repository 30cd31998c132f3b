"""The catalog: consistent in itself, with the sample's files and with what is known about the boards."""

from collections import Counter
from datetime import UTC
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kbdash.charts import palette
from kbdash.database.schema import SCHEMAS
from kbdash.dataset import catalog
from kbdash.dataset.cards import AVERAGES, card_of, glossary, official_board
from kbdash.dataset.model import Board
from kbdash.engine import KernelBot
from kbdash.errors import UnknownProblem
from tests.unit import reference

BOARDS = [board for competition in catalog.COMPETITIONS for board in competition.boards]
SLUGS = ("nvfp4", "amd-mi300", "amd-1-1m", "trimul", "helion", "pmpp-v2", "linalg")
# From the task definitions: id and name.
KNOWN = {
    398: "amd-identity", 399: "amd-fp8-mm", 430: "amd-mixture-of-experts", 463: "amd-mla-decode",
    496: "trimul", 537: "conv2d_v2", 538: "grayscale_v2", 539: "histogram_v2",
    540: "matmul_v2", 541: "prefixsum_v2", 542: "sort_v2", 543: "vectoradd_v2",
    544: "vectorsum_v2", 563: "amd-all2all", 564: "amd-gemm-rs", 565: "amd-ag-gemm",
    595: "nvfp4_gemv", 597: "nvfp4_gemm", 598: "nvfp4_dual_gemm", 697: "modal_nvfp4_dual_gemm",
    730: "nvfp4_group_gemm", 763: "amd-mxfp4-mm", 764: "amd-moe-mxfp4", 765: "amd-mixed-mla",
    766: "causal_conv1d", 767: "fp8_quant", 768: "gated_deltanet_chunk_fwd_h",
    769: "gated_deltanet_chunk_fwd_o", 770: "gated_deltanet_recompute_w_u", 774: "qr_v2",
    775: "eigh", 776: "cholesky",
}  # fmt: skip


def twice(values: list[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def test_every_board_is_there_once_with_its_id_and_exact_name() -> None:
    assert {board.id: board.name for board in BOARDS} == KNOWN
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
        (774, "2026-06-30T00:00:00+00:00"),
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
    assert [c.slug for c in catalog.COMPETITIONS if not c.unfiltered] == ["linalg"]


def test_known_cases_belong_to_boards_and_say_where_it_is_told() -> None:
    assert {(case.leaderboard_id, case.submission_id) for case in catalog.FLAG_CASES} == {
        (board, number) for board, number, *_ in reference.REPORTS
    }
    assert all(case.reason and case.source for case in catalog.FLAG_CASES)


@pytest.mark.parametrize(
    ("runner", "name"),
    [("NVIDIA", "B200 (on-prem)"), ("B200", "B200 (Modal)"), ("GB300", "GB300"), (None, "–"), ("", "–")],
)
def test_runners_have_the_names_that_readers_know(runner: str | None, name: str) -> None:
    assert catalog.runner_name(runner) == name


@pytest.mark.parametrize(
    ("problem", "advice"),
    [("nvfp4_gem", "nvfp4_gemm"), ("zzzzzzzz", "There are nvfp4_gemv, "), ("", "There are nvfp4_gemv, ")],
)
def test_an_unknown_problem_offers_what_is_near(kb: KernelBot, problem: str, advice: str) -> None:
    with pytest.raises(UnknownProblem) as failure:
        kb.leaderboard(problem)
    assert advice in failure.value.advice


def test_a_problem_is_looked_for_only_where_it_is_asked_for(kb: KernelBot) -> None:
    with pytest.raises(UnknownProblem, match="in helion"):
        kb.leaderboard("trimul", competition="helion")


def test_capabilities_are_said_by_the_catalog() -> None:
    told = {c.slug: (c.linkable, c.has_runs, c.has_shapes, c.anonymous) for c in catalog.COMPETITIONS}
    assert told.pop("amd-mi300") == (False, True, True, True)
    assert set(told.values()) == {(True, False, False, False)}
    assert all(c.has_runs is not SCHEMAS[c.family].one_row_each for c in catalog.COMPETITIONS)
    twins = {board.name: board.twin for board in BOARDS if board.twin}
    assert twins == {twin: name for name, twin in twins.items()}
    assert "nvfp4_dual_gemm" in twins


def test_twins_stand_in_one_competition_and_say_on_which_machines() -> None:
    for competition in catalog.COMPETITIONS:
        own = {board.name: board for board in competition.boards}
        for board in own.values():
            assert bool(board.twin) == bool(board.machines)
            if board.twin:
                assert own[board.twin].machines != board.machines
                assert {"on-prem": "NVIDIA", "Modal": "B200"}[board.machines] in board.runners


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_runner_of_the_catalog_has_a_colour_of_its_own(theme: str) -> None:
    styles = {runner: palette.runner_style(runner, palette.theme_of(theme)) for runner in catalog.RUNNERS}
    unknown = palette.runner_style("nobody knows it", palette.theme_of(theme))
    assert [runner for runner, style in styles.items() if style == unknown] == []
    assert len(set(styles.values())) == len(styles)


def test_every_board_has_a_card() -> None:
    for board in BOARDS:
        card = card_of(board.name)
        assert card is not None, board.name
        assert card.about.count(". ") >= 2
        assert card.about.endswith(".")
        assert card.inputs
        assert card.shapes
        assert AVERAGES[card.ranking]
        assert card.reference.startswith("https://github.com/gpu-mode/reference-kernels/tree/main/problems/")
        assert official_board(board) == f"https://www.gpumode.com/leaderboard/{board.id}?tab=rankings"
    assert {card_of(board.name).ranking for board in BOARDS if board.name.endswith("_v2") and board.id < 600} == {
        "last"
    }  # type: ignore[union-attr]
    assert {"NVFP4", "MLA", "MoE", "Speed of light"} <= glossary().keys()
    assert card_of("nothing") is None
