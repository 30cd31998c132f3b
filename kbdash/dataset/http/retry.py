"""Retries with backoff."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kbdash.dataset.http.failures import TransientError

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[object]]
PAUSES_S = (0.2, 1.0, 3.0)
"""Backoff before the second, third and fourth attempt, unless the server asks for a longer wait."""
LONGEST_WAIT_S = 15.0
"""Limit of all waits together; when a server asks for more, we give up."""
_ASKED_S = 1.0  # shortest wait after a Retry-After: `Retry-After: 0` must not cause endless retries


async def with_retries(attempt: Callable[[], Awaitable[T]], expires: float, sleep: Sleep = asyncio.sleep) -> T:
    """Result of the attempt; retried after a transient error while attempts and time are left."""
    pauses = iter(PAUSES_S)
    waited_s = 0.0
    while True:
        try:
            return await attempt()
        except TransientError as failure:
            wait_s = failure.wait_s or 0.0
            if wait_s < _ASKED_S:
                wait_s = max(wait_s, next(pauses, LONGEST_WAIT_S + 1))
            waited_s += wait_s
            if waited_s > LONGEST_WAIT_S or time.monotonic() + wait_s > expires:
                raise failure.final from failure
        await sleep(wait_s)
