"""The techniques of one text, and the line that shows each."""

from kbdash.content.techniques.lexer import START, State, read_line
from kbdash.content.techniques.rules import Rules, rules


def facets_of(text: str) -> frozenset[str]:
    """The techniques in a text. That code is there does not mean that it runs."""
    return frozenset(evidence(text))


def evidence(text: str) -> dict[str, int]:
    """The techniques of a text, each with the number of the first line that completes it, counted from 1."""
    known = rules()
    found = 0
    steps: list[tuple[int, int]] = []  # patterns seen so far, and after which line
    state: State = START
    for number, line in enumerate(text.split("\n"), 1):
        zones, state = read_line(line, state)
        more = found | known.patterns(zones)
        if more != found:
            found = more
            steps.append((number, found))
    return {name: _shown(known, name, steps) for name in known.names(found)}


def _shown(known: Rules, name: str, steps: list[tuple[int, int]]) -> int:
    """The first line by which everything that the technique needs has been seen."""
    facet = next(each for each in known.facets if each.name == name)
    end = steps[-1][1]
    ways = [way for way in facet.ways if way.fits(end)]
    return next(number for number, found in steps if any(found & way.holds == way.holds for way in ways))
