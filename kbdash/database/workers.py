"""A thread pool for statements, so that the caller can leave at the deadline."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
_IDLE_SECONDS = 30.0
AT_ONCE = 8
"""How many files are opened in parallel in the background."""
_ASKED_AT_ONCE = 32
"""How many files are asked in parallel: more than there are, so that no question waits behind a silent file."""
_Inbox = queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]]


class Workers:
    """A pool that grows with the work. Idle threads are kept for a while: starting one costs more than most statements.

    They are daemons: a read that never ends must not keep the process alive.
    """

    def __init__(self) -> None:
        self._idle: list[_Inbox] = []  # append, pop and remove of a list are atomic

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Start the work in a thread of its own."""
        future: Future[T] = Future()
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), daemon=True, name="kbdash-worker").start()
        inbox.put((future, work))
        return future

    def _serve(self, inbox: _Inbox) -> None:
        while True:
            try:
                future, work = inbox.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                try:
                    self._idle.remove(inbox)
                except ValueError:  # just taken by a caller that is about to send work
                    continue
                return
            _fulfil(future, work)
            del future, work  # an idle thread must not hold on to an answer
            self._idle.append(inbox)


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


WORKERS = Workers()
"""Shared by the whole process."""


def submit_with_deadline(work: Callable[[], T]) -> Future[T]:
    """Start the work in a thread of its own, with the deadline of this thread."""
    return WORKERS.submit(partial(copy_context().run, work))


def queue_of(pieces: Iterable[Callable[[], object]]) -> Callable[[], None]:
    """A function that does one piece of work after the other until none is left; several threads may run it."""
    waiting = deque(pieces)

    def work() -> None:
        while waiting:
            try:
                piece = waiting.popleft()
            except IndexError:  # another thread took it
                return
            piece()

    return work


def in_parallel(works: Sequence[Callable[[], T]]) -> list[Future[T]]:
    """Run all works in parallel, in this thread and in others, all with the deadline of this thread."""
    futures: list[Future[T]] = [Future() for _ in works]
    work = queue_of([partial(_fulfil, future, piece) for future, piece in zip(futures, works, strict=True)])
    for _ in range(min(_ASKED_AT_ONCE, len(works)) - 1):
        submit_with_deadline(work)
    work()
    return futures
