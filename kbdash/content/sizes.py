"""Sizes of texts: lines of code, kernels, and Triton's launch parameters. Found line by line, with patterns only."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

VERSION = "1"
COLUMNS = ("code_lines", "kernels", "num_warps", "num_stages")
_KERNEL = r"^[^#\"]*\b__global__\b|^\s*@(?:triton|gluon|helion|cute|cutlass\.cute|tilelang)\.(?:jit|kernel)\b"
_NUMBER = r"\b{name}[\"']?\s*[:=]\s*([0-9]{{1,2}})\b"
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class LineSizes:
    """What each line adds to its text."""

    does: npt.NDArray[np.bool_]
    kernel: Bytes
    num_warps: Bytes
    num_stages: Bytes

    def of_texts(self, ids: Ints, ends: npt.NDArray[np.int64]) -> Iterator[Ints]:
        """The columns for some texts; `ids` are their lines, concatenated, `ends` where each text ends."""
        begins = np.concatenate(([0], ends[:-1]))
        for values, fold in (
            (self.does, np.add), (self.kernel, np.add), (self.num_warps, np.maximum), (self.num_stages, np.maximum),
        ):  # fmt: skip
            yield fold.reduceat(values[ids].astype(np.int32), begins).astype(np.int32)


def line_sizes(lines: pa.Array, does: npt.NDArray[np.bool_]) -> LineSizes:
    """The sizes of all lines; `does` says which do anything."""
    kernel = pc.match_substring_regex(lines, _KERNEL).to_numpy(zero_copy_only=False).astype(np.uint8)
    return LineSizes(does, kernel, _number(lines, "num_warps"), _number(lines, "num_stages"))


def _number(lines: pa.Array, name: str) -> Bytes:
    """The largest number that a line gives the name, 0 for none."""
    answer = np.zeros(len(lines), np.uint8)
    # Few lines contain the name, and a search for plain bytes is cheap.
    at = np.flatnonzero(pc.match_substring(lines, name).to_numpy(zero_copy_only=False))
    wanted = re.compile(_NUMBER.format(name=name).encode())
    answer[at] = [max(map(int, wanted.findall(line)), default=0) for line in lines.take(pa.array(at)).to_pylist()]
    return answer
