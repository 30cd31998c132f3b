"""A file, or a range of it, as a response."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.hub.messages import HubError, Request, Response
from tests.hub.repo import Entry

_RANGE = re.compile(r"bytes=(\d*)-(\d*)$")


def file_response(request: Request, entry: Entry, extra: Mapping[str, str] | None = None) -> Response:
    """The part of the file that the request asks for: 200, 206, 304 or 416."""
    etag = f'"{entry.etag}"'
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream" if entry.linked else "text/plain; charset=utf-8",
        **(extra or {}),
    }
    if request.headers.get("if-none-match") == etag:
        return Response(304, headers)
    size = entry.blob.size
    stretch = _stretch(request, etag, size)
    if stretch is None:
        return Response(200, headers, entry.blob, 0, size)
    first, last = stretch
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Response(206, headers, entry.blob, first, last - first + 1)


def _stretch(request: Request, etag: str, size: int) -> tuple[int, int] | None:
    """First and last byte asked for; None = the whole file, as for headers that are not understood."""
    match = _RANGE.match(request.headers.get("range", "").replace(" ", ""))
    if match is None or match.groups() == ("", "") or request.headers.get("if-range", etag) != etag:
        return None
    start, end = match.groups()
    first = int(start) if start else max(size - int(end), 0)
    last = min(int(end), size - 1) if start and end else size - 1
    if start and end and int(end) < int(start):
        return None
    if first >= size or (not start and int(end) == 0):
        raise HubError(416, "Requested range is not satisfiable", headers={"Content-Range": f"bytes */{size}"})
    return first, last
