"""Files of the real size and layout, to measure against: python -m benchmarks.generate FOLDER [--all].

One row group, snappy, no page index, 1,024 rows per page, 99.7 % of the bytes in `code`. The rows are synthetic;
rows per problem, passing rows and bytes are those of the published NVFP4 file. The same arguments give the same bytes.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.texts import POOL_BYTES, TextPlan, TextPool, make_pool, plan_texts
from kbdash.dataset.sample import boards as sample_boards
from kbdash.dataset.sample.boards import FLAT_BOARDS, SampleBoard
from kbdash.dataset.sample.courses import microseconds
from kbdash.dataset.sample.definitions import leaderboards_table
from kbdash.dataset.sample.flat import FLAT_SCHEMA, with_pmpp_extras
from kbdash.dataset.sample.legacy import legacy_submissions
from kbdash.dataset.sample.legacy_boards import LEGACY_BOARDS
from kbdash.dataset.sample.legacy_tables import EXPORT_CHUNK, deduplicated_subset, legacy_table, passed_subset
from kbdash.dataset.sample.writer import legacy_rows, numbered, write_in_row_groups

NVFP4_ROWS = 231_307
NVFP4_CODE_MB = 2_240
LEGACY_ROWS = 109_709
SMALL_TEXT_BYTES = 400
TINY_TEXT_BYTES = 20
# pyarrow starts another row group here; only a file several times as long as today's has more than one.
LARGEST_ROW_GROUP = 1_048_576

# (rows, passing rows, users) per board. Totals that nobody has published are shared out by guess.
COUNTS = {
    595: (35_559, 4_860, 281), 597: (48_682, 26_123, 160), 598: (113_353, 73_802, 160),
    697: (6_637, 3_949, 120), 730: (27_076, 8_749, 200),
    763: (60_000, 6_010, 300), 764: (34_000, 3_233, 240), 765: (26_000, 2_295, 220),
    496: (18_000, 5_036, 180),
    766: (330, 38, 40), 767: (210, 19, 30), 768: (300, 31, 36), 769: (170, 15, 28), 770: (290, 30, 36),
    **dict.fromkeys(range(537, 545), (3750, 759, 160)),
    774: (27_000, 5_368, 260), 775: (18_000, 3_497, 220), 776: (26_023, 5_428, 240),
}  # fmt: skip

Columns = dict[str, pa.Array | pa.ChunkedArray]


@dataclass(frozen=True)
class Size:
    """How large a flat file becomes: rows relative to today's, and bytes of code in the file."""

    rows: int
    code_bytes: float


def flat_columns(boards: Sequence[SampleBoard], rows: int, rng: np.random.Generator) -> Columns:
    """The narrow columns of a flat file with `rows` rows in the exporter's order."""
    total = sum(COUNTS[board.id][0] for board in boards)
    parts = [_board_columns(board, rows / total, rng) for board in sorted(boards, key=lambda b: b.name)]
    columns = {name: pa.concat_arrays([part[name] for part in parts]) for name in parts[0]}
    moments = columns["submission_time"].to_numpy()
    order = np.argsort(moments, kind="stable")
    ids = np.empty(len(moments), np.int64)
    ids[order] = 9_000_000 + np.cumsum(rng.integers(1, 6, len(moments)))
    return columns | {"submission_id": pa.array(ids)}


def _board_columns(board: SampleBoard, scale: float, rng: np.random.Generator) -> dict[str, pa.Array]:
    rows, passed, users = (max(1, round(count * scale)) for count in COUNTS[board.id])
    users = min(users, COUNTS[board.id][2])
    lanes = rng.integers(0, len(board.lanes), rows)
    bests = np.array([lane.best for lane in board.lanes])
    scores = bests[lanes[:passed]] * (1.0 + rng.gamma(0.9, 1.2, passed) ** 2)
    order = np.argsort(scores)
    scores, lanes[:passed] = scores[order], lanes[:passed][order]
    ran = np.arange(rows) < passed + (rows - passed) // 2
    person = np.minimum(rng.integers(0, users, rows), rng.integers(0, users, rows))
    opens, ends = microseconds(board.opens), microseconds(board.ends)
    outcome = np.where(np.arange(rows) < passed, 0, rng.choice((1, 1, 1, 1, 2, 3), rows))
    missing = np.arange(rows) >= passed
    return {
        "leaderboard_id": pa.array(np.full(rows, board.id)),
        "problem_name": _chosen([board.name], np.zeros(rows, np.int64)),
        "user_id": _chosen([str(9_000_000_000_000_000_000 + 1_004_729_000_017 * i) for i in range(users)], person),
        "user_name": _chosen([f"sample-user-{i}" for i in range(users)], person),
        "file_name": _chosen([f"submission_v{i}.py" if i else "submission.py" for i in range(60)], person % 60),
        "submission_time": pa.array(rng.integers(opens, ends, rows)),
        "status": _chosen(["succeeded", "failed", "timed_out", "active"], outcome),
        "score": pa.array(np.append(scores, np.zeros(rows - passed)), mask=missing),
        "passed": pa.array(~missing, mask=~ran),
        "mode": _chosen(["leaderboard"], np.zeros(rows, np.int64), ~ran),
        "runner": _chosen([lane.runner for lane in board.lanes], lanes, ~ran),
    }


def _chosen(values: list[str], places: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    return pa.array(values, pa.large_string()).take(pa.array(places, mask=missing))


def write_flat(path: Path, columns: Columns, texts: TextPlan) -> None:
    """Writes the narrow columns and the texts; the texts are never in memory as a whole."""
    columns = columns | {"code_id": pa.array(4_000_000 + texts.code_ids()), "code": texts.column()}
    arrays = [_typed(columns[field.name], field.type) for field in FLAT_SCHEMA]
    table = pa.Table.from_arrays(arrays, schema=FLAT_SCHEMA)
    if path.name == sample_boards.PMPP:
        table = with_pmpp_extras(table)
    pq.write_table(table, path, compression="snappy", row_group_size=LARGEST_ROW_GROUP)


def _typed(values: pa.Array | pa.ChunkedArray, type_: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return values if values.type == type_ else values.cast(type_)


def generate_flat(folder: Path, name: str, size: Size, pool: TextPool, seed: int) -> None:
    """Writes one flat file of the given size."""
    rng = np.random.default_rng([seed, size.rows, sample_boards.FLAT_FILES.index(name)])
    columns = flat_columns([board for board in FLAT_BOARDS if board.file == name], size.rows, rng)
    rows = len(columns["submission_id"])
    write_flat(folder / name, columns, plan_texts(pool, rows, size.code_bytes, rng))


def generate_legacy(folder: Path, rows: int, seed: int) -> None:
    """Writes the four AMD legacy files, `rows` runs in the first, in row groups of 8,192."""
    per_submission = 2.1
    scale = rows / per_submission / sum(board.submissions for board in LEGACY_BOARDS)
    boards = [replace(b, submissions=int(b.submissions * scale), users=min(140, b.users * 3)) for b in LEGACY_BOARDS]
    submissions = legacy_submissions(seed, boards)
    runs = legacy_rows(submissions, numbered(submissions, seed))[:rows]
    chunks = [legacy_table(runs[start : start + EXPORT_CHUNK]) for start in range(0, len(runs), EXPORT_CHUNK)]
    table = pa.concat_tables(chunks)
    write_in_row_groups(table, folder / sample_boards.LEGACY, EXPORT_CHUNK)
    write_in_row_groups(passed_subset(table), folder / sample_boards.LEGACY_PASSED, EXPORT_CHUNK)
    for name, passed_only in (
        (sample_boards.LEGACY_DEDUPLICATED, False),
        (sample_boards.LEGACY_DEDUPLICATED_PASSED, True),
    ):
        write_in_row_groups(deduplicated_subset(table, passed_only=passed_only), folder / name, EXPORT_CHUNK)


def nvfp4_size(rows: int, code_mb: float, narrow_scale: int) -> Size:
    """The size asked for on the command line; a narrow scale multiplies the rows and leaves hardly any code."""
    if narrow_scale > 1:
        return Size(rows * narrow_scale, rows * narrow_scale * TINY_TEXT_BYTES)
    return Size(rows, code_mb * 1e6)


def generate(
    folder: Path, nvfp4: Size, *, everything: bool = False, seed: int = 7, pool_bytes: int = POOL_BYTES
) -> None:
    """Writes the NVFP4 file and, when everything is asked for, the other ten beside it with short texts."""
    folder.mkdir(parents=True, exist_ok=True)
    pool = make_pool(np.random.default_rng(seed), pool_bytes)
    _timed(folder / sample_boards.NVFP4, partial(generate_flat, folder, sample_boards.NVFP4, nvfp4, pool, seed))
    if not everything:
        return
    share = nvfp4.rows / NVFP4_ROWS
    for name in sample_boards.FLAT_FILES:
        if name != sample_boards.NVFP4:
            rows = round(share * sum(COUNTS[board.id][0] for board in FLAT_BOARDS if board.file == name))
            size = Size(rows, rows * SMALL_TEXT_BYTES)
            _timed(folder / name, partial(generate_flat, folder, name, size, pool, seed))
    _timed(folder / sample_boards.LEGACY, partial(generate_legacy, folder, round(share * LEGACY_ROWS), seed))
    pq.write_table(leaderboards_table(), folder / sample_boards.LEADERBOARDS)


def _timed(path: Path, write: Callable[[], None]) -> None:
    begin = time.perf_counter()
    write()
    meta = pq.read_metadata(path)
    print(
        f"{path.name}: {meta.num_rows:,} rows, {meta.num_row_groups} row groups, "
        f"{path.stat().st_size / 1e6:,.1f} MB, {time.perf_counter() - begin:.1f} s"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=NVFP4_ROWS, help="rows of the NVFP4 file")
    parser.add_argument("--code-mb", type=float, default=NVFP4_CODE_MB, help="compressed size of its code column")
    parser.add_argument("--narrow-scale", type=int, default=1, help="this many times the rows, with hardly any code")
    parser.add_argument("--all", action="store_true", help="write the other ten files too")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args(arguments)
    size = nvfp4_size(args.rows, args.code_mb, args.narrow_scale)
    generate(args.folder, size, everything=args.all, seed=args.seed)


if __name__ == "__main__":
    main()
