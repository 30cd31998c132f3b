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
    """Where the data come from, and the limits of the engine.

    `source` is None for the public dataset with the sample as a fallback, else exactly what
    `KBDASH_SOURCE` names: `org/name`, `org/name@revision`, a folder, or `sample`. `cache_bytes` limits the ranges of
    Hub files kept in `cache`. `content` is where content stores come from: None for those in the cache, a folder,
    `org/name[@revision]`, or `off`.
    """

    source: str | None = None
    endpoint: str = HUB
    token: str | None = field(default=None, repr=False)
    cache: Path = field(default_factory=lambda: user_cache_path("kbdash"))
    memory_limit: str = "400MB"
    hub_seconds: float = 4.5
    query_seconds: float = 20.0
    newer_every_seconds: float = 15 * 60
    cache_bytes: int = 256 << 20
    content: str | None = None
    content_build: bool = True

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Settings of this process; HF_ENDPOINT, HF_TOKEN and HF_HOME work as in huggingface_hub."""
        cache = environ.get("KBDASH_CACHE")
        settings = cls(
            source=environ.get("KBDASH_SOURCE") or None,
            endpoint=(environ.get("HF_ENDPOINT") or HUB).rstrip("/"),
            # A pasted token may end with a line break, which is invalid in a header.
            token="".join(environ.get("HF_TOKEN", "").split()) or _stored_token(),
            content=environ.get("KBDASH_CONTENT") or None,
            content_build=environ.get("KBDASH_CONTENT_BUILD", "").lower() != "off",
            newer_every_seconds=_number(environ.get("KBDASH_NEWER_SECONDS", ""), cls.newer_every_seconds),
            cache_bytes=int(_number(environ.get("KBDASH_CACHE_MB", ""), cls.cache_bytes / 1e6) * 1e6),
        )
        return replace(settings, cache=Path(cache).expanduser()) if cache else settings

    def with_source(self, source: str) -> "Settings":
        """The same settings for another source."""
        return replace(self, source=source)


def _number(text: str, default: float) -> float:
    """The text as a whole number; the default when it is not one."""
    return float(text) if text.isascii() and text.isdigit() else default


def _stored_token() -> str | None:
    """The token that `hf auth login` saved, if any."""
    from huggingface_hub import get_token  # noqa: PLC0415  (a slow import that only the Hub needs)

    token: str | None = get_token()
    return token
