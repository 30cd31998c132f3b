"""The table of a store's verdicts, made of those that are kept."""

import os
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.content.store.finished import Store
from kbdash.content.store.layout import SCHEMAS, table_path
from kbdash.content.verdicts.examiner import Verdict
from kbdash.content.verdicts.kept import KeptVerdicts

TABLE = "verdicts"


def write_verdicts(store: Store) -> None:
    """Write the table of all verdicts that any process has kept so far, atomically; not into a read-only store."""
    number = {digest: text for text, digest in enumerate(store.texts.column("sha256").to_pylist())}
    rows = [
        row
        for digest, verdict in KeptVerdicts(store.folder)
        if digest in number
        for row in _rows(number[digest], verdict)
    ]
    rows.sort(key=lambda row: (row["text_id"], row["version"]))
    path = table_path(store.folder, TABLE)
    draft = path.with_suffix(f".{os.getpid()}.part")
    with suppress(OSError):
        pq.write_table(pa.Table.from_pylist(rows, SCHEMAS[TABLE]), draft, compression="zstd")
        draft.replace(path)


def renew_verdicts(store: Store) -> None:
    """Write the table again if it has other columns than one that is written today."""
    path = table_path(store.folder, TABLE)
    if path.exists() and not pq.read_schema(path).equals(SCHEMAS[TABLE]):
        write_verdicts(store)


def _rows(text: int, verdict: Verdict) -> list[dict[str, Any]]:
    """A row for each rule that matches, or one without a rule."""
    shared = {"text_id": text, "version": verdict["version"], "status": verdict["status"]}
    return [{**shared, **rule} for rule in verdict["rules"]] or [shared]
