"""The environment, read once into one frozen object."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from platformdirs import user_cache_path

DATASET = "GPUMODE/kernelbot-data"
HUB = "https://huggingface.co"


@dataclass(frozen=True)
class Settings:
    """Where data come from and how much the engine may take.

    `source` is None for the public dataset with the sample as a fallback, else exactly what
    `KBDASH_SOURCE` names: `org/name`, `org/name@revision`, a folder, or `sample`.
    """

    source: str | None = None
    endpoint: str = HUB
    token: str | None = field(default=None, repr=False)
    cache: Path = field(default_factory=lambda: user_cache_path("kbdash"))
    memory_limit: str = "400MB"
    hub_seconds: float = 4.5
    query_seconds: float = 20.0
    retry_wait_seconds: float = 8.0
    newer_every_seconds: float = 15 * 60

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Settings of this process; HF_ENDPOINT, HF_TOKEN and HF_HOME mean what they mean to the Hub's client."""
        cache = environ.get("KBDASH_CACHE")
        settings = cls(
            source=environ.get("KBDASH_SOURCE") or None,
            endpoint=(environ.get("HF_ENDPOINT") or HUB).rstrip("/"),
            # Pasted tokens bring line ends along, which no header can carry.
            token="".join(environ.get("HF_TOKEN", "").split()) or _stored_token(),
            newer_every_seconds=_seconds(environ.get("KBDASH_NEWER_SECONDS", ""), cls.newer_every_seconds),
        )
        return replace(settings, cache=Path(cache).expanduser()) if cache else settings

    def with_source(self, source: str) -> "Settings":
        """The same settings for another source."""
        return replace(self, source=source)


def _seconds(text: str, default: float) -> float:
    """A whole number of seconds; anything else is the default."""
    return float(text) if text.isascii() and text.isdigit() else default


def _stored_token() -> str | None:
    """Token left by `hf auth login`, if any."""
    from huggingface_hub import get_token  # noqa: PLC0415  (a slow import that only the Hub needs)

    token: str | None = get_token()
    return token
