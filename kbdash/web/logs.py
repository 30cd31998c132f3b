"""The server's log may be public too, so secrets are removed from it."""

import logging

from kbdash.scrub import without_secrets


class Scrubbed(logging.Formatter):
    """Wraps a formatter and removes secrets from its text."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """The line or the traceback."""
        lines = self._inner.format(record).splitlines()
        return "\n".join(without_secrets(line) for line in lines)


def install() -> None:
    """Install the scrubbing formatter on our own logger and on the server's loggers."""
    own = logging.getLogger("kbdash")
    if not own.handlers:
        own.addHandler(logging.StreamHandler())
        own.propagate = False
    names = (None, "kbdash", "streamlit", "uvicorn", "uvicorn.error", "uvicorn.asgi")
    for handler in (handler for name in names for handler in logging.getLogger(name).handlers):
        if not isinstance(handler.formatter, Scrubbed):
            handler.setFormatter(Scrubbed(handler.formatter or logging.Formatter()))
