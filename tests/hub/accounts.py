"""Who a token belongs to, and what its owner may see and change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tests.hub.messages import HubError, Request
from tests.hub.repo import Repository

Role = Literal["read", "write"]


@dataclass(frozen=True)
class Account:
    """The owner of a token, the organisations they belong to, and the role of the token."""

    user: str
    role: Role = "write"
    organisations: tuple[str, ...] = ()

    def belongs_to(self, owner: str) -> bool:
        """Whether that user or organisation is theirs."""
        return owner in (self.user, *self.organisations)

    def described(self) -> dict[str, Any]:
        """The account as /whoami-v2 describes it."""
        return {
            "type": "user",
            "id": self.user,
            "name": self.user,
            "fullname": self.user,
            "orgs": [{"type": "org", "name": name} for name in self.organisations],
            "auth": {"type": "access_token", "accessToken": {"displayName": "loopback", "role": self.role}},
        }


class Accounts:
    """The tokens this Hub knows. A Hub that knows none takes every reader for a stranger."""

    def __init__(self) -> None:
        self._by_token: dict[str, Account] = {}

    def add(self, token: str, user: str, role: Role = "write", organisations: tuple[str, ...] = ()) -> Account:
        """The account that the token will stand for."""
        self._by_token[token] = account = Account(user, role, organisations)
        return account

    def reader(self, request: Request) -> Account | None:
        """Who asks; None = a stranger. A token that is not known is an error even for public data."""
        if request.token is None or not self._by_token:
            return None
        if request.token not in self._by_token:
            raise HubError(401, "Invalid credentials in Authorization header")
        return self._by_token[request.token]

    def known(self, request: Request) -> Account:
        """Who asks, where a stranger may not."""
        account = self.reader(request)
        if account is None:
            raise HubError(401, "Invalid username or password.")
        return account

    def writer(self, request: Request, owner: str, what: str) -> Account:
        """Who asks to change something of that owner, with the right to."""
        account = self.known(request)
        if account.role != "write" or not account.belongs_to(owner):
            raise HubError(403, f'You don\'t have the rights to {what} under the namespace "{owner}"')
        return account

    def may_see(self, request: Request, repository: Repository) -> bool:
        """Whether the repository exists for the one who asks."""
        account = self.reader(request)
        return not repository.private or (account is not None and account.belongs_to(repository.owner))

    def check_gate(self, request: Request, repository: Repository) -> None:
        """Refuse the files of a gated repository to those without access; its listing is open to all."""
        account = self.reader(request)
        if not repository.gated or (account is not None and account.belongs_to(repository.owner)):
            return
        message = f"Access to {repository.kind} {repository.name} is restricted."
        if account is None:
            raise HubError(401, f"{message} You must be authenticated to access it.", "GatedRepo")
        raise HubError(403, f"{message} Ask for access on its page.", "GatedRepo")
