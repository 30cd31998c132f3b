"""Source texts by the gigabyte without the memory: slices of one pool that share its buffer."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

POOL_BYTES = 72_000_000
LONGEST_TEXT = 400_000
PAGE_ROWS = 1_024

_WORDS = (
    "acc", "tile", "stage", "warp", "lane", "row", "col", "depth", "offset", "stride", "mask", "scale", "load",
    "store", "copy", "wait", "commit", "barrier", "shared", "global", "index", "block", "cluster", "panel",
    "epilogue", "prologue", "swizzle", "vector", "unroll", "pipeline", "tensor", "map", "fragment", "desc",
    "expect", "arrive", "phase", "parity", "bytes", "align", "layout", "shape", "coord", "gate", "bias",
    "head", "batch", "token", "expert", "group", "split",
)  # fmt: skip
_LINES = (
    "    {a}_{b}[{i}] = __fmaf_rn({c}_{d}[{j}], {e}, {a}_{b}[{k}]);",
    "    const int {a}_{b} = ({c} * {i} + {d}) ^ 0x{h:x};",
    "    if ({a} < {i} && {b}_{c} >= {j}) {d}_{e} += {f:.6f}f;",
    '    asm volatile("cp.async.bulk.{a}.{b} [%0], [%1], %{i};" :: "r"({c}_{d}), "l"({e} + {h}));',
    "    {a}_{b} = tl.load({c}_ptr + {d} * {h} + tl.arange(0, {i}), mask={e} < {j}, other={f:.4f})",
    "    // {a} {b} of the {c}: {d} {e} in {i} steps of {j}, measured {f:.3f} us",
    "    {a}_{b} = cute.make_layout(({i}, {j}, {k}), stride=({h}, {i}, 1))  # {c} {d}",
    "    for (int {a} = {i}; {a} < {h}; {a} += {j}) {{ {b}_{c}({d}[{a}], {e}); }}",
    "    {a}[{b}_{c}] = *reinterpret_cast<const uint4*>({d} + {h});",
    "}}  // {a} {b} {k:x}{h:x}",
)


@dataclass(frozen=True)
class TextPool:
    """Lines of plausible code in one buffer, where each begins, and how well snappy packs them."""

    buffer: pa.Buffer
    line_starts: npt.NDArray[np.int64]
    ratio: float


@dataclass(frozen=True)
class TextPlan:
    """Which lines of the pool are the text of each row: rows of one page lie one behind the other."""

    pool: TextPool
    first_line: npt.NDArray[np.int64]
    last_line: npt.NDArray[np.int64]

    def code_ids(self) -> npt.NDArray[np.int64]:
        """The same number for the same text, another for any other."""
        key = self.first_line << 32 | self.last_line
        numbers: npt.NDArray[np.int64] = np.unique(key, return_inverse=True)[1].astype(np.int64)
        return numbers

    def column(self) -> pa.ChunkedArray:
        """The texts, a chunk per page; all chunks point into the pool."""
        return pa.chunked_array(list(self._chunks()), pa.large_string())

    def _chunks(self) -> Iterator[pa.Array]:
        starts = self.pool.line_starts
        for page in range(0, len(self.first_line), PAGE_ROWS):
            first = self.first_line[page : page + PAGE_ROWS]
            offsets = np.append(starts[first], starts[self.last_line[page + len(first) - 1]])
            buffers = [None, pa.py_buffer(offsets), self.pool.buffer]
            yield pa.Array.from_buffers(pa.large_string(), len(first), buffers)


def make_pool(rng: np.random.Generator, size: int) -> TextPool:
    """A pool of about `size` bytes."""
    lines = size // 78
    words = rng.integers(0, len(_WORDS), (lines, 5)).tolist()
    kinds = rng.integers(0, len(_LINES), lines).tolist()
    small = rng.integers(0, 64, (lines, 3)).tolist()
    large = rng.integers(0, 1 << 12, lines).tolist()
    parts = rng.random(lines).tolist()
    text = [
        _LINES[kind].format(
            a=_WORDS[w[0]], b=_WORDS[w[1]], c=_WORDS[w[2]], d=_WORDS[w[3]], e=_WORDS[w[4]],
            i=s[0], j=s[1], k=s[2], h=h, f=f,
        )
        for kind, w, s, h, f in zip(kinds, words, small, large, parts, strict=True)
    ]  # fmt: skip
    data = ("\n".join(text) + "\n").encode()
    starts = np.concatenate(([0], np.cumsum([len(line) + 1 for line in text]))).astype(np.int64)
    sample = data[: 1 << 24]
    packed = pa.Codec("snappy").compress(sample, asbytes=True)
    return TextPool(pa.py_buffer(data), starts, len(sample) / len(packed))


def plan_texts(pool: TextPool, rows: int, packed_bytes: float, rng: np.random.Generator) -> TextPlan:
    """Texts for `rows` rows that take about `packed_bytes` bytes in the file, a few long and most short."""
    lengths = rng.lognormal(0.0, 1.0, rows)
    lengths = np.minimum(lengths / lengths.mean() * packed_bytes * pool.ratio / rows, LONGEST_TEXT)
    first, last = np.empty(rows, np.int64), np.empty(rows, np.int64)
    for page in range(0, rows, PAGE_ROWS):
        wanted = np.concatenate(([0.0], np.cumsum(lengths[page : page + PAGE_ROWS])))
        begin = rng.random() * max(1.0, pool.line_starts[-1] - wanted[-1] - 80 * PAGE_ROWS)
        cuts = np.searchsorted(pool.line_starts, begin + wanted)
        # A text is at least one line long.
        steps = np.arange(len(cuts))
        cuts = np.minimum(np.maximum.accumulate(cuts - steps) + steps, len(pool.line_starts) - len(cuts) + steps)
        first[page : page + PAGE_ROWS], last[page : page + PAGE_ROWS] = cuts[:-1], cuts[1:]
    return TextPlan(pool, first, last)
