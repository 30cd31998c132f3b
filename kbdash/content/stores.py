"""The stores of one source: which are ready, on their way, or could be built."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kbdash.cache import SharedCache
from kbdash.content.building.background import start_build
from kbdash.content.building.jobs import content_root
from kbdash.content.building.progress import WorkFolder
from kbdash.content.store.finished import Store
from kbdash.content.store.layout import folder_name, why_unused
from kbdash.content.store.location import StoreLocation
from kbdash.database.competition_views import planned
from kbdash.dataset.config import Settings
from kbdash.dataset.model import DataFile, Submission
from kbdash.dataset.source import Source
from kbdash.errors import DataUnavailable, UnknownProblem

StateName = Literal["built", "building", "fetching", "absent", "off"]
_DIRECTORY_SECONDS = 5.0
OPEN_BYTES = 1000 << 20
"""Memory for stores in use; the one that was not used for the longest time is freed first.

A question about all competitions needs all stores at once: with less room it would open them again every time.
"""


class ContentMissing(DataUnavailable):
    """There is no content store of a competition yet."""


@dataclass(frozen=True)
class ContentState:
    """State of the store of a competition: `share` and `bytes` are the progress while it is on its way, else its size.

    `cost_bytes` is what building it would read; `rate` is in bytes per second, of this work or else of earlier builds,
    0 if there was none; `note` says what a reader should know, such as why there is none.
    """

    state: StateName
    share: float = 0.0
    rows: int = 0
    texts: int = 0
    lines: int = 0
    bytes: int = 0
    cost_bytes: int = 0
    note: str = ""
    rate: float = 0.0


class Stores:
    """The stores of one source. Thread-safe."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._settings = settings
        self._files: dict[str, DataFile] = {
            item.competition.slug: source.files[item.file.name] for item in planned(source) if item.file
        }
        self._cache_root = content_root(settings)
        self._location = StoreLocation(settings, self._cache_root)
        # A store that is larger than all memory for stores is kept too, but then alone.
        self._stores: SharedCache[str, Store] = SharedCache(
            OPEN_BYTES, lambda store: min(store.memory_bytes, OPEN_BYTES)
        )

    def state(self, competition: str) -> ContentState:
        """State of the store of a competition; starts the download if stores come from the Hub."""
        file = self._file(competition)
        store = self.store(competition)
        if store is not None:
            counts = store.manifest
            return ContentState("built", 1.0, counts.rows, counts.texts, counts.lines, store.size_bytes)
        if self._location.kind == "off":
            return ContentState("off", note="KBDASH_CONTENT is off.")
        if (download := self._location.download(file)) is not None and not download.failed:
            share = download.bytes_done / download.bytes if download.bytes else 0.0
            return ContentState(
                "fetching", share, bytes=download.bytes_done, cost_bytes=download.bytes, rate=download.rate
            )
        if download is not None:
            return ContentState(
                "absent",
                cost_bytes=file.size,
                note=f"{download.error} {download.error.advice}" if download.error else "",
                rate=self._build_rate(self._files.values()),
            )
        return self._unfinished(file)

    def _unfinished(self, file: DataFile) -> ContentState:
        work = WorkFolder(self._cache_root, folder_name(file))
        progress = work.progress()
        known = self._build_rate(self._files.values())
        # A store that was finished and is gone since is none.
        if progress is None or (progress.phase == "done" and not work.busy()):
            note = why_unused(self._location.root, file)
            return ContentState("absent", cost_bytes=file.size, note=note, rate=known)
        name: StateName = "building" if work.busy() else "absent"
        return ContentState(
            name, progress.share, progress.rows_done, progress.texts, 0, progress.bytes_done, file.size,
            progress.error, self._build_rate((file,)) or known,
        )  # fmt: skip

    def _build_rate(self, files: Iterable[DataFile]) -> float:
        """Bytes per second at which stores of these files were built here, all together; 0 if none was."""
        runs = [WorkFolder(self._cache_root, folder_name(file)).latest_run() for file in files]
        seconds = sum(each for _, each in runs)
        return sum(size for size, _ in runs) / seconds if seconds > 0 else 0.0

    def build(self, competition: str) -> None:
        """Start to build the store of a competition in the background, unless it is ready or on its way."""
        file = self._file(competition)
        if self.store(competition) is None and not WorkFolder(self._cache_root, folder_name(file)).busy():
            start_build(self._source, self._settings, [competition])

    def prepare(self) -> None:
        """Build the content of the sample, which takes seconds; for any other source nothing is built unasked."""
        if self._source.kind != "sample" or self._location.kind != "cache" or not self._settings.content_build:
            return
        missing = [slug for slug in self._files if self.store(slug) is None]
        if missing:
            start_build(self._source, self._settings, missing)

    def ask_to_stop(self, competition: str) -> None:
        """Stop a build of this competition, whoever runs it."""
        WorkFolder(self._cache_root, folder_name(self._file(competition))).ask_to_stop()

    def store(self, competition: str) -> Store | None:
        """The store of a competition, if it is at hand now."""
        if competition not in self._files:
            return None
        found = self._location.find(self._file(competition))
        return None if found is None else self._stores.get(str(found.folder), lambda: found)

    def has(self, submission: Submission) -> bool:
        """Whether the text of a submission is in a store at hand."""
        store = self.store(submission.competition)
        return store is not None and store.manifest.file == submission.file

    def cell(self, submission: Submission) -> tuple[bool, bytes | None]:
        """Whether the store has the text of a submission, and the text.

        If stores come from the Hub, this starts the download and waits for the page directory of the file, a few
        kilobytes, with which the page reader finds the text at once.
        """
        store = self.store(submission.competition)
        if store is None:
            self._await_directories(submission.competition)
        if store is None or store.manifest.file != submission.file:
            return False, None
        return True, store.cell(submission.file_row, submission.submission_id)

    def _await_directories(self, competition: str) -> None:
        file = self._files.get(competition)
        download = self._location.download(file) if file else None
        if download is not None:
            download.wait_for_directories(_DIRECTORY_SECONDS)

    def _file(self, competition: str) -> DataFile:
        if competition not in self._files:
            raise UnknownProblem(
                f"There is no competition {competition}.", advice=f"There are {', '.join(self._files)}."
            )
        return self._now(self._files[competition])

    def _now(self, file: DataFile) -> DataFile:
        """The file as it is now: one in a folder may have been replaced, and no store of before holds its texts."""
        try:
            return self._source.bytes.listed_again(file.name)
        except DataUnavailable:  # it is gone; whoever reads it is told
            return file

    def fetched(self, competition: str) -> Store:
        """The store; waits for its download if stores come from the Hub."""
        file = self._file(competition)
        store = self.store(competition)
        if store is None and (download := self._location.download(file)) is not None:
            download.wait()
            store = self.store(competition)
        if store is None:
            raise self.missing(competition)
        return store

    def missing(self, competition: str | None = None) -> ContentMissing:
        """The error for a store that is not there."""
        what = "There is no content store" + (f" of {competition}" if competition else "")
        if self._location.kind == "off":
            return ContentMissing(f"{what}: KBDASH_CONTENT is off.", advice="Unset it, and build one.")
        return ContentMissing(
            f"{what} yet.", advice="Build it with `python -m kbdash.content build`, or name one in KBDASH_CONTENT."
        )
