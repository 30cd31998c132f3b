"""AMD legacy submissions as Arrow tables, and the subsets that were published beside them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from kbdash.dataset.sample.legacy import LegacyRun, LegacySubmission

NAIVE_TIME = pa.timestamp("us")
EXPORT_CHUNK = 8_192
FIRST_COMPETITION = (398, 399, 430, 463)

_SHAPES, _TESTS = 18, 5
_SHAPE_KEYS = ("best", "err", "mean", "runs", "spec", "std", "worst", "report", "status", "error")
_TEST_KEYS = ("spec", "status", "error", "message")

# The union of all keys of all rows, so most fields of a row are null.
RESULT_KEYS = (
    "check",
    "benchmark-count",
    *(f"benchmark.{i}.{key}" for i in range(_SHAPES) for key in _SHAPE_KEYS),
    "test-count",
    *(f"test.{i}.{key}" for i in range(_TESTS) for key in _TEST_KEYS),
)

RESULT = pa.struct([(key, pa.string()) for key in RESULT_KEYS])
COMPILATION = pa.struct(
    [
        ("nvcc_found", pa.bool_()),
        ("nvcc_version", pa.string()),
        ("success", pa.bool_()),
        ("command", pa.string()),
        ("stdout", pa.string()),
        ("stderr", pa.string()),
        ("exit_code", pa.int64()),
    ]
)
META = pa.struct(
    [
        ("command", pa.string()),
        ("duration", pa.float64()),
        ("exit_code", pa.int64()),
        ("stderr", pa.string()),
        ("stdout", pa.string()),
        ("success", pa.bool_()),
    ]
)
SYSTEM = pa.struct(
    [
        ("cpu", pa.string()),
        ("gpu", pa.string()),
        ("platform", pa.string()),
        ("torch", pa.string()),
        ("device_count", pa.int64()),
        ("runtime", pa.string()),
    ]
)

LEGACY_SCHEMA = pa.schema(
    [
        ("submission_id", pa.int64()),
        ("leaderboard_id", pa.int64()),
        ("user_id", pa.int64()),
        ("submission_time", NAIVE_TIME),
        ("file_name", pa.string()),
        ("code", pa.binary()),
        ("code_id", pa.int64()),
        ("run_id", pa.int64()),
        ("run_start_time", NAIVE_TIME),
        ("run_end_time", NAIVE_TIME),
        ("run_mode", pa.string()),
        ("run_score", pa.float64()),
        ("run_passed", pa.bool_()),
        ("run_result", RESULT),
        ("run_compilation", COMPILATION),
        ("run_meta", META),
        ("run_system_info", SYSTEM),
    ]
)
PASSED_SCHEMA = LEGACY_SCHEMA.append(pa.field("__index_level_0__", pa.int64()))
DEDUPLICATED_SCHEMA = pa.schema(
    [
        *LEGACY_SCHEMA,
        pa.field("_run_mode", pa.string()),
        pa.field("_run_success", pa.bool_()),
        pa.field("_score_duration", pa.float64()),
    ]
)

LegacyRow = tuple[int, int, int, LegacySubmission, LegacyRun | None]


def legacy_table(rows: Sequence[LegacyRow]) -> pa.Table:
    """Rows of (submission id, code id, run id, submission, run) as a table."""
    runs = [run for *_, run in rows]
    columns: list[pa.Array] = [
        pa.array([i for i, *_ in rows], pa.int64()),
        pa.array([s.board.id for _, _, _, s, _ in rows], pa.int64()),
        pa.array([s.user for _, _, _, s, _ in rows], pa.int64()),
        pa.array([s.at for _, _, _, s, _ in rows], NAIVE_TIME),
        pa.array([s.file_name for _, _, _, s, _ in rows], pa.string()),
        pa.array([s.code for _, _, _, s, _ in rows], pa.binary()),
        pa.array([c for _, c, *_ in rows], pa.int64()),
        pa.array([run_id if run else None for _, _, run_id, _, run in rows], pa.int64()),
        pa.array([run and run.slot.start for run in runs], NAIVE_TIME),
        pa.array([run and run.slot.end for run in runs], NAIVE_TIME),
        pa.array([run and run.slot.mode for run in runs], pa.string()),
        pa.array([run and run.score for run in runs], pa.float64()),
        pa.array([run and run.passed for run in runs], pa.bool_()),
        _results(runs),
        pa.array([run and run.compilation for run in runs], COMPILATION),
        pa.array([_meta(run) for run in runs], META),
        pa.array([_system(s, run) for *_, s, run in rows], SYSTEM),
    ]
    return pa.Table.from_arrays(columns, schema=LEGACY_SCHEMA)


def _results(runs: Sequence[LegacyRun | None]) -> pa.StructArray:
    results = [run.result if run else {} for run in runs]
    children = [pa.array([result.get(key) for result in results], pa.string()) for key in RESULT_KEYS]
    return pa.StructArray.from_arrays(children, fields=list(RESULT), mask=pa.array([run is None for run in runs]))


def _meta(run: LegacyRun | None) -> dict[str, object] | None:
    if run is None:
        return None
    return {
        "command": f"python eval.py {run.slot.mode} /tmp/sample",
        "duration": (run.slot.end - run.slot.start) / 1e6,
        "exit_code": run.exit_code,
        "stderr": run.stderr,
        "stdout": "",
        "success": run.exit_code == 0,
    }


def _system(submission: LegacySubmission, run: LegacyRun | None) -> dict[str, object] | None:
    if run is None:
        return None
    many = submission.board.devices > 1
    return {
        "cpu": "Sample CPU 96-Core",
        "gpu": run.slot.gpu,
        "platform": "Linux-6.8.0-sample-x86_64-with-glibc2.35",
        "torch": "2.8.0.dev-sample+rocm6.3",
        "device_count": submission.board.devices if many else None,
        "runtime": "ROCm" if many else None,
    }


def passed_subset(table: pa.Table) -> pa.Table:
    """The rows of runs that passed, with the position each had in its export chunk."""
    kept = np.flatnonzero(np.array([passed is True for passed in table["run_passed"].to_pylist()]))
    return table.take(kept).append_column(PASSED_SCHEMA.field("__index_level_0__"), pa.array(kept % EXPORT_CHUNK))


def deduplicated_subset(table: pa.Table, *, passed_only: bool) -> pa.Table:
    """Of the first competition, the last row per code, mode and outcome: much as it was published."""
    last: dict[tuple[object, ...], int] = {}
    keys = zip(*(table[c].to_pylist() for c in ("leaderboard_id", "code_id", "run_mode", "run_passed")), strict=True)
    for row, (board, code, mode, passed) in enumerate(keys):
        # Every third code counts as a near-duplicate of another and is gone.
        if board in FIRST_COMPETITION and code % 3 and (passed or not passed_only):
            last[code, mode, passed] = row
    kept = table.take(sorted(last.values()))
    meta = kept["run_meta"].combine_chunks()
    extras = (
        kept["run_mode"],
        pa.array([m and m["success"] for m in meta.to_pylist()], pa.bool_()),
        pa.array([m and m["duration"] for m in meta.to_pylist()], pa.float64()),
    )
    return pa.Table.from_arrays([*kept.columns, *extras], schema=DEDUPLICATED_SCHEMA)
