"""A dashboard in a process of its own, as `streamlit run app.py` starts it."""

import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import SystemRandom
from types import ModuleType

from kbdash.web import engines

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 180  # many times what a quiet machine takes
REOPEN_SECONDS = 2.0  # who tries again waits no longer; tests/unit/test_engines.py is about the interval
# Below those that the system gives to whoever connects, so that a port stays free until it is used.
PORTS = range(20_000, 32_000)


class Dashboard(ForkServerProcess):
    """A process forked from one that has imported everything; it does what `python -m` does with these words.

    It is asked like a process of subprocess.
    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], log: Path) -> None:
        multiprocessing.set_forkserver_preload(["tests.e2e.imported"])
        super().__init__(target=run_module, args=(list(words), dict(environ), log))
        # A new process runs the main module of this one, which is a page after Streamlit has run it here.
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            self.start()
        finally:
            sys.modules["__main__"] = main

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        return self.exitcode

    def wait(self, timeout: float) -> None:
        """Wait for its end, at most this many seconds."""
        self.join(timeout)
        if self.exitcode is None:
            raise TimeoutError(f"still running after {timeout} s")


Process = subprocess.Popen[bytes] | Dashboard


def run_module(words: list[str], environ: dict[str, str], log: Path) -> None:
    """Become `python -m` with these words: in the project's folder, with these variables alone, writing to this log."""
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environ)
    engines.REOPEN_SECONDS = REOPEN_SECONDS
    with log.open("a") as output:
        for descriptor in (1, 2):
            os.dup2(output.fileno(), descriptor)
    sys.argv[:] = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


@contextmanager
def started(
    log: Path, environ: Mapping[str, str], port: int | None = None, *, prefix: Sequence[str] = (), public: bool = False
) -> Iterator[tuple[str, Process]]:
    """Base address and process of a dashboard with these variables; stopped at the end.

    `public` starts it as the container does; `prefix` are words before the command, such as those of prlimit.
    """
    port = port or free_port()
    words = ["streamlit", "run", "app.py", f"--server.port={port}"]
    words += ["--server.address=127.0.0.1", "--server.headless=true", "--server.fileWatcherType=none"]
    if public:
        words = ["kbdash.web.server", "--port", str(port)]
    variables = inherited() | dict(environ)
    process: Process
    with log.open("w") as output:
        if prefix:
            command = [*prefix, sys.executable, "-m", *words]
            process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=output)
        else:
            process = Dashboard(words, variables, log)
    try:
        await_health(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def served(log: Path, environ: Mapping[str, str], port: int | None = None) -> Iterator[str]:
    """Base address of a dashboard with these variables; stopped at the end."""
    with started(log, environ, port) as (base, _):
        yield base


def inherited() -> dict[str, str]:
    """The environment of the tests without what would change a dashboard, and nothing is built beside them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KBDASH_", "HF_", "SPACE_"))}
    return kept | {"KBDASH_CONTENT_BUILD": "off"}


def await_health(base: str, process: Process, log: Path) -> None:
    """Return once the server says it is well; raise when it ended or never does."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The dashboard did not start:\n{log.read_text()}")


def free_port() -> int:
    """A port nobody listens on now, and that nobody is given by chance."""
    for port in SystemRandom().sample(PORTS, 100):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"no port of {PORTS} is free")
