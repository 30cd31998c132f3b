"""Common lines of two texts, with bounded work: patience diff (unique lines as anchors), then Myers in small gaps."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Pair = tuple[int, int]

WORK_LIMIT = 600_000  # steps (lines compared, diagonals tried): about a third of a second


@dataclass(frozen=True)
class Common:
    """Positions of the common lines, in order on both sides, and the work it took to find them.

    `coarse` says that the work ran out: more lines may be common than were found.
    """

    pairs: list[Pair]
    work: int
    coarse: bool


def common_lines(left: Sequence[str], right: Sequence[str]) -> Common:
    """The lines that stay when `left` becomes `right`."""
    search = _Search(*_numbered(left, right))
    pairs = search.pairs()
    return Common(pairs, search.work, search.coarse)


def _numbered(left: Sequence[str], right: Sequence[str]) -> tuple[list[int], list[int]]:
    """The lines as numbers, equal ones with equal numbers: these compare fast however long the lines are."""
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(line, len(numbers)) for line in lines] for lines in (left, right))
    return first, second


@dataclass(frozen=True)
class _Gap:
    """A part of both texts that is not aligned yet, as line positions."""

    left: list[int]
    right: list[int]


@dataclass
class _Search:
    """The search for common lines; counts its work."""

    left: list[int]
    right: list[int]
    work: int = 0
    coarse: bool = False
    found: list[Pair] = field(default_factory=list)

    def pairs(self) -> list[Pair]:
        """Positions of the lines that stay, in order on both sides."""
        gaps = [_Gap(list(range(len(self.left))), list(range(len(self.right))))]
        unanchored = []
        while gaps:
            gap = self._trimmed(self._shared(self._trimmed(gaps.pop())))
            anchors = self._anchors(gap)
            if anchors and self.work < WORK_LIMIT:
                self.found += anchors
                gaps += _between(gap, anchors)
            elif gap.left and gap.right:
                unanchored.append(gap)
        for gap in sorted(unanchored, key=lambda gap: len(gap.left) + len(gap.right)):
            path = self._shortest(gap)
            self.coarse |= path is None
            self.found += path or []
        return sorted(self.found)

    def _trimmed(self, gap: _Gap) -> _Gap:
        """The gap without its common prefix and suffix, which are recorded as found."""
        left, right = gap.left, gap.right
        most, start, end = min(len(left), len(right)), 0, 0
        while start < most and self.left[left[start]] == self.right[right[start]]:
            start += 1
        while end < most - start and self.left[left[-1 - end]] == self.right[right[-1 - end]]:
            end += 1
        self.work += start + end
        self.found += zip(left[:start], right[:start], strict=True)
        self.found += zip(left[len(left) - end :], right[len(right) - end :], strict=True)
        return _Gap(left[start : len(left) - end], right[start : len(right) - end])

    def _shared(self, gap: _Gap) -> _Gap:
        """The gap without lines that only one side has: they cannot be common."""
        self.work += len(gap.left) + len(gap.right)
        shared = {self.left[place] for place in gap.left} & {self.right[place] for place in gap.right}
        return _Gap(
            [place for place in gap.left if self.left[place] in shared],
            [place for place in gap.right if self.right[place] in shared],
        )

    def _anchors(self, gap: _Gap) -> list[Pair]:
        """Lines that each side has exactly once: the longest set in the same order on both sides (patience sorting)."""
        self.work += len(gap.left) + len(gap.right)
        left, right = (
            Counter(lines[place] for place in places)
            for lines, places in ((self.left, gap.left), (self.right, gap.right))
        )
        partner = {self.right[place]: place for place in gap.right}
        once = [
            (place, partner[self.left[place]])
            for place in gap.left
            if left[self.left[place]] == 1 == right[self.left[place]]
        ]
        return _longest_rising(once)

    def _shortest(self, gap: _Gap) -> list[Pair] | None:
        """The common lines of a gap by Myers' shortest edit path; None when that would take too much work."""
        a, b = [self.left[place] for place in gap.left], [self.right[place] for place in gap.right]
        fewest = len(a) + len(b) - 2 * (Counter(a) & Counter(b)).total()
        if self.work + fewest * fewest // 2 > WORK_LIMIT:
            return None
        reach = [0] * (2 * (len(a) + len(b)) + 3)  # how far along `a` each diagonal reaches, indexed from the middle
        middle = len(reach) // 2
        rounds: list[list[int]] = []
        for edits in range(len(a) + len(b) + 1):
            rounds.append(reach[middle - edits - 1 : middle + edits + 2])
            for diagonal in range(-edits, edits + 1, 2):
                here = middle + diagonal
                down = diagonal == -edits or (diagonal != edits and reach[here - 1] < reach[here + 1])
                start = x = reach[here + 1] if down else reach[here - 1] + 1
                while x < len(a) and x - diagonal < len(b) and a[x] == b[x - diagonal]:
                    x += 1
                reach[here] = x
                self.work += 1 + x - start
                if x >= len(a) and x - diagonal >= len(b):
                    steps = _steps_back(rounds, len(a), len(b))
                    return [(gap.left[x], gap.right[y]) for x, y in steps]
                if self.work > WORK_LIMIT:
                    return None
        return []


def _between(gap: _Gap, anchors: Sequence[Pair]) -> Iterator[_Gap]:
    """The parts of a gap before, between and after its anchors."""
    at_left = at_right = 0
    for left, right in (*anchors, (None, None)):
        end_left = len(gap.left) if left is None else bisect_left(gap.left, left, at_left)
        end_right = len(gap.right) if right is None else bisect_left(gap.right, right, at_right)
        yield _Gap(gap.left[at_left:end_left], gap.right[at_right:end_right])
        at_left, at_right = end_left + 1, end_right + 1


def _longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest subsequence of pairs (sorted on the left) that increases on the right."""
    tops: list[int] = []  # the lowest right end of a subsequence of each length
    ends: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, right) in enumerate(pairs):
        length = bisect_left(tops, right)
        tops[length : length + 1] = [right]
        ends[length : length + 1] = [number]
        before.append(ends[length - 1] if length else -1)
    run: list[Pair] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _steps_back(rounds: Sequence[Sequence[int]], x: int, y: int) -> list[Pair]:
    """The diagonal steps of an edit path, read backwards; each round is the reach before it, middle first."""
    steps: list[Pair] = []
    for edits in range(len(rounds) - 1, -1, -1):
        reach, middle, diagonal = rounds[edits], edits + 1, x - y
        below, above = reach[middle + diagonal - 1], reach[middle + diagonal + 1]
        down = diagonal == -edits or (diagonal != edits and below < above)
        from_x = above if down else below + 1
        # Every diagonal step from there to here is a common line.
        steps += [(x - back, y - back) for back in range(1, x - from_x + 1)]
        x, y = (from_x, from_x - diagonal - 1) if down else (from_x - 1, from_x - diagonal)
    return steps[::-1]
