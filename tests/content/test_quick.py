"""Lines that need no lexer get the same answer as from the lexer."""

import random

import numpy as np
import pyarrow as pa
import pytest

from kbdash.content.store.decoded import as_text
from kbdash.content.techniques.lexer import START, State, read_line
from kbdash.content.techniques.quick import QuickLines
from kbdash.content.techniques.rules import rules
from kbdash.content.techniques.table import TextReader
from tests.content.test_techniques import HAS, talk

WORDS = [
    "x = ", "foo(", ")", "[", "]", "{", "}", "# ", "//", "/*", "*/", '"', "'", '"""', "\\", ";", " ", "\t", "\v",
    "print(", "asm volatile(", "tl.dot", "__global__ void k", "@triton.jit", "def ", "raise ", "é", "SPLIT_K = 4",
    "\xa0", "import os", "#include <cuda.h>", 'R"(', "'a'", "a" * 600, "\0", "\r",
]  # fmt: skip


def some_line(chance: random.Random) -> bytes:
    if chance.random() < 0.2:
        return chance.randbytes(chance.randint(0, 10)).replace(b"\n", b"")
    return "".join(chance.choice(WORDS) for _ in range(chance.randint(0, 5))).encode()


def some_state(chance: random.Random) -> State:
    return State(
        mode=chance.choice(["py", "cpp", "doc", "new"]),
        quote=chance.choice(["", '"""', "'''"]),
        outer=chance.choice(["", "'''"]),
        depth=chance.randint(0, 15),
        joined=chance.random() < 0.5,
        comment=chance.random() < 0.5,
        duty=chance.choice(["", "asm", "message"]),
        raw=chance.choice(["", ')"']),
    )


def check(lines: list[bytes], line: int, state: State, quick: QuickLines) -> bool:
    """Whether the quick way has an answer, which then must be the lexer's."""
    answer = quick.read(line, state)
    if answer is None:
        return False
    text = as_text(lines[line])
    zones, after = read_line(text, state)
    assert answer == (rules().patterns(zones), after)
    return True


def test_the_quick_answer_is_that_of_the_lexer() -> None:
    chance = random.Random(7)
    lines = [some_line(chance) for _ in range(2000)]
    quick = QuickLines(pa.array(lines, pa.large_binary()), rules())
    answered = sum(check(lines, line, some_state(chance), quick) for line in range(len(lines)) for _ in range(4))
    assert answered > 1000


def test_lines_that_are_skipped_leave_the_state_and_have_the_patterns_told() -> None:
    chance = random.Random(5)
    lines = [some_line(chance) for _ in range(1500)]
    quick = QuickLines(pa.array(lines, pa.large_binary()), rules())
    skipped = 0
    for first in range(len(lines)):
        before = some_state(chance)
        if first % 8:  # in the other states no line can be passed over
            before = before._replace(joined=False, comment=False, raw="")
        stop, told = quick.skip(first, min(first + chance.randint(1, 40), len(lines)), before)
        state, found = before, 0
        for line in lines[first:stop]:
            zones, state = read_line(as_text(line), state)
            found |= rules().patterns(zones)
        assert (state, found) == (before, told)
        skipped += stop - first
    assert skipped > 100


def test_lines_that_change_nothing_are_passed_over_at_once() -> None:
    quick = QuickLines(pa.array([b"y + z"] * 1000, pa.large_binary()), rules())
    for state in (State(mode="py"), State(mode="cpp", quote='"""'), State(mode="py", depth=2, duty="asm")):
        assert quick.skip(0, 30, state) == (30, rules().patterns({state.mode: "y + z"}))
    for state in (State(mode="py", duty="message"), State(mode="cpp", duty="asm"), State(mode="doc")):
        assert quick.skip(0, 30, state) == (0, 0)


def test_a_state_that_comes_again_is_the_same_one() -> None:
    lines = [b"f(", b")", b"g[", b"]"] * 10
    reader = TextReader(pa.array(lines, pa.large_binary()))
    reader.patterns(np.array([0], np.int32), np.array([len(lines)], np.int32))
    assert len(reader._states) == len(set(reader._states)) == 3


@pytest.mark.parametrize("lines", [[b"(", b""], [b""], [b"", b"]", b"", b""], [b"x", b"f("]])
def test_what_is_at_the_end_of_the_lines_counts_too(lines: list[bytes]) -> None:
    quick = QuickLines(pa.array(lines, pa.large_binary()), rules())
    assert all(check(lines, line, State(mode="py", depth=2), quick) for line in range(len(lines)))


def test_a_text_that_is_an_edit_of_the_one_before_reads_as_if_alone() -> None:
    chance = random.Random(11)
    lines = [some_line(chance) for _ in range(60)]
    table = pa.array(lines, pa.large_binary())
    reader = TextReader(table)
    text = list(range(40))
    for _ in range(400):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choices(range(60), k=chance.randint(0, 3)) + text[at + chance.randint(0, 3) :]
        text = text or [0]
        state, found = START, 0
        for line in text:
            zones, state = read_line(as_text(lines[line]), state)
            found |= rules().patterns(zones)
        starts = [at for at, line in enumerate(text) if not at or line != text[at - 1] + 1]
        lengths = np.diff([*starts, len(text)]).astype(np.int32)
        assert reader.patterns(np.array(text, np.int32)[starts], lengths) == found


@pytest.mark.parametrize("spoken", [False, True])
def test_texts_with_every_technique_read_the_same(spoken: bool) -> None:
    texts = [talk(text) if spoken else text for text in HAS.values()]
    lines = sorted({line for text in texts for line in text.encode().split(b"\n")})
    quick = QuickLines(pa.array(lines, pa.large_binary()), rules())
    number = {line: at for at, line in enumerate(lines)}
    answered = 0
    for text in texts:
        state = START
        for line in text.encode().split(b"\n"):
            answered += check(lines, number[line], state, quick)
            state = read_line(as_text(line), state)[1]
    assert answered > 50
