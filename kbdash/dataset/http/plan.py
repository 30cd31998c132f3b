"""Which ranges of a parquet file are worth fetching together, planned from its footer.

A question reads several columns; DuckDB asks for them one after the other, and each costs a round trip. The plan
joins neighbouring columns into spans, and spans into groups that are fetched in parallel. It is only a hint: bytes
outside it are read when DuckDB asks for them, and a damaged footer gives an empty plan (DuckDB reports the damage).
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq

Span = tuple[int, int]
"""First byte, and the byte after the last."""

_RANKED = frozenset(
    {
        "submission_id", "leaderboard_id", "problem_name", "user_id", "user_name", "submission_time", "score", "passed",
        "mode", "runner",
    }
)  # fmt: skip
_RUNS = frozenset(
    {
        "submission_id", "leaderboard_id", "user_id", "submission_time", "file_name", "code_id", "run_mode",
        "run_score", "run_passed", "run_system_info.gpu",
    }
)  # fmt: skip
"""Columns that a first question reads: those of a ranking, or, where a row is a run, all that make up a submission."""
WIDE = frozenset({"code"})
"""Columns that are never read whole."""
WINDOW_BYTES = 32 << 20
"""The most bytes prefetched at once."""
_ALWAYS_BRIDGED = 16 << 10  # DuckDB reads across gaps of this size
_WASTE = 0.12  # of the wanted bytes: gaps are bridged, smallest first, while their sum stays below this share
_SMALLEST_TAIL, _LARGEST_TAIL = 16 << 10, 256 << 10
_LARGEST_FOOTER = 16 << 20


def tail_span(size: int) -> Span:
    """The end of a file, which DuckDB reads first because it probably holds the whole footer."""
    guess = 1 << max(0, size // 1000 - 1).bit_length()
    return max(0, size - min(max(guess, _SMALLEST_TAIL), _LARGEST_TAIL)), size


def footer_span(tail: bytes, size: int) -> Span | None:
    """Where the footer is, according to the last bytes of the file; None when they make no sense."""
    length = int.from_bytes(tail[-8:-4], "little")
    if not tail.endswith(b"PAR1") or not 0 < length <= min(_LARGEST_FOOTER, size - 12):
        return None
    return size - 8 - length, size


@dataclass(frozen=True)
class Plan:
    """Non-overlapping spans in file order, and the group of each."""

    spans: tuple[Span, ...] = ()
    groups: tuple[str, ...] = ()

    def with_footer(self, span: Span) -> "Plan":
        """The plan plus the part of a long footer that the first read of the file's end did not cover."""
        return Plan((*self.spans, span), (*self.groups, "footer"))

    def touching(self, start: int, end: int) -> Iterator[Span]:
        """The spans that overlap these bytes, in order."""
        at = max(0, bisect_right(self.spans, (start, end)) - 1)
        for span in self.spans[at:]:
            if span[0] >= end:
                return
            if span[1] > start:
                yield span

    def first(self) -> Iterator[Span]:
        """The spans that a first question reads."""
        if "first" in self.groups:
            yield from self.together(self.spans[self.groups.index("first")])

    def together(self, span: Span) -> Iterator[Span]:
        """The span and the later ones that are fetched with it."""
        at = self.spans.index(span)
        total = 0
        for each, group in zip(self.spans[at:], self.groups[at:], strict=True):
            if group == self.groups[at]:
                total += each[1] - each[0]
                if total > WINDOW_BYTES and each != span:
                    return
                yield each


def plan_of(footer: bytes, body_end: int) -> Plan:
    """The plan for a file with this footer, last eight bytes included; bytes from `body_end` on are fetched already."""
    try:
        metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
        chunks = _chunks(metadata, body_end)
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        return Plan()
    taken: list[Span] = []
    planned: list[tuple[Span, str]] = []
    for group in sorted(chunks, key=lambda name: name != "first"):
        spans = list(_bridged(_outside(sorted(chunks[group]), taken), taken))
        taken = sorted(taken + spans)
        planned += [(span, group) for span in spans]
    planned.sort()
    return Plan(tuple(span for span, _ in planned), tuple(group for _, group in planned))


def _chunks(metadata: pq.FileMetaData, body_end: int) -> dict[str, list[Span]]:
    """The chunks of the narrow columns by group: those of rankings, other flat ones, and each nested column."""
    found: dict[str, list[Span]] = defaultdict(list)
    first = _RUNS if "run_mode" in metadata.schema.names else _RANKED
    for row_group in range(metadata.num_row_groups):
        columns = metadata.row_group(row_group)
        for index in range(columns.num_columns):
            chunk = columns.column(index)
            name = chunk.path_in_schema
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            end = min(start + chunk.total_compressed_size, body_end)
            top, nested, _ = name.partition(".")
            if 0 < start < end <= start + WINDOW_BYTES and top not in WIDE:
                found["first" if name in first else top + nested if nested else "other"].append((start, end))
    return found


def _outside(spans: Iterable[Span], taken: list[Span]) -> list[Span]:
    """The spans that lie outside those taken already (a gap that was bridged may cover one)."""
    return [span for span in spans if not any(start < span[1] and span[0] < end for start, end in taken)]


def _bridged(spans: list[Span], taken: list[Span]) -> Iterator[Span]:
    """The spans, neighbours joined where the gap costs less than another request."""
    room = _WASTE * sum(end - start for start, end in spans)
    joined = set()
    for gap, left, right in sorted((there[0] - here[1], here[1], there[0]) for here, there in pairwise(spans)):
        if gap > _ALWAYS_BRIDGED and (room := room - gap) < 0:
            break
        if not any(start < right and left < end for start, end in taken):
            joined.add(left)
    start = None
    for span in spans:
        start = span[0] if start is None else start
        if span[1] not in joined:
            yield start, span[1]
            start = None
