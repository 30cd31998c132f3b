"""Shutdown with a deadline: after SIGTERM the process ends within seconds, whatever still runs."""

import os
import signal
import threading
from types import FrameType

STOP_SECONDS = 8.0


def end_within(seconds: float = STOP_SECONDS) -> None:
    """Give the server this long for a graceful shutdown after SIGTERM; then end the process.

    Otherwise a page that waits for the Hub, or a download that nobody reads, would keep the process alive. Call it
    from the main thread, after the server has installed its signal handlers.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        _wrap(number, signal.getsignal(number), seconds)


def _wrap(number: signal.Signals, own: object, seconds: float) -> None:
    def stop(signum: int, frame: FrameType | None) -> None:
        last = threading.Timer(seconds, os._exit, [0])
        last.daemon = True
        last.start()
        if callable(own):
            own(signum, frame)

    signal.signal(number, stop)
