"""The folder of the program that Streamlit runs: app.py, pages/ and .streamlit/."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "_program"
PROGRAM = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""In a wheel the folder is inside the package, in a checkout beside it."""
_FOLDERS = ("KBDASH_SOURCE", "KBDASH_CACHE", "KBDASH_CONTENT")


def enter() -> None:
    """Change to that folder, where Streamlit looks for its settings; first makes relative folders in ours absolute."""
    for name in _FOLDERS:
        named = os.environ.get(name)
        if named and (name == "KBDASH_CACHE" or Path(named).expanduser().is_dir()):
            os.environ[name] = str(Path(named).expanduser().resolve())
    os.chdir(PROGRAM)
