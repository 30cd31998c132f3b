"""Similarity of texts: the rarity of the telling lines they share, relative to all their lines (weighted Jaccard).

Shared lines are counted exactly, for one text against all others at once: each line is a few runs of texts, so adding
up its runs costs less than comparing a single pair of texts.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbdash.content.store.line_use import LineUse

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
ALIKE = 0.5
"""Texts of at least this similarity belong to one family."""


@dataclass(frozen=True)
class Similarity:
    """What texts have in common; `text_weight` is the total weight of each text's telling lines."""

    use: LineUse
    text_weight: Doubles

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.text_weight)

    def shared(self, telling: Ints, weight: Doubles) -> tuple[Longs, Doubles]:
        """Per text how many of these distinct telling lines it contains, and its similarity to a text made of them."""
        which, runs = self.use.runs_of(telling)
        count = self._spread(runs, np.ones(len(runs)))
        common = self._spread(runs, weight[which])
        whole = weight.sum() + self.text_weight - common
        similarity = np.divide(common, whole, out=np.zeros(self.texts), where=whole > 1e-6)
        # Sums of differences have rounding errors, which must not give a similarity of 1.0000000002.
        return np.rint(count).astype(np.int64), np.clip(np.round(similarity, 6), 0.0, 1.0)

    def shared_with(self, telling: Ints, weight: Doubles) -> "SharedWeight":
        """As `shared`, for a few texts of many: the shared weight changes only where a run begins or ends."""
        which, runs = self.use.runs_of(telling)
        first = self.use.text[runs]
        place = np.concatenate((first, first + self.use.length[runs]))
        change = np.concatenate((weight[which], -weight[which]))
        order = np.argsort(place, kind="stable")
        return SharedWeight(place[order], np.cumsum(change[order]), float(weight.sum()), self.text_weight)

    def of_neighbours(self, line_weight: Doubles) -> Doubles:
        """The similarity of each text and its successor; `line_weight` is 0 for trivial lines."""
        run = np.flatnonzero(self.use.length > 1)
        line = np.repeat(np.arange(len(line_weight)), np.diff(self.use.bounds))[run]
        common = _spread(self.use.text[run], self.use.length[run] - 1, line_weight[line], self.texts)[:-1]
        whole = self.text_weight[:-1] + self.text_weight[1:] - common
        return np.divide(common, whole, out=np.zeros(max(0, self.texts - 1)), where=whole > 1e-6)

    def _spread(self, runs: Longs, weight: Doubles) -> Doubles:
        return _spread(self.use.text[runs], self.use.length[runs], weight, self.texts)


@dataclass(frozen=True)
class SharedWeight:
    """The weight that every text shares with one: `common[i]` from text `place[i]` on, up to the next place."""

    place: Ints
    common: Doubles
    weight: float
    text_weight: Doubles

    def similarity(self, texts: Longs) -> Doubles:
        """The similarity of some texts to the one."""
        at = np.searchsorted(self.place, texts, side="right")
        common = np.concatenate(([0.0], self.common))[at]
        whole = self.weight + self.text_weight[texts] - common
        similarity = np.divide(common, whole, out=np.zeros(len(texts)), where=whole > 1e-6)
        return np.clip(np.round(similarity, 6), 0.0, 1.0)

    def alike(self, least: float) -> Longs:
        """The texts of at least this similarity."""
        # A text that shares less than this part of the one cannot be that similar, whatever else it contains.
        enough = self.common[:-1] >= least * self.weight - 1e-6
        near = np.flatnonzero(enough & (np.diff(self.place) > 0) & (self.weight > 1e-6))
        number = self.place[near + 1] - self.place[near]
        skipped = np.cumsum(number) - number
        texts = np.arange(int(number.sum())) + np.repeat(self.place[near] - skipped, number)
        near_enough: Longs = texts[self.similarity(texts) >= least]
        return near_enough


def _spread(first: Ints, length: Ints, weight: Doubles, texts: int) -> Doubles:
    """Per text the sum of the weights of the runs that cover it."""
    begins = np.bincount(first, weights=weight, minlength=texts + 1)
    ends = np.bincount(first + length, weights=weight, minlength=texts + 1)
    sums: Doubles = np.cumsum(begins - ends, dtype=np.float64)[:texts]
    return sums


def text_totals(use: LineUse, line_weight: Doubles, texts: int) -> tuple[Longs, Doubles]:
    """Per text the number of its telling lines, and their weight."""
    line = np.repeat(np.arange(len(line_weight)), np.diff(use.bounds))
    telling = np.flatnonzero(line_weight[line] > 0)
    first, length = use.text[telling], use.length[telling]
    count = _spread(first, length, np.ones(len(telling)), texts)
    weight = np.round(_spread(first, length, line_weight[line[telling]], texts), 6)
    return np.rint(count).astype(np.int64), np.maximum(weight, 0.0)
