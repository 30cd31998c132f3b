"""Techniques that a step from one text to the next added or removed."""

from kbdash.units import MINUS, MISSING

Facets = tuple[str, ...] | None


def changed(before: Facets, after: Facets) -> tuple[list[str], list[str]]:
    """Techniques added and removed from one text to the next; none when one of them is missing."""
    if before is None or after is None:
        return [], []
    return [name for name in after if name not in before], [name for name in before if name not in after]


def change_words(before: Facets, after: Facets) -> str:
    """The same as words: "+tma +mbarrier −triton"."""
    if before is None or after is None:
        return MISSING
    came, went = changed(before, after)
    return " ".join([*(f"+{name}" for name in came), *(f"{MINUS}{name}" for name in went)])
