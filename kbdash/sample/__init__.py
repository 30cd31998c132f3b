"""The embedded sample dataset: synthetic rows under the file names and schemas of the real one."""

import hashlib
import shutil
import tempfile
from functools import cache as once
from pathlib import Path

from kbdash.sample.boards import ALL_FILES
from kbdash.sample.writer import write_sample

__all__ = ["ensure_sample", "write_sample"]


def ensure_sample(cache: Path) -> Path:
    """The folder of the sample inside `cache`, written first when it is not there."""
    folder = cache / f"sample-{_format_version()}"
    if _is_complete(folder):
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".sample-", dir=cache))
    try:
        write_sample(draft)
        _move_into_place(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


@once
def _format_version() -> str:
    """A fingerprint of the generator itself, so that nobody is served what an older release wrote."""
    sources = sorted(path for path in Path(__file__).parent.rglob("*") if path.suffix in {".py", ".txt"})
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ALL_FILES)


def _move_into_place(draft: Path, folder: Path) -> None:
    """Renames the finished draft, unless another process was faster; mends a folder that lost files."""
    try:
        draft.replace(folder)
    except OSError:
        if _is_complete(folder):
            return
        for name in ALL_FILES:
            (draft / name).replace(folder / name)
