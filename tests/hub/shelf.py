"""The repositories of the Hub, as far as the one who asks may see them."""

from __future__ import annotations

from tests.hub.accounts import Accounts
from tests.hub.messages import HubError, Request
from tests.hub.repo import Repository


class Shelf:
    """Repositories by kind and name."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._repositories: dict[tuple[str, str], Repository] = {}

    def put(self, repository: Repository) -> None:
        """Add a repository."""
        self._repositories[repository.kind, repository.name] = repository

    def holds(self, kind: str, name: str) -> bool:
        """Whether there is such a repository, seen or not."""
        return (kind, name) in self._repositories

    def find(self, request: Request, kind: str, name: str) -> Repository:
        """The repository; one that may not be seen looks like one that does not exist."""
        repository = self._repositories.get((kind, name))
        stranger = self._accounts.reader(request) is None
        if repository is not None and self._accounts.may_see(request, repository):
            return repository
        # The code matters: without it huggingface_hub understands a 401 only over https.
        if stranger:
            raise HubError(401, "Invalid username or password.", "RepoNotFound")
        raise HubError(404, "Repository not found", "RepoNotFound")

    def behind_link(self, kind: str, name: str) -> Repository:
        """The repository that a genuine signed link points into."""
        return self._repositories[kind, name]

    def close(self) -> None:
        """Let go of every file held open."""
        for repository in self._repositories.values():
            repository.close()
