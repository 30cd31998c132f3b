"""The bytes of one file: small ones are kept in memory, large ones are sent from disk by the kernel."""

from __future__ import annotations

import hashlib
import os
import socket
from functools import cached_property
from pathlib import Path
from typing import Protocol

IN_MEMORY_BYTES = 8 * 2**20


class Blob(Protocol):
    """Content that never changes: a length, a name made from it, and a way to a socket."""

    size: int

    @property
    def sha256(self) -> str: ...

    def send(self, out: socket.socket, first: int, count: int) -> None: ...


class Memory:
    """A small file, copied, so that it can be rewritten on disk without touching an older commit."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the content, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def git_oid(self) -> str:
        """The id git gives to this content, in hex."""
        return git_oid(self.data)

    def send(self, out: socket.socket, first: int, count: int) -> None:
        """Send a stretch of the content."""
        out.sendall(memoryview(self.data)[first : first + count])


class Zeros:
    """What a broken proxy may send: the right number of bytes, all wrong."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.sha256 = ""

    def send(self, out: socket.socket, first: int, count: int) -> None:
        """Send so many zeros."""
        out.sendall(bytes(count))


class OnDisk:
    """A large file, held open: it may be replaced or deleted in its folder, but not rewritten in place.

    Its SHA-256 is one of name, size and time of change: reading gigabytes would make every start slow.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        facts = os.fstat(self._descriptor)
        self.size = facts.st_size
        identity = f"{path.name}\0{facts.st_size}\0{facts.st_mtime_ns}"
        self.sha256 = hashlib.sha256(identity.encode()).hexdigest()

    def send(self, out: socket.socket, first: int, count: int) -> None:
        """Send a stretch of the file without taking it through Python."""
        end = first + count
        while first < end:
            sent = os.sendfile(out.fileno(), self._descriptor, first, end - first)
            if not sent:
                raise ConnectionAbortedError("the file is shorter than it was")
            first += sent

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


def open_blob(path: Path) -> Memory | OnDisk:
    """The content of a file as it is now."""
    return OnDisk(path) if path.stat().st_size > IN_MEMORY_BYTES else Memory(path.read_bytes())


def git_oid(data: bytes) -> str:
    """The id git gives to a blob, in hex."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
