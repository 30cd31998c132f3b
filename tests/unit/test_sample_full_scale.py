"""The full-scale generator, at a hundredth of the scale: layout, sizes and counts it promises."""

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.generate import Size, generate, nvfp4_size
from kbdash.dataset.sample.boards import ALL_FILES, FLAT_FILES, LEGACY, NVFP4
from kbdash.dataset.sample.flat import FLAT_SCHEMA
from kbdash.dataset.sample.legacy_tables import LEGACY_SCHEMA

CODE_BYTES = 3_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("scale")
    generate(target, Size(2_313, CODE_BYTES), everything=True, pool_bytes=8_000_000)
    return target


def test_all_files_are_there_with_their_schemas(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == set(ALL_FILES)
    for name in FLAT_FILES:
        assert list(pq.read_schema(folder / name))[: len(FLAT_SCHEMA)] == list(FLAT_SCHEMA)
    assert pq.read_schema(folder / LEGACY).equals(LEGACY_SCHEMA)


def test_nvfp4_has_the_layout_and_the_weight_asked_for(folder: Path) -> None:
    metadata = pq.read_metadata(folder / NVFP4)
    assert metadata.num_row_groups == 1
    code = metadata.row_group(0).column(FLAT_SCHEMA.get_field_index("code"))
    assert code.compression == "SNAPPY"
    assert not code.has_offset_index
    assert 0.85 * CODE_BYTES < code.total_compressed_size < 1.15 * CODE_BYTES
    assert 2.0 < code.total_uncompressed_size / code.total_compressed_size < 3.0


def test_nvfp4_shares_of_the_boards_are_the_published_ones(folder: Path) -> None:
    rows = pq.read_table(folder / NVFP4, columns=["leaderboard_id", "passed", "score"]).to_pylist()
    assert Counter(row["leaderboard_id"] for row in rows) == {595: 356, 597: 487, 598: 1133, 697: 66, 730: 271}
    passed = Counter(row["leaderboard_id"] for row in rows if row["passed"])
    assert passed == {595: 49, 597: 261, 598: 738, 697: 39, 730: 87}
    assert all((row["score"] is not None) == (row["passed"] is True) for row in rows)


def test_one_code_id_per_text(folder: Path) -> None:
    rows = pq.read_table(folder / NVFP4, columns=["submission_id", "code_id", "code"]).to_pylist()
    pairs = {(row["code_id"], row["code"]) for row in rows}
    assert len({i for i, _ in pairs}) == len({text for _, text in pairs}) == len(pairs)
    assert len({row["submission_id"] for row in rows}) == len(rows)
    assert all(row["code"].endswith("\n") for row in rows)


def test_a_narrow_scale_multiplies_rows_and_leaves_little_code() -> None:
    size = nvfp4_size(rows=1_000, code_mb=2_240, narrow_scale=16)
    assert size.rows == 16_000
    assert size.code_bytes < 100 * size.rows
    assert nvfp4_size(rows=1_000, code_mb=5, narrow_scale=1) == Size(1_000, 5e6)


def test_same_arguments_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    generate(tmp_path, Size(2_313, CODE_BYTES), pool_bytes=8_000_000)
    assert (tmp_path / NVFP4).read_bytes() == (folder / NVFP4).read_bytes()
