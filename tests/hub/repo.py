"""Repositories: commits that never change, and the files at each of them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.hub.blobs import Blob, Memory, OnDisk, git_oid, open_blob
from tests.hub.messages import HubError

_TEXT_SUFFIXES = frozenset({"", ".csv", ".json", ".md", ".py", ".toml", ".txt", ".yaml", ".yml"})
_SHORTEST_COMMIT = 7


@dataclass(frozen=True)
class Entry:
    """One file at one commit; `linked` = kept in large-file storage, where the Hub redirects to."""

    name: str
    blob: Blob
    linked: bool

    @property
    def etag(self) -> str:
        """The ETag the Hub gives: SHA-256 for large-file storage, git's id otherwise."""
        return self.blob.sha256 if self.linked else self.oid

    @property
    def pointer(self) -> bytes:
        """The text git keeps in place of a linked file."""
        version = "version https://git-lfs.github.com/spec/v1"
        return f"{version}\noid sha256:{self.blob.sha256}\nsize {self.blob.size}\n".encode()

    @property
    def oid(self) -> str:
        """The git id of what git keeps."""
        return self.blob.git_oid if isinstance(self.blob, Memory) and not self.linked else git_oid(self.pointer)

    def listed(self) -> dict[str, Any]:
        """The entry as /tree and /paths-info list it."""
        row: dict[str, Any] = {"type": "file", "path": self.name, "size": self.blob.size, "oid": self.oid}
        if self.linked:
            size, pointer_size = self.blob.size, len(self.pointer)
            row["lfs"] = {"oid": self.blob.sha256, "size": size, "pointerSize": pointer_size}
        return row

    def sibling(self, *, with_sizes: bool) -> dict[str, Any]:
        """The entry as the repository info lists it."""
        row: dict[str, Any] = {"rfilename": self.name}
        if with_sizes:
            row |= {"size": self.blob.size, "blobId": self.oid}
        if with_sizes and self.linked:
            size, pointer_size = self.blob.size, len(self.pointer)
            row["lfs"] = {"sha256": self.blob.sha256, "size": size, "pointerSize": pointer_size}
        return row


@dataclass(frozen=True)
class Commit:
    """The files at one point, under a name derived from them."""

    files: Mapping[str, Entry]
    title: str = "Publish"
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @cached_property
    def sha(self) -> str:
        """The commit id, 40 hex digits: the same files give the same id."""
        content = "\n".join(f"{name}\0{entry.blob.sha256}" for name, entry in sorted(self.files.items()))
        return hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()

    @property
    def date(self) -> str:
        """The time of the commit as the Hub writes it."""
        return self.at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Repository:
    """A dataset or a Space: who may see it, and its commits."""

    def __init__(
        self,
        kind: str,
        name: str,
        *,
        private: bool = False,
        gated: bool = False,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.private = private
        self.gated = gated
        self.facts = dict(facts or {})  # further fields of its info
        self.head = Commit({})
        self._commits = {self.head.sha: self.head}
        self._held: list[OnDisk] = []
        self._replaced: dict[str, Blob] = {}
        self._listed: set[str] = set()  # replaced files that listings know
        self._lock = threading.Lock()

    @property
    def owner(self) -> str:
        """The user or organisation it belongs to."""
        return self.name.partition("/")[0]

    @property
    def url_path(self) -> str:
        """Where it lives below the endpoint."""
        return f"/{self.kind}s/{self.name}"

    def commit(self, blobs: Mapping[str, Blob], title: str = "Publish") -> Commit:
        """The new head with these files; older commits keep theirs."""
        entries = {name: Entry(name, blob, self._is_linked(name, blob)) for name, blob in blobs.items()}
        commit = Commit(entries, title)
        with self._lock:
            self.head = commit
            self._commits[commit.sha] = commit
            self._held += [blob for blob in blobs.values() if isinstance(blob, OnDisk)]
        return commit

    def at(self, revision: str | None) -> tuple[str, Commit]:
        """The commit id and commit of a branch name or of a commit id, whole or shortened."""
        if revision in (None, "main", "HEAD", "refs/heads/main"):
            return self.head.sha, self.head
        with self._lock:
            commits = dict(self._commits)
        found = [sha for sha in commits if sha.startswith(str(revision))]
        if len(str(revision)) < _SHORTEST_COMMIT or len(found) != 1:
            raise HubError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return found[0], commits[found[0]]

    def entry(self, revision: str | None, name: str) -> tuple[str, Entry]:
        """The commit id and the file of that name, as served now: a replaced file comes first."""
        sha, commit = self.at(revision)
        entry = commit.files.get(name)
        if entry is None:
            raise HubError(404, "Entry not found", "EntryNotFound", {"X-Repo-Commit": sha})
        blob = self._replaced.get(name, entry.blob)
        return sha, Entry(name, blob, entry.linked)

    def listing(self, commit: Commit) -> list[Entry]:
        """The files of a commit, by name."""
        entries = [commit.files[name] for name in sorted(commit.files)]
        return [
            Entry(entry.name, self._replaced[entry.name], entry.linked) if entry.name in self._listed else entry
            for entry in entries
        ]

    def replace(self, name: str, data: bytes, *, listed: bool = False) -> None:
        """Serve other bytes under the same URLs, at every commit; listings keep the old size unless `listed`."""
        self._replaced[name] = Memory(data)
        if listed:
            self._listed.add(name)

    def restore(self) -> None:
        """Serve what was committed again."""
        self._listed.clear()
        self._replaced.clear()

    def close(self) -> None:
        """Let go of the files held open."""
        while self._held:
            self._held.pop().close()

    def _is_linked(self, name: str, blob: Blob) -> bool:
        # Spaces of this Hub keep everything in git; in datasets only short texts are.
        return isinstance(blob, OnDisk) or (self.kind == "dataset" and Path(name).suffix not in _TEXT_SUFFIXES)


def read_folder(folder: Path) -> dict[str, Blob]:
    """The files below a folder by their path in it, hidden ones left out."""
    return {name: open_blob(folder / name) for name in sorted(_visible(folder))}


def _visible(folder: Path) -> Iterable[str]:
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield relative.as_posix()
