"""Small data files in memory or on disk, and stores built from them without a database."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.code.parquet import ByteSource
from kbdash.content.building.build import Build, Job
from kbdash.content.search.lines import Place
from kbdash.content.search.scan import LineScanner
from kbdash.content.store.finished import Store, find_store
from kbdash.content.store.layout import TABLES, Manifest
from kbdash.content.store.text_rows import TextRows
from kbdash.content.techniques.table import TABLE as FACETS
from kbdash.dataset.model import DataFile

START_US = 1_760_000_000_000_000
DAY_US = 86_400_000_000


@dataclass(frozen=True)
class Sent:
    """One row of a data file."""

    id: int
    code: bytes | None
    user: str = "ann"
    problem: str = "gemm"
    runner: str | None = "B200"
    at: int = 0
    passed: bool | None = True
    score: float | None = 1.0

    @property
    def ranked(self) -> bool:
        return bool(self.passed) and self.score is not None and self.runner is not None


class MemoryFile(ByteSource):
    """A file in memory."""

    def __init__(self, data: bytes, version: str) -> None:
        super().__init__("made.parquet", len(data), version)
        self.data = data

    def _fetch(self, offset: int, length: int) -> bytes:
        self._count(requests=1, received=length)
        return self.data[offset : offset + length]


@dataclass(frozen=True)
class Made:
    """A data file made of rows, and how it is laid out."""

    rows: Sequence[Sent]
    layout: dict[str, Any] = field(default_factory=dict)
    kind: pa.DataType = field(default_factory=pa.large_binary)

    def data(self) -> bytes:
        table = pa.table(
            {
                "submission_id": pa.array([row.id for row in self.rows], pa.int64()),
                "code": pa.array([row.code for row in self.rows], self.kind),
            }
        )
        sink = io.BytesIO()
        pq.write_table(table, sink, **({"row_group_size": 1000} | self.layout))
        return sink.getvalue()

    def ask(self, competition: str) -> pd.DataFrame:
        """What the database would answer: the canonical rows."""
        assert competition == "made"
        frame = pd.DataFrame(
            {
                "file_row": range(len(self.rows)),
                "submission_id": [row.id for row in self.rows],
                "problem": [row.problem for row in self.rows],
                "user_id": [row.user for row in self.rows],
                "user_name": [row.user.title() for row in self.rows],
                "runner": pd.array([row.runner for row in self.rows], "str"),
                "at": [START_US + row.at * DAY_US for row in self.rows],
                "passed": pd.array([row.passed for row in self.rows], "boolean"),
                "score": pd.array([row.score for row in self.rows], "float64"),
                "ranked": [row.ranked for row in self.rows],
            }
        )
        frame["submitted_at"] = [datetime.fromtimestamp(at / 1e6, UTC) for at in frame["at"]]
        return frame

    def order(self, root: Path, *, part_bytes: int = 1 << 20) -> Job:
        data = self.data()
        version = hashlib.sha256(data).hexdigest()
        file = DataFile("made.parquet", "memory", len(data), version)
        return Job("made", file, MemoryFile(data, version), self.ask, root, {}, part_bytes)

    def store(self, root: Path, *, part_bytes: int = 1 << 20) -> Store:
        order = self.order(root, part_bytes=part_bytes)
        Build(order).run()
        found = find_store(root, order.file)
        assert found is not None
        return found

    def place(self, root: Path) -> Place:
        store = self.store(root)
        held = TextRows(self.ask("made"), store.text_of_row, store.manifest.texts)
        return Place("made", store, LineScanner(*store.line_bytes), store.same, held, True)


def tables_of(folder: Path) -> dict[str, object]:
    """All a store says, apart from which file it says it of."""
    tables: dict[str, object] = {name: pq.read_table(folder / f"{name}.parquet") for name in (*TABLES, FACETS)}
    manifest = Manifest.read(folder)
    assert manifest is not None
    return tables | {"manifest": replace(manifest, version="", file_bytes=0)}


def codes_of(path: Path) -> list[bytes | None]:
    """The column of source texts as pyarrow reads it."""
    column = pq.read_table(path, columns=["code"]).column(0).to_pylist()
    return [text.encode() if isinstance(text, str) else text for text in column]
