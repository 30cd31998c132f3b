"""What one reader may take: rates, places, routes, addresses."""

import asyncio
import resource
from types import SimpleNamespace
from typing import Any

import pytest

from kbdash.web.server import limits, middleware
from kbdash.web.server.address import client
from kbdash.web.server.limits import Bucket, Limits, Rate
from kbdash.web.server.middleware import ClosedRoutes, Readers

Messages = list[dict[str, Any]]


def http(path: str = "/", method: str = "GET", client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    """The scope of a request."""
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "path": path, "method": method, "headers": named, "client": (client, 1)}


def socket(client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    """The scope of a reader's websocket."""
    return http("/_stcore/stream", client=client, **headers) | {"type": "websocket"}


async def answered(app: Any, scope: dict[str, Any]) -> Messages:
    """What the client gets; a body would be noticed when it is read."""
    sent: Messages = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"} if scope["type"] == "websocket" else {"type": "http.request", "body": b""}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


async def fine(scope: Any, receive: Any, send: Any) -> None:
    """The app behind the middleware."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"fine"})


class Staying:
    """An app whose readers, and whose downloads, stay until `leave` is set."""

    def __init__(self) -> None:
        self.leave = asyncio.Event()
        self._entered = asyncio.Semaphore(0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket" or scope["path"].startswith("/media/"):
            self._entered.release()
            await self.leave.wait()
        await fine(scope, receive, send)

    async def have_entered(self, number: int = 1) -> None:
        """Wait until so many more are inside."""
        async with asyncio.timeout(30):
            for _ in range(number):
                await self._entered.acquire()


async def settle() -> None:
    """Let all tasks go on until each waits for something else: by turns of the loop, so that no time matters."""
    for _ in range(100):
        await asyncio.sleep(0)


def test_a_bucket_allows_a_burst_and_then_its_rate() -> None:
    now = [0.0]
    bucket = Bucket(Rate(2, 3), lambda: now[0])
    assert [bucket.take() for _ in range(5)] == [0, 0, 0, 0.5, 1.0]
    assert not bucket.is_full()
    now[0] = 100
    assert bucket.is_full()
    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 0.5]


@pytest.mark.parametrize(
    ("scope", "header", "known"),
    [
        (http(client="8.8.8.8"), None, "8.8.8.8"),
        (http(client="127.0.0.1"), None, None),
        (http(client="10.0.0.7"), None, None),
        (http(client="2a00:1450:4001:80b::5"), None, "2a00:1450:4001:80b::/64"),
        (http(client="8.8.8.8", x_forwarded_for="1.1.1.1"), None, "8.8.8.8"),
        (http(client="10.0.0.7", x_forwarded_for="6.6.6.6, 1.1.1.1"), "x-forwarded-for", "1.1.1.1"),
        (http(client="10.0.0.7", x_forwarded_for="10.1.1.1"), "x-forwarded-for", "10.1.1.1"),
        (http(client="10.0.0.7", x_forwarded_for="127.0.0.1"), "x-forwarded-for", None),
        (http(client="10.0.0.7", x_forwarded_for="nonsense"), "x-forwarded-for", None),
        (http(client="10.0.0.7"), "x-forwarded-for", None),
        ({"type": "http", "headers": [], "client": None}, None, None),
    ],
)
def test_a_client_is_told_by_its_peer_or_by_the_header_an_operator_names(
    scope: dict[str, Any], header: str | None, known: str | None
) -> None:
    assert client(scope, header) == known


@pytest.mark.parametrize(
    ("scope", "status"),
    [
        (http("/_stcore/upload_file/a/b", "PUT", content_length="5"), 404),
        (http("/base/_stcore/upload_file/a/b", "POST"), 404),
        (http("/_stcore/metrics"), 404),
        (http("/api/x", "POST", content_length="2000000"), 413),
        (http("/api/x", "POST", transfer_encoding="chunked"), 413),
        (http("/api/x", "POST", content_length="-1"), 413),
        (http("/api/x", "POST", content_length="2000"), 200),
        (http("/_stcore/health"), 200),
    ],
)
def test_closed_routes_answer_before_a_body_is_read(scope: dict[str, Any], status: int) -> None:
    sent = asyncio.run(answered(ClosedRoutes(fine, Limits()), scope))
    assert sent[0]["status"] == status
    if status != 200:
        assert (b"connection", b"close") in sent[0]["headers"]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the middleware made somebody wait, in turn; nobody really waits."""
    seconds: list[float] = []

    async def sleep(wait: float) -> None:
        seconds.append(wait)

    monkeypatch.setattr(middleware, "asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": sleep}))
    return seconds


SLOW = Rate(0.01, 4)
"""A hundred seconds for each message beyond the fourth: what the test itself takes does not matter."""


def flood(bounds: Limits, messages: int, *clients: str) -> int:
    """Send so many messages on a connection of each client; returns how many of them arrived."""
    arrived = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal arrived
        for _ in range(messages):
            await receive()
            arrived += 1

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.receive", "bytes": b""}

    async def send(message: Any) -> None: ...

    async def all_of_them() -> None:
        readers = Readers(app, bounds)
        await asyncio.gather(*(readers(socket(client=name), receive, send) for name in clients))  # type: ignore[arg-type]

    asyncio.run(all_of_them())
    return arrived


def test_a_flood_is_slowed_to_the_rate_and_nothing_is_lost(pauses: list[float]) -> None:
    assert flood(Limits(runs=SLOW), 12, "127.0.0.1") == 12
    assert pauses == pytest.approx([0] * 4 + [100 * number for number in range(1, 9)], abs=50)


def test_two_connections_of_one_address_share_its_rate(pauses: list[float]) -> None:
    bounds = Limits(runs=Rate(1000, 1000), runs_per_address=SLOW)
    assert flood(bounds, 4, "8.8.8.8", "8.8.8.8") == 8
    assert sorted(pauses) == pytest.approx([0] * 4 + [100, 200, 300, 400], abs=50)
    pauses.clear()
    assert flood(bounds, 4, "8.8.8.8", "9.9.9.9") == flood(bounds, 4, "10.0.0.1", "10.0.0.1") == 8
    assert pauses == [0] * 16


def test_a_client_that_does_not_read_may_not_ask_for_more() -> None:
    async def scenario() -> tuple[bool, bool]:
        drained, asked = asyncio.Event(), asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            sending = asyncio.create_task(send({"type": "websocket.send", "bytes": b"x"}))
            await asyncio.sleep(0)
            await receive()
            asked.set()
            await sending

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.receive", "bytes": b""}

        async def send(message: Any) -> None:
            await drained.wait()

        running = asyncio.create_task(Readers(app, Limits())(socket(), receive, send))  # type: ignore[arg-type]
        await settle()
        before = asked.is_set()
        drained.set()
        await running
        return before, asked.is_set()

    assert asyncio.run(scenario()) == (False, True)


def test_beyond_the_last_place_there_is_a_friendly_page_and_places_come_back() -> None:
    async def scenario() -> tuple[Messages, Messages, Messages, Messages, Messages]:
        app = Staying()
        readers = Readers(app, Limits(sessions=2))
        inside = [asyncio.create_task(answered(readers, socket())) for _ in range(2)]
        await app.have_entered(2)
        page = await answered(readers, http("/nvfp4", accept="text/html,*/*"))
        part = await answered(readers, http("/static/js/index.js", accept="*/*"))
        health = await answered(readers, http("/_stcore/health", accept="text/html"))
        async with asyncio.timeout(30):  # one who is let in stays until `leave`
            third = await answered(readers, socket())
        app.leave.set()
        await asyncio.gather(*inside)
        return page, part, health, third, await answered(readers, http("/nvfp4", accept="text/html"))

    page, part, health, third, later = asyncio.run(scenario())
    assert page[0]["status"] == 503
    assert (b"retry-after", b"20") in page[0]["headers"]
    assert b"All places are taken" in page[1]["body"]
    assert (part[0]["status"], health[0]["status"], later[0]["status"]) == (200, 200, 200)
    assert third == [{"type": "websocket.close", "code": middleware.TRY_LATER}]


def test_one_address_cannot_take_every_place_nor_ask_without_end() -> None:
    async def scenario() -> tuple[Messages, Messages, list[int]]:
        app = Staying()
        readers = Readers(app, Limits(sessions_per_address=1, requests_per_address=Rate(1, 3)))
        inside = asyncio.create_task(answered(readers, socket(client="8.8.8.8")))
        await app.have_entered()
        async with asyncio.timeout(30):  # who is let in stays until `leave`
            second = await answered(readers, socket(client="8.8.8.8"))
        other = asyncio.create_task(answered(readers, socket(client="9.9.9.9")))
        await app.have_entered()
        app.leave.set()
        await inside
        statuses = [(await answered(readers, http("/", client="8.8.8.8")))[0]["status"] for _ in range(5)]
        return second, await other, statuses

    second, other, statuses = asyncio.run(scenario())
    assert second == [{"type": "websocket.close", "code": middleware.TRY_LATER}]
    assert other[0]["status"] == 200
    assert statuses == [200, 200, 200, 429, 429]


def test_downloads_at_once_are_bounded() -> None:
    async def scenario() -> tuple[int, int, int]:
        app = Staying()
        readers = Readers(app, Limits(downloads=1))
        first = asyncio.create_task(answered(readers, http("/media/a.csv")))
        await app.have_entered()
        async with asyncio.timeout(30):  # one that is let in stays until `leave`
            second = await answered(readers, http("/media/b.csv"))
        app.leave.set()
        status = (await first)[0]["status"]
        third = await answered(readers, http("/media/b.csv"))
        return status, second[0]["status"], third[0]["status"]

    assert asyncio.run(scenario()) == (200, 503, 200)


def test_a_client_that_takes_nothing_is_let_go() -> None:
    async def scenario() -> None:
        async def send(message: Any) -> None:
            await asyncio.sleep(60)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b""}

        await Readers(fine, Limits(stuck_seconds=0.05))(http("/media/a.csv"), receive, send)  # type: ignore[arg-type]

    with pytest.raises(TimeoutError):
        asyncio.run(scenario())


def test_addresses_that_come_and_go_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "MOST_ADDRESSES", 10)
    readers = Readers(fine, Limits(requests_per_address=Rate(1e9, 5)))

    async def visit() -> None:
        for number in range(200):
            await answered(readers, http("/", client=f"8.8.{number}.1"))

    asyncio.run(visit())
    assert len(readers._addresses) <= 11


def test_sessions_follow_the_file_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "descriptors", lambda: 256)
    few = Limits.from_env({})
    assert few.sessions == 40
    said = limits.shortage(few)
    assert said is not None
    assert "ulimit -n 65536" in said
    monkeypatch.setattr(limits, "descriptors", lambda: 65_536)
    assert Limits.from_env({}).sessions == Limits.sessions
    assert limits.shortage(Limits.from_env({})) is None
    assert Limits.from_env({"KBDASH_MAX_SESSIONS": "7"}).sessions == 7
    assert limits.shortage(Limits.from_env({"KBDASH_MAX_SESSIONS": "7"})) is None
    assert Limits.from_env({"KBDASH_MAX_SESSIONS": "many"}) == Limits()
    assert Limits.from_env({"KBDASH_RUNS_PER_SECOND": "10"}).runs == Rate(10, 60)


def test_the_limit_on_file_descriptors_is_raised_as_far_as_allowed() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        raised = limits.raise_descriptors()
        assert raised == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(before[1], limits.WANTED_DESCRIPTORS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
