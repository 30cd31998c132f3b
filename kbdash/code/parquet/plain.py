"""Texts of a page read in place (zero-copy), so that a page takes no more memory than its own bytes."""

from array import array
from dataclasses import dataclass
from struct import Struct, error

import numpy as np

from kbdash.errors import CorruptData, DataUnavailable

Bytes = bytes | memoryview
MAX_TEXT_BYTES = 16 << 20  # forty times the longest text so far
_LENGTH = Struct("<I")


@dataclass(frozen=True, slots=True)
class PlainTexts:
    """The texts of a page: each follows its length in `body`; `places` are the offsets of the lengths.

    `ranks` has the number of each row's text, -1 for null; None when no row is null.
    """

    body: Bytes
    places: "array[int]"
    ranks: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.places) - 1 if self.ranks is None else len(self.ranks)

    @property
    def size(self) -> int:
        """Bytes held in memory."""
        return len(self.body) + 8 * len(self.places) + (0 if self.ranks is None else self.ranks.nbytes)

    def cell(self, row: int) -> bytes | None:
        """The text of a row of the page; a text that is too long is refused before it is copied."""
        rank = row if self.ranks is None else int(self.ranks[row])
        if rank < 0:
            return None
        start, end = self.places[rank] + _LENGTH.size, self.places[rank + 1]
        check_length(end - start)
        return bytes(memoryview(self.body)[start:end])


def check_length(length: int) -> None:
    """Raise when a text of that many bytes is too long to be read."""
    if length > MAX_TEXT_BYTES:
        raise DataUnavailable(
            f"The text is {length >> 20} MB long; only texts up to {MAX_TEXT_BYTES >> 20} MB are read.",
            advice="Download the file itself to read it.",
        )


def find_texts(body: Bytes, count: int) -> "array[int]":
    """Offsets of the lengths of this many texts, and the end; raises unless they fill the body exactly."""
    places = array("q")
    if count * _LENGTH.size > len(body):
        raise CorruptData(f"A page of {len(body)} bytes cannot hold {count} texts.")
    at = 0
    try:
        for _ in range(count):
            places.append(at)
            at += _LENGTH.size + _LENGTH.unpack_from(body, at)[0]
    except error:
        raise CorruptData("The texts of a page are longer than the page.") from None
    if at != len(body):
        raise CorruptData(f"The texts of a page take {at} bytes of its {len(body)}.")
    places.append(at)
    return places
