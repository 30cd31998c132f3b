"""Builds in a process of their own, which a test may kill. One process imports what they need and forks them."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from kbdash.content.building.build import Build
from kbdash.content.building.progress import Progress
from kbdash.content.command import _stoppable
from kbdash.errors import KbdashError
from tests.content.files import Made, Sent

PART_BYTES = 8_000
READY = "ready"


def made(rows: int) -> Made:
    """A file of so many rows in many pages: histories of a few users, with copies among them."""
    sent = []
    for row in range(rows):
        user = row % 7
        version = row // 7
        lines = [f"line {n} of user {user if n % 3 else 0} at {max(0, version - n % 11)}" for n in range(40)]
        text = "\n".join(lines).encode() if row % 50 else None
        sent.append(Sent(row, text, user=f"u{user}", problem=f"p{row % 2}", at=version % 300))
    return Made(sent, {"data_page_size": 1, "write_batch_size": 20, "row_group_size": 200, "compression": "snappy"})


@dataclass(frozen=True)
class Worker:
    """A process that builds a store, and what it tells."""

    process: BaseProcess
    told: Connection

    def ended(self, seconds: float) -> bool:
        """Whether it ends within this time."""
        self.process.join(seconds)
        return self.process.exitcode is not None

    def outcome(self, seconds: float) -> str:
        """The name of the error it ended with, and its words; "" if there was none."""
        assert self.told.poll(seconds), "the build did not end"
        words: str = self.told.recv()
        return words


def start(rows: int, root: Path, *, largest_file: int | None = None, until_stopped: bool = False) -> Worker:
    """A worker that has begun. `until_stopped`: it goes on only after a signal to stop."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    told, tell = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(tell, rows, root, largest_file, until_stopped), daemon=True)
    process.start()
    tell.close()
    worker = Worker(process, told)
    assert worker.outcome(100) == READY
    return worker


def _work(tell: Connection, rows: int, root: Path, largest_file: int | None, until_stopped: bool) -> None:
    if largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))

    def noted(_: Progress) -> None:
        while until_stopped and not build.stop.is_set():
            time.sleep(0.01)

    build = Build(made(rows).order(root, part_bytes=PART_BYTES), noted)
    try:
        with _stoppable(build):
            tell.send(READY)
            build.run()
    except KbdashError as error:
        tell.send(f"{type(error).__name__} {error}")
    else:
        tell.send("")
