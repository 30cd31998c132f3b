"""HTTP responses: a body with its headers, made once and shared, and conditional and range requests for it."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

FRESH_SECONDS = 300
WORTH_PACKING = 1000
_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")
EXPOSED = (
    "ETag", "Content-Disposition", "Content-Range", "Link", "Retry-After", "Kbdash-Commit", "Kbdash-Sample",
    "Kbdash-Rows", "Kbdash-Total", "Kbdash-Truncated", "Kbdash-Unavailable",
)  # fmt: skip


@dataclass(frozen=True)
class Body:
    """Bytes with their headers; `lasting` is false if a later answer may be more complete."""

    content: bytes
    media_type: str
    file_name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    lasting: bool = True
    saved: bool = False
    """Whether a browser saves it rather than showing it."""

    @cached_property
    def tag(self) -> str:
        """The ETag: equal for equal bytes."""
        return blake2b(self.content, digest_size=16).hexdigest()

    @cached_property
    def packed(self) -> bytes | None:
        """The content as gzip, if that is shorter; Parquet is compressed already."""
        if len(self.content) < WORTH_PACKING or "parquet" in self.media_type:
            return None
        packed = gzip.compress(self.content, 6, mtime=0)
        return packed if len(packed) < len(self.content) else None

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return len(self.content) + len(self.packed or b"")


@dataclass(frozen=True)
class Stream:
    """A long body, sent in parts that are made one after the other; without ranges.

    `tag` is its weak ETag: equal for equal rows, since the bytes are known only once they are sent.
    """

    parts: Callable[[], Iterator[bytes]]
    media_type: str
    file_name: str
    headers: Mapping[str, str]
    tag: str
    lasting = False
    size = 0


def respond(request: Request, body: Body | Stream) -> Response:
    """The response: 200; 304 if the client has it already; 206 or 416 for a range."""
    if isinstance(body, Stream):
        return _streamed(request, body)
    asks_part = "range" in request.headers
    packed = body.packed if _takes_gzip(request.headers.get("accept-encoding", "")) and not asks_part else None
    # A strong ETag names exact bytes, so the gzipped ones have their own.
    tag = f'"{body.tag}{"-gzip" if packed is not None else ""}"'
    headers = _headers(body, tag)
    if _has(request.headers.get("if-none-match", ""), body.tag):
        return Response(None, 304, headers)
    content = body.content if packed is None else packed
    if packed is not None:
        headers["Content-Encoding"] = "gzip"
    part = _part(request, tag, len(content)) if asks_part else None
    if part is None:
        return Response(content, 200, headers, body.media_type)
    if part.start >= len(content):
        return Response(None, 416, headers | {"Content-Range": f"bytes */{len(content)}"})
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
    return Response(content[part.start : part.stop], 206, headers, body.media_type)


def _streamed(request: Request, body: Stream) -> Response:
    headers = {
        "ETag": f'W/"{body.tag}"',
        "Vary": "Accept-Encoding",
        "Accept-Ranges": "none",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
        "Content-Disposition": f'attachment; filename="{body.file_name}"',
        **body.headers,
    }
    if _has(request.headers.get("if-none-match", ""), body.tag):
        return Response(None, 304, headers)
    if request.method == "HEAD":
        return Response(None, 200, headers, body.media_type)
    parts = body.parts()
    if _takes_gzip(request.headers.get("accept-encoding", "")):
        headers["Content-Encoding"] = "gzip"
        parts = _gzipped(parts)
    return StreamingResponse(parts, 200, headers, body.media_type)


def _gzipped(parts: Iterator[bytes]) -> Iterator[bytes]:
    packing = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    for part in parts:
        yield packing.compress(part)
    yield packing.flush()


def _headers(body: Body, tag: str) -> dict[str, str]:
    headers = {
        "ETag": tag,
        "Vary": "Accept-Encoding",
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": f"public, max-age={FRESH_SECONDS}" if body.lasting else "no-cache",
        **body.headers,
    }
    if body.file_name:
        kind = "attachment" if body.saved else "inline"
        headers["Content-Disposition"] = f'{kind}; filename="{body.file_name}"'
    return headers


def _has(header: str, tag: str) -> bool:
    """Whether a client's ETag names these bytes, gzipped or not; If-None-Match compares weakly."""
    named = [text.strip().removeprefix("W/").strip('"').removesuffix("-gzip") for text in header.split(",")]
    return header.strip() == "*" or tag in named


def _takes_gzip(header: str) -> bool:
    for entry in header.lower().split(","):
        name, _, weight = entry.partition(";")
        if name.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def _part(request: Request, tag: str, size: int) -> slice | None:
    """The range asked for; None for the whole, which is also the response to a header that is not understood."""
    asked = _RANGE.fullmatch(request.headers["range"].replace(" ", ""))
    if request.method != "GET" or asked is None or request.headers.get("if-range", tag) != tag:
        return None
    first, last = asked.groups()
    if not first:
        return slice(max(0, size - int(last)), size) if last and int(last) else None
    if last and int(last) < int(first):
        return None
    return slice(int(first), min(size, int(last) + 1) if last else size)
