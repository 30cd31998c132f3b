"""The process of a reader's statement starts with every statement: it imports no more than it needs."""

import subprocess
import sys

from kbdash.database.console import asking


def test_numpy_is_not_imported() -> None:
    command = [sys.executable, "-I", "-X", "importtime", str(asking._WORKER)]
    imported = subprocess.run(command, input="null\n", capture_output=True, text=True, check=True).stderr
    assert "pyarrow.lib" in imported
    assert "numpy" not in imported
