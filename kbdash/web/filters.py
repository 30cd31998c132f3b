"""The controls of a board: problem and runner are visible, everything else is behind one button."""

import pandas as pd
import streamlit as st

from kbdash.dataset.model import Board
from kbdash.units import count_text, plural
from kbdash.view import MAX_PINS, MAX_TOP, CompetitionView
from kbdash.web import answers, chips, own_time, state
from kbdash.web.board import ALL_RUNNERS, Scene, left_out, people, runner_label
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise


def show(scene: Scene, boards: list[Board]) -> None:
    """Problem, runner, the reader's own time and the Filters button."""
    _problem(scene, boards)
    _runner(scene)
    own_time.control(scene)
    _more(scene)


def active(scene: Scene) -> None:
    """The active filters, each with a cross, and how many rows they leave out."""
    view = scene.view
    found = chips.chips_of(view, memoise(people, _everybody(scene)))
    out, every = left_out(scene) if found else (0, 0)
    chips.show(found, f"{count_text(out)} of {plural(every, 'submission')} left out by these" if out else "")


def remarks(view: CompetitionView) -> None:
    """Warnings about filters that contradict each other."""
    if view.since and view.until and view.since > view.until:
        st.warning(f"From ({view.since}) is after To ({view.until}), so no day is left.", icon=":material/event_busy:")


def _problem(scene: Scene, boards: list[Board]) -> None:
    labels = {board.name: markdown(board.label) for board in boards}
    if len(boards) > 1:
        st.segmented_control(
            "Problem",
            list(labels),
            format_func=lambda name: labels[name],
            required=True,
            label_visibility="collapsed",
            **state.control("problem", scene.board.name, default=boards[0].name),
        )


def _runner(scene: Scene) -> None:
    if len(scene.runners) > 1:
        st.segmented_control(
            "Runner",
            [*scene.runners, ALL_RUNNERS],
            format_func=lambda runner: markdown(runner_label(runner)),
            required=True,
            label_visibility="collapsed",
            **state.control("runner", scene.runner or ALL_RUNNERS, default=scene.runners[0]),
        )


def _more(scene: Scene) -> None:
    """Pinned users, days, flagged rows, length of the list."""
    view = scene.view
    active = sum((bool(view.users), view.since is not None, view.until is not None, view.hide_flagged))
    with st.popover(f"Filters ({active})" if active else "Filters", icon=":material/tune:", key="filters"):
        _pins(scene)
        first, last = st.columns(2)
        # Without the argument `value`, Streamlit scans the whole session state for the type of the value.
        first.date_input("From (UTC day)", None, format="YYYY-MM-DD", **state.control("since", view.since))
        last.date_input(
            "To (UTC day)",
            None,
            format="YYYY-MM-DD",
            help="The ranking as it stood at the end of that day.",
            **state.control("until", view.until),
        )
        st.toggle(
            "Rank without flagged rows",
            help="Impossible times, times below a heuristic floor, and publicly reported cases.",
            **state.control("hide_flagged", view.hide_flagged),
        )
        st.number_input("Rows in the leaderboard", 5, MAX_TOP, step=5, **state.control("top", view.top))
        st.button("Reset all filters", key="filters-reset", on_click=state.reset, width="stretch")


def _everybody(scene: Scene) -> pd.DataFrame:
    """Everybody ever ranked here, regardless of the filters: pins survive a change of filters."""
    return answers.leaderboard(scene.board.name, competition=scene.competition.slug)


def _pins(scene: Scene) -> None:
    names = memoise(people, _everybody(scene))
    options = [*scene.view.users, *(user for user in names if user not in scene.view.users)]
    st.multiselect(
        "Pinned users",
        options,
        format_func=lambda user: names.get(user, f"{user} (not on this board)"),
        max_selections=MAX_PINS,
        select_all=False,
        placeholder="Find a user",
        help="Pinned users stay in every table and chart of this competition.",
        **state.control("users", list(scene.view.users)),
    )
