"""Verdicts that are kept in the folder of a store, by sha256 of the text and version of KernelGuard.

They are lines of JSON, to which one is added without writing the others again; `table` makes the table of them.
"""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from kbdash.content.verdicts.examiner import Verdict

FILE = "verdicts.jsonl"


class KeptVerdicts:
    """Verdicts of one store, as JSON lines that are only appended; an incomplete last line is ignored."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], Verdict] = {}
        for line in self._path.read_bytes().split(b"\n") if self._path.exists() else ():
            try:
                kept = json.loads(line)
                self._known[kept.pop("sha256"), kept["version"]] = kept
            except (ValueError, KeyError, TypeError, AttributeError):
                continue

    def __iter__(self) -> Iterator[tuple[bytes, Verdict]]:
        """All that are known, each with the sha256 of its text."""
        return iter([(bytes.fromhex(digest), verdict) for (digest, _), verdict in self._known.items()])

    def get(self, digest: bytes, version: str) -> Verdict | None:
        """The verdict about the text with this sha256, if it is known."""
        return self._known.get((digest.hex(), version))

    def keep(self, digest: bytes, verdict: Verdict) -> None:
        """Keep a verdict; only in memory if the store is read-only."""
        with self._lock:
            self._known[digest.hex(), verdict["version"]] = verdict
            line = json.dumps({"sha256": digest.hex()} | verdict)
            try:
                torn = _torn(self._path)
                with self._path.open("ab") as file:
                    file.write((b"\n" if torn else b"") + line.encode() + b"\n")
            except OSError:
                return


def verdict_bytes(folder: Path) -> int:
    """Size of a store's verdicts, in bytes."""
    path = folder / FILE
    return path.stat().st_size if path.exists() else 0


def _torn(path: Path) -> bool:
    """Whether a file ends with an incomplete line."""
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"
