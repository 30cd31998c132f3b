"""kbdash as a Hugging Face Space: `python -m kbdash.deploy OWNER/NAME` creates or updates it.

The Space gets the files of the last commit of this checkout, in one commit that names it.
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # public, but not marked so

import kbdash
from kbdash.dataset.config import Settings
from kbdash.deploy.checkout import Head, read_head
from kbdash.deploy.space import Order, deliver, front_matter
from kbdash.errors import KbdashError
from kbdash.scrub import has_user_info, without_secrets
from kbdash.terminal import until_pipe_closes

_HERE = Path(__file__).parents[2]
PROJECT = _HERE if (_HERE / "Dockerfile").is_file() else Path.cwd()
"""The checkout: that of this file or, if kbdash is installed, the working directory."""
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Anywhere in the name, to catch APIKEY, AWS_ACCESS_KEY_ID and PGPASSFILE too.
SECRET = re.compile(r"TOKEN|SECRET|PASS|PWD|KEY|CREDENTIAL|AUTH|PRIVATE|COOKIE|SIGNATURE|DSN", re.IGNORECASE)
# Long, without spaces, letters and digits mixed: not something a person types as a setting.
RANDOM = re.compile(r"(?=[^\s/]*[0-9])(?=[^\s/]*[A-Za-z])[A-Za-z0-9+=_\-]{32,}")
PEM = "-----BEGIN "
COMMIT = re.compile(r"[0-9a-f]{40}")


def main(
    arguments: Sequence[str] | None = None, *, root: Path = PROJECT, environ: Mapping[str, str] = os.environ
) -> int:
    """Exit code: 0 = done, else that of the error; the reason and what to do about it go to standard error."""
    try:
        given = _parser().parse_args(arguments)
        order = Order(_space(given.space), _variables(given.variable, given.content), given.message, given.private)
        head = read_head(root)
        _check(head)
        lines = _plan(order, head) if given.dry_run else _deploy(order, head, Settings.from_env(environ))
    except KbdashError as error:
        sys.stderr.write(f"{error} {error.advice}\n")
        return error.exit_code
    with until_pipe_closes():
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kbdash.deploy",
        description="Create a Hugging Face Space out of the last commit, or bring it up to date.",
        epilog="HF_TOKEN is a token with the role write; HF_ENDPOINT another Hub than huggingface.co.",
    )
    parser.add_argument("space", metavar="OWNER/NAME", help="the Space, under your name or an organisation's")
    parser.add_argument("--dry-run", action="store_true", help="list what would be uploaded; nothing is sent or asked")
    parser.add_argument("--private", action="store_true", help="create the Space for its owner's eyes only")
    parser.add_argument(
        "--variable", action="append", default=[], metavar="KEY=VALUE", help="a public setting; may be repeated"
    )
    parser.add_argument(
        "--content", metavar="OWNER/NAME", help="a published content repository to read source texts from"
    )
    parser.add_argument("--message", default=f"Deploy kbdash {kbdash.__version__}", help="title of the Space's commit")
    return parser


def _space(name: str) -> str:
    """The name, if a Space can have it."""
    with suppress(HFValidationError):
        validate_repo_id(name)
        if "/" in name:
            return name
    advice = "Write OWNER/NAME, each of letters, digits, '-', '_' and '.'."
    raise KbdashError(f"{name!r} cannot be the name of a Space.", advice=advice)


def _variables(texts: Sequence[str], content: str | None) -> dict[str, str]:
    """The public settings. A Space that downloads content stores must not build them."""
    fetched = {"KBDASH_CONTENT": content, "KBDASH_CONTENT_BUILD": "off"} if content else {}
    return dict(_variable(text) for text in (*(f"{key}={value}" for key, value in fetched.items()), *texts))


def _variable(text: str) -> tuple[str, str]:
    """Key and value; errors do not quote the text, which may be a misplaced secret."""
    key, equals, value = text.partition("=")
    if not equals or not KEY.fullmatch(key):
        advice = "For example: --variable KBDASH_SOURCE=sample"
        raise KbdashError("--variable takes KEY=VALUE, the key of letters, digits and '_'.", advice=advice)
    if SECRET.search(key) or _looks_secret(value):
        advice = "Set it as a secret in the settings of the Space."
        raise KbdashError(f"{key} looks like a secret, and everyone can read the variables of a Space.", advice=advice)
    return key, value


def _looks_secret(value: str) -> bool:
    """Whether a value could be a token, a key or an address with a password; a commit id is not one."""
    plain = value.strip()
    if without_secrets(plain, {}) != plain or has_user_info(plain) or PEM in plain:
        return True
    return any(not COMMIT.fullmatch(found) for found in RANDOM.findall(plain))


def _check(head: Head) -> None:
    """Refuse a commit from which no Space can be built."""
    fields = front_matter(head.files.get("README.md", b"").decode(errors="replace"))
    if "Dockerfile" not in head.files or fields.get("sdk") != "docker" or "app_port" not in fields:
        what = f"Commit {head.short} lacks a Dockerfile, or a README.md headed by `sdk: docker` and an `app_port`."
        raise KbdashError(what, advice="Commit both; only what is committed is uploaded.")


def _plan(order: Order, head: Head) -> list[str]:
    """What would be done, line by line."""
    sizes = {path: len(content) for path, content in sorted(head.files.items())}
    return [
        f"Would put commit {head.short} into {order.space}: {len(sizes)} files, {sum(sizes.values()):,} bytes.",
        *(f"{size:>12,}  {path}" for path, size in sizes.items()),
        *(f"Would set {key}={value}" for key, value in order.variables.items()),
        *_left_behind(head),
    ]


def _deploy(order: Order, head: Head, settings: Settings) -> list[str]:
    """What was done, line by line."""
    delivery = deliver(order, head, settings)
    has = "now has" if delivery.changed else "already had"
    return [
        f"{order.space} {has} the {len(head.files)} files of commit {head.short}.",
        *_left_behind(head),
        f"Space: {delivery.page}",
        f"App:   {delivery.app}",
    ]


def _left_behind(head: Head) -> list[str]:
    return [f"Not committed, so left out: {', '.join(head.changed)}"] if head.changed else []
