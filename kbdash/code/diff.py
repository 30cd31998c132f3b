"""Line diff of two texts: removed, added and unchanged lines, with long unchanged runs folded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from kbdash.code.matching import Pair, common_lines

Kind = Literal["same", "removed", "added", "fold"]

CONTEXT = 3


@dataclass(frozen=True)
class Line:
    """One line, or a fold of `count` unchanged ones; numbers start at 1 and name the (first) line on each side."""

    kind: Kind
    left_no: int | None
    right_no: int | None
    text: str
    count: int = 1


@dataclass(frozen=True)
class Diff:
    """What changed from left to right; `coarse` says that part of it was not searched for common lines (work limit)."""

    lines: tuple[Line, ...]
    added: int
    removed: int
    notes: tuple[str, ...] = ()
    coarse: bool = False


def compare(left: str | None, right: str | None, context: int = CONTEXT) -> Diff:
    """The diff from `left` to `right`; lines that differ only in line ends count as equal, with a note."""
    before, after = _lines(left), _lines(right)
    common = common_lines(before, after)
    coarse = ("the texts differ too much to line up all of them",) if common.coarse else ()
    return Diff(
        lines=tuple(_folded(before, after, common.pairs, context)),
        added=len(after) - len(common.pairs),
        removed=len(before) - len(common.pairs),
        notes=(*_notes(left, right), *coarse),
        coarse=common.coarse,
    )


def unified(diff: Diff) -> str:
    """The diff as text in the unified format, ready for a viewer that colours it."""
    parts: list[str] = []
    at_left = at_right = 0
    for folded, group in groupby(diff.lines, key=lambda line: line.kind == "fold"):
        lines = list(group)
        left = sum(line.count for line in lines if line.left_no is not None)
        right = sum(line.count for line in lines if line.right_no is not None)
        if not folded:
            parts.append(f"@@ -{_range(at_left, left)} +{_range(at_right, right)} @@")
            parts += [_SIGNS[line.kind] + line.text for line in lines]
        at_left, at_right = at_left + left, at_right + right
    return "".join(f"{part}\n" for part in parts)


_SIGNS = {"same": " ", "removed": "-", "added": "+"}


def _lines(text: str | None) -> list[str]:
    """The lines without their ends, numbered as an editor does: only \\n, \\r\\n and \\r end a line."""
    plain = (text or "").replace("\r\n", "\n").replace("\r", "\n")
    lines = plain.split("\n")
    return lines if lines[-1] else lines[:-1]


def _notes(left: str | None, right: str | None) -> Iterator[str]:
    for side, text in (("left", left), ("right", right)):
        if text is None:
            yield f"there is no {side} text"
        elif text and not text.endswith(("\n", "\r")):
            yield f"the {side} text has no line end after its last line"
    if left and right and ("\r" in left) != ("\r" in right):
        yield "the line ends differ (CRLF and LF), which is not shown as a change"


def _folded(before: Sequence[str], after: Sequence[str], pairs: Sequence[Pair], context: int) -> Iterator[Line]:
    """All lines in order, with long unchanged runs folded away from the changes around them."""
    run: list[Line] = []
    changed = False  # whether anything before the run has changed
    at_left = at_right = 0
    for left, right in (*pairs, (len(before), len(after))):
        if left > at_left or right > at_right:
            yield from _fold(run, context if changed else 0, context)
            run, changed = [], True
            yield from (Line("removed", no + 1, None, before[no]) for no in range(at_left, left))
            yield from (Line("added", None, no + 1, after[no]) for no in range(at_right, right))
        if left < len(before):
            run.append(Line("same", left + 1, right + 1, after[right]))
        at_left, at_right = left + 1, right + 1
    yield from _fold(run, context if changed else 0, 0)


def _fold(run: Sequence[Line], head: int, tail: int) -> Iterator[Line]:
    """An unchanged run with its middle folded; a fold of a single line would save nothing."""
    hidden = run[head : len(run) - tail]
    if len(hidden) < 2:
        yield from run
        return
    yield from run[:head]
    text = f"… {len(hidden):,} unchanged lines"
    yield Line("fold", hidden[0].left_no, hidden[0].right_no, text, len(hidden))
    yield from run[len(run) - tail :]


def _range(before: int, count: int) -> str:
    """A hunk's range on one side; an empty range names the line before it."""
    return f"{before + 1 if count else before},{count}"
