"""The real server in a process of its own: `streamlit run app.py`, with its memory, processor time and log.

With several workers it is `make serve`: they stand behind HAProxy, and memory and time are those of the launcher alone.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.serving import await_health, free_port

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    pid: int
    log: Path

    def memory_mb(self) -> float:
        """Resident memory now, MB."""
        return self._status("VmRSS") / 1e3

    def peak_mb(self) -> float:
        """The most resident memory so far, MB."""
        return self._status("VmHWM") / 1e3

    def private_mb(self) -> float:
        """The part of the resident memory now that is no file's, MB: the system cannot take it back."""
        return self._status("RssAnon") / 1e3

    def cpu_seconds(self) -> float:
        """Processor time used so far, by all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tracebacks(self) -> int:
        """How many errors it has logged."""
        return self.log.read_text(encoding="utf-8", errors="replace").count("Traceback (most recent call last)")

    def _status(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


@contextmanager
def serving(source: str | Path, workers: int = 1, **environment: str) -> Iterator[Server]:
    """A server over this source with an empty cache folder, ready for readers; it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="kbdash-bench-") as home:
        port, log = free_port(), Path(home) / "server.log"
        settings = {"KBDASH_SOURCE": str(source), "KBDASH_CACHE": str(Path(home) / "cache")}
        settings |= {"KBDASH_RUNS_PER_SECOND": "100000"} | environment  # one tab stands for somebody without think time
        with log.open("wb") as written, _started(_command(port, workers), settings, written.fileno()) as process:
            try:
                await_health(f"http://127.0.0.1:{port}", process, log)
                server = Server(port, process.pid, log)
                yield server
                if server.tracebacks():  # the only trace of what happened: the folder goes with the block
                    sys.stderr.write(log.read_text(encoding="utf-8", errors="replace"))
            finally:
                process.terminate()
                process.wait()


def _command(port: int, workers: int) -> list[str]:
    if workers > 1:
        return [sys.executable, "-m", "kbdash.web.server", f"--port={port}", f"--workers={workers}"]
    return [
        sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", f"--server.port={port}",
        "--server.address=127.0.0.1", "--server.fileWatcherType=none",
    ]  # fmt: skip


def _started(command: list[str], settings: Mapping[str, str], log: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | settings, stdout=log, stderr=subprocess.STDOUT)
