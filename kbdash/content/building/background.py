"""Build in a separate process: at low priority, once, and no longer than the process that started it runs."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kbdash.content.building.jobs import content_root
from kbdash.dataset.config import Settings
from kbdash.dataset.source import Source
from kbdash.errors import KbdashError

_PROJECT = Path(__file__).parents[3]
LOG = "build.log"
_running: list[subprocess.Popen[bytes]] = []
"""Builds of this process. The system closes the standard input of each when this process ends, however it ends."""


def start_build(source: Source, settings: Settings, competitions: Sequence[str]) -> None:
    """Start to build these stores; skips a store that another process is building."""
    if not settings.content_build:
        raise KbdashError("Building is switched off here (KBDASH_CONTENT_BUILD).", advice="Build on another machine.")
    work = content_root(settings) / ".work"
    _running[:] = [build for build in _running if build.poll() is None]
    try:
        work.mkdir(parents=True, exist_ok=True)
        with (work / LOG).open("ab") as log:
            build = subprocess.Popen(  # noqa: S603  (our own module, our own arguments)
                [sys.executable, "-m", "kbdash.content", "build", *competitions, *_options(source)],
                cwd=_PROJECT,
                env=_environment(settings),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        raise KbdashError(f"The build cannot be started: {error.strerror}.", advice="Check KBDASH_CACHE.") from error
    _running.append(build)


def _options(source: Source) -> list[str]:
    return ["--source", _name(source), "--gently", "--attended"]


def _name(source: Source) -> str:
    """The source as the command line names it, pinned to what is open here."""
    match source.kind:
        case "sample":
            return "sample"
        case "folder":
            return source.prefix
        case "hub":
            return f"{source.dataset}@{source.commit}"


def _environment(settings: Settings) -> dict[str, str]:
    given = {"KBDASH_CACHE": str(settings.cache), "HF_ENDPOINT": settings.endpoint}
    if settings.token:
        given["HF_TOKEN"] = settings.token
    return {name: value for name, value in os.environ.items() if name != "KBDASH_SOURCE"} | given
