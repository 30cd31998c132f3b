"""Merge the parts into one numbering: texts by (problem, user, time), lines by first use, texts as runs of lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.content.building.facts import RowFacts
from kbdash.content.building.parts import Part
from kbdash.content.store.layout import NO_TEXT, SCHEMAS, table_path

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
_BATCH_LINES = 2 << 20
COMPRESSION = {"compression": "zstd", "compression_level": 3}


@dataclass(frozen=True)
class Texts:
    """The distinct texts in their final order, where their lines are, and the text of each row of the file."""

    sha256: npt.NDArray[np.void]
    size: Longs
    count: Longs
    part: Ints
    begin: Longs
    of_row: Ints


def order_texts(parts: Sequence[Part], facts: RowFacts) -> Texts:
    """Deduplicate the texts of all parts, and number the distinct ones."""
    columns = {name: [part.array("texts", name) for part in parts] for name in ("sha256", "bytes", "count")}
    digests = _joined([_digests(array) for array in columns["sha256"]], "V32")
    counts = [array.to_numpy() for array in columns["count"]]
    begin = _joined([np.cumsum(each) - each for each in counts], np.int64)
    part = _joined([np.full(len(each), at) for at, each in enumerate(counts)], np.int32)
    distinct, place = np.unique(digests, return_index=True)
    of_row = _text_of_rows(parts, distinct)
    order = _final_order(of_row, len(distinct), facts)
    number = np.empty(len(distinct) + 1, np.int32)
    number[order], number[-1] = np.arange(len(distinct)), NO_TEXT
    place = place[order]
    sizes = _joined([array.to_numpy() for array in columns["bytes"]], np.int64)
    return Texts(
        sha256=distinct[order],
        size=sizes[place],
        count=_joined(counts, np.int64)[place],
        part=part[place],
        begin=begin[place],
        of_row=number[of_row],
    )


def _joined(arrays: Sequence[npt.NDArray[Any]], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """The arrays concatenated; there may be none."""
    return np.concatenate([np.empty(0, kind), *(array.astype(kind, copy=False) for array in arrays)])


def _digests(array: pa.Array) -> npt.NDArray[np.void]:
    """Digests as values that numpy can sort; null ones are zero bytes."""
    data = np.frombuffer(array.buffers()[1], np.uint8) if len(array) else np.empty(0, np.uint8)
    return data[: 32 * len(array)].view("V32")


def _text_of_rows(parts: Sequence[Part], distinct: npt.NDArray[np.void]) -> Ints:
    answer = []
    for part in parts:
        column = part.array("rows", "sha256")
        found = np.searchsorted(distinct, _digests(column)).astype(np.int32)
        found[column.is_null().to_numpy(zero_copy_only=False)] = NO_TEXT
        answer.append(found)
    return _joined(answer, np.int32)


def _final_order(of_row: Ints, texts: int, facts: RowFacts) -> npt.NDArray[np.intp]:
    """Texts sorted by problem, user and time of their first submission; ties are broken by the digest."""
    rows = np.flatnonzero(of_row != NO_TEXT)
    earliest = rows[np.lexsort((facts.user[rows], facts.problem[rows], facts.submission_id[rows], facts.at[rows]))]
    first = np.zeros(texts, np.int64)
    first[of_row[earliest][::-1]] = earliest[::-1]  # the earliest is written last, so it wins
    return np.lexsort(
        (np.arange(texts), facts.submission_id[first], facts.at[first], facts.user[first], facts.problem[first])
    )


def unite_lines(parts: Sequence[Part]) -> tuple[pa.Array, list[Ints]]:
    """The distinct lines of all parts, and per part the position of each of its lines among them."""
    chunks = [part.array("lines", "line") for part in parts]
    coded = pa.chunked_array(chunks, pa.large_binary()).dictionary_encode()
    filled = iter(coded.chunks)
    places = [next(filled).indices.to_numpy() if len(chunk) else np.empty(0, np.int32) for chunk in chunks]
    lines = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.large_binary())
    return lines, places


@dataclass
class LineNumbers:
    """Final numbers of lines, assigned in the order in which texts use them."""

    final: Ints
    used: list[Ints]
    next_id: int = 0

    @classmethod
    def of(cls, lines: int) -> "LineNumbers":
        """No line has a number yet."""
        return cls(np.full(lines, -1, np.int32), [])

    def number(self, places: Ints) -> Ints:
        """The final numbers of lines in the order of their use."""
        fresh = places[self.final[places] < 0]
        if len(fresh):
            at = np.arange(len(fresh), dtype=np.int32)
            self.final[fresh[::-1]] = at[::-1]  # of equal places the first is written last
            in_order = fresh[self.final[fresh] == at]
            self.final[in_order] = np.arange(self.next_id, self.next_id + len(in_order))
            self.next_id += len(in_order)
            self.used.append(in_order)
        return self.final[places]

    @property
    def order(self) -> Ints:
        """The places of all lines by final number."""
        return _joined(self.used, np.int32)


def numbered_texts(
    parts: Sequence[Part], texts: Texts, places: list[Ints], numbers: LineNumbers
) -> Iterator[tuple[int, Ints, Longs]]:
    """Batches of texts in final order: number of the first, the line ids of all, and where each text ends."""
    ids = [part.array("ids", "id").to_numpy() for part in parts]
    first = 0
    while first < len(texts.count):
        ends = np.cumsum(texts.count[first : first + (1 << 16)])
        size = max(1, int(np.searchsorted(ends, _BATCH_LINES)))
        local = [
            places[part][ids[part][begin : begin + count]]
            for part, begin, count in zip(
                texts.part[first : first + size].tolist(),
                texts.begin[first : first + size].tolist(),
                texts.count[first : first + size].tolist(),
                strict=True,
            )
        ]
        yield first, numbers.number(np.concatenate(local)), ends[:size]
        first += size


class RunWriter:
    """Writes texts as runs of consecutive lines; `first` and `count` then give the runs of each text."""

    def __init__(self, folder: Path) -> None:
        self._writer = pq.ParquetWriter(table_path(folder, "runs"), SCHEMAS["runs"], **COMPRESSION)
        self._counts: list[Longs] = []

    def add(self, ids: Ints, ends: Longs) -> None:
        """Write the runs of a batch of texts."""
        opens = np.ones(len(ids), bool)
        opens[1:] = ids[1:] != ids[:-1] + 1
        opens[ends[:-1]] = True
        starts = np.flatnonzero(opens)
        lengths = np.diff(np.append(starts, len(ids)))
        self._writer.write_table(
            pa.table([pa.array(ids[starts]), pa.array(lengths.astype(np.int32))], schema=SCHEMAS["runs"])
        )
        upto = np.searchsorted(starts, ends)
        self._counts.append(np.diff(np.concatenate(([0], upto))))

    def close(self) -> tuple[Longs, Longs]:
        """`first` and `count` of every text."""
        self._writer.close()
        count = _joined(self._counts, np.int64)
        return np.cumsum(count) - count, count


class UseCollector:
    """Which texts hold a line, as runs of texts, collected while the texts go by in order.

    A line and a text are one number, so that the next text of the same line is the next number.
    """

    def __init__(self, texts: int) -> None:
        self._width = texts + 1  # one more, so that no line's last text is next to the next line's first
        self._runs: list[tuple[Longs, Longs]] = []

    def add(self, first: int, ids: Ints, ends: Longs) -> None:
        """The next texts: number of the first, the lines of all, and where each text ends."""
        text = np.repeat(np.arange(first, first + len(ends)), np.diff(ends, prepend=0))
        held = np.sort(ids * np.int64(self._width) + text)
        held = held[np.diff(held, prepend=-1) > 0]
        opens = np.diff(held, prepend=-2) > 1
        self._runs.append((held[opens], held[np.append(opens[1:], True)] + 1))

    def close(self) -> tuple[Ints, Ints, Ints]:
        """line_id, first text_id and length of all runs, by line and text."""
        begin = _joined([each[0] for each in self._runs], np.int64)
        end = _joined([each[1] for each in self._runs], np.int64)
        self._runs.clear()
        # Runs are disjoint: sorted apart, the n-th begin and the n-th end are still of the same run.
        begin.sort()
        end.sort()
        opens = np.concatenate(([True], begin[1:] != end[:-1]))[: len(begin)]
        begin, end = begin[opens], end[np.append(opens[1:], True)[: len(end)]]
        line = begin // self._width
        return line.astype(np.int32), (begin - line * self._width).astype(np.int32), (end - begin).astype(np.int32)
