"""Sizes of texts: lines of code, kernels, and Triton's launch parameters. Found line by line, with patterns only."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kbdash.content.store.runs import Runs
from kbdash.content.store.spans import before

COLUMNS = ("code_lines", "kernels", "num_warps", "num_stages")
_KERNEL = r"^[^#\"]*\b__global__\b|^\s*@(?:triton|gluon|helion|cute|cutlass\.cute|tilelang)\.(?:jit|kernel)\b"
_NUMBER = r"\b{name}[\"']?\s*[:=]\s*([0-9]{{1,2}})\b"
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Sum:
    """What lines add to a text, as sums over all lines before each."""

    before: Longs

    def of_texts(self, runs: Runs) -> Ints:
        """The sum for each of these texts."""
        added = self.before[runs.line + runs.length] - self.before[runs.line]
        return np.add.reduceat(added, runs.opens).astype(np.int32)


@dataclass(frozen=True)
class _Largest:
    """The numbers that lines give, in order, and how many such lines are before each."""

    before: Longs
    number: Bytes

    def of_texts(self, runs: Runs) -> Ints:
        """The largest number of each of these texts, 0 for none."""
        first, end = self.before[runs.line], self.before[runs.line + runs.length]
        run = np.repeat(np.arange(len(first)), end - first)
        at = np.arange(len(run)) + np.repeat(first - (np.cumsum(end - first) - (end - first)), end - first)
        answer = np.zeros(len(runs.opens), np.int32)
        np.maximum.at(answer, runs.text[run], self.number[at])
        return answer


class LineSizes:
    """What each line adds to its text, by column."""

    def __init__(self, does: Flags, kernel: Flags, *numbers: Bytes) -> None:
        largest = [_Largest(before(each > 0), each[each > 0]) for each in numbers]
        self._columns: list[_Sum | _Largest] = [_Sum(before(does)), _Sum(before(kernel)), *largest]

    def of_texts(self, runs: Runs) -> Iterator[Ints]:
        """The columns for some texts."""
        return (column.of_texts(runs) for column in self._columns)


def line_sizes(lines: pa.Array, does: Flags) -> LineSizes:
    """The sizes of all lines; `does` says which do anything."""
    kernel = pc.match_substring_regex(lines, _KERNEL).to_numpy(zero_copy_only=False).astype(bool)
    return LineSizes(does, kernel, _number(lines, "num_warps"), _number(lines, "num_stages"))


def _number(lines: pa.Array, name: str) -> Bytes:
    """The largest number that a line gives the name, 0 for none."""
    answer = np.zeros(len(lines), np.uint8)
    # Few lines contain the name, and a search for plain bytes is cheap.
    at = np.flatnonzero(pc.match_substring(lines, name).to_numpy(zero_copy_only=False))
    wanted = re.compile(_NUMBER.format(name=name).encode())
    answer[at] = [max(map(int, wanted.findall(line)), default=0) for line in lines.take(pa.array(at)).to_pylist()]
    return answer
