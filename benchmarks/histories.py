"""Source texts that change as real ones do: histories of edits per user, jumps to other programs, copies among users.

python -m benchmarks.histories FOLDER [--rows N] writes the NVFP4 file with such texts. The same arguments give the
same bytes.
"""

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.generate import LARGEST_ROW_GROUP, NVFP4_ROWS, flat_columns
from benchmarks.texts import _LINES, _WORDS, PAGE_ROWS
from kbdash.dataset.sample import boards as sample_boards
from kbdash.dataset.sample.boards import FLAT_BOARDS
from kbdash.dataset.sample.flat import FLAT_SCHEMA

Ints = npt.NDArray[np.int32]
LINES_PER_TEXT = 350  # with lines of about 60 bytes, 25 KB a text and 9.7 KB compressed, as the published file has
JUMP, COPY = 0.02, 0.01
STARTERS = 12
SHARED_LINES = 40_000


@dataclass(frozen=True)
class Histories:
    """The text of each row as numbers of lines."""

    bounds: npt.NDArray[np.int64]
    numbers: Ints
    seed: int

    def text(self, row: int) -> bytes:
        """The text of a row."""
        return b"\n".join(map(line_of, self.numbers[self.bounds[row] : self.bounds[row + 1]].tolist()))


def line_of(number: int) -> bytes:
    """The line of that number; neighbours in number have nothing in common."""
    kept = _MADE.get(number)
    if kept is None:
        h = (number * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        words = [_WORDS[(h >> shift) % len(_WORDS)] for shift in (3, 11, 19, 27, 35)]
        kept = _LINES[(h >> 43) % len(_LINES)].format(
            a=words[0], b=words[1], c=words[2], d=words[3], e=words[4],
            i=(h >> 5) % 64, j=(h >> 13) % 64, k=(h >> 21) % 64, h=number % 65536, f=(h >> 29) % 1000 / 1000,
        ).encode()  # fmt: skip
        if number % 9 == 0:
            kept = (b"", b"}", b"    __syncthreads();", b"        pass", b"    return acc")[number // 9 % 5]
        _MADE[number] = kept
    return kept


_MADE: dict[int, bytes] = {}


def make_histories(columns: pd.DataFrame, rng: np.random.Generator, seed: int) -> Histories:
    """A text for every row: within a problem and user each is an edit of the one before in time."""
    order = columns.sort_values(["problem_name", "user_id", "submission_time"]).index.to_numpy()
    keys = (columns["problem_name"] + "\0" + columns["user_id"]).to_numpy()
    texts: list[Ints] = [np.empty(0, np.int32)] * len(columns)
    fresh = SHARED_LINES
    last: list[Ints] = []
    current: Ints | None = None
    for place, row in enumerate(order):
        if place == 0 or keys[row] != keys[order[place - 1]]:
            current = _program(rng)
        assert current is not None
        chance = rng.random()
        if chance < COPY and last:
            current = last[rng.integers(len(last))]
        elif chance < COPY + JUMP:
            current = _program(rng)
        current, fresh = _edited(current, rng, fresh)
        texts[row] = current
        last.append(current)
        if len(last) > 400:
            last.pop(0)
    bounds = np.concatenate(([0], np.cumsum([len(text) for text in texts])))
    return Histories(bounds, np.concatenate(texts), seed)


def _program(rng: np.random.Generator) -> Ints:
    """A new program: a stretch of lines that many share, in parts of its own."""
    size = int(np.clip(rng.lognormal(np.log(LINES_PER_TEXT) - 0.25, 0.7), 40, 6000))
    start = rng.integers(0, STARTERS) * (SHARED_LINES // STARTERS)
    shared = np.arange(start, start + size // 3) % SHARED_LINES
    own = rng.integers(SHARED_LINES, 2**31 - 2**24, size - len(shared))
    return np.concatenate((shared, own)).astype(np.int32)


def _edited(text: Ints, rng: np.random.Generator, fresh: int) -> tuple[Ints, int]:
    """The text after a few lines were replaced, added or taken away, close to each other."""
    changes = min(1 + int(rng.geometric(0.25)), len(text) // 2)
    at = int(rng.integers(0, len(text) - changes))
    kind = rng.random()
    added = changes if kind < 0.8 else 0
    removed = changes if kind < 0.6 or kind >= 0.8 else 0
    new = 2**31 - 2**24 + np.arange(fresh, fresh + added) % 2**24
    return np.concatenate((text[:at], new, text[at + removed :])).astype(np.int32), fresh + added


def write_history_file(folder: Path, rows: int, seed: int = 7) -> Path:
    """Write the NVFP4 file with so many rows; in one row group, page by page, never all texts in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([seed, rows])
    columns = flat_columns([board for board in FLAT_BOARDS if board.file == sample_boards.NVFP4], rows, rng)
    frame = pa.table({name: columns[name] for name in ("problem_name", "user_id", "submission_time")}).to_pandas()
    histories = make_histories(frame, rng, seed)
    narrow = {name: columns[name] for name in FLAT_SCHEMA.names if name not in ("code", "code_id")}
    path, draft = folder / sample_boards.NVFP4, folder / "texts.arrow"
    # One row group wants the whole column at once: it is laid on disk and mapped.
    with pa.OSFile(str(draft), "wb") as file, pa.ipc.new_file(file, FLAT_SCHEMA) as writer:
        for batch in _batches(narrow, histories, len(frame)):
            writer.write_batch(batch)
    with pa.memory_map(str(draft)) as file:
        table = pa.ipc.open_file(file).read_all()
        pq.write_table(table, path, compression="snappy", row_group_size=LARGEST_ROW_GROUP)
    draft.unlink()
    return path


def _batches(narrow: dict[str, pa.Array], histories: Histories, rows: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows, PAGE_ROWS):
        size = min(PAGE_ROWS, rows - start)
        texts = [histories.text(row) for row in range(start, start + size)]
        ids = [int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "big") for text in texts]
        parts = {name: array.slice(start, size) for name, array in narrow.items()}
        parts |= {"code": pa.array([text.decode() for text in texts], pa.large_string()), "code_id": pa.array(ids)}
        yield pa.RecordBatch.from_arrays(
            [parts[field.name].cast(field.type) for field in FLAT_SCHEMA], schema=FLAT_SCHEMA
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=NVFP4_ROWS)
    args = parser.parse_args(arguments)
    path = write_history_file(args.folder, args.rows)
    facts = pq.read_metadata(path)
    print(
        f"{path.name}: {facts.num_rows:,} rows, {facts.num_row_groups} row groups, {path.stat().st_size / 1e6:,.1f} MB"
    )


if __name__ == "__main__":
    main()
