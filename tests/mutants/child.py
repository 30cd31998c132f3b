"""pytest with a plugin of ours in a forked process, which tells what became of each change."""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import hypothesis
import pytest

from tests.mutants.changes import Change

# Without the limit on the time of a test: processor time is bounded instead, and a busy machine is no failure.
QUIET = (
    "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=0", "--no-header", "--tb=no", "--assert=plain",
)  # fmt: skip
Tell = Callable[[Path, Change, bool | None], None]


def told_by(tests: Sequence[str], plugin: Callable[[Tell], object]) -> Iterator[tuple[Path, Change, bool | None]]:
    """Every change that the plugin tells of, with whether a test noticed it; None: it could not be tried there."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _run(tests, plugin, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        while True:
            try:
                yield pickle.load(told)
            except EOFError:
                break
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "the tests fail without any change"


def _run(tests: Sequence[str], plugin: Callable[[Tell], object], writing: int) -> None:
    with os.fdopen(writing, "wb") as answers:

        def tell(file: Path, change: Change, noticed: bool | None) -> None:
            pickle.dump((file, change, noticed), answers)
            answers.flush()

        # A failure is enough; nobody reads the smallest one. A busy machine is no failure.
        hypothesis.settings.register_profile(
            "mutants", phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
            derandomize=True, database=None, deadline=None,
        )  # fmt: skip
        code = pytest.main([*QUIET, "--hypothesis-profile=mutants", *tests], plugins=[plugin(tell)])
    os._exit(0 if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else 1)
