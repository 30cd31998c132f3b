"""What was asked of the Hub and what it sent."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from tests.hub.messages import Request


@dataclass
class Exchange:
    """One request and its answer; status 0 = none was given. `bytes` counts the body only."""

    method: str
    path: str
    area: str
    file: str | None
    agent: str
    with_token: bool
    status: int = 0
    bytes: int = 0
    range: tuple[int, int] | None = None


@dataclass(frozen=True)
class FileCount:
    """What was asked of one file. `ranges`: first and last byte of each partial answer."""

    heads: int = 0
    gets: int = 0
    redirects: int = 0
    errors: int = 0
    bytes: int = 0
    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def requests(self) -> int:
        """All requests that named the file."""
        return self.heads + self.gets + self.redirects + self.errors


class Counts:
    """A log of exchanges and sums over it.

    Bytes are counted before they leave, so that a reader who has them finds them counted.
    """

    def __init__(self) -> None:
        self._log: list[Exchange] = []
        self._lock = threading.Lock()

    def begin(self, request: Request) -> Exchange:
        """A new entry of the log, to be filled in while the answer is sent."""
        exchange = Exchange(
            request.method,
            request.path,
            request.area,
            request.file,
            request.headers.get("user-agent", ""),
            "authorization" in request.headers,
        )
        with self._lock:
            self._log.append(exchange)
        return exchange

    def reset(self) -> None:
        """Forget everything counted so far."""
        with self._lock:
            self._log = []

    @property
    def log(self) -> tuple[Exchange, ...]:
        """Every exchange, in the order of arrival."""
        with self._lock:
            return tuple(self._log)

    @property
    def requests(self) -> int:
        """The number of requests, redirects and the API included."""
        return len(self.log)

    @property
    def bytes(self) -> int:
        """The body bytes of all answers."""
        return sum(exchange.bytes for exchange in self.log)

    @property
    def tokens_at_cdn(self) -> int:
        """The requests that carried credentials to the signed links: there should be none."""
        return sum(exchange.with_token for exchange in self.log if exchange.area == "cdn")

    @property
    def files(self) -> dict[str, FileCount]:
        """The sums of each file that was asked for."""
        return {name: self[name] for name in sorted({entry.file for entry in self.log if entry.file})}

    def __getitem__(self, name: str) -> FileCount:
        """The sums of one file, zero when nobody asked for it."""
        log = [exchange for exchange in self.log if exchange.file == name]
        answered = [exchange for exchange in log if 200 <= exchange.status < 300 or exchange.status == 304]
        return FileCount(
            heads=sum(exchange.method == "HEAD" for exchange in answered),
            gets=sum(exchange.method == "GET" for exchange in answered),
            redirects=sum(exchange.status == 302 for exchange in log),
            errors=sum(exchange.status >= 400 or exchange.status == 0 for exchange in log),
            bytes=sum(exchange.bytes for exchange in log),
            ranges=tuple(exchange.range for exchange in answered if exchange.range and exchange.method == "GET"),
        )
