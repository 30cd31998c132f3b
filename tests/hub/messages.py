"""What goes over the wire: a request, a response, and the Hub's way of saying no."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.hub.blobs import Blob, Memory


@dataclass(frozen=True)
class Request:
    """One HTTP request; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @cached_property
    def raw_path(self) -> str:
        """The path as sent, escapes included: an escaped slash does not part segments."""
        return urlsplit(self.target).path

    @cached_property
    def path(self) -> str:
        """The path as people write it; globs of faults are matched against this."""
        return unquote(self.raw_path)

    @cached_property
    def query(self) -> dict[str, str]:
        """The query parameters, the last one of a name."""
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @cached_property
    def queries(self) -> dict[str, list[str]]:
        """The query parameters with every value of a name."""
        return parse_qs(urlsplit(self.target).query)

    @property
    def area(self) -> str:
        """Which part of the Hub is asked: api, resolve or cdn."""
        if self.raw_path.startswith("/cdn/"):
            return "cdn"
        return "api" if self.raw_path.startswith("/api/") else "resolve"

    @cached_property
    def file(self) -> str | None:
        """The name of the file asked for, None for the API."""
        if self.area == "api":
            return None
        prefix = r"/cdn(?:/[^/]+){4}/" if self.area == "cdn" else r"/.+?/resolve/[^/]+/"
        match = re.match(prefix + "(.+)", self.raw_path)
        return unquote(match[1]) if match else None

    @property
    def token(self) -> str | None:
        """The bearer token that came along."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() or None if scheme.lower() == "bearer" else None

    def json(self) -> Any:
        """The body as JSON."""
        try:
            return json.loads(self.body)
        except ValueError as problem:
            raise HubError(400, f"The body is not JSON: {problem}") from problem


@dataclass(frozen=True)
class Stall:
    """A body that falls silent after some bytes, or goes on one by one, until it is over."""

    after: int
    byte_every: float | None
    over: threading.Event


@dataclass(frozen=True)
class Response:
    """One HTTP response: a stretch of a blob, or nothing, under a status and headers."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    blob: Blob = field(default_factory=lambda: Memory(b""))
    first: int = 0
    size: int = 0
    cut_after: int | None = None  # body bytes after which the connection is dropped
    stall: Stall | None = None


class HubError(Exception):
    """A refusal as the Hub words it: clients look at the two X-Error headers."""

    def __init__(
        self, status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = dict(headers or {})

    def response(self, **extra: Any) -> Response:
        """The error as a response, with further fields in its JSON body."""
        # The message may quote a path, and a header takes neither line ends nor every letter.
        plain = " ".join(self.message.split()).encode("ascii", "replace").decode()
        headers = {"X-Error-Message": plain, **self.headers}
        if self.code:
            headers["X-Error-Code"] = self.code
        return json_response({"error": self.message, **extra}, self.status, headers)


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as a JSON response."""
    body = Memory(json.dumps(value).encode())
    headers = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
    return Response(status, headers, body, 0, body.size)
