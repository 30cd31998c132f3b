"""What a server's answer to a range request means: the bytes, a failure that may pass, or one that stays."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from kbdash.errors import CorruptData, DataUnavailable
from kbdash.parquet.ranges import CHANGED_ADVICE, ByteSource

_MAY_PASS = (408, 429, 500, 502, 503, 504)
_CONTENT_RANGE = re.compile(r"bytes (\d{1,20})-(\d{1,20})/(\d{1,20}|\*)")
_PROXY_ADVICE = "A proxy in between may be the reason; check HF_ENDPOINT and the proxy settings."
_ACCESS_ADVICE = "If the dataset is private or gated, set HF_TOKEN to a token that may read it."
_WAIT_ADVICE = "Wait a little and try again."
_CHECK_ADVICE = "Check the connection and try again."


class PassingError(Exception):
    """A failure that may pass: what to say when it does not, and how long the server asked us to wait."""

    def __init__(self, final: DataUnavailable, wait_s: float | None = None) -> None:
        super().__init__(str(final))
        self.final = final
        self.wait_s = wait_s


def check_range(reply: httpx2.Response, file: ByteSource, offset: int, length: int) -> None:
    """Raise unless the answer carries exactly this range of a file of that size; the body stays unread."""
    if reply.status_code == HTTPStatus.PARTIAL_CONTENT:
        _check_content_range(reply, file, offset, length)
    elif reply.status_code != HTTPStatus.OK:
        raise failed_reply(reply, file.name)
    elif (offset, length) != (0, file.size):
        raise DataUnavailable(
            f"The server ignores byte ranges and would send all of {file.name}.", advice=_PROXY_ADVICE
        )
    if reply.headers.get("content-encoding", "identity") != "identity":
        raise DataUnavailable(f"The server sends {file.name} re-encoded.", advice=_PROXY_ADVICE)
    if reply.headers.get("content-length", str(length)) != str(length):
        raise cut_body(file.name, length)


def _check_content_range(reply: httpx2.Response, file: ByteSource, offset: int, length: int) -> None:
    parts = _CONTENT_RANGE.fullmatch(reply.headers.get("content-range", ""))
    if parts is None:
        raise DataUnavailable(f"The server does not say which bytes of {file.name} it sends.", advice=_PROXY_ADVICE)
    first, last, total = parts.groups()
    if total not in ("*", str(file.size)):
        raise changed(file.name)
    if (int(first), int(last)) != (offset, offset + length - 1):
        raise DataUnavailable(f"The server sends other bytes of {file.name} than asked for.", advice=_PROXY_ADVICE)


def failed_reply(reply: httpx2.Response, name: str) -> PassingError | DataUnavailable:
    """What an answer without content means."""
    status = reply.status_code
    if status in _MAY_PASS:
        return _overloaded(reply, name)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return DataUnavailable(f"The Hub refuses access to {name} ({status}).", advice=_ACCESS_ADVICE)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return DataUnavailable(
            f"The Hub has no {name} at this address ({status}).",
            advice="The file or the revision is gone, or it is private and needs HF_TOKEN.",
        )
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return changed(name)
    return DataUnavailable(f"The Hub answers {status} when asked for {name}.", advice=_WAIT_ADVICE)


def _overloaded(reply: httpx2.Response, name: str) -> PassingError:
    status, wait_s = reply.status_code, _retry_after_s(reply)
    busy = "receives too many requests" if status == HTTPStatus.TOO_MANY_REQUESTS else "has a problem of its own"
    advice = _WAIT_ADVICE if wait_s is None else f"Try again in {wait_s:.0f} seconds, as the Hub asks."
    return PassingError(DataUnavailable(f"The Hub {busy} ({status}) when asked for {name}.", advice=advice), wait_s)


def _retry_after_s(reply: httpx2.Response) -> float | None:
    """Seconds the server asks us to wait; given as a number or as a date."""
    asked = reply.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    try:
        until = parsedate_to_datetime(asked)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def lost_connection(name: str, problem: Exception) -> PassingError:
    """What to say when no (whole) answer came."""
    if isinstance(problem, httpx2.TimeoutException):
        what = f"The Hub did not answer in time when asked for {name}."
    elif isinstance(problem, httpx2.ConnectError):
        what = f"The Hub cannot be reached to read {name}."
    else:
        what = f"The connection broke while {name} was read."
    return PassingError(DataUnavailable(what, advice=_CHECK_ADVICE))


def cut_body(name: str, length: int) -> PassingError:
    """What to say when more or fewer bytes come than were asked for."""
    return PassingError(
        DataUnavailable(f"The Hub does not send the {length} bytes asked of {name}.", advice=_CHECK_ADVICE)
    )


def changed(name: str) -> CorruptData:
    """What to say when the bytes at an address are no longer those of before."""
    return CorruptData(f"{name} was replaced while it was read.", advice=CHANGED_ADVICE)


def etag_of(reply: httpx2.Response, header: str) -> str | None:
    """The tag in this header, weak or not."""
    tag = reply.headers.get(header)
    return tag.removeprefix("W/").strip('"') if tag else None
