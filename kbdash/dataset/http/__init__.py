"""All HTTP of the engine, and all reads of file bytes, remote or local: for DuckDB and for the page reader.

`SourceFiles` has one `ByteSource` per file of a source. The page reader reads exact ranges of it; DuckDB reads through
`SourceFileSystem`, which prefetches columns. `reading(seconds)` sets the deadline of both.
"""

from kbdash.dataset.http.client import HttpClient
from kbdash.dataset.http.files import RANGES, Remote, SourceFiles, address_of, local_file
from kbdash.dataset.http.ranges import CHANGED_ADVICE, ByteSource, LocalBytes, damage_named
from kbdash.dataset.http.remote import EarlyLink, HttpBytes
from kbdash.deadline import Reading, reading

__all__ = [
    "CHANGED_ADVICE",
    "RANGES",
    "ByteSource",
    "EarlyLink",
    "HttpBytes",
    "HttpClient",
    "LocalBytes",
    "Reading",
    "Remote",
    "SourceFiles",
    "address_of",
    "damage_named",
    "local_file",
    "reading",
]
