"""The rules of `rules.toml`, read once and compiled into one RE2 set per zone."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import re2

from kbdash.content.techniques import lexer

ANY = "any"
NOT = "!"
WITHOUT = "!"  # before the name of a technique: texts without it
_MEMORY_BYTES = 64 << 20
_AT_ONCE = 32


@dataclass(frozen=True)
class Way:
    """One way to satisfy a technique, as bits: a text must have all patterns of `holds` and none of `lacks`."""

    holds: int
    lacks: int

    def fits(self, found: int) -> bool:
        """Whether a text with these patterns satisfies it."""
        return found & self.holds == self.holds and not found & self.lacks


@dataclass(frozen=True)
class Facet:
    """A technique: its name, group, meaning, the ways to satisfy it, and what excludes it."""

    name: str
    group: str
    text: str
    ways: tuple[Way, ...]
    without: tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """All techniques in the order of the table; a version that changes with them."""

    facets: tuple[Facet, ...]
    sets: dict[str, tuple["re2.Set", tuple[int, ...]]]
    singles: dict[str, list["re2._Regexp"]]
    version: str

    def patterns(self, zones: dict[str, str]) -> int:
        """The patterns found in the zones of a line, as bits."""
        found = 0
        for zone, text in zones.items():
            if text and not text.isspace():
                matcher, bits = self.sets[zone]
                places = matcher.Match(text)
                for place in self._one_by_one(zone, text) if places is None else places:
                    found |= bits[place]
        return found

    def expressions(self, zone: str) -> Iterator[tuple[str, int]]:
        """The expressions that are looked for in a zone, each with the bits of its patterns."""
        for single, bits in zip(self.singles[zone], self.sets[zone][1], strict=True):
            if single.pattern:
                yield single.pattern, bits

    def _one_by_one(self, zone: str, text: str) -> list[int]:
        """The same answer as the set, for the rare line on which its automaton runs out of memory."""
        return [place for place, single in enumerate(self.singles[zone]) if single.search(text)]

    def names(self, found: int) -> tuple[str, ...]:
        """The techniques of a text with these patterns."""
        held = {facet.name for facet in self.facets if any(way.fits(found) for way in facet.ways)}
        return tuple(f.name for f in self.facets if f.name in held and held.isdisjoint(f.without))


@cache
def rules() -> Rules:
    """The rules as they are now."""
    source = files(__package__).joinpath("rules.toml").read_bytes()
    numbers: dict[str, int] = {}
    facets = tuple(_facet(entry, numbers) for entry in tomllib.loads(source.decode())["facet"])
    version = sha256(lexer.VERSION.encode() + b"\n" + source).hexdigest()[:12]
    chosen = {zone: _expressions(zone, numbers) for zone in lexer.ZONES}
    sets = {zone: (_compiled(list(each)), tuple(each.values())) for zone, each in chosen.items()}
    singles = {zone: [re2.compile(expression) for expression in each] for zone, each in chosen.items()}
    return Rules(facets, sets, singles, version)


@cache
def facet_names() -> frozenset[str]:
    """The names of all techniques."""
    return frozenset(facet.name for facet in rules().facets)


def _facet(entry: dict[str, Any], numbers: dict[str, int]) -> Facet:
    ways, without = entry["any"], entry.get("without", ())
    return Facet(
        name=entry["name"],
        group=entry["group"],
        text=entry["text"],
        ways=tuple(_way(way if isinstance(way, list) else [way], numbers) for way in ways),
        without=tuple(without),
    )


def _way(patterns: list[str], numbers: dict[str, int]) -> Way:
    holds = lacks = 0
    for pattern in patterns:
        bit = 1 << numbers.setdefault(pattern.removeprefix(NOT), len(numbers))
        if pattern.startswith(NOT):
            lacks |= bit
        else:
            holds |= bit
    return Way(holds, lacks)


def _expressions(zone: str, numbers: dict[str, int]) -> dict[str, int]:
    """The expressions for a zone, each with the bits of its patterns.

    The first is empty and matches everything: so a set that matches nothing at all ran out of memory.
    """
    answer = {"": 0}
    for pattern, number in numbers.items():
        where, _, expression = pattern.partition(": ")
        if where in (zone, ANY):
            answer[expression] = answer.get(expression, 0) | 1 << number
    return answer


def _options() -> "re2.Options":
    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    options.encoding = re2.Options.Encoding.LATIN1  # all patterns are ASCII, so other bytes need no decoding
    return options


def alternatives(expressions: list[str]) -> list[str]:
    """Few expressions, of which at least one matches where any of the given ones does."""
    # An automaton for all of them at once would outgrow the memory that Arrow gives it.
    groups = [expressions[start : start + _AT_ONCE] for start in range(0, len(expressions), _AT_ONCE)]
    return ["|".join(f"(?:{each})" for each in group) for group in groups]


def _compiled(expressions: list[str]) -> "re2.Set":
    matcher = re2.Set.SearchSet(_options())
    for expression in expressions:
        matcher.Add(expression)
    matcher.Compile()
    return matcher
