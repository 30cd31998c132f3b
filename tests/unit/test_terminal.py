"""Texts that a terminal cannot act on, and output whose reader is gone."""

import sys

import pytest

from kbdash.terminal import REPLACEMENT, inert, until_pipe_closes
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
