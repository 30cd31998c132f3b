"""leaderboards.parquet: the boards' names, deadlines and descriptions."""

import pyarrow as pa

from kbdash.dataset.sample.boards import FLAT_BOARDS, day
from kbdash.dataset.sample.legacy_boards import LEGACY_BOARDS

LEADERBOARDS_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("deadline", pa.timestamp("us", tz="UTC")),
        ("description", pa.string()),
        ("gpu_types", pa.list_(pa.string())),
    ]
)

# Closed practice boards that have a definition and no submission.
_FIRST_PRACTICE = (
    "conv2d",
    "grayscale",
    "histogram",
    "matmul",
    "prefixsum",
    "sort",
    "vectoradd",
    "vectorsum",
)
# Boards that have submissions and no definition.
UNDEFINED = (776,)

_DESCRIPTION = """
Sample description of `{name}`, written by the kbdash generator.

Write a kernel for **{name}** and return the output tensor:
```
def custom_kernel(data: input_t) -> output_t: ...
```
* inputs are given as a tuple of tensors
* the *geometric mean* of the benchmark times counts, lower is better

| shape | speed of light [us] |
|---|---|
| small | {fast:.2f} |
| large | {slow:.2f} |
"""


def leaderboards_table() -> pa.Table:
    """The definitions of 39 boards in the order of their ids."""
    rows: list[tuple[int, str, object, str, list[str]]] = [
        (339 + i, name, day("2025-06-30"), _text(name, 20e-6), ["H100", "A100", "T4", "L4"])
        for i, name in enumerate(_FIRST_PRACTICE)
    ]
    for old in LEGACY_BOARDS:
        rows.append(
            (
                old.id,
                old.name,
                old.deadline,
                _text(old.name, old.best),
                ["MI300x8" if old.devices > 1 else "MI300"],
            )
        )
    for board in FLAT_BOARDS:
        if board.id not in UNDEFINED:
            runners = [lane.runner for lane in board.lanes]
            rows.append((board.id, board.name, board.deadline, _text(board.name, board.lanes[0].best), runners))
    columns = zip(*sorted(rows), strict=True)
    arrays = [pa.array(list(values), field.type) for values, field in zip(columns, LEADERBOARDS_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=LEADERBOARDS_SCHEMA)


def _text(name: str, best: float) -> str:
    return _DESCRIPTION.format(name=name, fast=best * 1e6 / 9, slow=best * 1e6 / 2)
