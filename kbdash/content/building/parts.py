"""Intermediate results of a build: folders created atomically, each with the texts of some pages over its own lines."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kbdash.content.building.pages import PageStream, RawPage, RawTexts
from kbdash.content.store.decoded import without_end
from kbdash.content.store.layout import NO_TEXT

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
_META = "part.json"
_NEWLINE = ord("\n")
_STRETCH = 1 << 18


@dataclass(frozen=True)
class PageTexts:
    """The texts of a page: distinct ones by digest; `digest_of_row` b"" for null.

    `pieces` are their lines where they lie in the page, each with its newline; behind every text but the last
    there is one more piece, which is no line.
    """

    first_row: int
    digest_of_row: list[bytes]
    digests: list[bytes]
    sizes: npt.NDArray[np.int64]
    counts: Longs
    pieces: pa.Array

    @property
    def memory_bytes(self) -> int:
        """What it holds in memory: all of the page, even if few of its texts are new."""
        size: int = self.pieces.get_total_buffer_size()
        return size


def split_page(stream: PageStream, raw: RawPage, seen: set[bytes]) -> PageTexts:
    """Decode a page and split its texts into lines; of texts seen before only the digest is kept."""
    texts = stream.texts(raw)
    digests = _digests(texts)
    of_row = texts.of_row.tolist()
    first_at: dict[bytes, int] = {}
    for at in dict.fromkeys(of_row):
        if at != NO_TEXT and digests[at] not in seen:
            first_at.setdefault(digests[at], at)
    places = np.fromiter(first_at.values(), np.int64, len(first_at))
    places.sort()
    starts, ends = texts.starts[places], texts.ends[places]
    counts, pieces = _pieces(texts.body, starts, ends)
    rows = [b"" if at == NO_TEXT else digests[at] for at in of_row]
    return PageTexts(raw.first_row, rows, [digests[at] for at in places.tolist()], ends - starts, counts, pieces)


def _pieces(body: pa.Buffer, starts: Longs, ends: Longs) -> tuple[Longs, pa.Array]:
    """How many lines each text has, and the pieces of all. No byte is copied."""
    if not len(starts):
        return np.empty(0, np.int64), pa.array([], pa.large_binary())
    after = _newlines(np.frombuffer(body, np.uint8)) + 1
    first, last = np.searchsorted(after, starts, side="right"), np.searchsorted(after, ends, side="right")
    inside = np.zeros(len(after) + 1, np.int8)
    np.add.at(inside, first, 1)
    np.add.at(inside, last, -1)
    bounds = np.concatenate((after[np.cumsum(inside[:-1], dtype=np.int8) > 0], starts, ends))
    bounds.sort(kind="stable")
    pieces = pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), body])
    return last - first + 1, pieces


def _newlines(body: npt.NDArray[np.uint8]) -> Longs:
    """Where the newlines are."""
    # A stretch at a time stays in the processor's cache, and needs no fresh memory from the system.
    starts = range(0, len(body), _STRETCH)
    found = [np.flatnonzero(body[start : start + _STRETCH] == _NEWLINE) + start for start in starts]
    return np.concatenate([np.empty(0, np.int64), *found])


def _coded_lines(pages: Sequence[PageTexts]) -> tuple[pa.Array, list[Ints]]:
    """The distinct pieces of all pages without their newline, and per page its lines as numbers of these.

    All pages at once, because most lines of a page are in others too. A line may be there twice: as the last of a text,
    and as another. What stands between two texts is in it as well, but no text has its number.
    """
    filled = [page for page in pages if len(page.pieces)]
    coded = pa.chunked_array([page.pieces for page in filled], pa.large_binary()).dictionary_encode()
    ids = []
    for page, chunk in zip(filled, coded.chunks, strict=True):
        ids.append(np.delete(chunk.indices.to_numpy(), np.cumsum(page.counts + 1)[:-1] - 1))
    lines = coded.chunk(0).dictionary if filled else pa.array([], pa.large_binary())
    return without_end(lines, "\n"), ids


def _digests(texts: RawTexts) -> list[bytes]:
    """The sha256 of each text."""
    whole = memoryview(texts.body).cast("B")
    places = zip(texts.starts.tolist(), texts.ends.tolist(), strict=True)
    return [sha256(whole[begin:end]).digest() for begin, end in places]


def write_part(folder: Path, number: int, pages: Sequence[PageTexts]) -> None:
    """Write the pages as part `number`: a folder that is renamed into place when it is complete."""
    lines, ids = _coded_lines(pages)
    digests = [digest for page in pages for digest in page.digests]
    kept = np.zeros(len(digests), bool)
    kept[list({digest: at for at, digest in reversed([*enumerate(digests)])}.values())] = True
    counts = np.concatenate([page.counts for page in pages])
    numbers = np.concatenate([np.empty(0, np.int32), *ids])
    if not kept.all():  # two pages split in parallel may both contain a text
        numbers = numbers[np.repeat(kept, counts)]
    rows = [digest for page in pages for digest in page.digest_of_row]
    draft = folder / f".{number:05d}.tmp"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    _write(draft / "lines.arrow", {"line": lines})
    _write(draft / "ids.arrow", {"id": pa.array(numbers)})
    _write(
        draft / "texts.arrow",
        {
            "sha256": pa.array(digests, pa.binary(32)).filter(pa.array(kept)),
            "bytes": pa.array(np.concatenate([page.sizes for page in pages])[kept]),
            "count": pa.array(counts[kept]),
        },
    )
    _write(draft / "rows.arrow", {"sha256": pa.array([digest or None for digest in rows], pa.binary(32))})
    meta = {"first_row": pages[0].first_row, "rows": len(rows)}
    (draft / _META).write_text(json.dumps(meta), encoding="utf-8")
    draft.rename(folder / f"{number:05d}")


@dataclass(frozen=True)
class Part:
    """A finished part; its arrays are memory-mapped files."""

    first_row: int
    rows: int
    folder: Path

    def array(self, table: str, column: str) -> pa.Array:
        """A column of the part."""
        with pa.memory_map(str(self.folder / f"{table}.arrow")) as file:
            return pa.ipc.open_file(file).read_all().column(column).combine_chunks()


def finished_parts(folder: Path) -> list[Part]:
    """The consecutive parts from the first row on; parts after a gap are deleted."""
    parts: list[Part] = []
    row = 0
    for place in sorted(folder.glob("[0-9]" * 5)):
        part = _read_part(place)
        if part is None or part.first_row != row or place.name != f"{len(parts):05d}":
            shutil.rmtree(place, ignore_errors=True)
            continue
        parts.append(part)
        row += part.rows
    return parts


def _read_part(folder: Path) -> Part | None:
    try:
        meta: dict[str, Any] = json.loads((folder / _META).read_text(encoding="utf-8"))
        part = Part(meta["first_row"], meta["rows"], folder)
        if len(part.array("rows", "sha256")) != part.rows:
            return None
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None
    return part


def _write(path: Path, columns: dict[str, pa.Array]) -> None:
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
