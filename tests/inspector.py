"""The MCP inspector, a client of agents' servers that is not ours: installed once (`python -m tests.inspector`)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

VERSION = "0.15.0"
PACKAGE = f"@modelcontextprotocol/inspector@{VERSION}"
FOLDER = user_cache_path("kbdash-tests") / f"inspector-{VERSION}"
PROGRAM = FOLDER / "node_modules" / ".bin" / "mcp-inspector"


def command() -> list[str]:
    """The words that start it; installed first where it is not there yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / "install.lock"):
        if not PROGRAM.exists():
            install()
    return [str(PROGRAM), "--cli"]


def install() -> None:
    """Install it with npm; Node.js too, as Debian's package, where root has apt and there is none."""
    if shutil.which("npm") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "nodejs", "npm"], check=True)
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("No npm found, and none could be installed. Install Node.js and run again.")
    subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(FOLDER), PACKAGE], check=True
    )


def environ() -> dict[str, str]:
    """What it needs of the environment."""
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", str(Path.home()))}


if __name__ == "__main__":
    print(f"inspector: {command()[0]}")  # noqa: T201
