"""Families: texts that grew out of each other, over all users and boards of a competition.

Texts of one user have consecutive numbers, so similar neighbours form a chain. A chain joins the families of all
texts that are similar to its last text. A family is named after its lowest text.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kbdash.content.measures.similarity import ALIKE, SharedWeight, Similarity

Ints = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
Check = Callable[[], None]


def families(
    similarity: Similarity, line_weight: Doubles, lines_of: Callable[[int], Ints], check: Check
) -> tuple[Ints, Doubles]:
    """Per text its family and the similarity to the text that names it; `check` is called from time to time."""
    texts = similarity.texts
    if not texts:
        return np.empty(0, np.int32), np.empty(0)

    def shared(text: int) -> SharedWeight:
        check()
        lines = lines_of(text)
        telling = np.unique(lines[line_weight[lines] > 0])
        return similarity.shared_with(telling, line_weight[telling])

    breaks = np.flatnonzero(similarity.of_neighbours(line_weight) < ALIKE) + 1
    starts = np.concatenate(([0], breaks))
    chain_of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, texts)))
    parent = np.arange(len(starts))
    for chain, last in enumerate((np.append(starts[1:], texts) - 1).tolist()):
        for other in np.unique(chain_of[shared(last).alike(ALIKE)]).tolist():
            _join(parent, chain, other)
    root = np.array([_root(parent, chain) for chain in range(len(starts))])
    family = starts[root][chain_of].astype(np.int32)
    return family, _similarities(family, shared)


def _similarities(family: Ints, shared: Callable[[int], SharedWeight]) -> Doubles:
    answer = np.ones(len(family))
    order = np.argsort(family, kind="stable")
    names, opens = np.unique(family[order], return_index=True)
    for name, members in zip(names.tolist(), np.split(order, opens[1:]), strict=True):
        if len(members) > 1:
            answer[members] = shared(name).similarity(members)
            answer[name] = 1.0
    return answer


def _root(parent: npt.NDArray[np.intp], chain: int) -> int:
    while parent[chain] != chain:
        parent[chain] = parent[parent[chain]]
        chain = int(parent[chain])
    return chain


def _join(parent: npt.NDArray[np.intp], one: int, other: int) -> None:
    low, high = sorted((_root(parent, one), _root(parent, other)))
    parent[high] = low
