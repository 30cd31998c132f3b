"""One board as the reader asked for it, with every name resolved: the input of the tabs."""

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Board, Competition
from kbdash.errors import UnknownUser
from kbdash.units import Unit, person, unit_for
from kbdash.view import TABS, CompetitionView
from kbdash.web import answers, share
from kbdash.web.memo import memoise

ALL_RUNNERS = "all"
MOST_CHOICES = 60
"""Most problems or runners in a picker; no real competition has as many, and thousands would block the page."""


@dataclass(frozen=True)
class Scene:
    """A board, the chosen runner (None: each separately), and the numbers that all tabs share."""

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
        """The same filters as SQL parameters."""
        return {**self.filters, "problem": self.board.name}

    def stem(self, what: str) -> str:
        """File name of an export, without extension."""
        return share.file_stem(self.competition.slug, self.board.name, self.runner, what)

    def with_view(self, view: CompetitionView) -> "Scene":
        """The same board with the changes that the reader made inside a tab."""
        return replace(self, view=named(view, self.competition.slug)[0])


def named(view: CompetitionView, competition: str) -> tuple[CompetitionView, tuple[str, ...]]:
    """The view with the ids of the users that its link names, and a note for each unknown one."""
    pins = {text: _ids(text, competition) for text in view.users}
    sought = {view.find: _ids(view.find, competition)} if view.find and view.tab == TABS[0] else {}
    notes = tuple(note for _, note in (*pins.values(), *sought.values()) if note)
    users = tuple(dict.fromkeys(user for ids, _ in pins.values() for user in ids))
    find = next((ids[0] if ids else "" for ids, _ in sought.values()), view.find)
    return replace(view, users=users, find=find), notes


def _ids(text: str, competition: str) -> tuple[tuple[str, ...], str]:
    """Ids of the users with this id or name, or a note with similar names."""
    try:
        return answers.user_ids((text,), competition), ""
    except UnknownUser as error:
        return (), f"{error} {error.advice}"


def left_out(scene: Scene) -> tuple[int, int]:
    """How many submissions of the board and runner the filters leave out, and of how many."""
    view, slug = scene.view, scene.competition.slug
    listed: dict[str, Any] = {"users": view.users, "text": view.find or None} if view.tab == "submissions" else {}
    every = answers.submissions(scene.board.name, competition=slug, runner=scene.runner, page_size=1).total
    kept = answers.submissions(scene.board.name, **scene.filters, **listed, page_size=1).total
    return every - kept, every


def filters(competition: Competition, runner: str | None, view: CompetitionView) -> dict[str, Any]:
    """The filters of a view as the engine's keyword arguments."""
    return {
        "competition": competition.slug,
        "runner": runner,
        "since": view.since,
        "until": view.until,
        "flagged": not view.hide_flagged,
        "facets": view.facets,
    }


def runners_of(rows: pd.DataFrame, board: Board) -> tuple[str, ...]:
    """Runners that have rows on a board: those of the catalog first, then by number of users; limited in number."""
    found = rows.dropna(subset="runner").sort_values("users", ascending=False)["runner"].astype(str).tolist()
    known = [runner for runner in board.runners if runner in found]
    return (*known, *(runner for runner in found if runner not in known))[:MOST_CHOICES]


def pick_runner(view: CompetitionView, runners: tuple[str, ...]) -> str | None:
    """The runner to show: the one asked for, all of them, or the board's default."""
    if view.runner == ALL_RUNNERS and len(runners) > 1:
        return None
    if view.runner in runners:
        return view.runner
    return runners[0] if runners else None


def runner_label(runner: str) -> str:
    """A runner as the picker names it."""
    return "All runners" if runner == ALL_RUNNERS else runner_name(runner)


def scene_of(competition: Competition, board: Board, view: CompetitionView, theme: str) -> Scene:
    """The board with runner and unit resolved."""
    rows = memoise(rows_of, answers.problems(competition.slug), competition.slug, board.name)
    runners = memoise(runners_of, rows, board)
    runner = pick_runner(view, runners)
    key = f"{competition.slug}-{board.name}-{runner}"
    return Scene(competition, board, runners, runner, view, memoise(unit_of, rows, runner), theme, key)


def rows_of(problems: pd.DataFrame, competition: str, problem: str) -> pd.DataFrame:
    """The rows of one board."""
    return problems[(problems["competition"] == competition) & (problems["problem"] == problem)]


def unit_of(rows: pd.DataFrame, runner: str | None) -> Unit:
    """The unit of a board: that of the best time on the runner, or on any."""
    ran = rows["runner"].notna() if runner is None else rows["runner"] == runner
    return unit_for(rows.loc[ran, "best"].min())


def people(ranked: pd.DataFrame) -> dict[str, str]:
    """The users of a ranking by id, best first, as people know them."""
    return {user: person(name, user) for user, name in zip(ranked["user_id"], ranked["user_name"], strict=True)}
