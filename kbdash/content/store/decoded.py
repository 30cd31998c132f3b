"""Lines decoded for readers: UTF-8, invalid bytes replaced."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_BATCH = 1 << 14


def as_text(line: bytes) -> str:
    """One line; bytes that are not UTF-8 become U+FFFD."""
    return line.decode("utf-8", errors="replace")


def as_texts(lines: pa.Array) -> pa.Array:
    """Many lines (large_binary) as large_string."""
    try:
        return lines.cast(pa.large_string())
    except pa.ArrowInvalid:
        pass
    chunks = []
    for start in range(0, len(lines), _BATCH):
        batch = lines.slice(start, _BATCH)
        try:
            chunks.append(batch.cast(pa.large_string()))
        except pa.ArrowInvalid:
            chunks.append(pa.array([as_text(line) for line in batch.to_pylist()], pa.large_string()))
    return pa.concat_arrays(chunks)


def without_end(lines: pa.Array, signs: str) -> pa.Array:
    """The lines (large_binary) without these ASCII signs at their end."""
    return _as(pa.large_binary(), pc.ascii_rtrim(_as(pa.large_string(), lines), signs))


def _as(kind: pa.DataType, lines: pa.Array) -> pa.Array:
    """The same bytes with another type, not checked for UTF-8: trimming ASCII signs does not need it."""
    return pa.Array.from_buffers(kind, len(lines), lines.buffers(), offset=lines.offset)


def same_but_for_space(lines: pa.Array) -> npt.NDArray[np.int32]:
    """Per line the position of the first line that is equal after stripping."""
    if not len(lines):
        return np.empty(0, np.int32)
    codes = pc.dictionary_encode(pc.utf8_trim_whitespace(as_texts(lines))).indices.to_numpy()
    first = np.unique(codes, return_index=True)[1]
    same: npt.NDArray[np.int32] = first[codes].astype(np.int32)
    return same
