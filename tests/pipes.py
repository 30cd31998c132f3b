"""Standard output whose reader is gone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def closed_output() -> Iterator[None]:
    """A block whose standard output is a pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    output = os.fdopen(writer, "w")
    with redirect_stdout(output):
        yield
    with suppress(BrokenPipeError):
        output.close()
