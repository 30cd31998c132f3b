"""Count the lines that each step of a ladder changed, by reading the texts within a budget of bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from kbdash.code import diff
from kbdash.code.reader import SourceText, shown
from kbdash.dataset.model import Submission
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.view import Ref
from kbdash.web import answers
from kbdash.web.session import engine

BUDGET_BYTES = (
    24_000_000  # bytes that a ladder may fetch without asking; a page of the large files has about ten million
)
AT_ONCE = 8  # pairs whose texts are held in memory together
_HELD = "_changes"
_MOST_LADDERS = 8

Pair = tuple[Ref, Ref]


@dataclass(frozen=True)
class Change:
    """Lines removed and added between two texts."""

    removed: int
    added: int


@dataclass
class Changes:
    """The counts of one ladder in this session, and the bytes fetched for them."""

    competition: str
    known: dict[Pair, Change] = field(default_factory=dict)
    failed: set[Pair] = field(default_factory=set)
    moved: int = 0

    @property
    def progress(self) -> tuple[int, int, int]:
        """A value that changes whenever something was counted, failed, or fetched bytes."""
        return len(self.known), len(self.failed), self.moved

    def forget_failures(self) -> None:
        """Allow a retry of texts that could not be read."""
        self.failed.clear()

    def count(self, pairs: Sequence[Pair]) -> None:
        """Count these pairs in order, until the budget is spent."""
        kb, spent = engine(), 0
        for first in range(0, len(pairs), AT_ONCE):
            some = pairs[first : first + AT_ONCE]
            texts, moved = _read(kb, some, self.competition, BUDGET_BYTES - spent)
            spent += moved
            for a, b in some:
                if a in texts and b in texts:
                    self._take((a, b), texts[a], texts[b])
            if spent >= BUDGET_BYTES:
                break
        self.moved += spent

    def _take(self, pair: Pair, before: SourceText | None, after: SourceText | None) -> None:
        if before is None or after is None:
            self.failed.add(pair)
            return
        found = diff.compare(before.text, after.text)
        self.known[pair] = Change(found.removed, found.added)


def changes_of(competition: str, *ladder: str) -> Changes:
    """The counts so far of the ladder with this key."""
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
    """The texts of these pairs in file order, as many as the budget allows, and the bytes fetched."""
    texts: dict[Ref, SourceText | None] = {}
    moved = 0
    submissions = {_submission(ref, competition): ref for pair in pairs for ref in pair}
    try:
        for submission, found in kb.texts_of(submissions):
            texts[submissions[submission]] = shown(found)
            moved += found.cost_bytes
            if moved >= budget:
                break
    except KbdashError:
        # A text that cannot be read leaves its steps without a count; the reader may retry.
        texts |= {ref: None for ref in submissions.values() if ref not in texts}
    return texts, moved


def _submission(ref: Ref, competition: str) -> Submission:
    return answers.submission_rows(ref.id, ref.runner, competition)[0]
