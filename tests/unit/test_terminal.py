"""Texts that a terminal cannot act on, and output whose reader is gone."""

import sys
from collections.abc import Callable

import pytest

from kbdash.terminal import INTERRUPTED, REPLACEMENT, UNUSABLE, carried_out, inert, provide_streams, until_pipe_closes
from tests.pipes import closed_output


def test_only_what_acts_on_a_terminal_is_replaced() -> None:
    assert inert("naïve 日本 🚀") == "naïve 日本 🚀"
    acting = "\x1b\x07\u2028\u2029\u202a\u202e\u2066\u2069\u200e\u200f\u061c\ud800"
    assert inert(acting) == REPLACEMENT * len(acting)
    assert inert("a\tb\n\x1b", keep="\t\n") == f"a\tb\n{REPLACEMENT}"


def test_output_ends_without_an_error_when_its_reader_is_gone() -> None:
    reached = []
    with closed_output():
        with until_pipe_closes():
            sys.stdout.write("more than a buffer" * 1000)
            sys.stdout.flush()
            reached.append("not this")
        sys.stdout.write("the rest")
        sys.stdout.flush()
        with until_pipe_closes():
            reached.append("what comes later")
    assert reached == ["what comes later"]


def test_what_still_waits_in_the_buffer_is_dropped_too() -> None:
    with closed_output():
        with until_pipe_closes():
            sys.stdout.write("a line\n")
        sys.stdout.flush()


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ConnectionResetError), until_pipe_closes():
        raise ConnectionResetError


def failing(error: BaseException) -> Callable[[], int]:
    def main() -> int:
        raise error

    return main


def test_a_program_ends_with_its_own_code_or_that_of_what_stopped_it(capsys: pytest.CaptureFixture[str]) -> None:
    full = OSError(28, "No space left on device", "/some/\x1bfile")
    assert carried_out(lambda: 5) == 5
    assert carried_out(failing(KeyboardInterrupt())) == INTERRUPTED
    assert carried_out(failing(full)) == UNUSABLE
    assert capsys.readouterr().err == (
        f"Stopped.\n/some/{REPLACEMENT}file cannot be written or read: No space left on device.\n"
    )


def test_without_streams_a_program_writes_into_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    provide_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.write("a line\n")
        assert not stream.isatty()
        stream.close()
