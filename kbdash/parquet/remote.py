"""Byte ranges of a file on the Hugging Face Hub.

The Hub answers a file's address with a redirect to a signed link at a content network. It is followed by
hand: once per file rather than once per range, and the token stays with the Hub.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock
from urllib.parse import unquote, urljoin, urlsplit

import httpx2

from kbdash.errors import DataUnavailable
from kbdash.parquet.ranges import ByteSource
from kbdash.parquet.replies import (
    PassingError,
    changed,
    check_range,
    cut_body,
    etag_of,
    failed_reply,
    lost_connection,
)

_PAUSES_S = (0.2, 1.0, 3.0)  # before the second, third and fourth attempt
_LONGEST_WAIT_S = 15.0  # a server that asks for more gets no further request from us
_DEADLINE_S = 120.0  # for one range, all attempts together
_MAX_HUB_HOPS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
# A client that was closed meanwhile, by a reload of the dashboard, answers with a RuntimeError.
_BROKEN = (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError)
_EXPIRED = (400, 401, 403, 404, 410)  # what content networks answer to a link past its time


def hub_client() -> httpx2.Client:
    """A client for all files: connections kept alive, every wait bounded, no redirect on its own."""
    return httpx2.Client(
        timeout=httpx2.Timeout(connect=10, read=30, write=10, pool=60),
        limits=httpx2.Limits(max_connections=16, max_keepalive_connections=8, keepalive_expiry=60),
        headers={"User-Agent": "kbdash", "Accept-Encoding": "identity"},
        follow_redirects=False,
    )


class _LinkExpiredError(Exception):
    """The signed link is no longer honoured."""


@dataclass(slots=True)
class _Link:
    """Where the bytes are, whether the Hub itself serves them there, and the tag they carry."""

    url: str
    at_hub: bool
    etag: str | None = None


class HttpBytes(ByteSource):
    """A file at an address of the Hub that is pinned to a commit.

    Make one per file and share it: all its readers then use one signed link.
    """

    def __init__(
        self,
        url: str,
        *,
        size: int,
        version: str,
        client: httpx2.Client,
        token: str | None = None,
        name: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(name or unquote(urlsplit(url).path.rpartition("/")[2]), size, version)
        self._url = url
        self._token = token
        self._client = client
        self._sleep = sleep
        self._link: _Link | None = None
        self._linked_etag: str | None = None
        self._resolving = Lock()

    def _fetch(self, offset: int, length: int) -> bytes:
        deadline = time.monotonic() + _DEADLINE_S
        for pause_s in (*_PAUSES_S, None):
            try:
                return self._attempt(offset, length, deadline)
            except PassingError as failure:
                if pause_s is None:
                    raise failure.final from failure
                wait_s = pause_s if failure.wait_s is None else failure.wait_s
                if wait_s > _LONGEST_WAIT_S or time.monotonic() + wait_s > deadline:
                    raise failure.final from failure
                self._sleep(wait_s)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, offset: int, length: int, deadline: float) -> bytes:
        if self._client.is_closed:
            raise DataUnavailable(f"{self.name} is no longer open.", advice="Reload the page.")
        link = self._resolved()
        try:
            return self._range(link, offset, length, deadline)
        except _LinkExpiredError:
            fresh = self._resolved(instead_of=link)
        try:
            return self._range(fresh, offset, length, deadline)
        except _LinkExpiredError as refusal:
            raise DataUnavailable(
                f"The Hub's link to {self.name} is refused, even a fresh one.",
                advice="Wait a little and try again; a proxy in between may also be the reason.",
            ) from refusal

    def _range(self, link: _Link, offset: int, length: int, deadline: float) -> bytes:
        headers = {"Range": f"bytes={offset}-{offset + length - 1}", **self._credentials(link.at_hub)}
        self._count(requests=1)
        try:
            with self._client.stream("GET", link.url, headers=headers) as reply:
                if reply.status_code in _REDIRECTS or (reply.status_code in _EXPIRED and not link.at_hub):
                    raise _LinkExpiredError
                check_range(reply, self, offset, length)
                self._check_tag(link, etag_of(reply, "etag"))
                return self._body(reply, length, deadline)
        except _BROKEN as problem:
            raise lost_connection(self.name, problem) from problem

    def _body(self, reply: httpx2.Response, length: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        missing = length
        for part in reply.iter_raw(1 << 20):
            parts.append(part)
            missing -= len(part)
            self._count(received=len(part))
            if missing < 0 or time.monotonic() > deadline:
                break
        if missing:
            raise cut_body(self.name, length)
        return b"".join(parts)

    def _resolved(self, instead_of: _Link | None = None) -> _Link:
        """The link all readers share; asked for anew when it is still the one that failed."""
        with self._resolving:
            if self._link is None or self._link is instead_of:
                self._link = self._resolve(previous=self._link)
            return self._link

    def _resolve(self, previous: _Link | None) -> _Link:
        url = self._url
        for _ in range(_MAX_HUB_HOPS):
            reply = self._ask_hub(url)
            if reply.status_code == HTTPStatus.OK:
                return _Link(url, at_hub=True, etag=previous.etag if previous else None)
            if reply.status_code not in _REDIRECTS or "location" not in reply.headers:
                raise failed_reply(reply, self.name)
            tagged = self._check_identity(reply)
            target = _target(url, reply.headers["location"], self.name)
            if not _is_hub_address(target, url):
                return _Link(target, at_hub=False, etag=None if tagged or not previous else previous.etag)
            url = target
        raise DataUnavailable(f"The Hub sends {self.name} in circles.", advice="Try again later.")

    def _ask_hub(self, url: str) -> httpx2.Response:
        self._count(requests=1)
        try:
            return self._client.head(url, headers=self._credentials(True))
        except _BROKEN as problem:
            raise lost_connection(self.name, problem) from problem

    def _credentials(self, at_hub: bool) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token and at_hub else {}

    def _check_identity(self, reply: httpx2.Response) -> bool:
        """Whether the Hub names the content behind its redirect; an error when that has changed."""
        size, tag = reply.headers.get("x-linked-size"), etag_of(reply, "x-linked-etag")
        if size is not None and size != str(self.size):
            raise changed(self.name)
        if tag is None:
            return False
        if self._linked_etag not in (None, tag):
            raise changed(self.name)
        self._linked_etag = tag
        return True

    def _check_tag(self, link: _Link, tag: str | None) -> None:
        if tag is not None and link.etag is not None and tag != link.etag:
            raise changed(self.name)
        link.etag = link.etag or tag


def _target(url: str, location: str, name: str) -> str:
    """The address a redirect leads to; it must make sense and be no less private than the one before."""
    try:
        target = urljoin(url, location)
        schemes = ("https",) if urlsplit(url).scheme == "https" else ("https", "http")
        if urlsplit(target).scheme in schemes and urlsplit(target).hostname:
            return target
    except ValueError:
        pass
    raise DataUnavailable(f"The Hub redirects {name} to an address that cannot be used.", advice="Try again later.")


def _is_hub_address(target: str, url: str) -> bool:
    """Whether a redirect stays with the Hub's own addresses (a renamed dataset), which may see the token."""
    there, here = urlsplit(target), urlsplit(url)
    return (there.scheme, there.netloc) == (here.scheme, here.netloc) and "/resolve" in there.path
