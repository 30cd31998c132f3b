"""Write all tables of a store from finished parts."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.content.building.derive import RowsOfTexts, origins
from kbdash.content.building.facts import NOBODY, RowFacts
from kbdash.content.building.numbering import (
    COMPRESSION,
    LineNumbers,
    RunWriter,
    Texts,
    UseCollector,
    numbered_texts,
    order_texts,
    unite_lines,
)
from kbdash.content.building.parts import Part
from kbdash.content.measures import program, sizes, trivial
from kbdash.content.measures.families import families
from kbdash.content.measures.similarity import Similarity, text_totals
from kbdash.content.store.decoded import same_but_for_space
from kbdash.content.store.layout import NO_TEXT, SCHEMAS, table_path
from kbdash.content.store.line_use import LineUse
from kbdash.content.store.runs import RunReader
from kbdash.content.techniques.table import facets_table, write_facets

_SLICE = 1 << 18
_TEXTS_AT_ONCE = 2048
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


def write_tables(parts: Sequence[Part], facts: RowFacts, folder: Path, check: Callable[[], None]) -> dict[str, int]:
    """Write every table into the folder; returns the counts for the manifest. `check` may raise to stop."""
    release = pa.default_memory_pool().release_unused  # Arrow keeps what it frees, as memory of this process
    release()
    texts = order_texts(parts, facts)
    lines, lines_of, uses = _numbered(parts, texts, folder, check)
    release()
    # Arrow and numpy mostly run without the interpreter, so that techniques can be read meanwhile.
    with ThreadPoolExecutor(1, "kbdash-techniques") as pool:
        techniques = pool.submit(facets_table, lines, lines_of, check)
        use = _write_uses(folder, uses, len(lines))
        users = _write_origins(folder, use, texts, facts, len(lines))
        check()
        weight = np.where(
            trivial.telling_lines(lines, users, len(facts.users)), trivial.weights(users, len(facts.users)), 0.0
        )
        telling, text_weight = text_totals(use, weight, len(texts.size))
        _write_texts(folder, texts, lines_of, (telling, text_weight), _measured(lines, lines_of, check))
        write_table(folder, "rows", _rows(texts, facts))
        _write_lines(folder, lines)
        family, similarity = families(Similarity(use, text_weight), weight, lines_of, check)
        numbered = pa.array(np.arange(len(family), dtype=np.int32))
        write_table(folder, "families", pa.table([numbered, family, similarity], schema=SCHEMAS["families"]))
        write_facets(folder, techniques.result())
    return {"texts": len(texts.size), "lines": len(lines), "text_bytes": int(texts.size.sum())}


def _numbered(
    parts: Sequence[Part], texts: Texts, folder: Path, check: Callable[[], None]
) -> tuple[pa.Array, RunReader, UseCollector]:
    """Number the lines and write the runs; returns the lines in order, the runs, and which texts hold each line."""
    lines, places = unite_lines(parts)
    check()
    numbers, runs, uses = LineNumbers.of(len(lines)), RunWriter(folder), UseCollector(len(texts.size))
    for first, ids, ends in numbered_texts(parts, texts, places, numbers):
        check()
        runs.add(ids, ends)
        uses.add(first, ids, ends)
    return lines.take(pa.array(numbers.order)), RunReader(folder, *runs.close()), uses


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write one table of a store."""
    pq.write_table(table, table_path(folder, name), **COMPRESSION)


def _write_texts(
    folder: Path,
    texts: Texts,
    runs: RunReader,
    kinship: tuple[Longs, npt.NDArray[np.float64]],
    measured: tuple[Longs, list[Ints]],
) -> None:
    telling, weight = kinship
    programs, measures = measured
    columns = [
        pa.array(np.arange(len(texts.size), dtype=np.int32)),
        pa.array(texts.sha256.tolist(), pa.binary(32)),
        pa.array(texts.size),
        pa.array(texts.count.astype(np.int32)),
        pa.array(runs.first),
        pa.array(runs.count.astype(np.int32)),
        pa.array(programs),
        pa.array(telling.astype(np.int32)),
        pa.array(weight),
        *(pa.array(column) for column in measures),
    ]
    write_table(folder, "texts", pa.table(columns, schema=SCHEMAS["texts"]))


def _write_uses(folder: Path, uses: UseCollector, lines: int) -> LineUse:
    line, text, length = uses.close()
    table = pa.table([pa.array(line), pa.array(text), pa.array(length)], schema=SCHEMAS["line_use"])
    write_table(folder, "line_use", table)
    return LineUse.of(line, text, length, lines)


def _write_origins(folder: Path, use: LineUse, texts: Texts, facts: RowFacts, lines: int) -> Ints:
    """Write the table; returns how many users have each line."""
    held = RowsOfTexts(texts.of_row, facts, len(texts.size))
    users = [np.empty(0, np.int32)]
    with pq.ParquetWriter(table_path(folder, "origins"), SCHEMAS["origins"], **COMPRESSION) as writer:
        for table in origins(use, held, facts, lines):
            writer.write_table(table)
            users.append(table.column("users").to_numpy())
    return np.concatenate(users)


def _write_lines(folder: Path, lines: pa.Array) -> None:
    same = same_but_for_space(lines)
    with pq.ParquetWriter(table_path(folder, "lines"), SCHEMAS["lines"], use_dictionary=False, **COMPRESSION) as writer:
        for start in range(0, len(lines), _SLICE):
            part = lines.slice(start, _SLICE)
            number = pa.array(np.arange(start, start + len(part), dtype=np.int32))
            writer.write_table(
                pa.table([number, part, pa.array(same[start : start + len(part)])], schema=SCHEMAS["lines"])
            )


def _measured(lines: pa.Array, lines_of: RunReader, check: Callable[[], None]) -> tuple[Longs, list[Ints]]:
    """The program of each text, and its sizes."""
    does = program.program_lines(lines)
    of_program, of_line = program.Programs(does), sizes.line_sizes(lines, does != program.BLANK)
    programs, measures = [np.empty(0, np.int64)], [[np.empty(0, np.int32)] for _ in sizes.COLUMNS]
    for start in range(0, len(lines_of), _TEXTS_AT_ONCE):
        check()
        runs = lines_of.of_texts(start, min(start + _TEXTS_AT_ONCE, len(lines_of)))
        programs.append(of_program.of_texts(runs))
        for column, values in zip(measures, of_line.of_texts(runs), strict=True):
            column.append(values)
    return np.concatenate(programs), [np.concatenate(column) for column in measures]


def _rows(texts: Texts, facts: RowFacts) -> pa.Table:
    columns = [
        pa.array(np.arange(len(texts.of_row), dtype=np.int64)),
        pa.array(facts.submission_id, mask=facts.submission_id == NOBODY),
        pa.array(facts.runner, pa.string()),
        pa.array(texts.of_row, mask=texts.of_row == NO_TEXT),
    ]
    return pa.table(columns, schema=SCHEMAS["rows"])
