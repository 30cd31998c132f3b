"""The files of the last commit of a git checkout, without anything uncommitted."""

import io
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kbdash.errors import KbdashError

SHORT = 12  # digits of a commit id: enough to be unique, short enough to read


@dataclass(frozen=True)
class Head:
    """The last commit; `files` are its contents by path, `changed` the paths whose working copy differs."""

    commit: str
    files: Mapping[str, bytes]
    changed: tuple[str, ...]

    @property
    def short(self) -> str:
        """The commit id as people quote it."""
        return self.commit[:SHORT]


def read_head(root: Path) -> Head:
    """The last commit of the checkout whose top folder is `root`."""
    clone = "Clone the repository with git, and run this in the clone."
    # A prefix means that the folder lies inside another repository: somebody else's project.
    if _git(root, ["rev-parse", "--show-prefix"], f"{root} is not a git checkout", clone).strip():
        raise KbdashError(f"{root} lies inside the checkout of another project.", advice=clone)
    head = _git(root, ["rev-parse", "--verify", "HEAD"], f"{root} has no commit yet", "Commit the files first.")
    commit = head.decode().strip()
    broken, mend = f"Commit {commit} cannot be read", "Run `git fsck` in the checkout."
    archive = _git(root, ["archive", "--format=tar", commit], broken, mend)
    changed = _git(root, ["diff", "--name-only", "-z", commit], broken, mend)
    return Head(commit, _unpacked(archive), tuple(changed.decode().split("\0")[:-1]))


def _git(root: Path, arguments: list[str], trouble: str, advice: str) -> bytes:
    """The output of git; if it fails, an error with `trouble` and git's message."""
    # Keep the line ends as committed, whatever the checkout's settings.
    command = ["git", "-C", str(root), "-c", "core.autocrlf=false", *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603  (only our own arguments)
    except FileNotFoundError:
        raise KbdashError("git is not installed.", advice="Install git, then run this again.") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise KbdashError(f"{trouble} ({reason}).", advice=advice) from error


def _unpacked(archive: bytes) -> dict[str, bytes]:
    """Content of every file of a tar archive, by path."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.issym():
                what = f"{member.name} is a symbolic link, which a Space cannot hold."
                raise KbdashError(what, advice="Commit a file in its place.")
            content = tar.extractfile(member)
            if content is not None:
                files[member.name] = content.read()
    return files
