"""Readers' SQL, each statement in a fresh process: killed at the deadline, bounded in memory, rows and bytes."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kbdash.database.console.content import content_views
from kbdash.deadline import deadline_within
from kbdash.errors import KbdashError, QueryRefused, QueryTimeout

MOST_ROWS = 1_000_000
MOST_BYTES = 256 << 20
ADDRESS_SPACE = 1536 << 20
"""Python, DuckDB and Arrow take 400 MB of address space before the first row."""
AT_ONCE = 2
_WORKER = Path(__file__).with_name("worker.py")
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "MALLOC_ARENA_MAX": "2"}
_OUT_OF_TIME = (signal.SIGXCPU, signal.SIGKILL)


@dataclass(frozen=True)
class Answer:
    """The rows of a statement; `truncated` says that there were more than asked for."""

    table: pa.Table
    truncated: bool


@dataclass(frozen=True)
class Bounds:
    """What one statement may take: rows and bytes of its answer, and seconds (None: those of every question)."""

    rows: int = MOST_ROWS
    size: int = MOST_BYTES
    seconds: float | None = None


class Console:
    """Runs statements, a few at once. One idle process is kept ready, because starting one takes half a second."""

    def __init__(self, seconds: float, memory_limit: str) -> None:
        self._seconds = seconds
        self._memory_limit = memory_limit
        self._slots = threading.Semaphore(AT_ONCE)
        self._ready: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def ask(
        self, statement: str, snapshot: Path, bounds: Bounds | None = None, stores: Mapping[str, Path] | None = None
    ) -> Answer:
        """The answer of one SELECT that the guard has accepted, cut to `bounds`, by the deadline of the question.

        Of files it can read only `stores`.
        """
        bounds = bounds or Bounds()
        deadline = deadline_within(min(bounds.seconds or self._seconds, self._seconds))
        if not self._slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise QueryTimeout("Other statements kept the SQL console busy.", advice="Try again in a moment.")
        try:
            return self._run(statement, snapshot, stores or {}, bounds, max(0.0, deadline - time.monotonic()))
        finally:
            self._slots.release()

    def close(self) -> None:
        """End the idle process."""
        with self._lock:
            self._closed = True
            worker, self._ready = self._ready, None
        if worker:
            _end(worker)

    def _run(
        self, statement: str, snapshot: Path, stores: Mapping[str, Path], bounds: Bounds, seconds: float
    ) -> Answer:
        request = {
            "statement": statement,
            "snapshot": str(snapshot),
            "folders": [str(folder) for folder in stores.values()],
            "views": content_views(stores),
            "rows": min(max(bounds.rows, 1), MOST_ROWS),
            "bytes": min(bounds.size, MOST_BYTES),
            "memory_limit": self._memory_limit,
            "address_space": ADDRESS_SPACE,
            "cpu_seconds": int(seconds) + 2,
        }
        worker = self._worker()
        try:
            out, ending = worker.communicate(json.dumps(request).encode() + b"\n", timeout=seconds)
        except subprocess.TimeoutExpired:
            raise _too_long() from None
        finally:
            _end(worker)
        return _answer(worker.returncode, out, ending)

    def _worker(self) -> subprocess.Popen[bytes]:
        """The idle process, or a new one; also starts the next."""
        with self._lock:
            worker, self._ready = self._ready, None
        if worker is None or worker.poll() is not None:
            worker = _start()
        threading.Thread(target=self._prepare, daemon=True, name="kbdash-console").start()
        return worker

    def _prepare(self) -> None:
        with self._lock:
            if not self._closed and self._ready is None:
                self._ready = _start()


def _start() -> subprocess.Popen[bytes]:
    """A worker that waits for its request; it does not inherit the environment (tokens), the folder or open files."""
    return subprocess.Popen(  # noqa: S603  (our own script, no reader's input)
        [sys.executable, "-I", str(_WORKER)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=_ENVIRONMENT, cwd="/", start_new_session=True,
    )  # fmt: skip


def _end(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        worker.kill()
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        if pipe:
            with suppress(OSError):
                pipe.close()
    worker.wait()


def _answer(code: int, out: bytes, ending: bytes) -> Answer:
    """The table that a worker wrote; raises if it failed."""
    told = _ending(ending)
    if "error" in told:
        raise _explained(str(told["error"]), str(told["message"]))
    if code or "truncated" not in told:
        raise _too_long() if -code in _OUT_OF_TIME else _too_much()
    return Answer(pa.ipc.open_stream(pa.py_buffer(out)).read_all(), bool(told["truncated"]))


def _ending(text: bytes) -> Mapping[str, object]:
    lines = text.decode(errors="replace").strip().splitlines()
    with suppress(ValueError):
        told = json.loads(lines[-1] if lines else "null")
        if isinstance(told, dict):
            return told
    return {}


def _explained(kind: str, message: str) -> KbdashError:
    """The reader's message for an error of DuckDB or Arrow, given by its class name."""
    first_line = message.strip().splitlines()[0] if message.strip() else kind
    match kind:
        case _ if kind == "OutOfMemoryException" or message.startswith("Out of Memory Error"):
            return _too_much()
        case "InterruptException":
            return _too_long()
        case "PermissionException":
            return QueryRefused(first_line, advice="Only the rows of this dataset can be read.")
        case "ParserException" | "BinderException" | "CatalogException":
            return QueryRefused(message, advice="Correct the statement and run it again.")
        case _ if kind.startswith("Arrow"):
            return QueryRefused(f"The answer is not a table: {message}", advice="Cast that column to text.")
    return QueryRefused(first_line, advice="Change the statement and run it again.")


def _too_long() -> QueryTimeout:
    return QueryTimeout("The question took too long and was stopped.", advice="Narrow it down.")


def _too_much() -> QueryTimeout:
    return QueryTimeout("The question needs more memory than allowed.", advice="Narrow it down.")
