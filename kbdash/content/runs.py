"""The lines of texts, from the table of runs."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from kbdash.content.layout import table_path

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


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

    def __call__(self, text: int) -> Ints:
        return self.many(text, text + 1)

    def many(self, first: int, last: int) -> Ints:
        """The line ids of the texts first to last (exclusive), concatenated."""
        place = slice(int(self.first[first]), int(self.first[last - 1] + self.count[last - 1]))
        return unfolded(self._line[place], self._length[place])


def unfolded(line: Ints, length: Ints) -> Ints:
    """The line ids that runs stand for."""
    ends = np.cumsum(length)
    steps = np.arange(ends[-1] if len(ends) else 0, dtype=np.int64)
    ids: Ints = (steps + np.repeat(line - (ends - length), length)).astype(np.int32)
    return ids
