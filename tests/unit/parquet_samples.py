"""Parquet files made in memory, in every layout a writer may choose, and byte sources over them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.code.parquet import ByteSource, Cell, CellReader, PageDirectories
from kbdash.errors import DataUnavailable

CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
TEXT_ENCODINGS = ("DICTIONARY", "PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")
NUMBER_ENCODINGS = ("DICTIONARY", "PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
Value = str | bytes | int | None


@dataclass(frozen=True)
class Layout:
    """How a writer lays a column out."""

    codec: str = "snappy"
    version: str = "1.0"
    encoding: str = "PLAIN"
    optional: bool = True
    index: bool = False
    checksum: bool = False
    statistics: bool = True
    group_rows: int = 1000
    batch_rows: int = 1024
    page_bytes: int = 1 << 20
    dictionary_bytes: int = 1 << 20

    def write(self, values: Sequence[Value], kind: pa.DataType, column: str = "code") -> bytes:
        """A file with a column of row numbers and, behind it, the column of these values."""
        fields = [pa.field("row", pa.int64()), pa.field(column, kind, nullable=self.optional)]
        numbers = pa.array(range(len(values)), pa.int64())
        table = pa.table([numbers, pa.array(values, kind)], schema=pa.schema(fields))
        by_dictionary = self.encoding == "DICTIONARY"
        sink = io.BytesIO()
        pq.write_table(
            table,
            sink,
            compression=self.codec,
            data_page_version=self.version,
            use_dictionary=[column] if by_dictionary else False,
            column_encoding=None if by_dictionary else {column: self.encoding},
            write_page_index=self.index,
            write_page_checksum=self.checksum,
            write_statistics=self.statistics,
            row_group_size=self.group_rows,
            write_batch_size=self.batch_rows,
            data_page_size=self.page_bytes,
            dictionary_pagesize_limit=self.dictionary_bytes,
        )
        return sink.getvalue()


class MemoryBytes(ByteSource):
    """A file in memory; `fail_after` requests it is out of reach."""

    def __init__(self, data: bytes, *, version: str = "1", fail_after: int | None = None) -> None:
        super().__init__("sample.parquet", len(data), version)
        self.data = data
        self.fail_after = fail_after
        self.ranges: list[tuple[int, int]] = []

    def _fetch(self, offset: int, length: int) -> bytes:
        if self.fail_after is not None and self.requests >= self.fail_after:
            raise DataUnavailable("sample.parquet is out of reach.", advice="Wait.")
        self._count(requests=1, received=length)
        self.ranges.append((offset, length))
        return self.data[offset : offset + length]


def fresh_reader(**options: Any) -> CellReader:
    """A reader that knows nothing yet and keeps nothing on disk."""
    return CellReader(PageDirectories(), **options)


def read_cells(reader: CellReader, source: ByteSource, column: str, rows: Sequence[int]) -> list[Cell]:
    """The cells of several rows, in the order asked for."""
    return [reader.read(source, column, row) for row in rows]


def raw(value: Value) -> bytes | int | None:
    """A value as a cell read gives it: texts as bytes."""
    return value.encode() if isinstance(value, str) else value


def expected_cells(data: bytes, column: str = "code") -> list[bytes | int | None]:
    """The column as pyarrow itself reads it."""
    return [raw(value) for value in pq.read_table(io.BytesIO(data)).column(column).to_pylist()]


def duckdb_file(path: str, query: str, options: str) -> None:
    """A file written by DuckDB."""
    duckdb.connect().execute(f"copy ({query}) to '{path}' (format parquet, {options})")


def numbered_texts(count: int, size: Callable[[int], int] = lambda row: 30 + row % 7) -> list[str]:
    """Texts of which none is part of another, each with its row number."""
    return [f"<row {row:05d}>" + chr(97 + row % 26) * size(row) for row in range(count)]
