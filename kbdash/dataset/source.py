"""Where the files come from: the Hub, a local folder, or the sample, behind one interface."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from kbdash.dataset import hub
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.http import RANGES, EarlyLink, HttpClient, Remote, SourceFiles, local_file
from kbdash.dataset.model import DataFile
from kbdash.errors import DataUnavailable

Kind = Literal["hub", "folder", "sample"]


@dataclass(frozen=True)
class Source:
    """A dataset that does not change while it is open.

    `commit` and `dataset` are None unless it is at the Hub. `notice` says why the sample replaces the Hub.
    """

    kind: Kind
    label: str
    files: Mapping[str, DataFile]
    prefix: str
    dataset: str | None = None
    revision: str | None = None
    commit: str | None = None
    licence: str | None = None
    notice: str | None = None
    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    bytes: SourceFiles = field(default_factory=lambda: SourceFiles({}), repr=False, compare=False)

    @property
    def version(self) -> str:
        """A cache key for everything derived from these files; changes when any of them does."""
        names = "|".join(f"{file.name}:{file.version}" for file in self.files.values())
        return self.commit or blake2b(names.encode(), digest_size=8).hexdigest()

    def close(self) -> None:
        """Close the connections to the Hub; later reads fail and say so."""
        self.bytes.close()


def open_source(settings: Settings) -> Source:
    """The source that the settings name. By default the public dataset or, if that fails, the sample with a notice."""
    name = settings.source
    if name is None:
        return _public_or_sample(settings)
    if name == "sample":
        return _sample(settings)
    if Path(name).expanduser().is_dir():
        return _folder(Path(name).expanduser())
    if _looks_like_path(name):
        raise DataUnavailable(f"There is no folder {name}.", advice="Point KBDASH_SOURCE at a folder of parquet files.")
    dataset, _, revision = name.partition("@")
    return _hub(dataset, revision or None, settings)


def newer_commit(source: Source, settings: Settings) -> str | None:
    """A commit published after `source` was opened, or None."""
    if source.dataset is None:
        return None
    client = HttpClient()
    try:
        latest = hub.latest_commit(source.dataset, source.revision, settings, client)
    finally:
        client.close()
    return latest if latest != source.commit else None


def _looks_like_path(name: str) -> bool:
    return name.count("/") != 1 or name.startswith((".", "/", "~"))


def _public_or_sample(settings: Settings) -> Source:
    try:
        return _hub(DATASET, None, settings)
    except DataUnavailable as error:
        return _sample(settings, notice=f"The real dataset could not be opened: {error} {error.advice}".strip())


def _hub(dataset: str, revision: str | None, settings: Settings) -> Source:
    client = HttpClient()
    try:
        answer = hub.asked_for(dataset, revision, settings, client)
        asked = {} if _knows_files(settings) else hub.ask_links(dataset, revision, settings, client)
        found = answer()
    except DataUnavailable:
        client.close()
        raise
    files = _by_name(found.files)
    early = {name: EarlyLink(answer, found.commit) for name, answer in asked.items()}
    return Source(
        kind="hub",
        label=dataset,
        files=files,
        prefix=found.prefix,
        dataset=dataset,
        revision=revision,
        commit=found.commit,
        licence=found.licence,
        endpoint=settings.endpoint,
        token=settings.token,
        bytes=SourceFiles(files, Remote(client, settings.token, settings.cache, settings.cache_bytes, early)),
    )


def _knows_files(settings: Settings) -> bool:
    """Whether ranges are cached on disk: a restarted server then needs no early links."""
    try:
        return any((settings.cache / RANGES).iterdir())
    except OSError:
        return False


def _sample(settings: Settings, notice: str | None = None) -> Source:
    from kbdash.dataset.sample import sample_folder  # noqa: PLC0415  (a slow import that only the sample needs)

    folder, elsewhere = sample_folder(settings.cache)
    files = _parquet_files(folder)
    prefix = _folder_prefix(folder)
    said = " ".join(filter(None, (notice, elsewhere))) or None
    return Source("sample", "sample", files, prefix, licence="synthetic", notice=said, bytes=SourceFiles(files))


def _folder(folder: Path) -> Source:
    files = _parquet_files(folder)
    if not files:
        raise DataUnavailable(f"{folder} holds no parquet files.", advice="Point KBDASH_SOURCE at a folder that does.")
    return Source("folder", folder.resolve().name, files, _folder_prefix(folder), bytes=SourceFiles(files))


def _folder_prefix(folder: Path) -> str:
    return f"{folder.resolve()}/"


def _parquet_files(folder: Path) -> Mapping[str, DataFile]:
    found = []
    for path in sorted(folder.resolve().glob("*.parquet")):
        found.append(local_file(path))
    return _by_name(found)


def _by_name(files: tuple[DataFile, ...] | list[DataFile]) -> Mapping[str, DataFile]:
    return {file.name: file for file in files}
