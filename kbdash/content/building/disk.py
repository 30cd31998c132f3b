"""Disk space: check it before a build, and say so plainly when it runs out."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kbdash.errors import KbdashError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_WORDS = ("No space left", "File too large", "Disk quota", "errno 28", "errno 27")
# Measured at full scale: parts take about a fifth of the pages they come from, tables a twentieth.
_SHARE_NEEDED = 0.35
_LEAST_FREE = 64 << 20


class DiskFull(KbdashError):
    """There is no room for the store."""


def needed_bytes(column_bytes: int) -> int:
    """The most bytes that building a store takes, for a column of this many compressed bytes."""
    return int(column_bytes * _SHARE_NEEDED) + _LEAST_FREE


def check_room(folder: Path, column_bytes: int) -> None:
    """Raise DiskFull when there is not enough room to build."""
    folder.mkdir(parents=True, exist_ok=True)
    free, needed = shutil.disk_usage(folder).free, needed_bytes(column_bytes)
    if free < needed:
        raise DiskFull(
            f"Building needs about {needed >> 20:,} MB in {folder}, and {free >> 20:,} MB are free.",
            advice="Free some, or choose another folder with --out or KBDASH_CACHE.",
        )


@contextmanager
def full_disk_named(folder: Path) -> Iterator[None]:
    """Turn errors about a full disk in this block into DiskFull."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL or any(word in str(error) for word in _FULL_WORDS):
            raise DiskFull(
                f"The disk of {folder} is full.",
                advice="Free some room and start the build again: it goes on where it stopped.",
            ) from error
        raise


def flush_folder(folder: Path) -> None:
    """Flush every file of a folder to the disk (fsync)."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
