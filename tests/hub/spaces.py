"""The write side of the Hub: Spaces and datasets are created and given files by commits; Spaces have variables."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.hub.accounts import Accounts
from tests.hub.blobs import Blob, Memory
from tests.hub.card import front_matter_problems
from tests.hub.messages import HubError, Request, Response, json_response
from tests.hub.repo import Repository
from tests.hub.shelf import Shelf

Plan = Literal["free", "pro"]


@dataclass(frozen=True)
class Space:
    """What has become of a Space."""

    repository: Repository
    sdk: str
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)  # of its commits, oldest first

    @property
    def files(self) -> dict[str, bytes]:
        """The content of every file at its newest commit."""
        blobs = {name: entry.blob for name, entry in self.repository.head.files.items()}
        return {name: blob.data for name, blob in blobs.items() if isinstance(blob, Memory)}


class Spaces:
    """Answers to those who write."""

    def __init__(self, shelf: Shelf, accounts: Accounts, endpoint: Callable[[], str]) -> None:
        self._shelf = shelf
        self._accounts = accounts
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self.by_name: dict[str, Space] = {}
        self.plan: Plan = "pro"

    def whoami(self, request: Request) -> Response:
        """Whose token it is, and its role."""
        return json_response(self._accounts.known(request).described())

    def create(self, request: Request) -> Response:
        """A new Space, or the reason why not."""
        wish = request.json()
        account = self._accounts.known(request)
        name = f"{wish.get('organization') or account.user}/{wish['name']}"
        self._accounts.writer(request, name.partition("/")[0], f"create a {wish.get('type', 'model')}")
        kind = wish.get("type", "model")
        if kind not in ("space", "dataset"):
            raise HubError(400, "This Hub creates Spaces and datasets only")
        url = f"{self._endpoint()}/{kind}s/{name}"
        with self._lock:
            if self._shelf.holds(kind, name):
                return HubError(409, f"You already created this {kind} repo").response(url=url)
            if kind == "space":
                self._check_plan(wish["sdk"])
                self._add(name, wish)
            else:
                self._shelf.put(Repository("dataset", name, private=_is_private(wish)))
        return json_response({"url": url, "name": name})

    def validate_yaml(self, request: Request) -> Response:
        """Errors and warnings about the front matter of a README."""
        wish = request.json()
        # What the front matter of a dataset must have, no client of ours depends on.
        errors, warnings = front_matter_problems(wish["content"]) if wish.get("repoType") == "space" else ([], [])
        listed = {
            "errors": [{"message": text} for text in errors],
            "warnings": [{"message": w} for w in warnings],
        }
        return json_response(listed, 400 if errors else 200)

    def preupload(self, request: Request, kind: str, name: str, revision: str) -> Response:
        """How each file is to be sent (always inside the commit), and the id of the one that is there."""
        files = self._writable(request, kind, name).at(revision)[1].files
        modes = [
            {
                "path": wish["path"],
                "uploadMode": "regular",
                "shouldIgnore": False,
                "oid": files[wish["path"]].oid if wish["path"] in files else None,
            }
            for wish in request.json()["files"]
        ]
        return json_response({"files": modes})

    def commit(self, request: Request, kind: str, name: str, revision: str) -> Response:
        """A new commit out of lines of JSON: a header, then files and deletions."""
        repository = self._writable(request, kind, name)
        lines = [json.loads(line) for line in request.body.splitlines() if line.strip()]
        header, *operations = lines
        with self._lock:
            parent, head = repository.at(revision)
            if header["value"].get("parentCommit", parent) != parent:
                raise HubError(412, "A commit has happened since. Please refresh and try again.")
            blobs = {path: entry.blob for path, entry in head.files.items()}
            for operation in operations:
                _apply(operation["key"], operation["value"], blobs)
            title = header["value"]["summary"]
            sha = repository.commit(blobs, title).sha
            if kind == "space":
                self.by_name[name].messages.append(title)
        url = f"{self._endpoint()}/{kind}s/{name}/commit/{sha}"
        return json_response({"success": True, "commitOid": sha, "commitUrl": url, "hookOutput": ""})

    def variables(self, request: Request, name: str, which: str) -> Response:
        """The variables or the names of the secrets, after one was set or deleted."""
        self._writable(request, "space", name)
        space = self.by_name[name]
        settings = space.variables if which == "variables" else space.secrets
        with self._lock:
            if request.method == "POST":
                wish = request.json()
                settings[wish["key"]] = wish["value"]
            if request.method == "DELETE":
                settings.pop(request.json()["key"], None)
            listed = dict(settings)
        shown = {key: {"value": value} if which == "variables" else {} for key, value in listed.items()}
        return json_response(shown)

    def runtime(self, request: Request, name: str) -> Response:
        """The state of the machine: being built, for ever."""
        return json_response(self._shelf.find(request, "space", name).facts["runtime"])

    def _writable(self, request: Request, kind: str, name: str) -> Repository:
        repository = self._shelf.find(request, kind, name)
        self._accounts.writer(request, repository.owner, f"write to the {kind} {name}")
        return repository

    def _check_plan(self, sdk: str) -> None:
        if self.plan == "free" and sdk != "static":
            message = f"Creating a {sdk} Space requires a PRO subscription. Subscribe or choose the static SDK."
            raise HubError(402, message)

    def _add(self, name: str, wish: dict[str, Any]) -> None:
        facts = {
            "sdk": wish["sdk"],
            "subdomain": name.replace("/", "-").lower(),
            "runtime": {"stage": "BUILDING", "hardware": {"current": None, "requested": "cpu-basic"}},
        }
        repository = Repository("space", name, private=_is_private(wish), facts=facts)
        space = Space(repository, wish["sdk"])
        space.variables.update({one["key"]: one["value"] for one in wish.get("variables", ())})
        space.secrets.update({one["key"]: one["value"] for one in wish.get("secrets", ())})
        self._shelf.put(repository)
        self.by_name[name] = space


def _is_private(wish: dict[str, Any]) -> bool:
    return wish.get("visibility") == "private" or bool(wish.get("private"))


def _apply(key: str, value: dict[str, Any], blobs: dict[str, Blob]) -> None:
    """Change the files as one line of a commit says."""
    path = value["path"]
    if key == "file":
        blobs[path] = Memory(base64.b64decode(value["content"]))
    elif key == "deletedFolder":
        for inside in [name for name in blobs if name.startswith(path.rstrip("/") + "/")]:
            del blobs[inside]
    elif key != "deletedFile":
        raise HubError(400, f"This Hub does not take operations of the kind {key}")
    elif blobs.pop(path, None) is None:
        raise HubError(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
