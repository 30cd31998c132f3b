"""A dataset on the Hub, resolved once: revision -> commit, files with sizes, licence."""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx2
from huggingface_hub import DatasetInfo, HfApi
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoSibling

from kbdash.config import Settings
from kbdash.errors import DataUnavailable
from kbdash.model import DataFile

T = TypeVar("T")
TOKEN_ADVICE = "If it is private or gated, set HF_TOKEN to a token that may read it."  # noqa: S105
PASSING = {429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Revision:
    """One immutable state of a dataset; `files` are its parquet files, each URL pinned to `commit`."""

    dataset: str
    commit: str
    licence: str | None
    files: tuple[DataFile, ...]
    prefix: str


def resolve(dataset: str, revision: str | None, settings: Settings) -> Revision:
    """The revision as the Hub has it now; DataUnavailable, within `hub_seconds`, says why not."""
    info = _info(dataset, revision, settings)
    if not info.sha:
        raise DataUnavailable(f"The Hub named no commit for {dataset}.", advice="Try again later.")
    prefix = f"{settings.endpoint}/datasets/{dataset}/resolve/{info.sha}/"
    files = tuple(
        DataFile(sibling.rfilename, prefix + sibling.rfilename, sibling.size or 0, _content_id(sibling, info.sha))
        for sibling in info.siblings or ()
        if sibling.rfilename.endswith(".parquet") and "/" not in sibling.rfilename
    )
    return Revision(dataset, info.sha, _licence(info), files, prefix)


def _content_id(sibling: RepoSibling, commit: str) -> str:
    """What stays the same as long as the file's bytes do, so that what is known of them outlives a commit."""
    return str(sibling.lfs.sha256 if sibling.lfs else sibling.blob_id or commit)


def latest_commit(dataset: str, revision: str | None, settings: Settings) -> str | None:
    """Commit the revision points to now, or None when the Hub does not say."""
    try:
        commit: str | None = _info(dataset, revision, settings).sha
    except DataUnavailable:
        return None
    return commit


def answer_for(url: str, token: str | None, seconds: float = 4.0) -> tuple[int, bool]:
    """Status of a file's address now (0: none), and whether the Hub itself gave it rather than its storage."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        reply = httpx2.head(url, headers=headers, follow_redirects=True, timeout=seconds)
    except httpx2.HTTPError:
        return 0, True
    return reply.status_code, not reply.history


def _info(dataset: str, revision: str | None, settings: Settings) -> DatasetInfo:
    api = HfApi(endpoint=settings.endpoint, token=settings.token or False)

    def ask() -> DatasetInfo:
        return api.dataset_info(dataset, revision=revision, files_metadata=True, timeout=settings.hub_seconds)

    try:
        return within(settings.hub_seconds, lambda: _patiently(ask, settings.hub_seconds))
    except Exception as error:
        raise _explained(error, dataset, revision, settings) from error


def _licence(info: DatasetInfo) -> str | None:
    """Licence tag of the revision: `license_name` of the card where it has one, else the plain tag."""
    card = info.card_data
    named = card.get("license_name") if card else None
    tag = next((tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")), None)
    return named or tag or (card.get("license") if card else None)


def _patiently(ask: Callable[[], T], seconds: float) -> T:
    """The answer; after a passing failure (429, 5xx, a body cut short) it is asked again while `seconds` last."""
    deadline = time.monotonic() + seconds
    wait = 0.2
    while True:
        try:
            return ask()
        except (HfHubHTTPError, httpx2.RemoteProtocolError) as error:
            reply = getattr(error, "response", None)
            if reply is not None and reply.status_code not in PASSING:
                raise
            wait = max(wait * 2, _retry_after(reply.headers.get("Retry-After") if reply is not None else None))
            if time.monotonic() + wait > deadline:
                raise
            time.sleep(wait)


def _retry_after(header: str | None) -> float:
    """Seconds a server asks to wait; 0 when it does not say (or gives a date, which we do not wait for)."""
    return float(header) if header and header.isdigit() else 0.0


def within(seconds: float, work: Callable[[], T]) -> T:
    """Result of `work`, or TimeoutError: name look-ups can hang longer than any socket timeout."""
    answers: queue.Queue[tuple[T | None, Exception | None]] = queue.Queue(1)

    def run() -> None:
        try:
            answers.put((work(), None))
        except Exception as error:  # (raised again below, in the caller's thread)
            answers.put((None, error))

    threading.Thread(target=run, daemon=True, name="kbdash-hub").start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]


def _explained(error: Exception, dataset: str, revision: str | None, settings: Settings) -> DataUnavailable:
    """What a reader should know about `error`."""
    host = settings.endpoint
    again = "Check the network, then retry; KBDASH_SOURCE=sample or a local folder works without it."
    match error:
        case OfflineModeIsEnabled():
            return DataUnavailable("HF_HUB_OFFLINE is set, so the Hub is not asked.", advice="Unset it.")
        case GatedRepoError():
            return DataUnavailable(f"{dataset} is gated.", advice=f"Ask for access on the Hub. {TOKEN_ADVICE}")
        case RevisionNotFoundError():
            return DataUnavailable(f"{dataset} has no revision {revision}.", advice="Check KBDASH_SOURCE.")
        case RepositoryNotFoundError() | HFValidationError():
            return DataUnavailable(
                f"{host} has no dataset {dataset} that may be read.", advice=f"Check the name. {TOKEN_ADVICE}"
            )
        case HfHubHTTPError():
            status = error.response.status_code
            advice = {401: TOKEN_ADVICE, 403: TOKEN_ADVICE, 404: "Check KBDASH_SOURCE and HF_ENDPOINT."}.get(
                status, "Wait a little, then retry."
            )
            return DataUnavailable(f"{host} answered {status} for {dataset}.", advice=advice)
        case TimeoutError() | httpx2.TimeoutException():
            return DataUnavailable(f"{host} did not answer within {settings.hub_seconds:g} s.", advice=again)
        case httpx2.LocalProtocolError() | UnicodeEncodeError():  # (whose texts quote the token)
            return DataUnavailable("HF_TOKEN holds characters that cannot be sent.", advice="Copy the token again.")
        case httpx2.TransportError() | OSError():
            return DataUnavailable(f"{host} cannot be reached ({_reason(error)}).", advice=again)
    return DataUnavailable(f"{host} gave an answer that cannot be understood.", advice="Try again later.")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
