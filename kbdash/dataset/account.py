"""The account of a token that may write to the Hub."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from huggingface_hub import HfApi

from kbdash.dataset.config import Settings
from kbdash.errors import KbdashError

TOKENS = "https://huggingface.co/settings/tokens"
_ADVICE = f"Make one with the role write at {TOKENS}, and set HF_TOKEN to it."


@dataclass(frozen=True)
class Account:
    """The owner of the token, the namespaces they may write to, and whether the token is read-only."""

    user: str
    names: tuple[str, ...]
    read_only: bool

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Account":
        """The account as the Hub describes it."""
        role = answer.get("auth", {}).get("accessToken", {}).get("role")
        organisations = (organisation["name"] for organisation in answer.get("orgs", ()))
        return cls(answer["name"], (answer["name"], *organisations), role == "read")


def writing_api(settings: Settings) -> HfApi:
    """The Hub, asked with the token; KbdashError when there is none."""
    if not settings.token:
        raise KbdashError("There is no token for the Hub.", advice=_ADVICE)
    return HfApi(endpoint=settings.endpoint, token=settings.token)


def writing_account(api: HfApi) -> Account:
    """The account of the token; KbdashError when the token is for reading only."""
    account = Account.of(api.whoami())
    if account.read_only:
        raise KbdashError(f"The token of {account.user} is for reading only.", advice=_ADVICE)
    return account
