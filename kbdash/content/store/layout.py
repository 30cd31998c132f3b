"""What a content store is made of: a folder per data file, parquet tables, and a manifest that says what they fit.

- lines, one row per distinct line in order of first use: line_id; line (bytes without the newline); same (lowest id of
  a line that differs only in outer space).
- texts, one row per distinct text by (problem, user, time) of its first submission: text_id; sha256; bytes; lines;
  first and count (its runs); program (equal for texts that differ only in comments, blank lines and trailing space);
  telling (how many distinct lines of it are not trivial); weight (the sum of their rarity); code_lines (lines that do
  something); kernels (lines that begin one); num_warps and num_stages (the largest given in Triton; 0: none).
- runs, one row per stretch of consecutive lines of a text: line_id; length.
- rows, one row per row of the data file: file_row; submission_id; runner; text_id (null: no text).
- line_use, one row per stretch of consecutive texts that hold a line, by line: line_id; text_id; length.
- origins, one row per distinct line: line_id; first_submission_id; first_user_id; first_at; users; submissions.
- families, one row per distinct text: text_id; family (lowest text of it); similarity to that text.
- facets, one row per text and technique: text_id; facet.
- verdicts, one row per text that KernelGuard was asked about and rule that matches, or one without a rule: text_id;
  version (of KernelGuard); status; rule; severity; evidence; lines (from 1).

A text is its lines joined by newlines.
"""

import json
import re
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import pyarrow as pa

from kbdash.dataset.model import DataFile

FORMAT = 2
"""To be raised where the same columns mean something else."""
RULES = {"trivial": "1", "program": "1", "families": "1", "sizes": "1"}
"""Versions of the rules behind derived columns: a store made by other rules is built again.

Techniques have a version of their own, because their table is made anew from the lines of a store.
"""
MANIFEST = "manifest.json"
PAGES = "pages"
"""The folder of a store with the page directory of its data file."""
NO_TEXT = -1
"""The number that stands for the text of a row without one."""
TABLES = ("lines", "texts", "runs", "rows", "line_use", "origins", "families")

SCHEMAS = {
    "lines": pa.schema([("line_id", pa.int32()), ("line", pa.large_binary()), ("same", pa.int32())]),
    "texts": pa.schema(
        [
            ("text_id", pa.int32()),
            ("sha256", pa.binary(32)),
            ("bytes", pa.int64()),
            ("lines", pa.int32()),
            ("first", pa.int64()),
            ("count", pa.int32()),
            ("program", pa.int64()),
            ("telling", pa.int32()),
            ("weight", pa.float64()),
            ("code_lines", pa.int32()),
            ("kernels", pa.int32()),
            ("num_warps", pa.int32()),
            ("num_stages", pa.int32()),
        ]
    ),
    "runs": pa.schema([("line_id", pa.int32()), ("length", pa.int32())]),
    "rows": pa.schema(
        [("file_row", pa.int64()), ("submission_id", pa.int64()), ("runner", pa.string()), ("text_id", pa.int32())]
    ),
    "line_use": pa.schema([("line_id", pa.int32()), ("text_id", pa.int32()), ("length", pa.int32())]),
    "origins": pa.schema(
        [
            ("line_id", pa.int32()),
            ("first_submission_id", pa.int64()),
            ("first_user_id", pa.string()),
            ("first_at", pa.timestamp("us", "UTC")),
            ("users", pa.int32()),
            ("submissions", pa.int32()),
        ]
    ),
    "families": pa.schema([("text_id", pa.int32()), ("family", pa.int32()), ("similarity", pa.float64())]),
    "verdicts": pa.schema(
        [
            ("text_id", pa.int32()),
            ("version", pa.string()),
            ("status", pa.string()),
            ("rule", pa.string()),
            ("severity", pa.string()),
            ("evidence", pa.string()),
            ("lines", pa.list_(pa.int32())),
        ]
    ),
}


def schemas_key() -> str:
    """A value that changes whenever a table gets another column, or one of another type."""
    columns = {name: [(column.name, str(column.type)) for column in SCHEMAS[name]] for name in TABLES}
    return sha256(json.dumps(columns).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Manifest:
    """What a store was made from, by which rules and schemas, and how large it is."""

    file: str
    version: str
    file_bytes: int
    competition: str
    rows: int
    texts: int
    lines: int
    text_bytes: int
    users: int
    rules: dict[str, str]
    origin: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT
    schemas: str = field(default_factory=schemas_key)

    def fits(self, file: DataFile) -> bool:
        """Whether the store holds exactly the texts of this file, and its tables are what is written today."""
        of_file = (self.file, self.version) == (file.name, file.version)
        as_today = (self.format, self.schemas) == (FORMAT, schemas_key()) and self.rules.items() >= RULES.items()
        return of_file and as_today

    def write(self, folder: Path) -> None:
        """Write the manifest, the last file of a store."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Manifest | None":
        """The manifest of a folder; None where there is none that this version understands."""
        facts = _facts(folder)
        kinds = {name: get_origin(kind) or kind for name, kind in get_type_hints(cls).items()}
        if not all(isinstance(facts.get(name), kind) for name, kind in kinds.items()) or facts["format"] != FORMAT:
            return None
        return cls(**{name: facts[name] for name in cls.__dataclass_fields__})


def _facts(folder: Path) -> dict[str, Any]:
    """The manifest of a folder as it is written; empty without one."""
    try:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def folder_name(file: DataFile) -> str:
    """The folder of a file's store: the name of the file, then a key of its version, the format, columns and rules."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", file.name.removesuffix(".parquet"))
    key = json.dumps([file.name, file.version, FORMAT, schemas_key(), RULES], sort_keys=True)
    return f"{stem}-{sha256(key.encode()).hexdigest()[:16]}"


def stores_of(root: Path, file: DataFile) -> list[Path]:
    """The folders of all stores of a file, of whichever version and made by whichever rules."""
    folders = [path.parent for path in root.glob(f"*/{MANIFEST}")]
    return [folder for folder in folders if _facts(folder).get("file") == file.name]


def why_unused(root: Path, file: DataFile) -> str:
    """Why the stores of a file that are under this folder are not used; "" if there are none."""
    others = stores_of(root, file)
    if any(_facts(folder).get("version") == file.version for folder in others):
        return f"The store of {file.name} that is here is not used: it was made by other rules, or has other columns."
    return f"The store of another version of {file.name} is not used." if others else ""


def table_path(folder: Path, table: str) -> Path:
    """Where a table of a store is."""
    return folder / f"{table}.parquet"


def has_tables(folder: Path) -> bool:
    """Whether every table of a store is there."""
    return all(table_path(folder, table).exists() for table in TABLES)
