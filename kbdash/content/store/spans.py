"""Arithmetic on spans of rows: minimum, union, and the number of distinct owners.

Rows are in the order of their texts, so that texts a to b are rows [lo, hi) and a line is a few such spans.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Spans:
    """Stretches [lo, hi) of rows, none empty, each of a group; sorted by group, then lo, disjoint inside a group."""

    group: Longs
    lo: Longs
    hi: Longs

    def __len__(self) -> int:
        return len(self.group)

    def part(self, first: int, last: int) -> "Spans":
        """The spans first to last (exclusive)."""
        return Spans(self.group[first:last], self.lo[first:last], self.hi[first:last])


def united(group: Longs, lo: Longs, hi: Longs) -> Spans:
    """The spans as a union: empty ones dropped, overlapping ones of a group merged."""
    full = hi > lo
    if not full.all():
        group, lo, hi = group[full], lo[full], hi[full]
    if not len(group):
        return Spans(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    # With the group as the high digits, one running maximum serves all groups.
    width = int(hi.max()) + 1
    begin = group.astype(np.int64) * width
    end = begin + hi
    begin += lo
    if (begin[1:] < begin[:-1]).any():
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    np.maximum.accumulate(end, out=end)
    opens = np.flatnonzero(np.concatenate(([True], begin[1:] > end[:-1])))
    closes = np.concatenate((opens[1:] - 1, [len(begin) - 1]))
    base = begin[opens] // width
    return Spans(base, begin[opens] - base * width, end[closes] - base * width)


class RangeMin:
    """Range minimum query: the minimum of any span of values in two look-ups."""

    def __init__(self, values: npt.NDArray[np.int32]) -> None:
        self._levels = [values]
        step = 1
        while 2 * step <= len(values):
            last = self._levels[-1]
            self._levels.append(np.minimum(last[:-step], last[step:]))
            step *= 2

    def over(self, spans: Spans) -> npt.NDArray[np.int32]:
        """The minimum of each span."""
        answer = np.empty(len(spans), np.int32)
        level = np.frexp(spans.hi - spans.lo)[1] - 1
        for each in np.flatnonzero(np.bincount(level)).tolist():
            at = np.flatnonzero(level == each)
            values = self._levels[each]
            answer[at] = np.minimum(values[spans.lo[at]], values[spans.hi[at] - (1 << each)])
        return answer


def least_of_groups(spans: Spans, values: npt.NDArray[np.int32], groups: int, nothing: int) -> npt.NDArray[np.int32]:
    """The minimum over the spans of each group; `nothing` for a group without spans."""
    answer = np.full(groups, nothing, np.int32)
    if len(spans):
        opens = np.flatnonzero(np.concatenate(([True], spans.group[1:] != spans.group[:-1])))
        answer[spans.group[opens]] = np.minimum.reduceat(values, opens)
    return answer


def before(flags: Flags | npt.NDArray[np.int32]) -> Longs:
    """Exclusive prefix sums, with the total at the end."""
    return np.concatenate(([0], np.cumsum(flags, dtype=np.int64)))


def counts_of_groups(spans: Spans, counted: Longs, groups: int) -> Longs:
    """Sum over the spans of each group of what `before` counted."""
    sums = np.bincount(spans.group, weights=counted[spans.hi] - counted[spans.lo], minlength=groups)
    return sums.astype(np.int64)


class Owners:
    """Who owns each row, for counting the distinct owners of spans."""

    def __init__(self, owner: npt.NDArray[np.int32]) -> None:
        opens = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1]))) if len(owner) else np.empty(0, int)
        self._opens = np.concatenate((opens, [len(owner)])).astype(np.int64)
        self._stretch = np.repeat(np.arange(len(opens)), np.diff(self._opens))
        self._owner = owner[opens].astype(np.int64) if len(owner) else np.empty(0, np.int64)

    def of_groups(self, spans: Spans, counted: Longs, groups: int) -> Longs:
        """Number of distinct owners of the rows counted by `counted` (a `before`) in each group's spans."""
        pairs = self.pairs(spans, counted)
        return np.bincount(pairs[0], minlength=groups).astype(np.int64)

    def pairs(self, spans: Spans, counted: Longs) -> tuple[Longs, Longs]:
        """The different (group, owner)."""
        first, last = self._stretch[spans.lo], self._stretch[spans.hi - 1]
        number = last - first + 1
        span = np.repeat(np.arange(len(spans)), number)
        stretch = first[span] + np.arange(len(span)) - np.repeat(np.cumsum(number) - number, number)
        lo = np.maximum(spans.lo[span], self._opens[stretch])
        hi = np.minimum(spans.hi[span], self._opens[stretch + 1])
        held = counted[hi] > counted[lo]
        group, owner = spans.group[span[held]], self._owner[stretch[held]]
        # Most lines belong to one span of one owner: only the others need sorting.
        alone = np.concatenate(([True], group[1:] != group[:-1])) & np.concatenate((group[1:] != group[:-1], [True]))
        if not len(group) or alone.all():
            return group, owner
        width = int(self._owner.max()) + 1
        keys = np.unique(group[~alone] * width + owner[~alone])
        return np.concatenate((group[alone], keys // width)), np.concatenate((owner[alone], keys % width))
