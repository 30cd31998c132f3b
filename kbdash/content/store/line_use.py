"""Which texts hold each line, from the table line_use."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LineUse:
    """Which texts hold a line: runs `bounds[line]` to `bounds[line + 1]` of texts `text` to `text + length`."""

    bounds: Longs
    text: Ints
    length: Ints

    @classmethod
    def of(cls, line: Ints, text: Ints, length: Ints, lines: int) -> "LineUse":
        """From the columns of the table line_use."""
        return cls(np.searchsorted(line, np.arange(lines + 1)), text, length)

    def runs_of(self, lines: Ints | Longs) -> tuple[Longs, Longs]:
        """The runs of some lines: which of these lines (0, 1, …), and the position of the run."""
        first, number = self.bounds[lines], self.bounds[np.asarray(lines) + 1] - self.bounds[lines]
        which = np.repeat(np.arange(len(lines)), number)
        return which, first[which] + np.arange(len(which)) - np.repeat(np.cumsum(number) - number, number)
