"""One changed file, tried out in a copy of the whole tree: a forked process imports everything from there.

The parent has imported the libraries but nothing of kbdash, so that a process is ready at once. Servers and workers
that a test starts see the changed file too.
"""

import atexit
import compileall
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import pytest

from tests.mutants.child import QUIET

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".mutants", ".*_cache", ".hypothesis", "__pycache__")
SECONDS = 600  # on the clock, for the tests of one change, if they wait for ever


@cache
def copied() -> Path:
    """A copy of the tree for this run, compiled once."""
    above = Path(tempfile.mkdtemp(prefix="kbdash-mutants-"))
    atexit.register(shutil.rmtree, above)
    folder = above / "tree"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    compileall.compile_dir(folder / "kbdash", quiet=2)
    compileall.compile_dir(folder / "tests", quiet=2)
    return folder


@contextmanager
def changed(file: Path, text: str) -> Iterator[None]:
    """The file has this text meanwhile; its compiled form is never kept, because both may be of one second."""
    before, times = file.read_text(), file.stat()
    file.write_text(text)
    try:
        yield
    finally:
        file.write_text(before)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def is_noticed(file: Path, text: str, tests: Sequence[str]) -> bool:
    """Whether these tests fail over the changed text, in a process that imports everything anew."""
    if not tests:
        return False
    tree = copied()
    with changed(tree / file.relative_to(ROOT), text):
        return fails(partial(_run, tree, tests), usual_seconds=60.0)


def _run(tree: Path, tests: Sequence[str]) -> bool:
    os.chdir(tree)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    sys.path[:] = [str(tree), *(place for place in sys.path if place and Path(place) != ROOT)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "benchmarks")]:
        del sys.modules[name]
    return pytest.main([*QUIET, "-x", *tests]) != pytest.ExitCode.OK


def fails(run: Callable[[], bool], *, usual_seconds: float | None = None) -> bool:
    """What this tells in a forked process; true also where it raises, ends the process or takes far longer than usual.

    Processor time is bounded, so that an endless loop is noticed and a busy machine is not.
    """
    child = os.fork()
    if not child:
        if usual_seconds is not None:
            most = 20 + round(3 * usual_seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            signal.alarm(SECONDS)
        os._exit(_answer(run))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) != 0


def _answer(run: Callable[[], bool]) -> int:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    try:
        return int(run())
    except BaseException:
        return 1


def preload() -> None:
    """Import what every test needs and nothing of kbdash."""
    for name in ("duckdb", "hypothesis", "numpy", "pandas", "plotly.graph_objects", "pyarrow.parquet", "streamlit"):
        __import__(name)
    assert not [name for name in sys.modules if name.partition(".")[0] == "kbdash"]
