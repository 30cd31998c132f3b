"""What each problem is, for newcomers; the texts are in cards.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kbdash.dataset.model import Board

_FILE = Path(__file__).resolve().parent / "cards.toml"
_REFERENCE = "https://github.com/gpu-mode/reference-kernels/tree/main"
_OFFICIAL = "https://www.gpumode.com/leaderboard"
AVERAGES = {
    "geom": "The score is the geometric mean of the times on all benchmark shapes.",
    "last": "The score is the time on the last benchmark shape alone.",
}


@dataclass(frozen=True)
class Card:
    """A problem in a few sentences, its number formats and benchmark shapes, and the folder of its reference kernel.

    `ranking` is what the score averages: a key of AVERAGES.
    """

    about: str
    inputs: str
    folder: str
    ranking: str
    shapes: tuple[str, ...]

    @property
    def reference(self) -> str:
        """Address of the reference kernel."""
        return f"{_REFERENCE}/{self.folder}"


def card_of(problem: str) -> Card | None:
    """The card of the problem with this exact name; None if there is none."""
    return _cards().get(problem)


def official_board(board: Board) -> str | None:
    """Address of a board on gpumode.com; None if its number is not known."""
    return f"{_OFFICIAL}/{board.id}?tab=rankings" if board.id > 0 else None


@cache
def glossary() -> dict[str, str]:
    """Technical terms and what they mean."""
    return dict(tomllib.loads(_FILE.read_text("utf-8"))["glossary"])


@cache
def _cards() -> dict[str, Card]:
    boards = tomllib.loads(_FILE.read_text("utf-8"))["boards"]
    return {name: Card(**fields | {"shapes": tuple(fields["shapes"])}) for name, fields in boards.items()}
