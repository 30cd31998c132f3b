"""Where bytes come from: the Hub, a local folder, or the sample. From above they look the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from kbdash import hub
from kbdash.config import DATASET, Settings
from kbdash.errors import DataUnavailable
from kbdash.model import DataFile
from kbdash.sample import ensure_sample

Kind = Literal["hub", "folder", "sample"]


@dataclass(frozen=True)
class Source:
    """A dataset that does not change while it is open.

    `commit` and `dataset` are None off the Hub. `notice` tells why the sample stands in for the Hub.
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

    @property
    def version(self) -> str:
        """Key for everything derived from these files; changes when any of them does."""
        names = "|".join(f"{file.name}:{file.version}" for file in self.files.values())
        return self.commit or blake2b(names.encode(), digest_size=8).hexdigest()


def open_source(settings: Settings) -> Source:
    """The source that the settings name; without a name the public dataset, else the sample with a notice."""
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
    latest = hub.latest_commit(source.dataset, source.revision, settings)
    return latest if latest != source.commit else None


def _looks_like_path(name: str) -> bool:
    return name.count("/") != 1 or name.startswith((".", "/", "~"))


def _public_or_sample(settings: Settings) -> Source:
    try:
        return _hub(DATASET, None, settings)
    except DataUnavailable as error:
        return _sample(settings, notice=f"{error} {error.advice}".strip())


def _hub(dataset: str, revision: str | None, settings: Settings) -> Source:
    found = hub.resolve(dataset, revision, settings)
    return Source(
        kind="hub",
        label=dataset,
        files=_by_name(found.files),
        prefix=found.prefix,
        dataset=dataset,
        revision=revision,
        commit=found.commit,
        licence=found.licence,
        endpoint=settings.endpoint,
        token=settings.token,
    )


def _sample(settings: Settings, notice: str | None = None) -> Source:
    folder = ensure_sample(settings.cache)
    files = _parquet_files(folder)
    return Source("sample", "sample", files, _folder_prefix(folder), licence="synthetic", notice=notice)


def _folder(folder: Path) -> Source:
    files = _parquet_files(folder)
    if not files:
        raise DataUnavailable(f"{folder} holds no parquet files.", advice="Point KBDASH_SOURCE at a folder that does.")
    return Source("folder", folder.resolve().name, files, _folder_prefix(folder))


def _folder_prefix(folder: Path) -> str:
    return f"{folder.resolve()}/"


def _parquet_files(folder: Path) -> Mapping[str, DataFile]:
    found = []
    for path in sorted(folder.resolve().glob("*.parquet")):
        facts = path.stat()
        found.append(DataFile(path.name, str(path), facts.st_size, f"{facts.st_size}-{facts.st_mtime_ns}"))
    return _by_name(found)


def _by_name(files: tuple[DataFile, ...] | list[DataFile]) -> Mapping[str, DataFile]:
    return {file.name: file for file in files}
