"""The Hugging Face Hub on loopback: real HTTP for the unmodified huggingface_hub and DuckDB.

Used like this, or from the command line with `python -m tests.hub FOLDER`:

>>> with LoopbackHub(folder) as hub:
...     HfApi(endpoint=hub.endpoint).dataset_info("GPUMODE/kernelbot-data")
...     hub.counts["some.parquet"].bytes
...     hub.faults.fail(503, "/cdn/*", times=2)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from tests.hub.accounts import Account, Accounts
from tests.hub.counts import Counts, Exchange, FileCount
from tests.hub.faults import Faults
from tests.hub.links import Links
from tests.hub.messages import Request, Response
from tests.hub.reading import Reading
from tests.hub.repo import Repository, read_folder
from tests.hub.routes import Routes
from tests.hub.server import HOST, Server
from tests.hub.shelf import Shelf
from tests.hub.spaces import Plan, Space, Spaces

__all__ = ["Account", "Exchange", "FileCount", "LoopbackHub", "Space"]


class LoopbackHub:
    """A Hub with one dataset, the files of a folder, and the Spaces that are created on it.

    `token` belongs to a member of the dataset's organisation and may write; `accounts.add` makes others.
    """

    def __init__(
        self,
        folder: Path,
        repo: str = "GPUMODE/kernelbot-data",
        *,
        licence: str | None = "other",
        token: str | None = None,
        private: bool = False,
        gated: bool = False,
        port: int = 0,
    ) -> None:
        facts = {"tags": [f"license:{licence}"], "cardData": {"license": licence}} if licence else {}
        self.folder = Path(folder)
        self.repo = repo
        self.dataset = Repository("dataset", repo, private=private, gated=gated, facts=facts)
        self.accounts = Accounts()
        if token is not None:
            self.accounts.add(token, "tester", "write", (self.dataset.owner,))
        self.counts = Counts()
        self._server = Server(self._answer, self.counts, port, lambda: self.faults.connection_latency)
        self._shelf = Shelf(self.accounts)
        self._shelf.put(self.dataset)
        links = Links()
        self.faults = Faults(self.dataset, links, self._set_listening)
        self._spaces = Spaces(self._shelf, self.accounts, lambda: self.endpoint)
        reading = Reading(self._shelf, self.accounts, links, lambda: self.faults.redirect)
        self._routes = Routes(reading, self._spaces)

    def __enter__(self) -> LoopbackHub:
        self.publish()
        self._server.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self.faults.close()
        self._server.close()
        self._shelf.close()

    @property
    def endpoint(self) -> str:
        """What HF_ENDPOINT is to be."""
        return f"http://{HOST}:{self._server.port}"

    @property
    def commit(self) -> str:
        """The commit that the branch main is at, 40 hex digits."""
        return self.dataset.head.sha

    @property
    def spaces(self) -> Mapping[str, Space]:
        """The Spaces created so far, by owner/name."""
        return self._spaces.by_name

    @property
    def plan(self) -> Plan:
        """What the account pays: "free" allows static Spaces only."""
        return self._spaces.plan

    @plan.setter
    def plan(self, plan: Plan) -> None:
        self._spaces.plan = plan

    def url(self, name: str, revision: str | None = None) -> str:
        """Where a file is, pinned to the newest commit unless told otherwise."""
        revision = quote(revision or self.commit, safe="")
        return f"{self.endpoint}{self.dataset.url_path}/resolve/{revision}/{quote(name)}"

    def publish(self) -> str:
        """The commit made of the files that are in the folder now; the older ones stay as they were."""
        return self.dataset.commit(read_folder(self.folder)).sha

    def reset(self) -> None:
        """Set the counts to zero."""
        self.counts.reset()

    def _answer(self, request: Request) -> Response:
        return self.faults.wrap(self._routes.answer, request)

    def _set_listening(self, listening: bool) -> None:
        if listening:
            self._server.listen()
        else:
            self._server.refuse()
