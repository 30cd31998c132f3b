"""The command line of content stores, whose reader may have read enough."""

import subprocess
import sys
from pathlib import Path

import pytest

from kbdash.content.command import main
from tests.e2e.serving import ROOT, inherited
from tests.pipes import closed_output


def environ_of(cache: Path) -> dict[str, str]:
    return {"KBDASH_CACHE": str(cache), "KBDASH_SOURCE": "sample"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("status",), 0), (("check", "helion"), 0), (("push", "owner/name", "helion", "--dry-run"), 0),
        (("status", "nowhere"), 1),
    ],
)  # fmt: skip
def test_a_reader_who_is_gone_is_no_error(sample_cache: Path, words: tuple[str, ...], code: int) -> None:
    with closed_output():
        assert main(words, environ=environ_of(sample_cache)) == code
        sys.stdout.flush()  # as the interpreter does when it ends


def test_a_closed_pipe_leaves_no_traceback(sample_cache: Path) -> None:
    words = [sys.executable, "-m", "kbdash.content", "status"]
    environ = inherited() | environ_of(sample_cache)
    status = subprocess.Popen(words, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert status.stdout is not None
    status.stdout.close()
    _, error = status.communicate(timeout=60)
    assert (status.returncode, error) == (0, b"")
