"""Which texts of a store use which techniques."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kbdash.content.store.finished import Store
from kbdash.content.techniques.rules import WITHOUT, rules
from kbdash.content.techniques.table import current_facets
from kbdash.errors import QueryRefused

Flags = npt.NDArray[np.bool_]


class TextFacets:
    """The techniques of each text of a store, one bit each."""

    def __init__(self, store: Store) -> None:
        table = current_facets(store.folder)
        self.names = [facet.name for facet in rules().facets]
        self._place = {name: place for place, name in enumerate(self.names)}
        self._bits = np.zeros(store.manifest.texts, np.uint64)
        text = table.column("text_id").to_numpy()
        facet = table.column("facet").to_numpy(zero_copy_only=False)
        for name, place in self._place.items():
            self._bits[text[facet == name]] |= np.uint64(1 << place)

    def of(self, text: int) -> tuple[str, ...]:
        """The techniques of a text."""
        bits = int(self._bits[text])
        return tuple(name for place, name in enumerate(self.names) if bits >> place & 1)

    def holding(self, name: str) -> Flags:
        """Which texts use a technique."""
        if name not in self._place:
            raise QueryRefused(f"There is no technique {name}.", advice=f"There are {', '.join(self.names)}.")
        holds: Flags = (self._bits >> np.uint64(self._place[name]) & np.uint64(1)).astype(bool)
        return holds

    def wanted(self, names: Sequence[str]) -> Flags:
        """Which texts use every technique named, and none with a `!` before it."""
        answer = np.ones(len(self._bits), bool)
        for name in names:
            holds = self.holding(name.removeprefix(WITHOUT))
            answer &= ~holds if name.startswith(WITHOUT) else holds
        return answer
