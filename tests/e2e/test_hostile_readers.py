"""Readers who send what they like: floods, uploads, messages without an end. Everybody else is answered meanwhile."""

import asyncio
import contextlib
import http.client
import os
import socket
import struct
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from benchmarks import readers
from benchmarks.readers import Reader
from kbdash.web.server.limits import Limits
from tests.e2e.serving import Process, started

MEGABYTE = 2**20
T = TypeVar("T")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sample_cache: Path) -> Iterator[tuple[str, Process]]:
    """A dashboard as the container runs it."""
    environ = {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)}
    log = tmp_path_factory.mktemp("hostile") / "app.log"
    with started(log, environ, public=True) as running:
        yield running


def resident(pid: int) -> float:
    """Megabytes that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def tab(base: str) -> contextlib.AbstractAsyncContextManager[Reader]:
    """An ordinary reader."""
    return readers.tab(urlsplit(base).port or 0, patience=60)


def stream(base: str) -> str:
    """Address of the websocket."""
    return f"{base.replace('http', 'ws', 1)}/_stcore/stream"


def run(work: Coroutine[Any, Any, T]) -> T:
    """The outcome of this work in a thread and a loop of its own; the browser of other tests may occupy ours."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(asyncio.run, work).result()


async def waits(reader: Reader, times: int) -> list[float]:
    """Seconds that this reader waits for a page, again and again."""
    return [(await reader.open("nvfp4", "tab=submissions" if turn % 2 else "")).seconds for turn in range(times)]


@dataclass
class Flood:
    """Somebody who asks for as many runs as the connection takes, and counts how many ended.

    Who takes in every answer at once is held back by nothing but the rate; who takes in none until the end leaves them
    to the server.
    """

    base: str
    reads: bool
    runs: int = 0
    seconds: float = 0.0

    async def attack(self) -> None:
        """Ask 500 times a second until cancelled; what came meanwhile is counted then."""
        ask = BackMsg(rerun_script=ClientState(page_name="nvfp4")).SerializeToString()
        begin = time.monotonic()
        async with connect(stream(self.base), subprotocols=[Subprotocol("streamlit")], max_size=None) as link:
            counting = asyncio.create_task(self._count(link)) if self.reads else None
            try:
                with contextlib.suppress(WebSocketException, OSError):
                    while True:
                        await link.send(ask)
                        await asyncio.sleep(0.002)
            finally:
                self.seconds = time.monotonic() - begin
                await asyncio.wait({counting or asyncio.create_task(self._count(link))}, timeout=1)

    async def _count(self, link: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException):
            async for message in link:
                self.runs += ForwardMsg.FromString(bytes(message)).WhichOneof("type") == "script_finished"  # type: ignore[arg-type]


async def under(flood: Flood) -> tuple[list[float], list[float]]:
    """How long a reader waits while it is quiet, and while somebody attacks."""
    async with tab(flood.base) as reader:
        await waits(reader, 3)
        quiet = await waits(reader, 6)
        attacker = asyncio.create_task(flood.attack())
        await asyncio.sleep(2)
        loud = await waits(reader, 12)
        attacker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await attacker
    return quiet, loud


@pytest.mark.parametrize("reads", [False, True])
def test_a_flood_of_runs_does_not_hold_up_others(reads: bool, server: tuple[str, Process]) -> None:
    flood = Flood(server[0], reads)
    quiet, loud = run(under(flood))
    # A message may end two runs: one that begins anew ends early.
    allowed = 2 * (Limits.runs.burst + Limits.runs.per_second * (flood.seconds + 1))
    assert 0 < flood.runs <= allowed, (flood, allowed)
    # A busy machine is slow for both; who is held up by the flood waits many times as long as before.
    assert sorted(loud)[len(loud) // 2] < 2.0 + 8 * max(quiet), (quiet, loud)


def test_uploads_are_refused_and_kept_nowhere(server: tuple[str, Process]) -> None:
    base, process = server
    before = resident(process.pid)
    host = urlsplit(base).netloc
    for number in range(200):
        link = http.client.HTTPConnection(host, timeout=10)
        with contextlib.suppress(ConnectionError):  # the server may hang up while we still send
            link.request("PUT" if number % 2 else "POST", f"/_stcore/upload_file/a/{number}", b"x" * MEGABYTE)
            assert link.getresponse().status == 404
        link.close()
    assert resident(process.pid) - before < 60
    for path in ("/_stcore/metrics", "/_stcore/upload_file/a/b"):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{base}{path}", timeout=10)


def half_sent(base: str, size: int) -> socket.socket:
    """A connection with a message of that size begun and never finished, in pieces of 256 kB."""
    host, port = urlsplit(base).hostname, urlsplit(base).port
    link = socket.create_connection((host, port), timeout=10)
    wanted = (
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {'A' * 22}==",
    )
    link.sendall("\r\n".join(("GET /_stcore/stream HTTP/1.1", f"Host: {host}:{port}", *wanted, "", "")).encode())
    assert b" 101 " in link.recv(1000)
    piece = 2**18
    with contextlib.suppress(OSError):
        for number in range(size // piece):
            # Unfinished, masked with zeros; the first piece is binary, the others continue it.
            link.sendall(struct.pack("!BBQ", 0x02 if number == 0 else 0x00, 0x80 | 127, piece) + bytes(4 + piece))
    return link


def test_messages_without_an_end_are_bounded(server: tuple[str, Process]) -> None:
    base, process = server
    assert held_of_messages(base, process.pid) < 80
    with urlopen(f"{base}/_stcore/health", timeout=5) as answer:
        assert answer.read() == b"ok"


def test_messages_without_an_end_are_bounded_in_streamlit_run_too(tmp_path: Path, sample_cache: Path) -> None:
    """It holds 8 MB of each, because that is the largest message of a page."""

    async def opened(base: str) -> None:
        async with tab(base) as reader:
            await waits(reader, 2)

    environ = {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)}
    with started(tmp_path / "app.log", environ) as (base, process):
        run(opened(base))
        assert held_of_messages(base, process.pid) < 200


def held_of_messages(base: str, pid: int) -> float:
    """Megabytes of ten messages without an end, 40 of each sent."""
    before = resident(pid)
    links = [half_sent(base, 40 * MEGABYTE) for _ in range(10)]
    time.sleep(1)
    held = resident(pid) - before
    for link in links:
        link.close()
    return held


def test_with_256_file_descriptors_it_says_so_and_recovers(tmp_path: Path, sample_cache: Path) -> None:
    environ = {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache)}
    log = tmp_path / "app.log"

    def page(base: str) -> tuple[int, bytes]:
        try:
            with urlopen(Request(f"{base}/nvfp4", headers={"Accept": "text/html"}), timeout=20) as answer:
                return answer.status, answer.read()
        except HTTPError as error:
            return error.code, error.read()

    async def crowd(base: str) -> tuple[int, tuple[int, bytes], bool]:
        async with contextlib.AsyncExitStack() as stack:
            inside = 0
            for _ in range(90):
                with contextlib.suppress(WebSocketException, OSError):
                    await stack.enter_async_context(connect(stream(base), subprotocols=[Subprotocol("streamlit")]))
                    inside += 1
            full = await asyncio.to_thread(page, base)
        for _ in range(60):
            if (await asyncio.to_thread(page, base))[0] == 200:
                async with tab(base) as reader:
                    return inside, full, not (await reader.open("nvfp4")).failures
            await asyncio.sleep(0.5)
        return inside, full, False

    # The soft limit, which leaves room for 8 readers, is raised to the hard one.
    with started(log, environ, public=True, prefix=["prlimit", "--nofile=128:256"]) as (base, _):
        inside, full, well = run(crowd(base))
        assert inside == 40
        assert full[0] == 503
        assert b"All places are taken" in full[1]
        assert well
        assert "ulimit -n 65536" in log.read_text()
        assert "Traceback" not in log.read_text()


def test_it_stops_within_seconds_under_load(server: tuple[str, Process]) -> None:
    """The last one here: the others need the server that this one stops."""

    async def stopped(base: str, process: Process) -> float:
        attackers = [asyncio.create_task(Flood(base, reads=True).attack()) for _ in range(5)]
        await asyncio.sleep(3)
        begin = time.monotonic()
        process.terminate()
        await asyncio.to_thread(process.wait, 30)
        for attacker in attackers:
            attacker.cancel()
        await asyncio.gather(*attackers, return_exceptions=True)
        return time.monotonic() - begin

    base, process = server
    slow = socket.create_connection((urlsplit(base).hostname, urlsplit(base).port))
    slow.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n")  # a request that is never finished
    assert run(stopped(base, process)) < 12
    slow.close()
