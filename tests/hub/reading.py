"""The read side of the Hub: info, tree, resolve and the signed links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs

from tests.hub.accounts import Accounts
from tests.hub.blobs import git_oid
from tests.hub.content import file_response
from tests.hub.links import Links
from tests.hub.messages import HubError, Request, Response, json_response
from tests.hub.repo import Commit, Repository
from tests.hub.shelf import Shelf

_ALWAYS_IN_INFO = frozenset({"_id", "id"})


class Reading:
    """Answers to those who read."""

    def __init__(self, shelf: Shelf, accounts: Accounts, links: Links, redirects: Callable[[], bool]) -> None:
        self._shelf = shelf
        self._accounts = accounts
        self._links = links
        self._redirects = redirects

    def info(self, request: Request, kind: str, name: str, revision: str | None = None) -> Response:
        """The repository at a revision, with the sizes of its files when `blobs` is asked for."""
        repository = self._shelf.find(request, kind, name)
        sha, commit = repository.at(revision)
        info = _info(repository, sha, commit, with_sizes=request.query.get("blobs", "").lower() in ("true", "1"))
        wanted = request.queries.get("expand")
        if wanted:
            info = {field: value for field, value in info.items() if field in _ALWAYS_IN_INFO.union(wanted)}
        return json_response(info)

    def tree(self, request: Request, kind: str, name: str, revision: str, folder: str | None = None) -> Response:
        """The files and folders in a folder, or everything below it."""
        sha, commit = self._shelf.find(request, kind, name).at(revision)
        recursive = request.query.get("recursive", "").lower() in ("true", "1")
        rows = _tree(commit, folder or "", recursive=recursive)
        if folder and not rows:
            raise HubError(404, f'"{folder}" does not exist on "{revision}"', "EntryNotFound", {"X-Repo-Commit": sha})
        return json_response(rows, headers={"X-Repo-Commit": sha})

    def paths_info(self, request: Request, kind: str, name: str, revision: str) -> Response:
        """The files among some paths; those that do not exist are left out."""
        _, commit = self._shelf.find(request, kind, name).at(revision)
        paths = parse_qs(request.body.decode()).get("paths", [])
        return json_response([commit.files[path].listed() for path in paths if path in commit.files])

    def refs(self, request: Request, kind: str, name: str) -> Response:
        """The one branch there is."""
        sha = self._shelf.find(request, kind, name).head.sha
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": sha}
        return json_response({"branches": [main], "converts": [], "tags": []})

    def resolve(self, request: Request, name: str, revision: str, path: str, kind: str = "model") -> Response:
        """Where the content is: a signed link for large-file storage, the content itself for the rest."""
        repository = self._shelf.find(request, kind, name)
        self._accounts.check_gate(request, repository)
        sha, entry = repository.entry(revision, path)
        headers = {"X-Repo-Commit": sha}
        if entry.linked:
            headers |= {"X-Linked-Size": str(entry.blob.size), "X-Linked-ETag": f'"{entry.etag}"'}
        if not entry.linked or not self._redirects():
            return file_response(request, entry, headers)
        link = self._links.sign(f"/cdn{repository.url_path}/{sha}/{path}")
        return Response(302, {**headers, "Location": _other_origin(request) + link, "Cache-Control": "no-store"})

    def content(self, request: Request, kind: str, name: str, sha: str, path: str) -> Response:
        """The content behind a signed link, which is all the right one needs."""
        self._links.check(request)
        repository = self._shelf.behind_link(kind, name)
        _, entry = repository.entry(sha, path)
        return file_response(request, entry)


def _other_origin(request: Request) -> str:
    """This server under its other name: the Hub's storage is another host, which gets no credentials."""
    host, _, port = request.headers.get("host", "").partition(":")
    return f"http://{'127.0.0.1' if host == 'localhost' else 'localhost'}:{port}"


def _info(repository: Repository, sha: str, commit: Commit, *, with_sizes: bool) -> dict[str, Any]:
    entries = repository.listing(commit)
    return {
        "_id": git_oid(repository.name.encode())[:24],
        "id": repository.name,
        "author": repository.owner,
        "sha": sha,
        "createdAt": commit.date,
        "lastModified": commit.date,
        "private": repository.private,
        "gated": "auto" if repository.gated else False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [entry.sibling(with_sizes=with_sizes) for entry in entries],
        "usedStorage": sum(entry.blob.size for entry in entries),
        **repository.facts,
    }


def _tree(commit: Commit, folder: str, *, recursive: bool) -> list[dict[str, Any]]:
    top = PurePosixPath(folder)
    inside = [entry for name, entry in commit.files.items() if PurePosixPath(name).is_relative_to(top)]
    parents = {parent for entry in inside for parent in PurePosixPath(entry.name).parents}
    folders = [path for path in parents if path != top and path.is_relative_to(top)]
    rows: list[dict[str, Any]] = [
        {"type": "directory", "path": str(path), "oid": git_oid(bytes(path)), "size": 0} for path in folders
    ]
    rows += [entry.listed() for entry in inside]
    if not recursive:
        rows = [row for row in rows if PurePosixPath(row["path"]).parent == top]
    return sorted(rows, key=lambda row: row["path"])
