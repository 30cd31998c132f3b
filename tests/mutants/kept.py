"""What became of each change, kept line by line: a run that is stopped loses only the change it was at."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.changes import Change

Mutants = Sequence[tuple[Path, Change]]


class Kept:
    """The changes that the last run tried; a new one forgets them unless it goes on where that stopped.

    What went unnoticed is forgotten, too, if it is to be tried again with the tests of today.
    """

    def __init__(self, folder: Path, *, is_resumed: bool, is_again: bool = False) -> None:
        self._path = folder / "tried.jsonl"
        self.notes = folder / "seen.pickle"
        folder.mkdir(exist_ok=True)
        for path in () if is_resumed else (self._path, self.notes):
            path.unlink(missing_ok=True)
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        entries = {entry["change"]: entry["noticed"] for entry in map(json.loads, lines)}
        self._noticed = {mark: noticed for mark, noticed in entries.items() if noticed or not is_again}

    def split(self, mutants: Mutants) -> tuple[list[tuple[Path, Change, bool]], list[tuple[Path, Change]]]:
        """Those already tried, with whether they were noticed, and those to try."""
        known = [(file, change, self._noticed.get(_mark(file, change))) for file, change in mutants]
        return (
            [(file, change, noticed) for file, change, noticed in known if noticed is not None],
            [(file, change) for file, change, noticed in known if noticed is None],
        )

    def keep(self, file: Path, change: Change, *, noticed: bool) -> None:
        """Note what became of a change."""
        entry = {"change": _mark(file, change), "noticed": noticed, "file": file.name, "line": change.line}
        with self._path.open("a") as lines:
            lines.write(f"{json.dumps(entry)}\n")


def _mark(file: Path, change: Change) -> str:
    """A change by its text: the file itself may have been edited since."""
    return hashlib.sha256(f"{file.name}\n{change.text}".encode()).hexdigest()
