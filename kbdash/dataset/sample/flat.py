"""The flat files: 14 columns, one row per user, code and runner."""

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pyarrow as pa

from kbdash.dataset.sample.boards import FLAT_BOARDS, SampleBoard
from kbdash.dataset.sample.careers import Run, Submission, board_submissions
from kbdash.dataset.sample.courses import microseconds

UTC_TIME = pa.timestamp("us", tz="UTC")

FLAT_SCHEMA = pa.schema(
    [
        ("submission_id", pa.int64()),
        ("leaderboard_id", pa.int64()),
        ("problem_name", pa.large_string()),
        ("user_id", pa.large_string()),
        ("user_name", pa.large_string()),
        ("code_id", pa.int64()),
        ("file_name", pa.large_string()),
        ("submission_time", UTC_TIME),
        ("status", pa.large_string()),
        ("score", pa.float64()),
        ("passed", pa.bool_()),
        ("mode", pa.large_string()),
        ("runner", pa.large_string()),
        ("code", pa.large_string()),
    ]
)

# The PMPP export has a few extra nullable columns; a reader must choose columns by name.
PMPP_SCHEMA = pa.schema(
    [
        *FLAT_SCHEMA,
        pa.field("run_duration", pa.float64()),
        pa.field("compile_log", pa.large_string()),
        pa.field("priority", pa.int32()),
    ]
)


def ordinary_submissions(seed: int) -> list[Submission]:
    """All submissions of the flat boards before the traps are added."""
    submissions: list[Submission] = []
    for board in FLAT_BOARDS:
        rng = np.random.default_rng([seed, board.id])
        wanted = board.rows / (1.0 + board.echo * (len(board.lanes) - 1))
        if board.name == "modal_nvfp4_dual_gemm":
            onprem = [s for s in submissions if s.board.name == "nvfp4_dual_gemm"]
            again = list(_sent_again(onprem, board, rng))
            submissions.extend(again)
            wanted -= len(again)
        submissions.extend(board_submissions(board, int(wanted), rng))
    return submissions


def _sent_again(earlier: Sequence[Submission], board: SampleBoard, rng: np.random.Generator) -> list[Submission]:
    """The best codes of the on-prem board, sent to the Modal board by the same users."""
    scored: dict[int, list[tuple[float, Submission]]] = {}
    for submission in earlier:
        score = submission.runs[0].score
        if score is not None:
            scored.setdefault(submission.user.index, []).append((score, submission))
    opens, ends = microseconds(board.opens), microseconds(board.ends)
    again = []
    for mine in list(scored.values())[:28]:
        ratio = rng.normal(1.01, 0.05)
        chosen = sorted(mine, key=itemgetter(0))[: int(rng.integers(2, 7))]
        moments = np.sort(rng.integers(opens, ends, len(chosen))).tolist()
        for (score, old), at in zip(reversed(chosen), moments, strict=True):
            run = Run(
                "succeeded", board.lanes[0].runner, score * ratio * (1.0 + rng.exponential(0.01)), True, "leaderboard"
            )
            again.append(replace(old, board=board, at=at, runs=(run,)))
    return again


def flat_table(rows: Sequence[tuple[int, int, Submission, Run]]) -> pa.Table:
    """Rows of (submission id, code id, submission, run) as a table in the order of the exporter."""

    # The exporter's ORDER BY: NaN is the greatest number there, and nulls come last.
    def order(row: tuple[int, int, Submission, Run]) -> tuple[str, bool, bool, float, int]:
        score = row[3].score
        is_nan = score is not None and math.isnan(score)
        return (row[2].board.name, score is None, is_nan, 0.0 if score is None or is_nan else score, row[0])

    rows = sorted(rows, key=order)
    columns = (
        [i for i, _, _, _ in rows],
        [s.board.id for _, _, s, _ in rows],
        [s.board.name for _, _, s, _ in rows],
        [s.user.id for _, _, s, _ in rows],
        [s.user.name for _, _, s, _ in rows],
        [c for _, c, _, _ in rows],
        [s.file_name for _, _, s, _ in rows],
        [s.at for _, _, s, _ in rows],
        [r.status for _, _, _, r in rows],
        [r.score for _, _, _, r in rows],
        [r.passed for _, _, _, r in rows],
        [r.mode for _, _, _, r in rows],
        [r.runner for _, _, _, r in rows],
        [s.code for _, _, s, _ in rows],
    )
    arrays = [pa.array(values, field.type) for values, field in zip(columns, FLAT_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=FLAT_SCHEMA)


def with_pmpp_extras(table: pa.Table) -> pa.Table:
    """The PMPP table with its extra nullable columns, mostly null."""
    ids = table["submission_id"].to_pylist()
    durations = [None if i % 3 else 2.0 + i % 700 / 50 for i in ids]
    logs = ["warning: sample compiler remark" if i % 37 == 0 else None for i in ids]
    extras = (
        pa.array(durations, pa.float64()),
        pa.array(logs, pa.large_string()),
        pa.nulls(len(ids), pa.int32()),
    )
    return pa.Table.from_arrays([*table.columns, *extras], schema=PMPP_SCHEMA)
