"""One changed module, tried out: a forked process sees the changed text and runs the tests that concern it.

The parent has imported the libraries but nothing of kbdash, so that a process is ready at once and reads every module
as if it were the first.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.child import QUIET

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 3600  # for the tests of one change, if they wait forever


def put_in_place(file: Path, text: str) -> None:
    """From now on this process finds the changed text where the file is."""
    read, compiled = Path.read_text, SourceFileLoader.get_code

    def read_text(path: Path, *args: Any, **kwargs: Any) -> str:
        return text if path == file else read(path, *args, **kwargs)

    def get_code(loader: SourceFileLoader, fullname: str) -> Any:
        if Path(loader.path) == file:
            return compile(text, str(file), "exec")
        return compiled(loader, fullname)

    Path.read_text = read_text  # type: ignore[method-assign]
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def is_noticed(file: Path, text: str, tests: Sequence[str]) -> bool:
    """Whether these tests fail over the changed text, in a process that imports everything anew."""
    return fails(partial(_run, file, text, tests), usual_seconds=_usual_seconds(tuple(tests)))


def _run(file: Path, text: str, tests: Sequence[str]) -> bool:
    put_in_place(file, text)
    return pytest.main([*QUIET, "-x", *tests]) != pytest.ExitCode.OK


@cache
def _usual_seconds(tests: tuple[str, ...]) -> float:
    """Processor time of these tests as long as nothing is changed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert not fails(partial(_run, ROOT, "", tests)), "a test fails without any change"
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


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
    for name in ("duckdb", "hypothesis", "numpy", "pandas", "plotly.graph_objects", "pyarrow.parquet"):
        __import__(name)
    assert not [name for name in sys.modules if name.partition(".")[0] == "kbdash"]
