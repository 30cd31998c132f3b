"""Techniques that a step from one text to the next added or removed."""

from kbdash.units import MINUS

Facets = tuple[str, ...] | None


def changed(before: Facets, after: Facets) -> tuple[list[str], list[str]]:
    """Techniques added and removed from one text to the next."""
    old, new = before or (), after or ()
    return [name for name in new if name not in old], [name for name in old if name not in new]


def change_words(before: Facets, after: Facets) -> str:
    """The same as words: "+tma +mbarrier −triton"."""
    came, went = changed(before, after)
    return " ".join([*(f"+{name}" for name in came), *(f"{MINUS}{name}" for name in went)])
