"""Remove secrets from messages: credentials, tokens and signatures always, local paths for readers.

Our messages quote those of libraries, which quote addresses, headers and settings.
"""

import os
import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

HIDDEN = "…"
MOST_CHARACTERS = 4000
"""Characters: nobody reads a longer message, and the limit keeps matching fast."""

TOKENS = re.compile(
    r"\b(?:hf_|hf_oauth_|api_org_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|pypi-|npm_)[A-Za-z0-9_.\-]{8,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_.\-]+"
)
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|authorization\W{1,4}(?:basic|token))\s+[A-Za-z0-9+/._~\-]{8,}=*")
_USER_INFO = re.compile(r"(?<=://)[^\s/]+@")
_SIGNATURES = re.compile(
    r"(?i)([?&](?:x-amz-[a-z-]+|signature|policy|key-pair-id|token|access_token|sig)=)[^&\s\"'<>]+"
)
_UNIX_PATH = re.compile(r"(?<![\w:/.~…-])~?/(?:[\w.+@-]+/)+([\w.+@-]*)")
_WINDOWS_PATH = re.compile(r"\b[A-Za-z]:\\(?:[\w.+@ -]+\\)*([\w.+@-]*)")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


def without_secrets(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """The message without credentials, tokens and signatures, above all those of the environment."""
    short = text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + HIDDEN
    for secret in _known(environ):
        short = short.replace(secret, HIDDEN)
    short = _USER_INFO.sub(f"{HIDDEN}@", short)
    short = _AUTHORIZATION.sub(rf"\1 {HIDDEN}", short)
    return TOKENS.sub(HIDDEN, _SIGNATURES.sub(rf"\1{HIDDEN}", short))


def for_readers(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """The message for a public page: also without local paths, except for their last part."""
    bare = without_secrets(text, environ)
    return _WINDOWS_PATH.sub(rf"{HIDDEN}/\1", _UNIX_PATH.sub(rf"{HIDDEN}/\1", bare))


def _known(environ: Mapping[str, str]) -> list[str]:
    """Secrets of this process in every form that could be quoted, the longest first."""
    found = {value for name in _SECRETS if len(value := environ.get(name, "").strip()) >= 4}
    for name in _PROXIES:
        for value in (environ.get(name, ""), environ.get(name.lower(), "")):
            found |= _password(value)
    return sorted(found, key=len, reverse=True)


def _password(proxy: str) -> set[str]:
    """The user info of a proxy's address, percent-encoded and decoded."""
    user_info, at, _ = proxy.partition("://")[2].rpartition("@")
    if not at:
        return set()
    password = user_info.partition(":")[2]
    written = {user_info, unquote(user_info)} | ({password, unquote(password)} if len(password) >= 3 else set())
    return {text for text in written if text}


def without_user_info(text: str) -> str:
    """An address, or a text with addresses, without user names and passwords."""
    return _USER_INFO.sub("", text)


def has_user_info(address: str) -> bool:
    """Whether an address carries a user name or a password."""
    try:
        return urlsplit(address).username is not None
    except ValueError:
        return "@" in address
