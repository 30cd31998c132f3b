"""What a response means: content, a transient failure (worth a retry) or a permanent one; and the error message."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from kbdash.dataset.http.ranges import CHANGED_ADVICE
from kbdash.errors import ContentChanged, DataUnavailable

RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
TOKEN_ADVICE = "If it is private or gated, set HF_TOKEN to a token that may read it."  # noqa: S105
_CONTENT_RANGE = re.compile(r"bytes (\d{1,20})-(\d{1,20})/(\d{1,20}|\*)")
_RATE_LIMIT = re.compile(r'"\w+"\s*;\s*r\s*=\s*0+\s*;\s*t\s*=\s*(\d{1,9})')
_PROXY_ADVICE = "A proxy in between may be the reason; check HF_ENDPOINT and the proxy settings."
_RETRY_ADVICE = "Check the network and retry in a moment."


@dataclass(frozen=True)
class Asked:
    """The host and the file of a request, as error messages name them."""

    host: str
    name: str


class TransientError(Exception):
    """A transient failure, worth a retry: the final error if retries fail too, and the wait the server asked for."""

    def __init__(self, final: DataUnavailable, wait_s: float | None = None) -> None:
        super().__init__(str(final))
        self.final = final
        self.wait_s = wait_s


def check_range(reply: httpx2.Response, asked: Asked, offset: int, length: int, size: int) -> None:
    """Raise unless the response is exactly this range of a file of that size. Does not read the body."""
    if reply.status_code != HTTPStatus.PARTIAL_CONTENT:
        raise failed_reply(reply, asked)
    parts = _CONTENT_RANGE.fullmatch(reply.headers.get("content-range", ""))
    if parts is None:
        raise DataUnavailable(f"{asked.host} does not say which bytes of {asked.name} it sends.", advice=_PROXY_ADVICE)
    first, last, total = parts.groups()
    if total not in ("*", str(size)):
        raise changed(asked)
    if (int(first), int(last)) != (offset, offset + length - 1):
        raise DataUnavailable(f"{asked.host} sends other bytes of {asked.name} than asked for.", advice=_PROXY_ADVICE)
    check_body(reply, asked, length)


def check_body(reply: httpx2.Response, asked: Asked, length: int) -> None:
    """Raise when the body cannot be `length` plain bytes of the file (wrong length, or encoded)."""
    if reply.headers.get("content-encoding", "identity") != "identity":
        raise DataUnavailable(f"{asked.host} sends {asked.name} re-encoded.", advice=_PROXY_ADVICE)
    if reply.headers.get("content-length", str(length)) != str(length):
        raise cut_body(asked, length)


def ranges_ignored(asked: Asked) -> DataUnavailable:
    """The error for a server that ignores Range and sends the whole of a large file."""
    return DataUnavailable(
        f"{asked.host} ignores byte ranges and would send all of {asked.name}.", advice=_PROXY_ADVICE
    )


def failed_reply(reply: httpx2.Response, asked: Asked) -> TransientError | DataUnavailable:
    """The error for a response without content."""
    status = reply.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait_s = asked_wait_s(reply)
        when = "Wait a minute" if wait_s is None else f"Wait {wait_s:.0f} seconds"
        what = f"{asked.host} asks to slow down (429) when asked for {asked.name}."
        return TransientError(DataUnavailable(what, advice=f"{when}, or set HF_TOKEN for a higher limit."), wait_s)
    if status in RETRYABLE:
        what = f"{asked.host} failed to answer ({status}) when asked for {asked.name}."
        return TransientError(DataUnavailable(what, advice="Retry in a moment."), asked_wait_s(reply))
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return DataUnavailable(f"{asked.host} refused access ({status}) to {asked.name}.", advice=TOKEN_ADVICE)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return DataUnavailable(
            f"{asked.host} no longer has {asked.name} ({status}).",
            advice="Reload to open the newest revision; a private dataset needs HF_TOKEN.",
        )
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return changed(asked)
    return DataUnavailable(
        f"{asked.host} answered {status} when asked for {asked.name}.", advice="Wait a little and try again."
    )


def asked_wait_s(reply: httpx2.Response) -> float | None:
    """Seconds the server asks us to wait: Retry-After as a number or a date, or the Hub's RateLimit with a 429."""
    asked = reply.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    limit = _RATE_LIMIT.search(reply.headers.get("ratelimit", ""))
    if limit and reply.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return float(limit[1])
    try:
        until = parsedate_to_datetime(asked)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def lost_connection(asked: Asked, error: Exception) -> TransientError:
    """The error when no response came, or only part of one."""
    if isinstance(error, httpx2.TimeoutException):
        return TransientError(too_slow(asked))
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        what = f"{asked.host} cannot be reached to read {asked.name}."
    else:
        what = f"The connection to {asked.host} was lost while {asked.name} was read."
    return TransientError(DataUnavailable(what, advice=_RETRY_ADVICE))


def too_slow(asked: Asked) -> DataUnavailable:
    """The error when the deadline has passed."""
    return DataUnavailable(f"{asked.host} did not answer in time when asked for {asked.name}.", advice=_RETRY_ADVICE)


def cut_body(asked: Asked, length: int) -> TransientError:
    """The error when more or fewer bytes come than were asked for."""
    what = f"{asked.host} does not send the {length} bytes of {asked.name} that were asked for."
    return TransientError(DataUnavailable(what, advice=_RETRY_ADVICE))


def changed(asked: Asked) -> ContentChanged:
    """The error when the file at an address is no longer the version that was opened."""
    return ContentChanged(f"{asked.name} was replaced while it was open at {asked.host}.", advice=CHANGED_ADVICE)


def etag_of(reply: httpx2.Response, header: str) -> str | None:
    """The ETag in this header, without the mark of a weak one."""
    tag = reply.headers.get(header)
    return tag.removeprefix("W/").strip('"') if tag else None
