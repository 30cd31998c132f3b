"""A competition's page: which board, its caveats, five numbers, and the tabs."""

import pandas as pd
import streamlit as st

from kbdash.catalog import runner_name
from kbdash.errors import DataUnavailable
from kbdash.model import Board, Competition
from kbdash.ui import cached, engines, filters, parts, state
from kbdash.ui.board import Scene, person, scene
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.ui.tabs import distribution, hardware, leaderboard, progression, submissions
from kbdash.units import Unit, count_text, minute_text, ratio_text, share_text, time_text
from kbdash.view import CompetitionView

_SHOW = {
    "leaderboard": leaderboard.show,
    "distribution": distribution.show,
    "progression": progression.show,
    "hardware": hardware.show,
    "submissions": submissions.show,
}


def show(slug: str) -> None:
    """The whole page of the competition with this path."""
    kb = engines.engine()
    competition = next(item for item in kb.competitions if item.slug == slug)
    view = state.view(CompetitionView)
    st.title(markdown(competition.title), anchor=False)
    if reason := kb.unavailable.get(slug):
        raise DataUnavailable(reason, advice=parts.still_works())
    parts.link_notes()
    names = kb.problem_names(slug)
    if not names:
        raise DataUnavailable("This competition has no submissions.", advice="Look at another one.")
    boards = [kb.board(name, slug) for name in names]
    board = _chosen(competition, boards, view)
    now = scene(competition, board, view, parts.theme())
    _head(now)
    filters.show(now, boards)
    parts.caveats((*board.caveats, *competition.caveats), key="board")
    _twin(now)
    _numbers(now)
    kb.index_code(slug)  # in the background, so that the first source text opened costs one page and no search
    _tabs(now)


def _chosen(competition: Competition, boards: list[Board], view: CompetitionView) -> Board:
    """The board asked for by name, label or id; the first one, with a word, when there is no such board."""
    if view.problem is None:
        return boards[0]
    for board in boards:
        if view.problem in (board.name, str(board.id), board.label, *board.aliases):
            return board
    st.warning(
        f"{markdown(competition.title)} has no problem named {markdown(view.problem)}. "
        f"This is {markdown(boards[0].label)}.",
        icon=":material/search_off:",
    )
    return boards[0]


def _head(now: Scene) -> None:
    """What the board is, in words, and its facts in one line."""
    deadline = now.board.deadline
    closed = f"deadline {minute_text(deadline)}" if deadline and deadline.year < 2100 else "no deadline"
    parts.chips([now.board.summary or now.competition.summary])
    with st.container(key="facts"):
        st.caption(
            " · ".join(
                markdown(text) for text in (now.board.name, *(runner_name(runner) for runner in now.runners), closed)
            )
        )


def _twin(now: Scene) -> None:
    """A way to the paired view, where a task was measured on two kinds of machine."""
    if now.board.name in hardware.TWINS and now.view.tab != "hardware":
        st.button(
            "Show the two boards side by side", key="twin", type="tertiary", icon=":material/compare_arrows:",
            on_click=state.change, kwargs={"tab": "hardware"},
        )  # fmt: skip


def _numbers(now: Scene) -> None:
    """Best, distance to the speed of light, median, users, passing share: of the rows that pass the filters."""
    summary = cached.summary(now.board.name, **now.filters)
    leaders = cached.leaderboard(now.board.name, **now.filters)
    parts.tiles(made(tiles, now.board, now.runner, now.unit, summary, leaders), key="board")


def tiles(
    board: Board, runner: str | None, unit: Unit, summary: pd.DataFrame, leaders: pd.DataFrame
) -> list[parts.Tile]:
    """The five numbers of a board."""
    counted = summary.sort_values("best", na_position="last")
    best = counted["best"].iloc[0] if len(counted) else None
    median = counted["median_best"].iloc[0] if len(counted) == 1 else None
    rows = int(summary["rows"].sum() + summary["rows_without_runner"].max()) if len(summary) else 0
    passed = int(summary["passed"].sum()) if len(summary) else 0
    light = board.speed_of_light
    holder = leaders.loc[leaders["score"] == best, ["user_name", "user_id"]].head(1)
    name = "" if holder.empty else person(holder["user_name"].iloc[0], holder["user_id"].iloc[0])
    return [
        parts.Tile("Best time", time_text(best, unit), name, "Lowest time of a ranked run that passed."),
        parts.Tile(
            "× speed of light",
            ratio_text(best / light if light and best else None),
            f"{time_text(light, unit)} is the bound" if light else "no bound published",
            "The task's own estimate of the shortest possible time.",
        ),
        parts.Tile(
            "Median of the bests",
            time_text(median, unit),
            "each user's best" if runner else "one runner at a time",
            "Half of the users are faster.",
        ),
        parts.Tile("Users ranked", count_text(leaders["user_id"].nunique()), f"{count_text(rows)} submissions"),
        parts.Tile("Passed", share_text(passed / rows if rows else None), f"{count_text(passed)} ranked runs"),
    ]


def _tabs(now: Scene) -> None:
    """The tab bar; only the open tab computes anything."""
    labels = {tab: tab.capitalize() for tab in _SHOW}
    opened = st.tabs(list(labels.values()), **state.control("tab", labels[now.view.tab], read=str.lower))
    for container, tab in zip(opened, _SHOW, strict=True):
        if tab == now.view.tab:
            with container:
                _tab(now, tab)


@st.fragment
def _tab(now: Scene, tab: str) -> None:
    """One tab, which runs by itself when something inside it is used."""
    view = state.view(CompetitionView)
    if view.scope != now.view.scope:
        st.rerun()
    with parts.boundary(f"{tab}-problem"):
        _SHOW[tab](now.with_view(view))
