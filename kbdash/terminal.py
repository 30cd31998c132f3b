"""What every command does about a terminal, a pipe and a disk: inert text, quiet ends, and no traceback."""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

INTERRUPTED = 130
UNUSABLE = 2
"""Exit codes: stopped by Ctrl-C; something named by the caller cannot be written or read."""
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


def carried_out(main: Callable[[], int]) -> int:
    """The exit code of a program, also when it is stopped or a file cannot be written. Never shows a traceback."""
    provide_streams()
    try:
        return main()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        return INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"{os_error_text(error)}\n")
        return UNUSABLE


def provide_streams() -> None:
    """A program that was started without standard output or standard error writes into nothing instead of failing."""
    nowhere = Path(os.devnull)
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")


def os_error_text(error: OSError) -> str:
    """What a reader should know of an error of the operating system."""
    return inert(f"{error.filename or 'The answer'} cannot be written or read: {error.strerror}.")
