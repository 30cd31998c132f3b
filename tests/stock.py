"""The content of the sample, built once for all tests of pages, so that no server builds it beside them."""

import os
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

from kbdash.content.store import find_store
from kbdash.dataset.catalog import COMPETITIONS
from kbdash.dataset.config import Settings
from kbdash.dataset.source import open_source

ROOT = Path(__file__).resolve().parents[1]


def stock(cache: Path) -> Path:
    """The cache with a content store of every competition of the sample; KernelGuard is asked by those who need it."""
    with FileLock(cache.parent / "content.lock"):
        if is_stocked(cache):
            return cache
        subprocess.run(
            [sys.executable, "-m", "kbdash.content", "build", "--source", "sample", "--verdicts", "none"],
            cwd=ROOT,
            env=os.environ | {"KBDASH_CACHE": str(cache)},
            check=True,
            capture_output=True,
        )
    return cache


def is_stocked(cache: Path) -> bool:
    """Whether every store is there, and one that the program of today would read."""
    source = open_source(Settings(source="sample", cache=cache))
    files = [source.files[competition.files[0]] for competition in COMPETITIONS]
    source.close()
    return all(find_store(cache / "content", file) for file in files)
