"""An answer as a table with the types of its columns, and that table as CSV, JSON and Parquet.

Durations become seconds, which every program understands. Synthetic rows are marked in a last column `sample`: every
CSV reader accepts that, but not a comment line above the header.
"""

import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.csv import csv_text
from kbdash.database.questions.kinds import Column, ColumnKind

ROWS_AT_ONCE = 5_000
LARGEST_EXACT = 2**53
"""JSON readers that only know floats round whole numbers beyond this."""
SAMPLE = Column("sample", "text", "synthetic: the row was made up by kbdash")
ARROW: Mapping[ColumnKind, pa.DataType] = {
    "text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "switch": pa.bool_(),
    "time": pa.timestamp("us", "UTC"), "day": pa.date32(), "duration": pa.float64(),
    "texts": pa.list_(pa.string()), "numbers": pa.list_(pa.float64()),
}  # fmt: skip


def table(frame: pd.DataFrame, columns: Sequence[Column], *, sample: bool) -> pa.Table:
    """The frame with the types its columns have in every answer, also in an empty one."""
    arrays = [_array(frame.get(column.name, []), column) for column in columns]
    fields = [pa.field(column.name, ARROW[column.kind]) for column in columns]
    if sample:
        arrays.append(pa.array(["synthetic"] * len(frame), pa.string()))
        fields.append(pa.field(SAMPLE.name, pa.string()))
    return pa.table(arrays, schema=pa.schema(fields))


def parquet(answer: pa.Table, facts: Mapping[str, str]) -> bytes:
    """The table as a Parquet file that carries the facts in its metadata."""
    sink = io.BytesIO()
    pq.write_table(answer.replace_schema_metadata(dict(facts)), sink)
    return sink.getvalue()


def csv(answer: pa.Table) -> bytes:
    """The table as CSV: lists as JSON, days and times as ISO 8601, nothing a spreadsheet would run."""
    frame = pd.DataFrame({name: _cells(answer[name]) for name in answer.column_names}, columns=answer.column_names)
    return csv_text(frame).encode()


def csv_parts(answer: pa.Table, rows: int = ROWS_AT_ONCE) -> Iterator[bytes]:
    """The same in parts of so many rows."""
    yield csv(answer[:rows])
    for first in range(rows, len(answer), rows):
        yield csv(answer[first : first + rows]).partition(b"\r\n")[2]


def digest(answer: pa.Table) -> str:
    """A text that is equal for tables with equal columns and values."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, answer.schema) as stream:
        stream.write_table(answer)
    return blake2b(sink.getvalue(), digest_size=16).hexdigest()


def rows(answer: pa.Table) -> list[dict[str, Any]]:
    """The table as JSON rows: NaN and infinity become null, ids that floats would round become texts."""
    made = {name: list(_json_values(answer[name])) for name in answer.column_names}
    return [dict(zip(made, values, strict=True)) for values in zip(*made.values(), strict=True)]


def json_bytes(value: object) -> bytes:
    """JSON that is safe inside HTML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").encode("utf-8", "replace")


def _array(values: Any, column: Column) -> pa.Array:
    return pa.array([_PLAIN[column.kind](value) for value in values], ARROW[column.kind])


def _or_none(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if pd.isna(value) else make(value)


def _items(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: None if values is None else [make(value) for value in values]


def _text(value: Any) -> str:
    # A lone surrogate cannot be encoded.
    return str(value).encode("utf-8", "replace").decode()


def _day(value: Any) -> date:
    return value.date() if isinstance(value, datetime) else value


def _seconds(value: Any) -> float:
    return pd.Timedelta(value).total_seconds()


_PLAIN: Mapping[ColumnKind, Callable[[Any], Any]] = {
    "text": _or_none(_text), "whole": _or_none(int), "number": _or_none(float), "switch": _or_none(bool),
    "time": _or_none(lambda value: pd.Timestamp(value).to_pydatetime()), "day": _or_none(_day),
    "duration": _or_none(_seconds), "texts": _items(_or_none(_text)), "numbers": _items(_or_none(float)),
}  # fmt: skip


def _cells(column: pa.ChunkedArray) -> Any:
    if pa.types.is_list(column.type):
        return [None if value is None else json_text(value) for value in column.to_pylist()]
    if pa.types.is_date(column.type):
        return [None if value is None else value.isoformat() for value in column.to_pylist()]
    if pa.types.is_integer(column.type):
        return pd.array(column.to_pylist(), dtype="Int64")
    return column.to_pandas()


def json_text(values: list[Any]) -> str:
    """A list in a cell."""
    return json.dumps([_finite(value) for value in values], ensure_ascii=False)


def _json_values(column: pa.ChunkedArray) -> Iterable[Any]:
    values: list[Any] = column.to_pylist()
    kind = column.type
    if pa.types.is_floating(kind):
        return [_finite(value) for value in values]
    if pa.types.is_timestamp(kind):
        return [None if value is None else time_text(value) for value in values]
    if pa.types.is_date(kind):
        return [None if value is None else value.isoformat() for value in values]
    if pa.types.is_list(kind):
        return [None if items is None else [_finite(item) for item in items] for items in values]
    if pa.types.is_integer(kind) and any(value is not None and abs(value) > LARGEST_EXACT for value in values):
        return [None if value is None else str(value) for value in values]
    return values


def time_text(moment: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
