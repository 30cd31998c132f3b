"""The embedded sample dataset: synthetic rows under the file names and schemas of the real one."""

import getpass
import hashlib
import shutil
import tempfile
from functools import cache as once
from pathlib import Path

from kbdash.dataset.sample.boards import ALL_FILES
from kbdash.dataset.sample.writer import write_sample
from kbdash.errors import DataUnavailable

__all__ = ["ensure_sample", "sample_folder", "write_sample"]


def sample_folder(cache: Path) -> tuple[Path, str | None]:
    """The folder of the sample, and the reason if it is a temporary one (`cache` is full or not writable)."""
    try:
        return ensure_sample(cache), None
    except OSError as error:
        reason = f"The cache folder cannot be used ({error.strerror or type(error).__name__})"
    try:
        folder = ensure_sample(Path(tempfile.gettempdir()) / f"kbdash-{getpass.getuser()}")
    except OSError as error:
        what = f"{reason}, and no temporary folder either ({error.strerror or type(error).__name__})."
        raise DataUnavailable(what, advice="Make room, or set KBDASH_CACHE to a folder that can be written.") from error
    return folder, f"{reason}, so the sample lies in a temporary one. Set KBDASH_CACHE to a folder that can be written."


def ensure_sample(cache: Path) -> Path:
    """The folder of the sample inside `cache`; writes it if it is missing."""
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
    """A fingerprint of the generator, so that files of an older release are never used."""
    sources = sorted(path for path in Path(__file__).parent.rglob("*") if path.suffix in {".py", ".txt"})
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ALL_FILES)


def _move_into_place(draft: Path, folder: Path) -> None:
    """Rename the finished draft, unless another process was faster; repair a folder that lost files."""
    try:
        draft.replace(folder)
    except OSError:
        if _is_complete(folder):
            return
        for name in ALL_FILES:
            (draft / name).replace(folder / name)
