"""Rows written to parquet in the schemas of the real files, for tests that bring their own data."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NVFP4 = "nvidia_nvfp4_submissions.parquet"
TRIMUL = "trimul_submissions.parquet"
LEGACY = "submissions.parquet"
LEGACY_PASSED = "successful_submissions.parquet"

FLAT = pa.schema(
    [
        ("submission_id", pa.int64()),
        ("leaderboard_id", pa.int64()),
        ("problem_name", pa.large_string()),
        ("user_id", pa.large_string()),
        ("user_name", pa.large_string()),
        ("code_id", pa.int64()),
        ("file_name", pa.large_string()),
        ("submission_time", pa.timestamp("us", tz="UTC")),
        ("status", pa.large_string()),
        ("score", pa.float64()),
        ("passed", pa.bool_()),
        ("mode", pa.large_string()),
        ("runner", pa.large_string()),
        ("code", pa.large_string()),
    ]
)
_RESULT_FIELDS = ("benchmark-count", *(f"benchmark.{i}.{key}" for i in range(3) for key in ("spec", "mean", "runs")))
RUNS = pa.schema(
    [
        ("submission_id", pa.int64()),
        ("leaderboard_id", pa.int64()),
        ("user_id", pa.int64()),
        ("submission_time", pa.timestamp("us")),
        ("file_name", pa.string()),
        ("code", pa.binary()),
        ("code_id", pa.int64()),
        ("run_id", pa.int64()),
        ("run_mode", pa.string()),
        ("run_score", pa.float64()),
        ("run_passed", pa.bool_()),
        ("run_result", pa.struct([(name, pa.string()) for name in _RESULT_FIELDS])),
        ("run_system_info", pa.struct([("gpu", pa.string()), ("cpu", pa.string())])),
    ]
)


def write_flat(rows: Iterable[Mapping[str, Any]], path: Path, schema: pa.Schema = FLAT) -> None:
    """A flat file: one row group, snappy. Fields that a row leaves out are null."""
    _write(rows, path, schema)


def write_runs(rows: Iterable[Mapping[str, Any]], path: Path, schema: pa.Schema = RUNS) -> None:
    """An AMD legacy file, a row per run, in several row groups."""
    _write(rows, path, schema, row_group_size=8)


def _write(rows: Iterable[Mapping[str, Any]], path: Path, schema: pa.Schema, row_group_size: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.Table.from_pylist(list(rows), schema=schema), path, compression="snappy", row_group_size=row_group_size
    )
