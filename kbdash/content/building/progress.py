"""Progress of a build: a small state file that anyone may read, and a lock that is freed when its process dies."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from kbdash.errors import KbdashError

Phase = Literal["reading", "numbering", "done", "stopped", "failed"]
_EVERY_S = 0.5


class ContentBusy(KbdashError):
    """Another process builds the same store."""

    exit_code = 3


class ContentStopped(KbdashError):
    """The build was asked to stop; what is done is kept."""

    exit_code = 130  # as shells report an interrupted command


@dataclass(frozen=True)
class Progress:
    """State of a build; `bytes_done` of `bytes` are read, `error` says what stopped it."""

    phase: Phase = "reading"
    bytes: int = 0
    bytes_done: int = 0
    rows_done: int = 0
    texts: int = 0
    started_at: float = 0.0
    bytes_before: int = 0
    error: str = ""

    @property
    def share(self) -> float:
        """Share of the bytes that are read, 0 to 1."""
        return self.bytes_done / self.bytes if self.bytes else 0.0

    def rate(self, now: float) -> float:
        """Bytes per second since this process resumed."""
        return (self.bytes_done - self.bytes_before) / max(now - self.started_at, 1e-3)

    def seconds_left(self, now: float) -> float | None:
        """Seconds until all is read, at the rate so far."""
        rate = self.rate(now)
        return (self.bytes - self.bytes_done) / rate if rate > 0 and self.phase == "reading" else None


class WorkFolder:
    """The working folder of a build: its parts, lock, state, and stop request."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.finished = root / name
        self.parts = root / ".work" / name
        self._lock = root / ".work" / f"{name}.lock"
        self._state = root / ".work" / f"{name}.json"
        self._stop = root / ".work" / f"{name}.stop"
        self._written_at = 0.0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock; ContentBusy when another process does. The system frees it when the process ends."""
        self.parts.mkdir(parents=True, exist_ok=True)
        with self._lock.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ContentBusy(
                    "This store is being built by another process.",
                    advice="Wait for it; `python -m kbdash.content status` shows how far it is.",
                ) from None
            self._stop.unlink(missing_ok=True)
            yield

    def busy(self) -> bool:
        """Whether a process builds this store now."""
        try:
            with self._lock.open("r") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def note(self, progress: Progress, *, now: bool = False) -> None:
        """Write the state, at most twice a second unless it is urgent."""
        if not now and time.monotonic() - self._written_at < _EVERY_S:
            return
        self._written_at = time.monotonic()
        draft = self._state.with_suffix(f".{os.getpid()}.tmp")
        # A full disk must not hide the error that is being reported.
        with suppress(OSError):
            draft.write_text(json.dumps(asdict(progress)), encoding="utf-8")
            draft.replace(self._state)

    def progress(self) -> Progress | None:
        """The state as last written; a build whose process is gone counts as stopped."""
        try:
            facts = json.loads(self._state.read_text(encoding="utf-8"))
            progress = Progress(**facts)
        except (OSError, ValueError, TypeError):
            return None
        if progress.phase in ("reading", "numbering") and not self.busy():
            return replace(progress, phase="stopped")
        return progress

    def latest_run(self) -> tuple[int, float]:
        """Bytes that the latest run of the build has read, and the seconds it took; (0, 0.0) before the first run."""
        progress = self.progress()
        if progress is None or not progress.started_at:
            return 0, 0.0
        with suppress(OSError):
            return progress.bytes_done - progress.bytes_before, self._state.stat().st_mtime - progress.started_at
        return 0, 0.0

    def ask_to_stop(self) -> None:
        """Ask the building process to stop at its next check."""
        if self.busy():
            self._stop.touch()

    def asked_to_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.exists()
