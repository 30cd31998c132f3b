"""Publish finished stores in a dataset repository on the Hub.

Commits and uploads of large files are a protocol of the Hub's own that changes with it: huggingface_hub speaks it, and
nothing of it is read by the rest of the program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, DatasetInfo, HfApi, hf_hub_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, RepositoryNotFoundError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # public, but not marked so

from kbdash.content.publishing.card import card
from kbdash.content.store.finished import Store
from kbdash.dataset.config import Settings
from kbdash.errors import KbdashError

TOKENS = "https://huggingface.co/settings/tokens"
_TOKEN_ADVICE = f"Make one with the role write at {TOKENS}, and set HF_TOKEN to it."
LICENCE = "LICENSE"
CARD = "README.md"


@dataclass(frozen=True)
class Parcel:
    """What is uploaded: files by their path in the repository, and the card."""

    files: dict[str, Path]
    card: str

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.files.values()) + len(self.card.encode())


def parcel_of(stores: Sequence[Store]) -> Parcel:
    """The stores as they would be published."""
    if not stores:
        raise KbdashError("There is no finished store to publish.", advice="python -m kbdash.content build")
    files = {
        f"{store.folder.name}/{path.relative_to(store.folder).as_posix()}": path
        for store in stores
        for path in sorted(store.folder.rglob("*"))
        if path.is_file()
    }
    return Parcel(files, card([store.manifest for store in stores]))


def check_name(name: str) -> str:
    """The name, if a repository can have it."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        name = ""
    if name.count("/") != 1:
        raise KbdashError("That cannot be the name of a repository.", advice="Write OWNER/NAME.")
    return name


def push(name: str, stores: Sequence[Store], settings: Settings, *, public: bool = False) -> str:
    """Create or update the repository in one commit; returns its address."""
    parcel = parcel_of(stores)
    if not settings.token:
        raise KbdashError("There is no token for the Hub.", advice=_TOKEN_ADVICE)
    api = HfApi(endpoint=settings.endpoint, token=settings.token)
    try:
        _check_token(api)
        info = _found_or_created(api, name, public=public)
        there = {sibling.rfilename for sibling in info.siblings or ()}
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            *(CommitOperationAdd(path, file) for path, file in parcel.files.items()),
            CommitOperationAdd(CARD, parcel.card.encode()),
            *_licence(stores[0], settings),
            *(CommitOperationDelete(path) for path in sorted(_outdated(there, stores))),
        ]
        api.create_commit(
            name,
            operations,
            commit_message="Content stores made by kbdash",
            repo_type="dataset",
            parent_commit=info.sha,
        )
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise _explained(error, name, settings) from error
    return f"{settings.endpoint}/datasets/{name}"


def _check_token(api: HfApi) -> None:
    answer = api.whoami()
    if answer.get("auth", {}).get("accessToken", {}).get("role") == "read":
        raise KbdashError(f"The token of {answer['name']} is for reading only.", advice=_TOKEN_ADVICE)


def _found_or_created(api: HfApi, name: str, *, public: bool) -> DatasetInfo:
    try:
        info = api.dataset_info(name)
    except RepositoryNotFoundError:
        api.create_repo(name, repo_type="dataset", private=not public)
        return api.dataset_info(name)
    if not info.private and not public:
        raise KbdashError(
            f"{name} can be read by everyone.", advice="Say --public to publish there, or choose a private repository."
        )
    return info


def _outdated(there: set[str], stores: Sequence[Store]) -> set[str]:
    """Files of older stores of the same data files."""
    kept = {store.folder.name for store in stores}
    stems = {name.rpartition("-")[0] for name in kept}
    return {
        path
        for path in there
        if "/" in path and (folder := path.split("/")[0]) not in kept and folder.rpartition("-")[0] in stems
    }


def _licence(store: Store, settings: Settings) -> list[CommitOperationAdd]:
    """The licence text of the revision that was read, where it has one."""
    origin = store.manifest.origin
    if not origin.get("commit"):
        return []
    try:
        path = hf_hub_download(
            origin["dataset"], LICENCE, repo_type="dataset", revision=origin["commit"],
            endpoint=settings.endpoint, token=settings.token or False, local_dir=settings.cache / "licence",
        )  # fmt: skip
    except (HfHubHTTPError, httpx2.HTTPError, OSError):
        return []  # the card links to it
    return [CommitOperationAdd(LICENCE, Path(path))]


def _explained(error: Exception, name: str, settings: Settings) -> KbdashError:
    status = error.response.status_code if isinstance(error, HfHubHTTPError) and error.response is not None else None
    if status in (401, 403):
        return KbdashError(f"{settings.endpoint} does not let this token write to {name}.", advice=_TOKEN_ADVICE)
    if status == 412:
        return KbdashError(f"{name} was changed at the same time.", advice="Push again.")
    what = f"answered {status}" if status else "cannot be reached"
    return KbdashError(f"{settings.endpoint} {what}; nothing was published.", advice="Try again in a moment.")
