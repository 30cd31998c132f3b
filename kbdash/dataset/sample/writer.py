"""Numbers the submissions and writes the files the way the real ones are written."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.dataset.sample import boards
from kbdash.dataset.sample.careers import Run, Submission
from kbdash.dataset.sample.definitions import leaderboards_table
from kbdash.dataset.sample.flat import flat_table, ordinary_submissions, with_pmpp_extras
from kbdash.dataset.sample.legacy import LegacySubmission, legacy_submissions
from kbdash.dataset.sample.legacy_tables import LegacyRow, deduplicated_subset, legacy_table, passed_subset
from kbdash.dataset.sample.legacy_traps import legacy_traps
from kbdash.dataset.sample.traps import flat_traps

# Far above real ids, so that a link to a sample submission never opens a real one.
FIRST_SUBMISSION_ID = 5_000_000
FIRST_CODE_ID = 3_000_000
FIRST_RUN_ID = 7_000_000
LEGACY_ROW_GROUP = 1_024


def write_sample(folder: Path, seed: int = 7) -> None:
    """Writes the eleven sample files into `folder`; the same bytes for the same seed."""
    folder.mkdir(parents=True, exist_ok=True)
    flat = [*ordinary_submissions(seed), *flat_traps()]
    legacy = [*legacy_submissions(seed), *legacy_traps()]
    numbers = numbered([*flat, *legacy], seed)
    for name in boards.FLAT_FILES:
        write_flat(_flat_file(name, flat, numbers), folder / name)
    _write_legacy(legacy_table(legacy_rows(legacy, numbers[len(flat) :])), folder)
    pq.write_table(leaderboards_table(), folder / boards.LEADERBOARDS)


def write_flat(table: pa.Table, path: Path) -> None:
    """One row group, snappy, no page index: pyarrow's defaults, which also put 1,024 rows into a page."""
    pq.write_table(table, path, compression="snappy", row_group_size=max(1, table.num_rows))


def write_in_row_groups(table: pa.Table, path: Path, rows: int) -> None:
    """Row groups of at most `rows` rows, as the chunked export of the AMD files made them."""
    pq.write_table(table, path, compression="snappy", row_group_size=rows)


def numbered(submissions: Sequence[Submission | LegacySubmission], seed: int) -> list[tuple[int, int]]:
    """(submission id, code id) of each: ids grow with time, one code id per text."""
    rng = np.random.default_rng([seed, 1])
    order = sorted(range(len(submissions)), key=lambda i: submissions[i].at)
    ids = (FIRST_SUBMISSION_ID + np.cumsum(rng.integers(1, 90, len(order)))).tolist()
    codes: dict[object, int] = {}
    numbers = [(0, 0)] * len(order)
    for i, submission_id in zip(order, ids, strict=True):
        code = submissions[i].code
        text = code.encode() if isinstance(code, str) else code
        # Each missing text gets a code id of its own: two submissions without text are not the same code.
        key = ("missing", i) if text is None else text
        numbers[i] = (submission_id, codes.setdefault(key, FIRST_CODE_ID + len(codes)))
    return numbers


def _flat_file(name: str, flat: Sequence[Submission], numbers: Sequence[tuple[int, int]]) -> pa.Table:
    rows: list[tuple[int, int, Submission, Run]] = [
        (*number, submission, run)
        for submission, number in zip(flat, numbers, strict=False)
        if submission.board.file == name
        for run in submission.runs
    ]
    table = flat_table(rows)
    return with_pmpp_extras(table) if name == boards.PMPP else table


def legacy_rows(legacy: Sequence[LegacySubmission], numbers: Sequence[tuple[int, int]]) -> list[LegacyRow]:
    """One row per run, and one for a submission without runs, in no order that a reader could rely on."""
    rows: list[LegacyRow] = []
    run_id = FIRST_RUN_ID
    for (submission_id, code_id), submission in sorted(zip(numbers, legacy, strict=True), key=lambda pair: pair[0]):
        for run in submission.runs or (None,):
            run_id += 1
            rows.append((submission_id, code_id, run_id, submission, run))
    return sorted(rows, key=lambda row: (row[1] % 7, row[1], row[2]))


def _write_legacy(table: pa.Table, folder: Path) -> None:
    write_in_row_groups(table, folder / boards.LEGACY, LEGACY_ROW_GROUP)
    write_in_row_groups(passed_subset(table), folder / boards.LEGACY_PASSED, LEGACY_ROW_GROUP)
    for name, passed_only in ((boards.LEGACY_DEDUPLICATED, False), (boards.LEGACY_DEDUPLICATED_PASSED, True)):
        write_in_row_groups(deduplicated_subset(table, passed_only=passed_only), folder / name, LEGACY_ROW_GROUP)
