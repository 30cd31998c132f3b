"""The lines of texts, from the table of runs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from kbdash.content.store.layout import table_path

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """The runs of some texts: the first line of each, its length, and at which run each text begins."""

    line: Ints
    length: Ints
    opens: Longs

    @property
    def text(self) -> Longs:
        """The text of each run, counted from the first."""
        return np.repeat(np.arange(len(self.opens)), np.diff(self.opens, append=len(self.line)))


class RunReader:
    """The line ids of a text, from the table of runs."""

    def __init__(self, folder: Path, first: Longs, count: Longs) -> None:
        runs = pq.read_table(table_path(folder, "runs"))
        self._line = runs.column("line_id").to_numpy()
        self._length = runs.column("length").to_numpy()
        self.first, self.count = first, count

    def __len__(self) -> int:
        return len(self.first)

    def of(self, text: int) -> tuple[Ints, Ints]:
        """The runs of a text: the first line of each, and its length."""
        place = slice(int(self.first[text]), int(self.first[text] + self.count[text]))
        return self._line[place], self._length[place]

    def of_texts(self, first: int, last: int) -> Runs:
        """The runs of the texts first to last (exclusive)."""
        place = slice(int(self.first[first]), int(self.first[last - 1] + self.count[last - 1]))
        return Runs(self._line[place], self._length[place], self.first[first:last] - self.first[first])

    def __call__(self, text: int) -> Ints:
        """The line ids of a text."""
        return unfolded(*self.of(text))


def unfolded(line: Ints, length: Ints) -> Ints:
    """The line ids that runs stand for."""
    ends = np.cumsum(length)
    steps = np.arange(ends[-1] if len(ends) else 0, dtype=np.int64)
    ids: Ints = (steps + np.repeat(line - (ends - length), length)).astype(np.int32)
    return ids
