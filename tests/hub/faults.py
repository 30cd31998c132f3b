"""The ways in which the Hub can be made to fail."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from tests.hub.blobs import Zeros
from tests.hub.links import LIFE_SECONDS, Links
from tests.hub.messages import HubError, Request, Response, Stall
from tests.hub.repo import Repository


@dataclass
class _Rule:
    """Applies to paths that match a glob, for a number of times; None = until cleared."""

    path: str
    times: int | None

    def fits(self, request: Request) -> bool:
        return self.times != 0 and fnmatchcase(request.path, self.path)


@dataclass
class _Failure(_Rule):
    error: HubError


@dataclass
class _Cut(_Rule):
    after: int


@dataclass
class _Corrupt(_Rule):
    """Zeros instead of the content, under its tag and of its length."""


@dataclass
class _Stall(_Rule):
    after: int
    byte_every: float | None  # seconds between further bytes; None = none follow
    over: threading.Event = field(default_factory=threading.Event)


@dataclass
class _Hang(_Rule):
    over: threading.Event = field(default_factory=threading.Event)


_AnyRule = TypeVar("_AnyRule", bound=_Rule)


class Faults:
    """Switches, all off at first; `clear()` turns everything off again.

    Globs are matched against the path without its query: "/api/*" is the API, "*/resolve/*" the redirects,
    "/cdn/*" the signed links, "*nvfp4*.parquet" one file on both of its ways.
    """

    def __init__(self, dataset: Repository, links: Links, set_listening: Callable[[bool], None]) -> None:
        self.latency = 0.0  # seconds before each answer
        self.connection_latency = 0.0  # seconds before the first answer on a new connection, on top
        self.redirect = True  # False: resolve answers with the content itself
        self.ignore_range = False  # True: 200 and the whole file, whatever range is asked
        self._dataset = dataset
        self._links = links
        self._set_listening = set_listening
        self._refuse = False
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()

    @property
    def refuse(self) -> bool:
        """True: open connections are reset and new ones refused, until it is False again."""
        return self._refuse

    @refuse.setter
    def refuse(self, refuse: bool) -> None:
        if refuse != self._refuse:
            self._set_listening(not refuse)
            self._refuse = refuse

    def fail(
        self,
        status: int = 503,
        path: str = "*",
        *,
        times: int | None = None,
        retry_after: int | None = None,
        rate_limit: int | None = None,
        code: str | None = None,
        message: str = "Switched on for a test",
    ) -> None:
        """Answer with an error; `code` is the Hub's X-Error-Code. `retry_after` and `rate_limit` are in seconds: the
        Hub itself sends its RateLimit header alone."""
        headers = {}
        if retry_after is not None:
            headers["Retry-After"] = str(retry_after)
        if status == 429 and retry_after is not None:
            headers["RateLimit"] = f'"api";r=0;t={retry_after}'
        if rate_limit is not None:
            headers["RateLimit"] = f'"resolvers";r=0;t={rate_limit}'
        self._add(_Failure(path, times, HubError(status, message, code, headers)))

    def cut_after(self, size: int, path: str = "*", *, times: int | None = None) -> None:
        """Drop the connection in the middle of longer bodies, after that many bytes."""
        self._add(_Cut(path, times, size))

    def silent_after(self, size: int, path: str = "*", *, times: int | None = None) -> None:
        """Fall silent in the middle of longer bodies and keep the connection; cleared, it is dropped."""
        self._add(_Stall(path, times, size, None))

    def trickle(self, path: str = "*", *, byte_every: float = 0.05, times: int | None = None) -> None:
        """Send bodies one byte at a time."""
        self._add(_Stall(path, times, 0, byte_every))

    def corrupt(self, path: str = "*", *, times: int | None = None) -> None:
        """Send zeros in place of content; status, length and tag are right."""
        self._add(_Corrupt(path, times))

    def hang(self, path: str = "*", *, times: int | None = None) -> None:
        """Take requests and never answer; cleared, the connections are dropped."""
        self._add(_Hang(path, times))

    def expire_links(self, *, seconds: float | None = None, uses: int | None = None) -> None:
        """Let links live that long, or for that many downloads; without either, those made so far end now."""
        if seconds is None and uses is None:
            self._links.expire_all()
        if seconds is not None:
            self._links.life_seconds = seconds
        if uses is not None:
            self._links.max_uses = uses

    def replace(self, name: str, data: bytes, *, listed: bool = False) -> None:
        """Serve other bytes, under another ETag, at the URLs of a file; `listed` = as if it had been published so."""
        self._dataset.replace(name, data, listed=listed)

    def clear(self) -> None:
        """Turn every fault off."""
        self._release()
        self.latency, self.connection_latency, self.redirect, self.ignore_range = 0.0, 0.0, True, False
        self._links.life_seconds, self._links.max_uses = LIFE_SECONDS, None
        self._dataset.restore()
        self.refuse = False

    def close(self) -> None:
        """Wake every request that waits, for good."""
        self._closed.set()
        self._release()

    def wrap(self, answer: Callable[[Request], Response], request: Request) -> Response:
        """The answer to a request, with the faults that are on."""
        if self.latency:
            self._closed.wait(self.latency)
        hang = self._take(_Hang, request)
        if hang is not None:
            hang.over.wait()
        if hang is not None or self._closed.is_set():
            raise ConnectionAbortedError("no answer is given")
        failure = self._take(_Failure, request)
        if failure is not None:
            return failure.error.response()
        if self.ignore_range:
            request = replace(request, headers={**request.headers, "range": ""})
        return self._spoiled(request, answer(request))

    def _spoiled(self, request: Request, response: Response) -> Response:
        """The response with the faults of its body."""
        if request.method == "HEAD" or not 200 <= response.status < 300:
            return response
        if self._take(_Corrupt, request):
            return replace(response, blob=Zeros(response.blob.size))
        stall = self._take(_Stall, request, lambda rule: response.size > rule.after)
        if stall is not None:
            return replace(response, stall=Stall(stall.after, stall.byte_every, stall.over))
        cut = self._take(_Cut, request, lambda rule: response.size > rule.after)
        return replace(response, cut_after=cut.after) if cut else response

    def _add(self, rule: _Rule) -> None:
        with self._lock:
            self._rules.append(rule)

    def _take(
        self, kind: type[_AnyRule], request: Request, applies: Callable[[_AnyRule], bool] = lambda _: True
    ) -> _AnyRule | None:
        """The first rule of a kind for the request, used up once."""
        with self._lock:
            for rule in self._rules:
                if isinstance(rule, kind) and rule.fits(request) and applies(rule):
                    rule.times = None if rule.times is None else rule.times - 1
                    return rule
        return None

    def _release(self) -> None:
        with self._lock:
            rules, self._rules = self._rules, []
        for rule in rules:
            if isinstance(rule, _Hang | _Stall):
                rule.over.set()
