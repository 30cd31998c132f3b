"""The charts of a board by name: from the frames of its questions, the figures that its page shows."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from kbdash import charts
from kbdash.dataset.model import Board
from kbdash.units import Unit, unit_for


@dataclass(frozen=True)
class Shown:
    """A board, and how its chart is drawn: users in colour, the last day, the theme, how far the axes reach."""

    board: Board
    users: tuple[str, ...] = ()
    until: object = None
    theme: str = "light"
    span: str = "field"


def _progression(shown: Shown, unit: Unit, bests: pd.DataFrame, attempts: pd.DataFrame | None) -> go.Figure:
    return charts.progression(
        bests, unit, shown.theme, attempts, deadline=shown.board.deadline, until=shown.until, pinned=shown.users,
        span=shown.span,
    )  # fmt: skip


def _distribution(shown: Shown, unit: Unit, ranked: pd.DataFrame) -> go.Figure:
    light = shown.board.speed_of_light
    return charts.field(ranked, unit, shown.theme, light=light, pinned=shown.users, span=shown.span)


def _ranks(shown: Shown, bests: pd.DataFrame) -> go.Figure:
    dated = bests[bests["submitted_at"].notna()].reset_index(drop=True)
    return charts.bump(dated, shown.theme, pinned=shown.users, until=shown.until, span=shown.span)


def _hardware(shown: Shown, unit: Unit, ranked: pd.DataFrame) -> go.Figure:
    return charts.runner_strips(ranked, unit, shown.theme, pinned=shown.users, span=shown.span)


def _submissions(shown: Shown, counts: pd.DataFrame) -> go.Figure:
    return charts.status(counts, shown.theme, shown.board.deadline)


def _ladder(shown: Shown, steps: pd.DataFrame, records: pd.DataFrame) -> go.Figure:
    unit = unit_for(steps["score"].min() if len(steps) else None)
    return charts.ladder(steps, records, unit, shown.theme, span=shown.span)


CHARTS: dict[str, Callable[..., go.Figure]] = {
    "progression": _progression,
    "distribution": _distribution,
    "ranks": _ranks,
    "hardware": _hardware,
    "submissions": _submissions,
    "ladder": _ladder,
}
"""What `KernelBot.chart` draws, by the names of the tabs and pages that show it."""
