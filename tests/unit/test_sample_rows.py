"""The sample stays as it is: links, pictures and examples name its rows.

After a change of the generator that is meant: python -m tests.unit.test_sample_rows
"""

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq

from kbdash.dataset.sample import write_sample

KEPT = Path(__file__).with_suffix(".json")


def digests(folder: Path) -> dict[str, dict[str, str]]:
    """Of each column of each file; numbers to six digits, because the last ones differ between machines."""
    return {path.name: {name: digest(values) for name, values in pq.read_table(path).to_pydict().items()}
            for path in sorted(folder.glob("*.parquet"))}  # fmt: skip


def digest(values: list[Any]) -> str:
    told = hashlib.md5(usedforsecurity=False)
    for value in values:
        told.update(f"{plain(value)}\n".encode(errors="replace"))
    return told.hexdigest()[:8]


def plain(value: Any) -> object:
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return f"{value:.6g}" if isinstance(value, float) else value


def test_every_column_of_the_sample_is_the_one_that_was_kept(sample_folder: Path) -> None:
    told, kept = digests(sample_folder), json.loads(KEPT.read_text())
    assert {file: list(columns) for file, columns in told.items()} == {file: list(kept[file]) for file in kept}
    changed = [(file, name) for file, columns in told.items() for name in columns if columns[name] != kept[file][name]]
    assert changed == []


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        write_sample(Path(folder))
        KEPT.write_text(json.dumps(digests(Path(folder)), indent=1) + "\n")
