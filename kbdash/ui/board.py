"""One board as the reader asked for it, with every name resolved: what the tabs are drawn from."""

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from kbdash.catalog import runner_name
from kbdash.model import Board, Competition
from kbdash.ui import cached, share
from kbdash.ui.memo import made
from kbdash.units import Unit, unit_for
from kbdash.view import CompetitionView

ALL_RUNNERS = "all"


@dataclass(frozen=True)
class Scene:
    """A board, the runner chosen on it (None: each by itself), and the numbers that all tabs share."""

    competition: Competition
    board: Board
    runners: tuple[str, ...]
    runner: str | None
    view: CompetitionView
    unit: Unit
    theme: str
    key: str

    @property
    def filters(self) -> dict[str, Any]:
        """Keyword arguments for every question about this board."""
        return filters(self.competition, self.runner, self.view)

    @property
    def parameters(self) -> dict[str, object]:
        """The same filters as SQL sees them."""
        return {**self.filters, "problem": self.board.name}

    def stem(self, what: str) -> str:
        """File name of an export, without its ending."""
        return share.file_stem(self.competition.slug, self.board.name, self.runner, what)

    def with_view(self, view: CompetitionView) -> "Scene":
        """The same board with what the reader changed inside a tab."""
        return replace(self, view=view)


def filters(competition: Competition, runner: str | None, view: CompetitionView) -> dict[str, Any]:
    """The filters of a view as the engine's keyword arguments."""
    return {
        "competition": competition.slug,
        "runner": runner,
        "since": view.since,
        "until": view.until,
        "flagged": not view.hide_flagged,
    }


def runners_of(rows: pd.DataFrame, board: Board) -> tuple[str, ...]:
    """Runners that have rows on a board: those of the catalog first, then by number of users."""
    found = rows.dropna(subset="runner").sort_values("users", ascending=False)["runner"].astype(str).tolist()
    known = [runner for runner in board.runners if runner in found]
    return (*known, *(runner for runner in found if runner not in known))


def pick_runner(view: CompetitionView, runners: tuple[str, ...]) -> str | None:
    """The runner to show: the one asked for, every one by itself, or the board's own."""
    if view.runner == ALL_RUNNERS and len(runners) > 1:
        return None
    if view.runner in runners:
        return view.runner
    return runners[0] if runners else None


def runner_label(runner: str) -> str:
    """A runner as the picker names it."""
    return "All runners" if runner == ALL_RUNNERS else runner_name(runner)


def scene(competition: Competition, board: Board, view: CompetitionView, theme: str) -> Scene:
    """The board with runner and unit resolved."""
    rows = made(rows_of, cached.problems(competition.slug), competition.slug, board.name)
    runners = made(runners_of, rows, board)
    runner = pick_runner(view, runners)
    key = f"{competition.slug}-{board.name}-{runner}"
    return Scene(competition, board, runners, runner, view, made(unit_of, rows, runner), theme, key)


def rows_of(problems: pd.DataFrame, competition: str, problem: str) -> pd.DataFrame:
    """The rows of one board."""
    return problems[(problems["competition"] == competition) & (problems["problem"] == problem)]


def unit_of(rows: pd.DataFrame, runner: str | None) -> Unit:
    """The unit of a board: that of the best time on the runner, or on any."""
    ran = rows["runner"].notna() if runner is None else rows["runner"] == runner
    return unit_for(rows.loc[ran, "best"].min())


def person(user_name: str, user_id: str) -> str:
    """A user as people know them; who has no name is told apart by the end of the id."""
    return user_name if user_name.strip() else f"unnamed …{user_id[-4:]}"


def people(ranked: pd.DataFrame) -> dict[str, str]:
    """The users of a ranking by id, best first, as people know them."""
    return {user: person(name, user) for user, name in zip(ranked["user_id"], ranked["user_name"], strict=True)}
