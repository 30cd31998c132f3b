"""A competition's page: which board, its figures and caveats in a head of few lines, and the tabs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module

import pandas as pd
import streamlit as st

from kbdash.database.questions import columns
from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Board, Competition
from kbdash.errors import DataUnavailable
from kbdash.units import Unit, count_text, day_text, person, plural, ratio_text, share_text, time_text
from kbdash.view import TABS, CompetitionView
from kbdash.web import answers, card, chips, filters, layout, own_time, run_slots, session, state, widgets
from kbdash.web.board import MOST_CHOICES, Scene, named, scene_of
from kbdash.web.content import store_panel
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.tabs import hardware, progression

# A tab is the module of its name in kbdash.web.tabs.
_SHOW: Mapping[str, Callable[[Scene], None]] = {tab: import_module(f"kbdash.web.tabs.{tab}").show for tab in TABS}
_TITLES = {tab: tab.capitalize() for tab in _SHOW if tab != "leaderboard"}
_TABS_FOR_ALL = tuple(tab for tab in _SHOW if tab != "hardware")


def show(slug: str) -> None:
    """The whole page of the competition with this path."""
    kb = session.engine()
    competition = next(item for item in kb.competitions if item.slug == slug)
    asked = state.view(CompetitionView)
    head = st.container(gap="xsmall", key="head")
    controls = head.container(horizontal=True, vertical_alignment="center", gap="small", key="controls")
    controls.title(markdown(competition.title), anchor=False, width="content")
    if reason := kb.unavailable.get(slug):
        raise DataUnavailable(reason, advice=widgets.still_works())
    names = kb.problem_names(slug)
    if not names:
        raise DataUnavailable("This competition has no submissions.", advice="Look at another one.")
    boards = [kb.board(name, slug) for name in names_to_offer(names, asked.problem)]
    board = chosen(boards, asked.problem)
    view, notes = named(asked, slug)
    if board is None:
        board = boards[0]
        notes = (f"{competition.title} has no problem named {asked.problem}. This is {board.label}.", *notes)
    if view.facets and store_panel.missing(slug, "Until then the techniques in this link are left out."):
        view = replace(view, facets=())
    scene = scene_of(competition, board, view, widgets.theme())
    _name_tab(scene)
    with controls:
        filters.show(scene, boards)
    with head:
        _facts(scene, more=len(names) - len(boards))
        _words(scene, notes)
    kb.index_code(slug)  # in the background, so that the first source text costs only one page
    _tabs(scene, asked)


def _name_tab(scene: Scene) -> None:
    on = f" on {runner_name(scene.runner)}" if scene.runner else ""
    layout.name_tab(f"{scene.board.label}{on}", _TITLES.get(scene.view.tab, ""), scene.competition.title)


def names_to_offer(names: Sequence[str], asked: str | None) -> list[str]:
    """The problems to choose from: as many as a page can show, always including the one asked for."""
    first = list(names[:MOST_CHOICES])
    return first if asked is None or asked in first or asked not in names else [asked, *first]


def chosen(boards: Sequence[Board], asked: str | None) -> Board | None:
    """The board with this name, label or id, by default the first; None if there is no such board."""
    if asked is None:
        return boards[0]
    return next((item for item in boards if asked in (item.name, str(item.id), item.label, *item.aliases)), None)


def _facts(scene: Scene, more: int) -> None:
    """The board's description and figures in one line; in the next, its card and its caveats, which unfold."""
    if more:
        st.caption(f"{count_text(more)} more problems; each is opened by its link: ?problem=name")
    _numbers(scene)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="notes"):
        card.show(scene)
        _twin(scene)
        widgets.caveats((*scene.board.caveats, *scene.competition.caveats), key="board")
        _first_visit(scene)


def _first_visit(scene: Scene) -> None:
    """One line about the leaderboard for first-time readers, until they open another board or filter this one."""
    first = st.session_state.setdefault("_first_board", scene.board.name) == scene.board.name
    if first and scene.view.tab == TABS[0] and not chips.chips_of(scene.view):
        st.caption(
            "Each row is one user's best time, lower is better. Code opens the kernel behind it.", width="content"
        )


def _words(scene: Scene, notes: Sequence[str]) -> None:
    """Notes about this view: errors in its link, active filters, the reader's own time."""
    widgets.link_notes()
    for note in notes:
        st.warning(markdown(note), icon=":material/search_off:")
    filters.remarks(scene.view)
    own_time.remarks(scene)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="active"):
        filters.active(scene)
        own_time.show(scene)


def _twin(scene: Scene) -> None:
    """A link to the paired view, if the task was measured on two kinds of machine."""
    if scene.board.twin and scene.view.tab != "hardware":
        st.button(
            "Show both", key="twin", type="tertiary", icon=":material/compare_arrows:",
            help="The two boards of this task side by side", on_click=state.change, kwargs={"tab": "hardware"},
        )  # fmt: skip


def _numbers(scene: Scene) -> None:
    """The board's description, then its figures over the rows that pass the filters."""
    summary = answers.summary(scene.board.name, **scene.filters)
    leaders = answers.leaderboard(scene.board.name, **scene.filters)
    found = memoise(figures, scene.board, scene.runner, scene.unit, summary, leaders)
    widgets.figures(found, key="board", lead=lead(scene.board, scene.competition))


def lead(board: Board, competition: Competition) -> str:
    """What the board is, and when it closed."""
    closing = f"deadline {day_text(board.deadline)}" if board.deadline and board.deadline.year < 2100 else "no deadline"
    return f"{(board.summary or competition.summary).removesuffix('.')} · {closing}"


def figures(
    board: Board, runner: str | None, unit: Unit, summary: pd.DataFrame, leaders: pd.DataFrame
) -> list[widgets.Figure]:
    """The numbers of a board; `leaders` is its ranking with the same filters."""
    best = summary["best"].min() if len(summary) else None
    light = board.speed_of_light
    found = [best_figure(best, unit, leaders)]
    if light and pd.notna(best):
        bound = f"Speed of light: the task's own estimate of the shortest possible time, {time_text(light, unit)}."
        found.append(widgets.Figure(ratio_text(best / light), after="speed of light", help=bound))
    if runner and len(summary):
        median = time_text(summary["median_best"].iloc[0], unit)
        found.append(
            widgets.Figure(median, "median", help="Median: of each user's best; half of the users are faster.")
        )
    users = leaders["user_id"].nunique()
    said = "user" if users == 1 else "users"
    return [*found, widgets.Figure(count_text(users), after=said, help=f"Users: {columns.USERS}."), *_outcomes(summary)]


def best_figure(best: float | None, unit: Unit, leaders: pd.DataFrame) -> widgets.Figure:
    """The best time, its holder, and its flags."""
    told = "Best: lowest time of a ranked run that passed and is not impossible."
    holder = leaders[leaders["score"] == best].head(1)
    if holder.empty:
        return widgets.Figure(time_text(best, unit), "best", help=told)
    name = person(holder["user_name"].iloc[0], holder["user_id"].iloc[0])
    return widgets.Figure(time_text(best, unit), "best", name, told, str(holder["flags"].iloc[0]))


def _outcomes(summary: pd.DataFrame) -> list[widgets.Figure]:
    """How many runs passed; submissions that never got a runner are counted separately, once."""
    ran, passed = int(summary["rows"].sum()), int(summary["passed"].sum())
    waiting = int(summary["rows_without_runner"].max()) if len(summary) else 0
    share = share_text(passed / ran if ran else None)
    told = f"Passed: {columns.PASSED}; the share is {columns.RATE}."
    found = [
        widgets.Figure(share, after=f"of {plural(ran, 'run')} passed", help=told) if ran else widgets.Figure("no runs")
    ]
    if waiting:
        never = f"Never ran: {columns.NOT_RUN}; they are in no share."
        found.append(widgets.Figure(count_text(waiting), after="never ran", help=never))
    return found


def _tabs(scene: Scene, asked: CompetitionView) -> None:
    """The tab bar; only the open tab computes anything."""
    offered = [tab for tab in _SHOW if tab in (scene.view.tab, *_TABS_FOR_ALL) or hardware.offered(scene)]
    labels = {tab: tab.capitalize() for tab in offered}
    bound = state.control("tab", labels[scene.view.tab], read=str.lower, kind="hardware" * ("hardware" in offered))
    opened = st.tabs(list(labels.values()), **bound)
    for container, tab in zip(opened, offered, strict=True):
        if tab == scene.view.tab:
            with container:
                _tab(scene, tab, asked)


@st.fragment
def _tab(scene: Scene, tab: str, asked: CompetitionView) -> None:
    """One tab, a fragment that reruns alone when something inside it is used."""
    view = state.view(CompetitionView)
    if view.scope != asked.scope:
        st.rerun()
    now = scene.with_view(view)
    with widgets.boundary(f"{tab}-problem"), run_slots.run_slot(), session.using_engine(session.engine()):
        if tab != "leaderboard" or not layout.wide():
            _SHOW[tab](now)
            return
        table, chart = st.columns([3, 2], gap="medium")
        with table:
            _SHOW[tab](now)
        with chart:
            progression.best_so_far(now)
