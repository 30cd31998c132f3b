"""Several processes behind HAProxy: sticky, and when one dies its readers go on with another."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from kbdash.web.server import proxy
from tests.e2e.conftest import Open, eventually, settled
from tests.e2e.grid import press, table
from tests.e2e.serving import ROOT, await_health, free_port, inherited


class Fleet:
    """Two workers and their proxy, as `make serve WORKERS=2` starts them."""

    def __init__(self, log: Path, environ: dict[str, str]) -> None:
        self.log = log
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "kbdash.web.server", "--port", str(self.port), "--workers", "2"]
        with log.open("w") as output:
            self.process = subprocess.Popen(command, cwd=ROOT, env=inherited() | environ, stdout=output, stderr=output)

    def pids(self, worker: int) -> list[int]:
        """Process ids that this worker has had, the present one last."""
        return [int(pid) for pid in re.findall(rf"worker {worker} runs as process (\d+)", self.log.read_text())]

    def kill(self, worker: int) -> int:
        """End this worker without a word; gives the process id of the one that takes its place."""
        before = self.pids(worker)
        os.kill(before[-1], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while self.pids(worker) == before:
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        return self.pids(worker)[-1]

    def await_both(self) -> None:
        """Return once either worker takes readers."""
        deadline = time.monotonic() + 60
        while [self.given(worker) for worker in ("w1", "w2")] != ["w1", "w2"]:
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.5)

    def given(self, cookie: str = "") -> str:
        """The worker that a reader with this cookie is given."""
        request = Request(
            f"{self.base}/_stcore/health", headers={"Cookie": f"{proxy.COOKIE}={cookie}"} if cookie else {}
        )
        try:
            answer = urlopen(request, timeout=10)
        except OSError as error:  # no worker answers yet
            return f"nobody: {error}"
        with answer:  # a worker sets cookies of its own
            found = re.search(rf"{proxy.COOKIE}=(w\d)", "; ".join(answer.headers.get_all("Set-Cookie", [])))
        return found[1] if found else cookie

    def stop(self) -> float:
        """Stop everything; how many seconds it took."""
        begin = time.monotonic()
        self.process.terminate()
        self.process.wait(timeout=30)
        return time.monotonic() - begin


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, sample_cache: Path) -> Iterator[Fleet]:
    """Two workers over the sample."""
    proxy.executable()  # installed where it can be, else the test fails and says what to do
    log = tmp_path_factory.mktemp("fleet") / "fleet.log"
    running = Fleet(log, {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)})
    try:
        await_health(running.base, running.process, running.log)
        running.await_both()
        yield running
    finally:
        running.stop()


def worker_of(page: Page) -> int:
    """The worker this reader is with."""
    cookies = {str(cookie.get("name")): str(cookie.get("value")) for cookie in page.context.cookies()}
    return int(cookies[proxy.COOKIE].removeprefix("w"))


def test_a_reader_whose_worker_dies_goes_on_with_the_other(fleet: Fleet, open_page: Open) -> None:
    page = open_page(f"{fleet.base}/nvfp4?problem=nvfp4_gemm&tab=submissions")
    expect(table(page, "submissions-table")).to_be_visible()
    first = worker_of(page)
    successor = fleet.kill(first)
    os.kill(successor, signal.SIGSTOP)  # else a quick one might listen before the reader asks again
    eventually(page, lambda: worker_of(page) != first, True)  # its page may be back before we look for the first time
    settled(page)
    assert page.url == f"{fleet.base}/nvfp4?problem=nvfp4_gemm&tab=submissions"
    expect(table(page, "submissions-table")).to_be_visible()
    page.get_by_role("tab", name="Leaderboard").click()
    expect(page).to_have_url(f"{fleet.base}/nvfp4?problem=nvfp4_gemm")
    press(page, "leaderboard-table", 0)
    expect(page.locator(".st-key-code .line").first).to_be_visible()
    os.kill(successor, signal.SIGCONT)
    fleet.await_both()
    assert fleet.pids(first)[-1] == successor


def test_a_cookie_leads_to_its_worker_and_everything_stops_together(fleet: Fleet) -> None:
    assert [fleet.given("w1") for _ in range(3)] == ["w1"] * 3
    assert [fleet.given("w2") for _ in range(3)] == ["w2"] * 3
    before = {worker: fleet.pids(worker)[-1] for worker in (1, 2)}
    fleet.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while any(fleet.pids(worker)[-1] == pid for worker, pid in before.items()):
        assert fleet.given() in {"w1", "w2"}, fleet.log.read_text()  # readers always find somebody
        assert time.monotonic() < deadline, fleet.log.read_text()
        time.sleep(0.05)
    assert fleet.stop() < 20
    for pid in (*fleet.pids(1), *fleet.pids(2)):
        assert not Path(f"/proc/{pid}").exists()


def test_the_configuration_is_valid_and_compose_has_the_same(tmp_path: Path) -> None:
    haproxy = proxy.executable()
    config = tmp_path / "haproxy.cfg"
    for text in (
        proxy.configuration("127.0.0.1:8501", ["127.0.0.1:1", "127.0.0.1:2"]),
        proxy.configuration("127.0.0.1:8501", ["127.0.0.1:1"], header="cf-connecting-ip"),
    ):
        config.write_text(text)
        subprocess.run([haproxy, "-c", "-f", str(config)], check=True, capture_output=True)
    written = (ROOT / "kbdash" / "deploy" / "haproxy.cfg").read_text()
    assert written == proxy.configuration("*:8501", ["worker-1:8501", "worker-2:8501"])
    assert "x-forwarded-for" not in proxy.configuration("*:1", ["127.0.0.1:1"], header="cf-connecting-ip")


def test_without_haproxy_the_reader_of_the_terminal_is_told_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "bin"
    path.mkdir()
    found = shutil.which("env")
    assert found
    program = (
        "import os, sys; os.geteuid = lambda: 1000\n"
        "from kbdash.web.server import proxy; proxy.PLACES = ''\n"
        "sys.argv = ['x', '--workers', '2']\n"
        "import runpy; runpy.run_module('kbdash.web.server', run_name='__main__')\n"
    )
    command = [sys.executable, "-c", program]
    answer = subprocess.run(
        command, cwd=ROOT, env=inherited() | {"PATH": str(path)}, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "apt-get install haproxy" in answer.stderr
