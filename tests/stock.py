"""The content of the sample, built once for all tests of pages, so that no server builds it beside them."""

import os
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]


def stock(cache: Path) -> Path:
    """The cache with a content store of every competition of the sample; KernelGuard is asked by those who need it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
    done = cache.parent / f"content-{run}.done"
    with FileLock(cache.parent / "content.lock"):
        if done.exists():  # by another process of this run, or for another folder of tests
            return cache
        subprocess.run(
            [sys.executable, "-m", "kbdash.content", "build", "--source", "sample", "--verdicts", "none"],
            cwd=ROOT,
            env=os.environ | {"KBDASH_CACHE": str(cache)},
            check=True,
            capture_output=True,
        )
        done.touch()
    return cache
