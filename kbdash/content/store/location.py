"""Where finished stores come from: the cache, a folder, or a dataset repository on the Hub."""

import re
import shutil
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import httpx2
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

from kbdash.content.store.finished import Store, find_store
from kbdash.content.store.layout import MANIFEST, PAGES, folder_name
from kbdash.dataset.config import Settings
from kbdash.dataset.model import DataFile
from kbdash.errors import DataUnavailable, KbdashError

Kind = Literal["cache", "folder", "hub", "off"]
OFF = "off"
RETRY_SECONDS = 30.0
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[^@\s]+)?")


class StoreLocation:
    """The stores that `KBDASH_CONTENT` names. Thread-safe."""

    def __init__(self, settings: Settings, cache_root: Path) -> None:
        named = settings.content
        self._settings = settings
        self.root = cache_root
        self.kind: Kind = "cache"
        self._downloads: dict[str, Download] = {}
        self._lock = threading.Lock()
        if named == OFF:
            self.kind = "off"
        elif named and Path(named).expanduser().is_dir():
            self.kind, self.root = "folder", Path(named).expanduser()
        elif named and _REPOSITORY.fullmatch(named):
            self.kind, self.root = "hub", cache_root / "hub" / re.sub(r"[^\w.-]", "--", named)
        elif named:
            raise DataUnavailable(
                f"KBDASH_CONTENT is {named}, which is neither a folder nor a repository.",
                advice="Set it to org/name, a folder of stores, or off.",
            )

    def find(self, file: DataFile) -> Store | None:
        """The store of exactly this version of a file, if it is at hand."""
        return None if self.kind == "off" else find_store(self.root, file)

    def has(self, file: DataFile) -> bool:
        """Whether the store of exactly this version of a file is at hand; does not open it."""
        return self.kind != "off" and (self.root / folder_name(file) / MANIFEST).exists()

    def download(self, file: DataFile) -> "Download | None":
        """The download of a file's store, started by the first call; None if stores are not downloaded."""
        if self.kind != "hub" or self._settings.content is None:
            return None
        with self._lock:
            known = self._downloads.get(file.name)
            if known is None or known.may_try_again:
                known = self._downloads[file.name] = Download(self._settings, self._settings.content, file, self.root)
                known.start()
            return known


class Download:
    """The download of one store from the Hub. Files that exist already are not fetched again."""

    def __init__(self, settings: Settings, named: str, file: DataFile, root: Path) -> None:
        self._settings = settings
        self._repository, _, revision = named.partition("@")
        self._revision = revision or None
        self._file = file
        self._root = root
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"kbdash-content {file.name}")
        self.bytes = 0
        self.bytes_done = 0
        self.error: KbdashError | None = None
        self._has_directories = threading.Event()
        self._began_at = time.monotonic()
        self._ended_at = 0.0

    @property
    def rate(self) -> float:
        """Bytes per second so far; files that were there already count as well."""
        return self.bytes_done / max(time.monotonic() - self._began_at, 1e-3)

    @property
    def failed(self) -> bool:
        """Whether it ended without a store."""
        return self.error is not None

    @property
    def may_try_again(self) -> bool:
        """Whether it failed long enough ago for a retry."""
        return self.failed and time.monotonic() - self._ended_at > RETRY_SECONDS

    def start(self) -> None:
        """Begin in the background."""
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the end; raises the error that the download ended with, if any."""
        self._thread.join(seconds)
        if self.error is not None:
            raise self.error

    def wait_for_directories(self, seconds: float) -> None:
        """Wait for the page directory, which is downloaded first; at most until the download ends or the timeout."""
        self._has_directories.wait(seconds)

    def _run(self) -> None:
        try:
            self._fetch()
        except KbdashError as error:
            self.error = error
        except (HfHubHTTPError, HFValidationError, OfflineModeIsEnabled, httpx2.HTTPError, OSError) as error:
            self.error = _explained(error, self._repository, self._settings)
        self._ended_at = time.monotonic()
        self._has_directories.set()

    def _fetch(self) -> None:
        from huggingface_hub import HfApi  # noqa: PLC0415  (a slow import that only a download needs)

        api = HfApi(endpoint=self._settings.endpoint, token=self._settings.token or False)
        info = api.dataset_info(self._repository, revision=self._revision, files_metadata=True)
        folder = folder_name(self._file)
        there = {
            each.rfilename: each.size or 0 for each in info.siblings or () if each.rfilename.startswith(f"{folder}/")
        }
        if f"{folder}/{MANIFEST}" not in there:
            raise DataUnavailable(
                f"{self._repository} holds no content store of {self._file.name} as it is now.",
                advice="It may have one of another version, or made by other rules; build it, or unset KBDASH_CONTENT.",
            )
        self.bytes = sum(there.values())
        pages = [name for name in there if name.startswith(f"{folder}/{PAGES}/")]
        self._fetch_files(pages, there, info.sha)
        keep_directories(self._root / folder, self._settings.cache)
        self._has_directories.set()
        # The manifest comes last: a folder without it is not taken for a store.
        rest = sorted(there.keys() - set(pages), key=lambda each: (each.endswith(MANIFEST), each))
        self._fetch_files(rest, there, info.sha)

    def _fetch_files(self, names: Iterable[str], sizes: Mapping[str, int], revision: str | None) -> None:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415  (a slow import that only a download needs)

        for name in names:
            hf_hub_download(
                self._repository,
                name,
                repo_type="dataset",
                revision=revision,
                endpoint=self._settings.endpoint,
                token=self._settings.token or False,
                local_dir=self._root,
            )
            self.bytes_done += sizes[name]


def keep_directories(store: Path, cache: Path) -> None:
    """Hand the page directory of a store's file to the page reader, which then need not scan for pages."""
    for path in store.glob(f"{PAGES}/*.json"):
        kept = cache / "pages" / path.name
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, kept)


def _explained(error: Exception, repository: str, settings: Settings) -> DataUnavailable:
    status = error.response.status_code if isinstance(error, HfHubHTTPError) and error.response is not None else None
    if status in (401, 403, 404) or isinstance(error, HFValidationError):
        return DataUnavailable(
            f"{settings.endpoint} has no content repository {repository} that may be read.",
            advice="Check KBDASH_CONTENT; for a private one set HF_TOKEN to a token that may read it.",
        )
    what = f"answered {status}" if status else "broke off"
    return DataUnavailable(
        f"{settings.endpoint} {what} while {repository} was fetched.",
        advice="Try again: what arrived is kept.",
    )
