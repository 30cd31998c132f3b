"""What every command does about a terminal and a pipe: inert text, and a quiet end when the reader is gone."""

import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

_HIDDEN = ("Cc", "Cs", "Zl", "Zp")
_REORDERING = frozenset((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C))
REPLACEMENT = "\ufffd"


def inert(text: str, keep: str = "") -> str:
    """The text; characters that move the cursor, colour or reorder text are replaced, except those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign in keep or not _acts(sign) else REPLACEMENT for sign in text)


def _acts(sign: str) -> bool:
    return unicodedata.category(sign) in _HIDDEN or ord(sign) in _REORDERING


@contextmanager
def until_pipe_closes() -> Iterator[None]:
    """A block that writes to standard output, and ends without an error once its reader has read enough."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python must not flush the rest of the buffer again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
