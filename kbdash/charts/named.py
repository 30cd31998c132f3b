"""The charts of a board by name, for notebooks: the figures that its page shows for the same filters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from kbdash import charts
from kbdash.database.queries import Questions
from kbdash.dataset.model import Board
from kbdash.errors import QueryRefused
from kbdash.units import Unit, unit_for


@dataclass(frozen=True)
class Asked:
    """A board, its filters, and how its chart is drawn."""

    kb: Questions
    board: Board
    scope: dict[str, Any]
    users: tuple[str, ...] = ()
    theme: str = "light"
    span: str = "field"
    everywhere: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "everywhere", self.scope | {"runner": None})

    def ask(self, question: str, /, *, all_runners: bool = False, **more: Any) -> Any:
        """A question about this board."""
        scope = self.everywhere if all_runners else self.scope
        return getattr(self.kb, question)(self.board.name, **scope, **more)

    @property
    def unit(self) -> Unit:
        """The unit of the board on its runner."""
        rows = self.kb.problems(self.scope["competition"])
        here = (rows["problem"] == self.board.name) & (rows["runner"] == self.scope["runner"])
        return unit_for(rows.loc[here, "best"].min())


def draw(
    kb: Questions, name: str, problem: str, users: Sequence[str], theme: str, span: str, **scope: Any
) -> go.Figure:
    """The chart of that name; else QueryRefused, which lists the names."""
    if name not in CHARTS:
        raise QueryRefused(f"There is no chart {name}.", advice=f"There are {', '.join(CHARTS)}.")
    competition, exact = kb.find(problem, scope.get("competition"))
    board = kb.board(exact, competition)
    runner = scope.get("runner") or first_runner(kb, board, competition)
    ids = kb.user_ids(list(users), competition) if users else ()
    return CHARTS[name](Asked(kb, board, {**scope, "competition": competition, "runner": runner}, ids, theme, span))


def first_runner(kb: Questions, board: Board, competition: str) -> str | None:
    """The runner that the page of a board opens with: the catalog's first, else the one with most users."""
    rows = kb.problems(competition)
    found = rows[(rows["problem"] == board.name) & rows["runner"].notna()].sort_values("users", ascending=False)
    there = found["runner"].astype(str).tolist()
    return next((runner for runner in board.runners if runner in there), next(iter(there), None))


def _progression(asked: Asked) -> go.Figure:
    bests = asked.ask("personal_bests")
    there = [user for user in asked.users if user in set(bests["user_id"])]
    attempts = asked.ask("progression", users=there) if len(there) == 1 else None
    return charts.progression(
        bests, asked.unit, asked.theme, attempts, deadline=asked.board.deadline, until=asked.scope.get("until"),
        pinned=asked.users, span=asked.span,
    )  # fmt: skip


def _distribution(asked: Asked) -> go.Figure:
    light = asked.board.speed_of_light
    ranked = asked.ask("leaderboard")
    return charts.field(ranked, asked.unit, asked.theme, light=light, pinned=asked.users, span=asked.span)


def _ranks(asked: Asked) -> go.Figure:
    bests = asked.ask("personal_bests")
    dated = bests[bests["submitted_at"].notna()].reset_index(drop=True)
    return charts.bump(dated, asked.theme, pinned=asked.users, until=asked.scope.get("until"), span=asked.span)


def _hardware(asked: Asked) -> go.Figure:
    ranked = asked.ask("leaderboard", all_runners=True)
    return charts.runner_strips(ranked, asked.unit, asked.theme, pinned=asked.users, span=asked.span)


def _submissions(asked: Asked) -> go.Figure:
    counts = asked.ask("status_over_time", all_runners=True)
    return charts.status(counts, asked.theme, asked.board.deadline)


def _ladder(asked: Asked) -> go.Figure:
    if len(asked.users) != 1:
        raise QueryRefused("A ladder is that of one user.", advice='Name them: users=["gau.nernst"].')
    steps = asked.ask("ladder", user=asked.users[0])
    unit = unit_for(steps["score"].min() if len(steps) else None)
    return charts.ladder(steps, asked.ask("records"), unit, asked.theme, span=asked.span)


CHARTS: dict[str, Callable[[Asked], go.Figure]] = {
    "progression": _progression,
    "distribution": _distribution,
    "ranks": _ranks,
    "hardware": _hardware,
    "submissions": _submissions,
    "ladder": _ladder,
}
"""What `KernelBot.chart` draws, by the names of the tabs and pages that show it."""
