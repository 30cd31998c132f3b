"""How the public server is started, supervised and ended; no process is started here."""

import logging
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from kbdash.errors import KbdashError
from kbdash.web import program_folder
from kbdash.web.server import launcher, memory, proxy, stopping, worker
from kbdash.web.server.launcher import Process


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the command starts, with what."""
    said: list[tuple[Any, ...]] = []
    monkeypatch.setattr(launcher, "serve", lambda *given: said.append(("serve", *given)))
    monkeypatch.setattr(worker, "run", lambda *given: said.append(("run", *given)))
    return said


@pytest.mark.parametrize(
    ("words", "started"),
    [
        ([], ("run", "127.0.0.1", 8501)),
        (["--workers", "1", "--port", "9", "--address", "0.0.0.0"], ("run", "0.0.0.0", 9)),
        (["--workers", "2"], ("serve", "127.0.0.1", 8501, 2)),
    ],
)
def test_one_process_needs_no_launcher(
    words: list[str], started: tuple[Any, ...], asked: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["server", *words])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("kbdash.web.server.__main__", run_name="__main__")
    assert asked == [started]


def test_what_cannot_be_is_told_with_a_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KbdashError("No.", advice="Do.")

    monkeypatch.setattr(worker, "run", fail)
    monkeypatch.setattr(sys, "argv", ["server"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("kbdash.web.server.__main__", run_name="__main__")
    assert capsys.readouterr().err == "No. Do.\n"


def test_a_worker_trusts_no_header_bounds_messages_and_logs_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: given.update(options, app=app))
    monkeypatch.setattr(program_folder, "enter", lambda: None)
    monkeypatch.setattr(os, "environ", {})
    log = logging.getLogger("uvicorn.access")
    monkeypatch.setattr(log, "filters", [])
    worker.run("0.0.0.0", 9)
    assert given["ws_max_size"] == 1_000_000
    assert (given["host"], given["port"], os.environ["STREAMLIT_SERVER_PORT"]) == ("0.0.0.0", 9, "9")
    assert [given[name] for name in ("proxy_headers", "server_header", "access_log")] == [False] * 3
    assert (given["ws_ping_interval"], given["ws_ping_timeout"], given["timeout_graceful_shutdown"]) == (20, 20, 5)
    assert not log.filter(logging.makeLogRecord({}))


class TestProxy:
    """HAProxy: its configuration, and where it is."""

    def test_addresses_that_are_names_are_looked_up(self) -> None:
        near, far = proxy.configuration(":80", ["127.0.0.1:1", "127.0.0.1:2"]), proxy.configuration(":80", ["w:1"])
        assert "resolvers" not in near
        assert "resolvers names\n    parse-resolv-conf" in far
        assert "server w1 w:1 cookie w1 resolvers names init-addr libc,none" in far
        assert "    server w2 127.0.0.1:2 cookie w2" in near.splitlines()
        assert f"set-header {proxy.CLIENT_HEADER} %[src]" in near
        assert "%[src]" not in proxy.configuration(":80", ["w:1"], header="x-real-ip")

    @pytest.mark.parametrize("is_root", [True, False])
    @pytest.mark.parametrize("has_apt", [True, False])
    @pytest.mark.parametrize("at_once", [True, False])
    def test_only_root_installs_what_is_missing(
        self, is_root: bool, has_apt: bool, at_once: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ran: list[list[str]] = []

        def run(command: list[str], *, check: bool) -> None:
            assert not check, "what fails is told by what is still missing"
            ran.append(command)

        def which(name: str, path: str | None = None) -> str | None:
            if name == "apt-get":
                return "/bin/apt-get" if has_apt else None
            return "/usr/sbin/haproxy" if path and (at_once or len(ran) == 2) else None

        monkeypatch.setattr(os, "geteuid", lambda: 0 if is_root else 1)
        monkeypatch.setattr(subprocess, "run", run)
        monkeypatch.setattr(proxy.shutil, "which", which)
        if at_once or (is_root and has_apt):
            assert proxy.executable() == "/usr/sbin/haproxy"
        else:
            with pytest.raises(KbdashError, match="not installed"):
                proxy.executable()
        assert [command[1] for command in ran] == (
            [] if at_once or not (is_root and has_apt) else ["update", "install"]
        )


class Running:
    """Stands for a process of the system."""

    def __init__(self, *, ended: bool = False, obeys: bool = True) -> None:
        self.ended, self.obeys, self.signals, self.pid = ended, obeys, list[int](), 1

    def poll(self) -> int | None:
        return 0 if self.ended else None

    def send_signal(self, number: int) -> None:
        self.signals.append(number)
        self.ended = self.ended or self.obeys or number == signal.SIGKILL

    def wait(self, seconds: float | None = None) -> None:
        if not self.ended:
            assert seconds
            raise subprocess.TimeoutExpired("x", seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets what time it is for the launcher; whoever sleeps is there at once."""
    now = [100.0]
    monkeypatch.setattr(
        launcher,
        "time",
        SimpleNamespace(monotonic=lambda: now[0], sleep=lambda wait: now.__setitem__(0, now[0] + wait)),
    )
    return lambda at: now.__setitem__(0, at)


class TestLauncher:
    """Processes that are supervised."""

    @pytest.mark.parametrize(
        ("ended", "seconds", "again"), [(True, 3.0, 1), (True, 1.0, 0), (True, 2.0, 0), (False, 9.0, 0)]
    )
    def test_who_ended_is_started_again_and_not_at_once(
        self, ended: bool, seconds: float, again: int, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started: list[object] = []
        monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: started.append(1) or Running())
        process = Process("w", ["x"], {}, Running(ended=ended), started_at=100.0)  # type: ignore[arg-type]
        clock(100.0 + seconds)
        process.restart_if_ended()
        assert len(started) == again

    def test_who_never_ran_is_started(self, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: Running())
        process = Process("w", ["x"], {})
        process.tell(signal.SIGTERM)
        process.wait(0.0)
        process.restart_if_ended()
        assert process.running is not None

    @pytest.mark.parametrize(("obeys", "signals"), [(True, [15]), (False, [15, 9])])
    def test_who_does_not_end_is_killed(self, obeys: bool, signals: list[int], clock: Callable[[float], None]) -> None:
        running = Running(obeys=obeys)
        process = Process("w", ["x"], {}, running)  # type: ignore[arg-type]
        process.tell(signal.SIGTERM)
        process.wait(110.0)
        assert running.signals == signals

    def test_all_are_told_to_end_the_proxy_first(
        self, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[tuple[str, int]] = []
        until: list[float] = []
        monkeypatch.setattr(Process, "tell", lambda self, number: told.append((self.name, number)))
        monkeypatch.setattr(Process, "wait", lambda self, deadline: until.append(deadline))
        fleet = launcher.Fleet("127.0.0.1", 1, [Process("w1", [], {}), Process("w2", [], {})], Process("front", [], {}))
        fleet._end()
        assert told == [("front", signal.SIGUSR1), ("w1", signal.SIGTERM), ("w2", signal.SIGTERM)]
        assert until == [112.0] * 3

    def test_replacing_happens_once_and_waits_for_each(
        self, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[str] = []
        fleet = launcher.Fleet("127.0.0.1", 1, [Process("w1", [], {}), Process("w2", [], {})])
        monkeypatch.setattr(Process, "restart_if_ended", lambda self: said.append(f"mend {self.name}"))
        monkeypatch.setattr(Process, "wait", lambda self, until: said.append(f"wait {self.name} {until - 100:.1f}"))
        monkeypatch.setattr(Process, "start", lambda self: said.append(f"start {self.name}"))

        def is_healthy(port: int) -> bool:
            said.append(f"healthy {port}")
            if port == 2:
                fleet._stop()
            return True

        def leads_to(address: str, port: int, number: int) -> bool:
            said.append(f"{address}:{port} leads to {number}")
            return True

        monkeypatch.setattr(launcher, "is_healthy", is_healthy)
        monkeypatch.setattr(launcher.proxy, "leads_to", leads_to)
        fleet._replace()
        fleet._watch([1, 2])
        assert not fleet.replacing
        assert said == [
            "mend w1", "mend w2",
            "wait w1 12.3", "start w1", "healthy 1", "127.0.0.1:1 leads to 1",
            "wait w2 12.3", "start w2", "healthy 2",
        ]  # fmt: skip

    def test_nobody_waits_for_ever(self, clock: Callable[[float], None]) -> None:
        launcher.Fleet("127.0.0.1", 1)._until(lambda: False)
        assert launcher.time.monotonic() == pytest.approx(100.0 + launcher.START_SECONDS, abs=0.3)

    def test_ports_are_distinct(self) -> None:
        assert len(set(launcher.free_ports(5))) == 5
        assert not launcher.is_healthy(launcher.free_ports(1)[0])


def test_a_process_ends_in_time_whatever_the_server_does(monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[tuple[float, object, list[int]]] = []
    own: list[int] = []

    class Timer:
        daemon = False

        def __init__(self, seconds: float, work: object, given: list[int]) -> None:
            timers.append((seconds, work, given))

        def start(self) -> None:
            assert self.daemon

    monkeypatch.setattr(threading, "Timer", Timer)
    handlers: dict[int, Any] = {signal.SIGTERM: lambda number, _: own.append(number), signal.SIGINT: signal.SIG_IGN}
    monkeypatch.setattr(signal, "getsignal", handlers.__getitem__)
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    stopping.end_within()
    for number in (signal.SIGTERM, signal.SIGINT):
        handlers[number](number, None)
    assert timers == [(8.0, os._exit, [0])] * 2
    assert own == [signal.SIGTERM]


@pytest.mark.parametrize("refused", [None, -1, -3, -8])
def test_malloc_is_asked_for_two_heaps_and_to_give_back(refused: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: dict[int, int] = {}

    def mallopt(parameter: int, value: int) -> bool:
        wanted[parameter] = value
        return parameter != refused

    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt, malloc_trim=None))
    monkeypatch.setattr(threading, "Thread", lambda **_: SimpleNamespace(start=lambda: None))
    assert memory.keep_flat() == (refused is None)
    assert refused is not None or wanted == {-8: 2, -3: 256 * 1024, -1: 16 * 2**20}
