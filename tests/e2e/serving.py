"""A dashboard in a process of its own, as `streamlit run app.py` starts it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 180  # many times what a quiet machine takes
# Below those that the system gives to whoever connects, so that a port stays free until it is used.
PORTS = range(20_000, 32_000)


@contextmanager
def started(
    log: Path, environ: Mapping[str, str], port: int | None = None, *, prefix: Sequence[str] = (), public: bool = False
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Base address and process of a dashboard with these variables; stopped at the end.

    `public` starts it as the container does; `prefix` are words before the command, such as those of prlimit.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    command += ["--server.address=127.0.0.1", "--server.headless=true", "--server.fileWatcherType=none"]
    if public:
        command = [sys.executable, "-m", "kbdash.web.server", "--port", str(port)]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*prefix, *command], cwd=ROOT, env=inherited() | dict(environ), stdout=output, stderr=output
        )
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


def await_health(base: str, process: subprocess.Popen[bytes], log: Path) -> None:
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
