"""The table of a store's verdicts, made of those that are kept."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kbdash.content.store.finished import Store
from kbdash.content.store.layout import SCHEMAS, table_path
from kbdash.content.verdicts.examiner import Verdict
from kbdash.content.verdicts.kept import FILE, KeptVerdicts

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
    """Write the table again if it cannot be read or has other columns than one that is written today."""
    path = table_path(store.folder, TABLE)
    try:
        as_today = not path.exists() or pq.read_schema(path).equals(SCHEMAS[TABLE])
    except (OSError, pa.ArrowException):
        as_today = False
    if not as_today:
        write_verdicts(store)


def inherit_verdicts(store: Store, others: Iterable[Path]) -> None:
    """Begin a new store with the verdicts of the latest other one of its file: they are about texts, not versions."""
    known = [other / FILE for other in others if other != store.folder and (other / FILE).exists()]
    if known and not (store.folder / FILE).exists():
        with suppress(OSError):
            shutil.copyfile(max(known, key=lambda path: path.stat().st_mtime), store.folder / FILE)
            write_verdicts(store)


def _rows(text: int, verdict: Verdict) -> list[dict[str, Any]]:
    """A row for each rule that matches, or one without a rule."""
    shared = {"text_id": text, "version": verdict["version"], "status": verdict["status"]}
    return [{**shared, **rule} for rule in verdict["rules"]] or [shared]
