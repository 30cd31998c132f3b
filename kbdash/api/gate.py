"""Run the work of a request: in a thread, by a deadline, with limited concurrency."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request
from starlette.types import Scope

from kbdash.api.failures import Busy
from kbdash.errors import QueryTimeout

T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """Limits: concurrent requests of one client and of all, seconds, and rows."""

    in_all: int = 12
    per_client: int = 4
    seconds: float = 60.0
    rows: int = 100_000


class Gate:
    """Runs work in threads. Work abandoned at its deadline counts until it ends, so that it cannot pile up."""

    def __init__(self, bounds: Bounds, client: Callable[[Scope], str | None]) -> None:
        self.bounds = bounds
        self._client = client
        self._running: Counter[str | None] = Counter()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(bounds.in_all, "kbdash-api")

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """The result of the work; Busy when there is too much already, QueryTimeout at the deadline."""
        return await self.do(self._client(request.scope), work)

    async def do(self, client: str | None, work: Callable[[], T]) -> T:
        """The same for a client that is already known; None has only the limit of all."""
        self._enter(client)
        future = self._threads.submit(work)
        future.add_done_callback(lambda _: self._leave(client))
        return await self._in_time(future)

    async def _in_time(self, future: Future[T]) -> T:
        waiting = asyncio.wrap_future(future)
        done, _ = await asyncio.wait({waiting}, timeout=self.bounds.seconds)
        if done:
            return waiting.result()
        waiting.add_done_callback(lambda late: late.cancelled() or late.exception())
        raise QueryTimeout("The answer was not there in time.", advice="Narrow the question down, or try again.")

    def _enter(self, client: str | None) -> None:
        with self._lock:
            if self._running.total() >= self.bounds.in_all:
                raise Busy("Many answers are being made at once.", advice="Try again in a moment.")
            # Local programs, and clients behind a proxy that hides their addresses, have only the limit of all.
            if client is not None and self._running[client] >= self.bounds.per_client:
                raise Busy(
                    f"At most {self.bounds.per_client} answers are made for you at once.",
                    advice="Ask one after the other.",
                )
            self._running[client] += 1

    def _leave(self, client: str | None) -> None:
        with self._lock:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]
