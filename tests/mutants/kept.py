"""What became of each change, kept line by line: a run that is stopped loses only the change it was at."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.changes import Change

Mutants = Sequence[tuple[Path, Change]]


class Kept:
    """The changes that the last run tried; a new one forgets them unless it goes on where that stopped."""

    def __init__(self, folder: Path, *, is_resumed: bool) -> None:
        self._path = folder / "tried.jsonl"
        self.notes = folder / "seen.pickle"
        folder.mkdir(exist_ok=True)
        for path in () if is_resumed else (self._path, self.notes):
            path.unlink(missing_ok=True)
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self._noticed = {entry["change"] for entry in map(json.loads, lines) if entry["noticed"]}

    def split(self, mutants: Mutants) -> tuple[list[tuple[Path, Change]], list[tuple[Path, Change]]]:
        """Those already noticed, and those to try: what went unnoticed is tried again, with the tests of today."""
        known = [_mark(file, change) in self._noticed for file, change in mutants]
        return (
            [mutant for mutant, is_known in zip(mutants, known, strict=True) if is_known],
            [mutant for mutant, is_known in zip(mutants, known, strict=True) if not is_known],
        )

    def keep(self, file: Path, change: Change, *, noticed: bool) -> None:
        """Note what became of a change."""
        entry = {"change": _mark(file, change), "noticed": noticed, "file": file.name, "line": change.line}
        with self._path.open("a") as lines:
            lines.write(f"{json.dumps(entry)}\n")


def _mark(file: Path, change: Change) -> str:
    """A change by its text: the file itself may have been edited since."""
    return hashlib.sha256(f"{file.name}\n{change.text}".encode()).hexdigest()
