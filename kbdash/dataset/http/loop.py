"""One thread with an event loop does all network work of the process; other threads submit work and wait for it.

Only an event loop can keep a wall-clock deadline whatever the server does: a coroutine can be cancelled during a DNS
lookup, while it waits for a header, or while bytes trickle in. A blocking call cannot.
"""

import asyncio
import os
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
_GRACE_SECONDS = 0.5
"""Seconds. A coroutine ends at its deadline; if the loop hangs, the caller gives up this much later."""
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start the work in the network thread."""
    return asyncio.run_coroutine_threadsafe(work, _running())


def wait(future: Future[T], expires: float) -> T:
    """Result of the work, or TimeoutError shortly after `expires` (time.monotonic())."""
    return future.result(timeout=max(0.0, expires - time.monotonic()) + _GRACE_SECONDS)


def _running() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603  (one per process, created lazily)
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, daemon=True, name="kbdash-http").start()
        return _loop


def _forget() -> None:
    """After a fork: the child has no thread that runs its parent's loop."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
