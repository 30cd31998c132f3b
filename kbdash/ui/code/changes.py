"""How many lines each step of a ladder changed, found by reading the texts, within a budget of bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from kbdash import diff
from kbdash.code import SourceText
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.model import Submission
from kbdash.ui import cached
from kbdash.ui.engines import engine
from kbdash.view import Ref

BUDGET_BYTES = 24_000_000  # what a ladder may move before it asks; one page of the large files has about ten million
AT_ONCE = 8  # pairs whose texts are held in memory together
_HELD = "_changes"
_MOST_LADDERS = 8

Pair = tuple[Ref, Ref]


@dataclass(frozen=True)
class Change:
    """Lines removed and added between two texts; None when one of them could not be read."""

    removed: int | None
    added: int | None


@dataclass
class Changes:
    """What this session has counted of one ladder, and the bytes it moved for that."""

    competition: str
    known: dict[Pair, Change] = field(default_factory=dict)
    moved: int = 0

    def count(self, pairs: Sequence[Pair]) -> None:
        """Count these pairs, first ones first, until the budget is spent."""
        kb, spent = engine(), 0
        for first in range(0, len(pairs), AT_ONCE):
            some = pairs[first : first + AT_ONCE]
            texts, moved = _read(kb, some, self.competition, BUDGET_BYTES - spent)
            spent += moved
            self.known |= {(a, b): _change(texts[a], texts[b]) for a, b in some if a in texts and b in texts}
            if spent >= BUDGET_BYTES:
                break
        self.moved += spent


def changes_of(competition: str, *ladder: str) -> Changes:
    """What was counted so far of a ladder, named by whatever tells it apart from others."""
    held: dict[tuple[str, ...], Changes] = st.session_state.setdefault(_HELD, {})
    key = (engine().source.version, competition, *ladder)
    if key not in held:
        held[key] = Changes(competition)
        while len(held) > _MOST_LADDERS:
            held.pop(next(iter(held)))
    return held[key]


def _read(
    kb: KernelBot, pairs: Sequence[Pair], competition: str, budget: int
) -> tuple[dict[Ref, SourceText | None], int]:
    """The texts of these pairs in the order of the file, as many as the budget allows, and what they moved."""
    texts: dict[Ref, SourceText | None] = {}
    moved = 0
    submissions = {_submission(ref, competition): ref for pair in pairs for ref in pair}
    try:
        for submission, found in kb.texts_of(submissions):
            texts[submissions[submission]] = found
            moved += found.cost_bytes
            if moved >= budget:
                break
    except KbdashError:
        # One text that cannot be read leaves its steps without a count; trying again is up to the reader.
        texts |= {ref: None for ref in submissions.values() if ref not in texts}
    return texts, moved


def _submission(ref: Ref, competition: str) -> Submission:
    return cached.submission_rows(ref.id, ref.runner, competition)[0]


def _change(before: SourceText | None, after: SourceText | None) -> Change:
    if before is None or after is None:
        return Change(None, None)
    found = diff.compare(before.text, after.text)
    return Change(found.removed, found.added)
