"""Several processes behind HAProxy: started together, restarted when one dies, stopped together."""

import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kbdash.web import program_folder
from kbdash.web.program_folder import PROGRAM
from kbdash.web.server import proxy

_log = logging.getLogger("kbdash.launcher")
START_SECONDS = 60.0
STOP_SECONDS = 12.0
AGAIN_SECONDS = 2.0
"""Backoff in seconds: a process that dies at once is not restarted sooner."""


@dataclass
class Process:
    """A supervised process; `start` starts or restarts it."""

    name: str
    command: list[str]
    environ: dict[str, str]
    running: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0

    def start(self) -> None:
        """Start it in its own process group: Ctrl+C reaches only the launcher, which then stops all in order."""
        self.started_at = time.monotonic()
        self.running = subprocess.Popen(  # noqa: S603  (only our own arguments)
            self.command, cwd=PROGRAM, env=os.environ | self.environ, start_new_session=True
        )
        _log.info("%s runs as process %d", self.name, self.running.pid)

    def restart_if_ended(self) -> None:
        """Restart it if it has ended."""
        ended = self.running is None or self.running.poll() is not None
        if ended and time.monotonic() - self.started_at > AGAIN_SECONDS:
            _log.warning("%s ended; it is started again", self.name)
            self.start()

    def tell(self, number: signal.Signals) -> None:
        """Send a signal, if it still runs."""
        if self.running is not None and self.running.poll() is None:
            self.running.send_signal(number)

    def wait(self, until: float) -> None:
        """Wait for its end until the deadline (monotonic seconds), then kill it."""
        if self.running is not None:
            with suppress(subprocess.TimeoutExpired):
                self.running.wait(max(0.1, until - time.monotonic()))
            self.tell(signal.SIGKILL)
            self.running.wait()


@dataclass
class Fleet:
    """The workers and the proxy in front of them."""

    address: str
    port: int
    workers: list[Process] = field(default_factory=list)
    front: Process | None = None
    stopping: bool = False
    replacing: bool = False

    def run(self, count: int, folder: Path) -> None:
        """Serve with `count` workers until told to stop; SIGHUP replaces them one after another."""
        haproxy = proxy.executable()
        header = os.environ.get("KBDASH_CLIENT_HEADER") or proxy.CLIENT_HEADER
        ports = free_ports(count)
        config = folder / "haproxy.cfg"
        bind, hosts = f"{self.address}:{self.port}", [f"127.0.0.1:{port}" for port in ports]
        config.write_text(proxy.configuration(bind, hosts, header=header))
        self.workers = [
            Process(f"worker {number}", worker_command(port), {"KBDASH_CLIENT_HEADER": header})
            for number, port in enumerate(ports, 1)
        ]
        self.front = Process("haproxy", [haproxy, "-db", "-f", str(config)], {})
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGHUP, self._replace)
        try:
            for worker in self.workers:
                worker.start()
            self._until(lambda: any(map(is_healthy, ports)))
            self.front.start()
            _log.info("http://%s with %d workers", bind, count)
            self._watch(ports)
        finally:
            self._end()

    def _watch(self, ports: list[int]) -> None:
        while not self.stopping:
            time.sleep(0.3)
            for process in (*self.workers, *filter(None, [self.front])):
                if not self.stopping:
                    process.restart_if_ended()
            if self.replacing:
                self.replacing = False
                self._renew(ports)

    def _renew(self, ports: list[int]) -> None:
        """Rolling restart: replace the workers one by one, so that one is always available.

        HAProxy notices a new worker only at its next check. Without waiting for that, the next worker would be stopped
        while HAProxy still believes the new one to be down.
        """
        for number, (worker, port) in enumerate(zip(self.workers, ports, strict=True), 1):
            worker.tell(signal.SIGTERM)
            worker.wait(time.monotonic() + STOP_SECONDS)
            worker.start()
            self._until(partial(is_healthy, port))
            self._until(partial(proxy.leads_to, self.address, self.port, number))

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.stopping and time.monotonic() < deadline and not condition():
            time.sleep(0.2)

    def _end(self) -> None:
        """Graceful shutdown: refuse new readers first, then stop the workers."""
        deadline = time.monotonic() + STOP_SECONDS
        if self.front:
            self.front.tell(signal.SIGUSR1)
        for worker in self.workers:
            worker.tell(signal.SIGTERM)
        for process in (*self.workers, *filter(None, [self.front])):
            process.wait(deadline)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _replace(self, *_: object) -> None:
        self.replacing = True


def serve(address: str, port: int, count: int) -> None:
    """Run `count` workers behind HAProxy until told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    program_folder.enter()
    with tempfile.TemporaryDirectory(prefix="kbdash-") as folder:
        Fleet(address, port).run(count, Path(folder))


def worker_command(port: int) -> list[str]:
    """How a worker is started."""
    return [sys.executable, "-m", "kbdash.web.server", "--address", "127.0.0.1", "--port", str(port)]


def is_healthy(port: int) -> bool:
    """Whether the worker at this port answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def free_ports(count: int) -> list[int]:
    """Distinct free ports."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [taken.getsockname()[1] for taken in sockets]
    for taken in sockets:
        taken.close()
    return ports
