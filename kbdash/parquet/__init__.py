"""Single cells of parquet files too large to download."""

import httpx2

from kbdash.errors import CorruptData
from kbdash.model import DataFile
from kbdash.parquet.cell import Cell, CellReader
from kbdash.parquet.directories import PageDirectories
from kbdash.parquet.directory import PageDirectory
from kbdash.parquet.ranges import CHANGED_ADVICE, ByteSource, LocalBytes
from kbdash.parquet.remote import HttpBytes, hub_client

__all__ = [
    "ByteSource",
    "Cell",
    "CellReader",
    "HttpBytes",
    "LocalBytes",
    "PageDirectories",
    "PageDirectory",
    "hub_client",
    "open_bytes",
]


def open_bytes(file: DataFile, *, client: httpx2.Client, token: str | None = None) -> ByteSource:
    """The bytes of a data file, on the Hub or on disk; make one per file and share it among readers."""
    if file.location.startswith(("https://", "http://")):
        return HttpBytes(
            file.location, name=file.name, size=file.size, version=file.version, token=token, client=client
        )
    local = LocalBytes(file.location, name=file.name, version=file.version)
    if local.size != file.size:
        raise CorruptData(f"{file.name} was changed since it was listed.", advice=CHANGED_ADVICE)
    return local
