"""Scan a dictionary of lines for plain text or a regular expression, until a deadline."""

import time
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.content.search.patterns import Pattern
from kbdash.content.store.decoded import as_texts
from kbdash.errors import QueryTimeout

Longs = npt.NDArray[np.int64]
_CHUNK_LINES = 1 << 16
# With more matches than one in so many lines, testing line by line is cheaper: for plain text, and for a part of an
# expression, which is then tested in the lines that have it.
_LINES_PER_FIND, _LINES_PER_PART = 6, 24
_LOOK_EVERY = 4096
_THREADS = 2


class Deadline:
    """A moment after which a question is given up."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise QueryTimeout once the time is over."""
        if time.monotonic() > self._end:
            raise QueryTimeout("The search took too long and was stopped.", advice="Ask for more letters at once.")


class LineScanner:
    """All lines of a store, decoded, as one block of memory to search for plain text."""

    def __init__(self, blob: bytes, lines: pa.Array) -> None:
        self.texts = as_texts(lines)
        _, offsets, data = self.texts.buffers()
        self._offsets: Longs = np.frombuffer(offsets, np.int64)[: len(self.texts) + 1] if offsets else np.zeros(1, int)
        # If all lines are UTF-8 they are still views into the blob; otherwise they were copied.
        shared = data is None or data.address == pa.py_buffer(blob).address
        self._blob = blob if shared else data.to_pybytes()

    def matching(self, pattern: Pattern, deadline: Deadline) -> Longs:
        """The lines in which the pattern is found, in order."""
        if not len(self.texts):
            return np.empty(0, np.int64)
        found = None
        if pattern.text is not None:
            found = self._find(pattern.text.encode(), _LINES_PER_FIND, deadline)
        elif pattern.part is not None:
            found = self._find(pattern.part.encode(), _LINES_PER_PART, deadline)
        if found is None:
            return self._match(pattern.expression, deadline)
        return found if pattern.text is not None else self._match_among(found, pattern.expression)

    def _find(self, wanted: bytes, lines_per_find: int, deadline: Deadline) -> Longs | None:
        """As `matching` for plain text; None when there are more matches than one in so many lines."""
        find, places = self._blob.find, array("q")
        place = find(wanted)
        while place >= 0:
            for _ in range(_LOOK_EVERY):
                places.append(place)
                # Advance by one, not by its length: a match across the end of a line must not hide the next one.
                place = find(wanted, place + 1)
                if place < 0:
                    break
            else:
                deadline.check()
                # As many again in every stretch of this length would be too many.
                if len(places) * len(self._blob) * lines_per_find > len(self.texts) * place:
                    return None
        at = np.frombuffer(places, np.int64)
        line = np.searchsorted(self._offsets, at, side="right") - 1
        line = line[at + len(wanted) <= self._offsets[line + 1]]
        return line[np.diff(line, prepend=-1) > 0]  # a line may hold it twice

    def _match_among(self, lines: Longs, expression: str) -> Longs:
        mask = pc.match_substring_regex(self.texts.take(pa.array(lines)), expression)
        matching: Longs = lines[mask.to_numpy(zero_copy_only=False).astype(bool)]
        return matching

    def _match(self, expression: str, deadline: Deadline) -> Longs:
        def match(start: int) -> Longs:
            deadline.check()
            mask = pc.match_substring_regex(self.texts.slice(start, _CHUNK_LINES), expression)
            return np.flatnonzero(mask.to_numpy(zero_copy_only=False)) + start

        return np.concatenate(_in_threads(match, range(0, len(self.texts), _CHUNK_LINES)))


def _in_threads(work: Callable[[int], Longs], starts: range) -> list[Longs]:
    if len(starts) == 1:
        return [work(starts[0])]
    with ThreadPoolExecutor(_THREADS, "kbdash-scan") as pool:
        return list(pool.map(work, starts))
