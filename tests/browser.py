"""The browser the tests drive: found on the machine, or installed once (`python -m tests.browser`)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The headless shell takes half of the processor that the whole browser takes.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of a Chromium or Chrome on this machine, or None."""
    on_path = next((found for name in NAMES if (found := shutil.which(name))), None)
    return on_path or _from_playwright()


def _from_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Install one: Debian's package when root has apt, else Playwright's own build."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        for package in ("chromium-headless-shell", "chromium"):  # not every distribution has the first
            if subprocess.run(["apt-get", "install", "-y", "-qq", package], check=False).returncode == 0:
                return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if find() is None:
        install()
    found = find()
    if found is None:
        sys.exit("No Chromium or Chrome found, and none could be installed. Install one and run again.")
    print(f"browser: {found}")  # noqa: T201
