"""The sample dataset: file names, schemas, layout on disk, numbers that agree with each other."""

import ast
import hashlib
import math
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kbdash.code.parquet.pages import PageKind, read_page_header
from kbdash.dataset import sample
from kbdash.dataset.sample import ensure_sample
from kbdash.dataset.sample.kernels import BANNER, STYLES, TOP_LEVEL, Draft, render, revised

FLAT = (
    "amd_1_1m_competition_submissions",
    "helion_b200_nebius_submissions",
    "linalg_submissions",
    "nvidia_nvfp4_submissions",
    "pmpp_v2_submissions",
    "trimul_submissions",
)
LEGACY = (
    "submissions",
    "successful_submissions",
    "deduplicated_submissions",
    "deduplicated_successful_submissions",
)
EVERY = (*FLAT, *LEGACY, "leaderboards")

FLAT_COLUMNS = {
    "submission_id": pa.int64(),
    "leaderboard_id": pa.int64(),
    "problem_name": pa.large_string(),
    "user_id": pa.large_string(),
    "user_name": pa.large_string(),
    "code_id": pa.int64(),
    "file_name": pa.large_string(),
    "submission_time": pa.timestamp("us", tz="UTC"),
    "status": pa.large_string(),
    "score": pa.float64(),
    "passed": pa.bool_(),
    "mode": pa.large_string(),
    "runner": pa.large_string(),
    "code": pa.large_string(),
}
LEGACY_SCALARS = {
    "submission_id": pa.int64(),
    "leaderboard_id": pa.int64(),
    "user_id": pa.int64(),
    "submission_time": pa.timestamp("us"),
    "file_name": pa.string(),
    "code": pa.binary(),
    "code_id": pa.int64(),
    "run_id": pa.int64(),
    "run_start_time": pa.timestamp("us"),
    "run_end_time": pa.timestamp("us"),
    "run_mode": pa.string(),
    "run_score": pa.float64(),
    "run_passed": pa.bool_(),
}
BOARDS = {
    "amd_1_1m_competition_submissions": {763, 764, 765},
    "helion_b200_nebius_submissions": set(range(766, 771)),
    "linalg_submissions": {774, 775, 776},
    "nvidia_nvfp4_submissions": {595, 597, 598, 697, 730},
    "pmpp_v2_submissions": set(range(537, 545)),
    "trimul_submissions": {496},
    "submissions": {398, 399, 430, 463, 563, 564, 565},
    "successful_submissions": {398, 399, 430, 463, 563, 564, 565},
    "deduplicated_submissions": {398, 399, 430, 463},
    "deduplicated_successful_submissions": {398, 399, 430, 463},
}


@pytest.fixture(scope="module")
def folder(sample_folder: Path) -> Path:
    return sample_folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the sample as another process writes it, with a hash seed and a zone of its own."""
    target = tmp_path_factory.mktemp("cache")
    script = (
        "import sys, pathlib; from kbdash.dataset.sample import ensure_sample; ensure_sample(pathlib.Path(sys.argv[1]))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", script, str(target)], env=environment, check=True)
    return target


def table(folder: Path, name: str, columns: list[str] | None = None) -> pa.Table:
    return pq.read_table(folder / f"{name}.parquet", columns=columns)


def checksums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_eleven_files_of_about_twenty_thousand_rows(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {f"{name}.parquet" for name in EVERY}
    rows = {name: pq.read_metadata(folder / f"{name}.parquet").num_rows for name in EVERY}
    assert 18_000 <= sum(rows.values()) <= 22_000
    assert max(rows, key=lambda name: rows[name]) == "nvidia_nvfp4_submissions"


def test_same_bytes_in_another_process(folder: Path, cache: Path) -> None:
    written = ensure_sample(cache)
    assert list(cache.iterdir()) == [written]
    assert checksums(written) == checksums(folder)


@pytest.mark.parametrize("name", FLAT)
def test_flat_schema(folder: Path, name: str) -> None:
    schema = pq.read_schema(folder / f"{name}.parquet")
    expected = pa.schema(FLAT_COLUMNS)
    if name == "pmpp_v2_submissions":
        assert len(schema) > len(expected)
        assert all(field.nullable for field in schema)
    assert pa.schema(list(schema)[: len(expected)]).equals(expected)
    assert name == "pmpp_v2_submissions" or len(schema) == len(expected)


@pytest.mark.parametrize("name", LEGACY)
def test_legacy_schema(folder: Path, name: str) -> None:
    schema = pq.read_schema(folder / f"{name}.parquet")
    assert {key: schema.field(key).type for key in LEGACY_SCALARS} == LEGACY_SCALARS
    result = schema.field("run_result").type
    assert {field.type for field in result} == {pa.string()}
    assert {"check", "benchmark-count", "benchmark.0.mean", "benchmark.17.spec", "test.0.error"} <= {
        field.name for field in result
    }
    assert {f.name for f in schema.field("run_meta").type} == {
        "command", "duration", "exit_code", "stderr", "stdout", "success",
    }  # fmt: skip
    assert {f.name for f in schema.field("run_system_info").type} == {
        "cpu", "gpu", "platform", "torch", "device_count", "runtime",
    }  # fmt: skip
    assert pa.types.is_struct(schema.field("run_compilation").type)
    extra = set(schema.names) - {*LEGACY_SCALARS, "run_result", "run_meta", "run_system_info", "run_compilation"}
    if name == "submissions":
        assert not extra
    if name == "successful_submissions":
        assert extra == {"__index_level_0__"}


def test_leaderboards(folder: Path) -> None:
    definitions = table(folder, "leaderboards")
    assert definitions.schema.equals(
        pa.schema(
            {
                "id": pa.int64(),
                "name": pa.string(),
                "deadline": pa.timestamp("us", tz="UTC"),
                "description": pa.string(),
                "gpu_types": pa.list_(pa.string()),
            }
        )
    )
    ids = definitions["id"].to_pylist()
    assert len(ids) == len(set(ids)) == 39
    assert 776 not in ids
    assert set(range(339, 347)) <= set(ids)


@pytest.mark.parametrize("name", BOARDS)
def test_boards_of_each_file(folder: Path, name: str) -> None:
    assert set(table(folder, name, ["leaderboard_id"])["leaderboard_id"].to_pylist()) == BOARDS[name]


@pytest.mark.parametrize("name", FLAT)
def test_flat_layout(folder: Path, name: str) -> None:
    """One row group, snappy, no page index, 1,024 rows in each page of `code` but the last."""
    path = folder / f"{name}.parquet"
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups == 1
    group = metadata.row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    assert {chunk.compression for chunk in chunks} == {"SNAPPY"}
    assert not any(chunk.has_offset_index or chunk.has_column_index for chunk in chunks)
    code = next(chunk for chunk in chunks if chunk.path_in_schema == "code")
    *full, last = page_rows(path.read_bytes(), code)
    assert full == [1_024] * (metadata.num_rows // 1_024)
    assert last == metadata.num_rows % 1_024


def page_rows(data: bytes, chunk: pq.ColumnChunkMetaData) -> list[int]:
    """Rows in each data page of a column chunk."""
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    end = at + chunk.total_compressed_size
    rows = []
    while at < end:
        header = read_page_header(data, at)
        if header.kind is PageKind.DATA:
            rows.append(header.values)
        at += header.total
    return rows


def test_legacy_layout(folder: Path) -> None:
    metadata = pq.read_metadata(folder / "submissions.parquet")
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    assert len(groups) > 1
    assert max(group.num_rows for group in groups) <= 8_192
    assert groups[0].column(0).compression == "SNAPPY"
    assert not groups[0].column(0).has_offset_index


@pytest.mark.parametrize("name", FLAT)
def test_flat_rows_are_in_the_order_of_the_exporter(folder: Path, name: str) -> None:
    rows = table(folder, name, ["problem_name", "score"])
    keys = list(zip(rows["problem_name"].to_pylist(), map(exported_order, rows["score"].to_pylist()), strict=True))
    assert keys == sorted(keys)


def exported_order(score: float | None) -> tuple[int, float]:
    """Ascending, then NaN, then null."""
    if score is None:
        return 2, 0.0
    return (1, 0.0) if math.isnan(score) else (0, score)


def test_code_id_stands_for_the_text(folder: Path) -> None:
    """Equal texts have one id and different texts have different ones, in all files together."""
    pairs = set()
    for name in (*FLAT, "submissions"):
        rows = table(folder, name, ["code_id", "code"]).to_pylist()
        texts = ((row["code_id"], row["code"]) for row in rows if row["code"] is not None)
        pairs |= {(i, text.encode() if isinstance(text, str) else text) for i, text in texts}
    assert len({i for i, _ in pairs}) == len({text for _, text in pairs}) == len(pairs)


@pytest.mark.parametrize("name", FLAT)
def test_flat_rows_are_unique_as_in_the_export(folder: Path, name: str) -> None:
    keys = ["leaderboard_id", "user_id", "code_id", "runner"]
    ranked = [tuple(row.values()) for row in table(folder, name, keys).to_pylist() if row["runner"]]
    assert [key for key, count in Counter(ranked).items() if count > 1] == []


def test_submission_ids_grow_with_time_and_are_unique_between_files(folder: Path) -> None:
    seen: dict[int, str] = {}
    moments = []
    for name in (*FLAT, "submissions"):
        rows = table(folder, name, ["submission_id", "submission_time"])
        for submission, moment in zip(
            rows["submission_id"].to_pylist(), rows["submission_time"].cast(pa.int64()).to_pylist(), strict=True
        ):
            assert seen.setdefault(submission, name) == name
            moments.append((submission, moment))
    times = [moment for _, moment in sorted(moments)]
    assert times == sorted(times)


def test_geometric_mean_of_the_shapes_is_the_score(folder: Path) -> None:
    checked: Counter[int] = Counter()
    for row in table(folder, "submissions", ["leaderboard_id", "run_score", "run_passed", "run_result"]).to_pylist():
        if row["run_score"] is None or not row["run_passed"]:
            continue
        result = row["run_result"]
        shapes = range(int(result["benchmark-count"]))
        product = math.prod(float(result[f"benchmark.{i}.mean"]) / 1e9 for i in shapes)
        assert math.pow(product, 1 / len(shapes)) == row["run_score"]
        checked[row["leaderboard_id"], len(shapes)] += 1
    assert set(checked) == {(398, 7), (399, 18), (430, 2), (463, 1), (563, 5), (564, 6), (565, 6)}


def test_subsets_are_subsets(folder: Path) -> None:
    columns = ["submission_id", "run_id", "run_passed", "code_id"]
    rows = {name: [tuple(row.values()) for row in table(folder, name, columns).to_pylist()] for name in LEGACY}
    everything = set(rows["submissions"])
    assert set(rows["successful_submissions"]) == {row for row in everything if row[2] is True}
    assert set(rows["deduplicated_submissions"]) < everything
    assert set(rows["deduplicated_successful_submissions"]) < set(rows["deduplicated_submissions"])
    assert all(row[2] is True for row in rows["deduplicated_successful_submissions"])


def test_sample_is_written_once_and_mended(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "write_sample", partial(shutil.copytree, folder, dirs_exist_ok=True))
    written = ensure_sample(cache)
    stamp = written.stat().st_mtime_ns
    assert ensure_sample(cache).stat().st_mtime_ns == stamp
    (written / "trimul_submissions.parquet").unlink()
    assert checksums(ensure_sample(cache)) == checksums(folder)
    assert list(cache.iterdir()) == [written]


def test_two_that_write_it_at_once_leave_one(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both_wrote = threading.Barrier(2, timeout=60)

    def write(draft: Path) -> None:
        shutil.copytree(folder, draft, dirs_exist_ok=True)
        both_wrote.wait()

    monkeypatch.setattr(sample, "write_sample", write)
    with ThreadPoolExecutor(2) as pool:
        [written, other] = pool.map(ensure_sample, [tmp_path / "cache"] * 2)
    assert written == other
    assert list((tmp_path / "cache").iterdir()) == [written]
    assert checksums(written) == checksums(folder)


@pytest.mark.parametrize("kind", STYLES)
def test_kernels_are_python_and_change_with_the_level(kind: str) -> None:
    problem = {"factor": "eigh"}.get(kind, "amd-all2all")
    for style in range(1, len(STYLES[kind])):
        texts = [render(Draft(kind, problem, "v001", style, level=level)) for level in range(TOP_LEVEL + 1)]
        for text in texts:
            ast.parse(text)
            assert text.startswith(BANNER)
            assert 30 <= text.count("\n") <= 200
            assert "%%" not in text
        assert len(set(texts)) >= 5


def test_a_revision_turns_one_knob() -> None:
    before = Draft("gemm", "matmul_v2", "v001", style=1, level=4)
    after = revised(before, 4, knob=2, step=1)
    assert (before.tile_k, after.tile_k) == (64, 256)
    assert after.note == "tile_k 64 -> 256"
    changed = [line for line in render(after).splitlines() if line not in render(before).splitlines()]
    assert 2 <= len(changed) <= 4
