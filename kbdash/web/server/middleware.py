"""ASGI middleware: security headers, closed routes, and limits per reader."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kbdash.dataset.page_paths import ROUTES
from kbdash.web.server.address import client
from kbdash.web.server.limits import Bucket, Limits

# Framing is allowed on purpose: a Space shows this app inside huggingface.co.
HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
CLOSED = ("/_stcore/upload_file", "/_stcore/metrics")
STREAM = "/_stcore/stream"
DOWNLOADS = "/media/"
NOT_PAGES = tuple(f"/{first}/" for first in ("_stcore", *ROUTES))
BUSY = (Path(__file__).parent / "busy.html").read_text("utf-8")
TRY_LATER = 1013
MOST_ADDRESSES = 4096


class SecurityHeaders:
    """Adds the headers above to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, complete if scope["type"] == "http" else send)


class ClosedRoutes:
    """Refuses uploads and statistics before the body of such a request is read."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self._most = limits.request_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse closed routes, pass on the rest."""
        answer = self._refusal(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        # With "close" the server disconnects instead of reading the rest of the body.
        if any(route in scope["path"] for route in CLOSED):
            return PlainTextResponse("Not found.", 404, {"Connection": "close"})
        headers = Headers(scope=scope)
        size = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not size.isdigit() or int(size) > self._most:
            return PlainTextResponse("Too large.", 413, {"Connection": "close"})
        return None


@dataclass
class _Address:
    """Open connections and recent use of one address."""

    runs: Bucket
    requests: Bucket
    sessions: int = 0

    def is_idle(self) -> bool:
        return not self.sessions and self.runs.is_full() and self.requests.is_full()


@dataclass
class Readers:
    """Limits sessions, runs and downloads: per connection, per address, and in total.

    A client that is too fast is throttled: its next message is read later, so that a flood stays in the sender's own
    buffers (backpressure). When all sessions are taken, a new reader gets a page that says so and retries by itself.
    """

    app: ASGIApp
    limits: Limits
    sessions: int = 0
    downloads: int = 0
    _addresses: OrderedDict[str, _Address] = field(default_factory=OrderedDict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests within the limits."""
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM):
            await self._session(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _session(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._address(scope)
        if self._is_full() or (address and address.sessions >= self.limits.sessions_per_address):
            await receive()
            await send({"type": "websocket.close", "code": TRY_LATER})
            return
        async with self._counted(address):
            await self.app(scope, *self._paced(address, receive, send))

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._address(scope)
        if address and (wait := address.requests.take()):
            headers = {"Retry-After": str(int(wait) + 1)}
            return await PlainTextResponse("Too many requests.", 429, headers)(scope, receive, send)
        if self._is_full() and _is_page(scope):
            return await HTMLResponse(BUSY, 503, {"Retry-After": "20"})(scope, receive, send)
        if not scope["path"].startswith(DOWNLOADS):
            return await self.app(scope, receive, self._moving(send))
        if self.downloads >= self.limits.downloads:
            headers = {"Retry-After": "5"}
            return await PlainTextResponse("Many downloads at once.", 503, headers)(scope, receive, send)
        self.downloads += 1
        try:
            return await self.app(scope, receive, self._moving(send))
        finally:
            self.downloads -= 1

    def _paced(self, address: _Address | None, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """Both directions of a websocket, throttled to the allowed rate and to the client's reading speed."""
        runs = Bucket(self.limits.runs)
        taken_in = asyncio.Event()
        taken_in.set()

        async def paced() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                # A client that does not read its responses must not send more requests.
                await taken_in.wait()
                await asyncio.sleep(max(runs.take(), address.runs.take() if address else 0.0))
            return message

        async def watched(message: Message) -> None:
            taken_in.clear()
            try:
                await send(message)
            finally:
                taken_in.set()

        return paced, watched

    def _moving(self, send: Send) -> Send:
        """Disconnect a client that reads nothing for a minute."""

        async def moving(message: Message) -> None:
            async with asyncio.timeout(self.limits.stuck_seconds):
                await send(message)

        return moving

    def _is_full(self) -> bool:
        return self.sessions >= self.limits.sessions

    def _address(self, scope: Scope) -> _Address | None:
        name = client(scope, self.limits.client_header)
        if name is None:
            return None
        if name not in self._addresses:
            self._forget()
            self._addresses[name] = _Address(
                Bucket(self.limits.runs_per_address), Bucket(self.limits.requests_per_address)
            )
        self._addresses.move_to_end(name)
        return self._addresses[name]

    def _forget(self) -> None:
        """Make room for another address; those in use keep their count."""
        if len(self._addresses) >= MOST_ADDRESSES:
            idle = [name for name, address in self._addresses.items() if address.is_idle()]
            for name in idle:
                del self._addresses[name]

    @asynccontextmanager
    async def _counted(self, address: _Address | None) -> AsyncIterator[None]:
        self.sessions += 1
        if address:
            address.sessions += 1
        try:
            yield
        finally:
            self.sessions -= 1
            if address:
                address.sessions -= 1


def _is_page(scope: Scope) -> bool:
    """Whether the request is for a page, rather than for one of its parts."""
    wants = Headers(scope=scope).get("accept", "")
    return scope["method"] == "GET" and "text/html" in wants and not scope["path"].startswith(NOT_PAGES)
