"""Byte ranges of a file on the Hugging Face Hub.

The Hub redirects a file's address to a signed link at a CDN. We follow it by hand: once per file rather than
once per range, and without sending the token to the CDN.
"""

import asyncio
import re
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote, urljoin, urlsplit

import httpx2

from kbdash.dataset.http.client import HttpClient
from kbdash.dataset.http.failures import (
    Asked,
    changed,
    check_body,
    check_range,
    cut_body,
    etag_of,
    failed_reply,
    lost_connection,
    ranges_ignored,
    too_slow,
)
from kbdash.dataset.http.loop import submit, wait
from kbdash.dataset.http.ranges import ByteSource
from kbdash.dataset.http.retry import Sleep, with_retries
from kbdash.deadline import read_deadline
from kbdash.errors import DataUnavailable

READ_SECONDS = 20.0
"""Deadline of one range, retries included, when the question sets none."""
_SMALL_BYTES = 8 << 20  # up to this size a file is accepted whole from a server that ignores ranges
_LINK_SECONDS = 55 * 60.0  # links expire after an hour
_MAX_HUB_HOPS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_BROKEN = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, RuntimeError)
_EXPIRED = (400, 401, 403, 404, 410)  # what CDNs answer to an expired link
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class _LinkExpiredError(Exception):
    """The signed link has expired."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class _Link:
    """Where the bytes are, whether the Hub itself serves them, their ETag, and when the link expires."""

    url: str
    at_hub: bool
    etag: str | None = None
    good_until: float = 0.0


@dataclass
class EarlyLink:
    """A request for a file's link, sent before the commit of the source was known (it saves a round trip)."""

    asked: Future[httpx2.Response]
    commit: str

    async def reply(self) -> httpx2.Response | None:
        """The response, if it is about the file in this commit."""
        try:
            reply = await asyncio.wrap_future(self.asked)
        except Exception:  # the regular request will fail too, with a proper message
            return None
        return reply if reply.headers.get("x-repo-commit") == self.commit else None


class HttpBytes(ByteSource):
    """A file at a Hub address that is pinned to a commit.

    Make one per file and share it: all its readers then use one signed link.
    """

    def __init__(
        self,
        url: str,
        *,
        size: int,
        version: str,
        client: HttpClient,
        token: str | None = None,
        name: str | None = None,
        sleep: Sleep = asyncio.sleep,
        early: "EarlyLink | None" = None,
    ) -> None:
        parts = urlsplit(url)
        super().__init__(name or unquote(parts.path.rpartition("/")[2]), size, version)
        self.asked = Asked(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", self.name)
        self._url = url
        self._token = token
        self._client = client
        self._sleep = sleep
        self._early = early
        self._link: _Link | None = None
        self._linked_etag: str | None = None
        self._resolving: asyncio.Lock | None = None

    def _fetch(self, offset: int, length: int) -> bytes:
        expires = read_deadline(READ_SECONDS)
        future = submit(self.fetch(offset, length, expires))
        try:
            return wait(future, expires)
        except TimeoutError:
            future.cancel()
            raise too_slow(self.asked) from None

    async def fetch(self, offset: int, length: int, expires: float) -> bytes:
        """The range, fetched in the network thread; a KbdashError when it has not arrived by `expires`."""
        try:
            async with asyncio.timeout_at(expires):
                return await with_retries(lambda: self._attempt(offset, length), expires, self._sleep)
        except TimeoutError:
            raise too_slow(self.asked) from None

    async def _attempt(self, offset: int, length: int) -> bytes:
        client = await self._client.opened()
        try:
            link = await self._resolved(client)
            with suppress(_LinkExpiredError):
                return await self._range(client, link, offset, length)
            link = await self._resolved(client, instead_of=link)
            with suppress(_LinkExpiredError):
                return await self._range(client, link, offset, length)
            # Ranges fetched in parallel share the fresh link. If it serves only one of them, this one needs its own.
            return await self._range(client, await self._resolve(client, previous=link), offset, length)
        except _LinkExpiredError as refusal:
            raise DataUnavailable(
                f"The signed link that {self.asked.host} gave for {self.name} is refused ({refusal.status}), "
                "even a fresh one.",
                advice="Retry in a moment; a proxy in between may also be the reason.",
            ) from refusal
        except _BROKEN as error:
            await self._client.opened()  # raises if the source was closed meanwhile
            raise lost_connection(self.asked, error) from error

    async def _range(self, client: httpx2.AsyncClient, link: _Link, offset: int, length: int) -> bytes:
        headers = {"Range": f"bytes={offset}-{offset + length - 1}"}
        if link.at_hub:
            headers |= credentials(self._token)
        self._count(requests=1)
        async with client.stream("GET", link.url, headers=headers) as reply:
            if reply.status_code in _REDIRECTS or (reply.status_code in _EXPIRED and not link.at_hub):
                raise _LinkExpiredError(reply.status_code)
            if reply.status_code == HTTPStatus.OK:
                whole = await self._whole(reply, link, length)
                return whole[offset : offset + length]
            check_range(reply, self.asked, offset, length, self.size)
            self._check_tag(link, etag_of(reply, "etag"))
            return await self._body(reply, length)

    async def _whole(self, reply: httpx2.Response, link: _Link, length: int) -> bytes:
        """The whole file, from a server that ignores ranges; only if it is small or was asked for whole."""
        if length != self.size and self.size > _SMALL_BYTES:
            raise ranges_ignored(self.asked)
        self._check_tag(link, etag_of(reply, "etag"))
        check_body(reply, self.asked, self.size)
        return await self._body(reply, self.size)

    async def _body(self, reply: httpx2.Response, length: int) -> bytes:
        parts: list[bytes] = []
        missing = length
        async for part in reply.aiter_raw():
            parts.append(part)
            missing -= len(part)
            self._count(received=len(part))
            if missing < 0:
                break
        if missing:
            raise cut_body(self.asked, length)
        return b"".join(parts)

    async def _resolved(self, client: httpx2.AsyncClient, instead_of: _Link | None = None) -> _Link:
        """The shared link; renewed when it has expired, or is still the one that failed."""
        if self._resolving is None:
            self._resolving = asyncio.Lock()
        async with self._resolving:
            link = self._link
            if link is None or link is instead_of or time.monotonic() > link.good_until:
                self._link = link = await self._resolve(client, previous=link)
                link.good_until = time.monotonic() + _LINK_SECONDS
            return link

    async def _resolve(self, client: httpx2.AsyncClient, previous: _Link | None) -> _Link:
        url = self._url
        for _ in range(_MAX_HUB_HOPS):
            reply = await self._asked_early(url)
            if reply is None:
                self._count(requests=1)
                reply = await client.head(url, headers=credentials(self._token))
            if reply.status_code == HTTPStatus.OK:
                self._check_version(etag_of(reply, "x-linked-etag") or etag_of(reply, "etag"))
                return _Link(url, at_hub=True, etag=previous.etag if previous else None)
            if reply.status_code not in _REDIRECTS or "location" not in reply.headers:
                raise failed_reply(reply, self.asked)
            vouched = self._check_identity(reply)
            target = _target(url, reply.headers["location"], self.asked)
            if not _is_hub_address(target, url):
                return _Link(target, at_hub=False, etag=None if vouched or not previous else previous.etag)
            url = target
        raise DataUnavailable(f"{self.asked.host} redirects {self.name} in a loop.", advice="Try again later.")

    async def _asked_early(self, url: str) -> httpx2.Response | None:
        """The response to the EarlyLink, if it is for the same commit; used once."""
        early, self._early = self._early, None
        if early is None:
            return None
        self._count(requests=1)
        reply = await early.reply()
        location = "" if reply is None else reply.headers.get("location", "")
        if not location or _is_hub_address(_target(url, location, self.asked), url):
            return None
        return reply

    def _check_identity(self, reply: httpx2.Response) -> bool:
        """Whether the redirect names the content behind it (linked ETag); an error when that is another version."""
        size, tag = reply.headers.get("x-linked-size"), etag_of(reply, "x-linked-etag")
        if size is not None and size != str(self.size):
            raise changed(self.asked)
        if tag is None:
            return False
        self._check_version(tag)
        if self._linked_etag not in (None, tag):
            raise changed(self.asked)
        self._linked_etag = tag
        return True

    def _check_version(self, tag: str | None) -> None:
        """Raise on another version. The Hub's ETag is the digest that we use as version; other servers have others."""
        comparable = tag is not None and len(tag) == len(self.version) and _DIGEST.fullmatch(tag)
        if comparable and _DIGEST.fullmatch(self.version) and tag != self.version:
            raise changed(self.asked)

    def _check_tag(self, link: _Link, tag: str | None) -> None:
        """Raise if the ETag behind a link changed. Each storage host computes ETags in its own way."""
        if tag is not None and link.etag is not None and tag != link.etag:
            raise changed(self.asked)
        link.etag = link.etag or tag


def credentials(token: str | None) -> dict[str, str]:
    """The headers for the Hub, and for no other host."""
    return {"Authorization": f"Bearer {token}"} if token else {}


def _target(url: str, location: str, asked: Asked) -> str:
    """The target of a redirect; it must be valid and must not downgrade from https."""
    try:
        target = urljoin(url, location)
        schemes = ("https",) if urlsplit(url).scheme == "https" else ("https", "http")
        if urlsplit(target).scheme in schemes and urlsplit(target).hostname:
            return target
    except ValueError:
        pass
    raise DataUnavailable(
        f"{asked.host} redirects {asked.name} to an address that cannot be used.", advice="Try again later."
    )


def _is_hub_address(target: str, url: str) -> bool:
    """Whether a redirect stays at the Hub (a renamed dataset), which may see the token."""
    there, here = urlsplit(target), urlsplit(url)
    return (there.scheme, there.netloc) == (here.scheme, here.netloc) and "/resolve" in there.path
