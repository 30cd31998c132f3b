"""Create or update a Space on the Hub so that it has the files of one commit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, SpaceInfo
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

from kbdash.dataset.account import TOKENS, Account, writing_account, writing_api
from kbdash.dataset.config import Settings
from kbdash.deploy.checkout import Head
from kbdash.errors import KbdashError

OURS = {"kbdash/deploy/command.py", "kbdash/deploy.py"}  # a Space with either is ours; the second is from before 0.1
KEPT = {".gitattributes"}  # the Hub adds it; it lists the large files
AT_FIRST = {*KEPT, "README.md"}  # files of a new Space made on the website
PLAN = re.compile(r"\b(subscri|payment|billing|credits|plan\b|pro\b)", re.IGNORECASE)
PRICES = "https://huggingface.co/pricing"


class HubUnavailable(KbdashError):
    """The Hub cannot be asked now."""

    exit_code = 3


@dataclass(frozen=True)
class Order:
    """What is asked for: the Space as owner/name, its public variables, and the title of its next commit."""

    space: str
    variables: Mapping[str, str]
    message: str
    private: bool

    @property
    def owner(self) -> str:
        """The user or organisation whose Space it is."""
        return self.space.partition("/")[0]


@dataclass(frozen=True)
class Delivery:
    """The result: address of the Space, address of its app, and whether anything changed."""

    page: str
    app: str
    changed: bool


def front_matter(readme: str) -> dict[str, str]:
    """The plain `key: value` lines at the head of a README; the Hub checks whether it is valid YAML."""
    block = re.match(r"---\n(.*?\n)---\n", readme, re.DOTALL)
    return dict(re.findall(r"^(\w+): *(.+?) *$", block[1], re.MULTILINE)) if block else {}


def deliver(order: Order, head: Head, settings: Settings) -> Delivery:
    """Update the Space to the commit; KbdashError says what prevented it."""
    api = writing_api(settings)
    account = None
    try:
        account = writing_account(api)
        return _deliver(api, order, head)
    except (httpx2.HTTPError, OSError, ValueError, KeyError) as error:
        raise _explained(error, order, account, settings) from error


def _deliver(api: HfApi, order: Order, head: Head) -> Delivery:
    info = _found_or_created(api, order)
    page = f"{api.endpoint}/spaces/{order.space}"
    there = {sibling.rfilename for sibling in info.siblings or ()}
    _check(order, info, there)
    # Variables first: each change restarts a Space, and the commit restarts it anyway.
    _set_variables(api, order)
    files = _addressed(head.files, page)
    done = api.create_commit(
        order.space,
        [
            *(CommitOperationAdd(path, content) for path, content in sorted(files.items())),
            *(CommitOperationDelete(path) for path in sorted(there - files.keys() - KEPT)),
        ],
        commit_message=f"{order.message} ({head.short})",
        commit_description=f"From commit {head.commit}.",
        repo_type="space",
        parent_commit=info.sha,
    )
    return Delivery(page, f"https://{info.subdomain}.hf.space", done.oid != info.sha)


def _found_or_created(api: HfApi, order: Order) -> SpaceInfo:
    """The Space; an existing one is not created again, because creating may require a paid plan."""
    try:
        return api.space_info(order.space)
    except RepositoryNotFoundError:
        api.create_repo(order.space, repo_type="space", space_sdk="docker", private=order.private or None)
        return api.space_info(order.space)


def _check(order: Order, info: SpaceInfo, there: set[str]) -> None:
    """Refuse to overwrite another app, and to publish what should be private."""
    if not OURS & there and not there <= AT_FIRST:
        advice = "Choose another name, or delete that Space on the Hub first."
        raise KbdashError(f"{order.space} exists already and holds another app.", advice=advice)
    if order.private and not info.private:
        advice = "Make it private in its settings, then run this again."
        raise KbdashError(f"{order.space} exists already and is public.", advice=advice)


def _set_variables(api: HfApi, order: Order) -> None:
    if not order.variables:
        return
    current = {key: variable.value for key, variable in api.get_space_variables(order.space).items()}
    for key, value in order.variables.items():
        if current.get(key) != value:
            api.add_space_variable(order.space, key, value)


def _addressed(files: Mapping[str, bytes], page: str) -> Mapping[str, bytes]:
    """The files, with the full address of the thumbnail in the README, as the Hub requires."""
    readme = files["README.md"].decode()
    thumbnail = front_matter(readme).get("thumbnail")
    if thumbnail not in files:
        return files
    readme = readme.replace(f"thumbnail: {thumbnail}", f"thumbnail: {page}/resolve/main/{thumbnail}", 1)
    return {**files, "README.md": readme.encode()}


def _explained(error: Exception, order: Order, account: Account | None, settings: Settings) -> KbdashError:
    """The error for the user. Messages of transport errors are left out: some quote the token."""
    host = settings.endpoint
    again = "Check the network, then run this again."
    match error:
        case HfHubHTTPError():
            return _refusal(error, order, account, settings)
        case OfflineModeIsEnabled():
            return KbdashError("HF_HUB_OFFLINE is set, so the Hub is not asked.", advice="Unset it.")
        case httpx2.LocalProtocolError() | UnicodeEncodeError():
            return KbdashError("The token holds characters that cannot be sent.", advice="Copy it again into HF_TOKEN.")
        case httpx2.TimeoutException():
            return HubUnavailable(f"{host} did not answer in time.", advice=again)
        case httpx2.HTTPError() | OSError():
            return HubUnavailable(f"{host} cannot be reached.", advice=again)
    title, *complaints = str(error).splitlines() or [""]
    if "README.md" in title:
        listed = "; ".join(line.removeprefix("- ") for line in complaints)
        return KbdashError(
            f"The Hub does not take the README: {listed}.", advice="Correct its front matter and commit it."
        )
    return KbdashError(f"{host} gave an answer that cannot be understood.", advice="Is HF_ENDPOINT a Hub?")


def _refusal(error: HfHubHTTPError, order: Order, account: Account | None, settings: Settings) -> KbdashError:
    """The error for an unsuccessful response."""
    status, words = error.response.status_code, error.server_message or ""
    if account is None and status == 401:
        return KbdashError("The Hub does not know this token.", advice=f"Make a new one at {TOKENS}.")
    if status == 402 or (status == 403 and PLAN.search(words)):
        what = f"The plan of {order.owner} does not allow Docker Spaces."
        return KbdashError(
            what, advice=f"They need PRO, Team or Enterprise ({PRICES}); updating one that exists does not."
        )
    if account is not None and order.owner not in account.names and status in (401, 403, 404):
        what = f"{account.user} may not write to the Spaces of {order.owner}."
        return KbdashError(what, advice=f"Choose an owner among: {', '.join(account.names)}.")
    if account is not None and status in (401, 403):
        what = f"The token of {account.user} may not write to {order.space}."
        return KbdashError(what, advice=f"Allow it to write to the Spaces of {order.owner} at {TOKENS}.")
    if status == 412:
        return KbdashError(f"{order.space} was changed by somebody else just now.", advice="Run this again.")
    said = f" ({words.splitlines()[0]})" if words else ""
    return HubUnavailable(f"{settings.endpoint} answered {status}{said}.", advice="Wait a little, then run this again.")
