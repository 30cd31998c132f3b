"""Errors as problem documents (RFC 9457): for programs, with the sentence that a page would show."""

import logging
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from kbdash.api.options import Refused
from kbdash.api.tables import json_bytes
from kbdash.content.search.patterns import BadPattern
from kbdash.content.stores import ContentMissing
from kbdash.errors import (
    AmbiguousSubmission,
    DataUnavailable,
    KbdashError,
    QueryRefused,
    QueryTimeout,
    UnknownProblem,
    UnknownSubmission,
    UnknownUser,
)
from kbdash.scrub import for_readers

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


class Busy(KbdashError):
    """Too many requests are being answered, for this client or for all."""


class NoSuchThing(KbdashError):
    """There is nothing at this address."""


@dataclass(frozen=True)
class Kind:
    """A kind of failure: its status, its name in `type`, and after how many seconds a retry may help, if ever."""

    error: type[Exception]
    status: int
    name: str
    title: str
    retry_after: int | None = None


KINDS = (
    Kind(Busy, 429, "busy", "Too many requests at once", 2),
    Kind(NoSuchThing, 404, "no-such-address", "There is nothing at this address"),
    Kind(QueryTimeout, 503, "too-slow", "The answer took too long", 30),
    Kind(QueryRefused, 400, "not-understood", "A parameter is not understood"),
    Kind(UnknownProblem, 404, "unknown-problem", "There is no such problem"),
    Kind(UnknownUser, 404, "unknown-user", "There is no such user"),
    Kind(UnknownSubmission, 404, "unknown-submission", "There is no such submission"),
    Kind(AmbiguousSubmission, 409, "several-submissions", "Several submissions have this id"),
    Kind(ContentMissing, 503, "no-content", "There is no store of the source texts here yet", 300),
    Kind(DataUnavailable, 503, "unavailable", "The data cannot be read now", 30),
    Kind(Exception, 500, "unexpected", "Something went wrong here"),
)
"""The first that matches counts."""
METHOD = Kind(HTTPException, 405, "read-only", "Only GET and HEAD are answered")
STATUSES = {kind.status: kind.title for kind in reversed((*KINDS, METHOD))}


def answer(error: Exception) -> Response:
    """The document for an error; for an unexpected one, without details."""
    if isinstance(error, HTTPException):
        error_kind = METHOD if error.status_code == METHOD.status else next(k for k in KINDS if k.error is NoSuchThing)
        return _document(error_kind, NoSuchThing(error_kind.title + ".", advice="/api lists what there is."))
    kind = next(kind for kind in KINDS if isinstance(error, kind.error))
    if not isinstance(error, KbdashError):
        _log.error("A data link failed", exc_info=error)
        error = KbdashError("This answer could not be made.", advice="Try again; if it stays, tell us the link.")
    return _document(kind, error)


async def handler(_: Request, error: Exception) -> Response:
    """The same for Starlette."""
    return answer(error)


def _document(kind: Kind, error: KbdashError) -> Response:
    told: dict[str, object] = {
        "type": f"/api#{kind.name}",
        "title": kind.title,
        "status": kind.status,
        "detail": for_readers(str(error)),
        "advice": for_readers(error.advice),
    }
    if isinstance(error, Refused):
        told |= {"parameter": error.parameter, "accepted": error.accepted}
    if isinstance(error, BadPattern):
        told |= {"parameter": "q", "accepted": for_readers(error.advice)}
    if isinstance(error, AmbiguousSubmission):
        told |= {"parameter": "runner", "accepted": ", ".join(error.runners)}
    headers = {"Cache-Control": "no-store"}
    if kind.retry_after is not None:
        headers["Retry-After"] = str(kind.retry_after)
    if kind is METHOD:
        headers["Allow"] = "GET, HEAD"
    return Response(json_bytes(told), kind.status, headers, MEDIA_TYPE)
