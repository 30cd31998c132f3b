"""A dataset on the Hub, resolved once: revision -> commit, files with sizes, licence."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx2

from kbdash.dataset import catalog
from kbdash.dataset.config import Settings
from kbdash.dataset.http.client import HttpClient
from kbdash.dataset.http.failures import RETRYABLE, TOKEN_ADVICE, TransientError, asked_wait_s
from kbdash.dataset.http.loop import submit, wait
from kbdash.dataset.http.remote import credentials
from kbdash.dataset.http.retry import with_retries
from kbdash.dataset.model import DataFile
from kbdash.errors import DataUnavailable
from kbdash.scrub import without_user_info

_MOST_BYTES = 64 << 20
_ASKED_EARLY = 3
_NETWORK_ADVICE = "Check the network, then retry; KBDASH_SOURCE=sample or a local folder works without it."


@dataclass(frozen=True)
class Revision:
    """A snapshot of a dataset; `files` are its parquet files, each URL pinned to `commit`."""

    dataset: str
    commit: str
    licence: str | None
    files: tuple[DataFile, ...]
    prefix: str


@dataclass(frozen=True)
class _Question:
    """What the Hub is asked about, with all that is needed to ask and to explain the response."""

    dataset: str
    revision: str | None
    settings: Settings
    client: HttpClient

    @property
    def url(self) -> str:
        path = f"/api/datasets/{quote(self.dataset)}"
        return self.settings.endpoint + path + (f"/revision/{quote(self.revision, safe='')}" if self.revision else "")


def asked_for(dataset: str, revision: str | None, settings: Settings, client: HttpClient) -> Callable[[], Revision]:
    """Ask for the revision as the Hub has it now. The function returned waits for it.

    It raises DataUnavailable with the reason, within `hub_seconds`, if that fails.
    """
    answer = _asked_for(_Question(dataset, revision, settings, client), {"blobs": "true"})
    return lambda: _revision(answer(), dataset, settings)


def _revision(info: Mapping[str, Any], dataset: str, settings: Settings) -> Revision:
    try:
        commit = str(info["sha"])
        prefix = f"{settings.endpoint}/datasets/{quote(dataset)}/resolve/{commit}/"
        names = [str(entry["rfilename"]) for entry in info["siblings"]]
        files = tuple(
            DataFile(name, prefix + quote(name), int(entry.get("size") or 0), _content_id(entry, commit))
            for name, entry in zip(names, info["siblings"], strict=True)
            if name.endswith(".parquet") and "/" not in name
        )
        return Revision(dataset, commit, _licence(info), files, prefix)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _not_understood(settings) from error


def ask_links(
    dataset: str, revision: str | None, settings: Settings, client: HttpClient
) -> dict[str, Future[httpx2.Response]]:
    """Links to the first files of the catalog, requested in parallel with the revision; each response names its commit.

    All files are opened sooner or later, so these requests are not extra, only earlier. They are few, because a first
    question about one file should not cost a request for every file.
    """
    if _offline():
        return {}
    base = f"{settings.endpoint}/datasets/{quote(dataset)}/resolve/{quote(revision or 'main', safe='')}/"
    names = [competition.files[0] for competition in catalog.COMPETITIONS[:_ASKED_EARLY]]
    return {name: submit(_link(client, base + quote(name), settings.token)) for name in names}


async def _link(client: HttpClient, url: str, token: str | None) -> httpx2.Response:
    return await (await client.opened()).head(url, headers=credentials(token))


def latest_commit(dataset: str, revision: str | None, settings: Settings, client: HttpClient) -> str | None:
    """The commit the revision points to now, or None when the Hub does not answer."""
    try:
        commit = _asked_for(_Question(dataset, revision, settings, client), {"expand": "sha"})().get("sha")
    except DataUnavailable:
        return None
    return str(commit) if commit else None


def _content_id(entry: Mapping[str, Any], commit: str) -> str:
    """An id of the file's content: it survives commits that leave the bytes alone, and so do caches keyed by it."""
    return str((entry.get("lfs") or {}).get("sha256") or entry.get("blobId") or commit)


def _licence(info: Mapping[str, Any]) -> str | None:
    """Licence tag of the revision: `license_name` of the card where it has one, else the plain tag."""
    card = info.get("cardData") or {}
    tag = next((tag.removeprefix("license:") for tag in info.get("tags") or () if tag.startswith("license:")), None)
    named = card.get("license_name") or tag or card.get("license")
    return str(named) if named else None


def _asked_for(question: _Question, parameters: Mapping[str, str]) -> Callable[[], Mapping[str, Any]]:
    """Ask the Hub about a dataset; the function returned waits for the answer, a JSON object."""
    if _offline():
        raise DataUnavailable("HF_HUB_OFFLINE is set, so the Hub is not asked.", advice="Unset it.")
    expires = time.monotonic() + question.settings.hub_seconds
    body = submit(_asked(question, parameters, expires))
    return lambda: _answer(body, expires, question.settings)


def _answer(body: Future[bytes], expires: float, settings: Settings) -> Mapping[str, Any]:
    try:
        found = json.loads(wait(body, expires))
    except TimeoutError:
        raise _too_slow(settings) from None
    except ValueError as error:
        raise _not_understood(settings) from error
    if not isinstance(found, dict):
        raise _not_understood(settings)
    return found


async def _asked(question: _Question, parameters: Mapping[str, str], expires: float) -> bytes:
    async with asyncio.timeout_at(expires):
        return await with_retries(lambda: _attempt(question, parameters), expires)


async def _attempt(question: _Question, parameters: Mapping[str, str]) -> bytes:
    settings = question.settings
    try:
        client = await question.client.opened()
        async with client.stream("GET", question.url, params=parameters, headers=credentials(settings.token)) as reply:
            if reply.status_code != HTTPStatus.OK:
                raise _refused(reply, question)
            body = bytearray()  # an endless answer must not keep the network thread busy with copying
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    raise _not_understood(settings)
            return bytes(body)
    except httpx2.TimeoutException:
        raise _too_slow(settings) from None
    except (httpx2.LocalProtocolError, UnicodeEncodeError):  # (their messages quote the token)
        raise DataUnavailable(
            "HF_TOKEN holds characters that cannot be sent.", advice="Copy the token again."
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError) as error:
        final = DataUnavailable(f"{settings.endpoint} cannot be reached ({_reason(error)}).", advice=_NETWORK_ADVICE)
        raise TransientError(final) if isinstance(error, httpx2.RemoteProtocolError) else final from error


def _refused(reply: httpx2.Response, question: _Question) -> DataUnavailable | TransientError:
    """The error for an unsuccessful response; the Hub gives its reason in two headers."""
    host, dataset, status = question.settings.endpoint, question.dataset, reply.status_code
    code, message = reply.headers.get("x-error-code", ""), reply.headers.get("x-error-message", "")
    if code == "GatedRepo":
        return DataUnavailable(f"{dataset} is gated.", advice=f"Ask for access on the Hub. {TOKEN_ADVICE}")
    if code == "RevisionNotFound":
        return DataUnavailable(f"{dataset} has no revision {question.revision}.", advice="Check KBDASH_SOURCE.")
    # Without permission, the Hub does not reveal whether a dataset exists.
    if code == "RepoNotFound" or message.startswith("Invalid username or password"):
        return DataUnavailable(
            f"{host} has no dataset {dataset} that may be read.", advice=f"Check the name. {TOKEN_ADVICE}"
        )
    advice = {401: TOKEN_ADVICE, 403: TOKEN_ADVICE, 404: "Check KBDASH_SOURCE and HF_ENDPOINT."}
    final = DataUnavailable(
        f"{host} answered {status} for {dataset}.", advice=advice.get(status, "Wait a little, then retry.")
    )
    return TransientError(final, asked_wait_s(reply)) if status in RETRYABLE else final


def _reason(error: BaseException) -> str:
    """The message of the operating system if the error came from it, else that of the client."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return os.strerror(cause.errno) if cause.errno and cause.errno > 0 else cause.strerror
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
    return without_user_info(str(error)) or type(error).__name__


def _too_slow(settings: Settings) -> DataUnavailable:
    return DataUnavailable(
        f"{settings.endpoint} did not answer within {settings.hub_seconds:g} s.", advice=_NETWORK_ADVICE
    )


def _not_understood(settings: Settings) -> DataUnavailable:
    return DataUnavailable(f"{settings.endpoint} gave an answer that cannot be understood.", advice="Try again later.")


def _offline() -> bool:
    from huggingface_hub import constants  # noqa: PLC0415  (it reads the environment in the documented way)

    return bool(constants.HF_HUB_OFFLINE)
