"""The controls of a board: problem and runner in sight, everything else behind one button."""

from collections.abc import Sequence

import streamlit as st

from kbdash.model import Board
from kbdash.ui import cached, state
from kbdash.ui.board import ALL_RUNNERS, Scene, people, runner_label
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.view import MAX_PINS, MAX_TOP


def show(now: Scene, boards: list[Board]) -> None:
    """Problem, runner and the Filters button in one row that wraps on a phone."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="controls"):
        _problem(now, boards)
        _runner(now)
        _more(now)


def pin(user_id: str, pinned: Sequence[str]) -> None:
    """Pin a user, or unpin one who is pinned; from a callback."""
    kept = tuple(user for user in pinned if user != user_id)
    state.change(users=kept if user_id in pinned else (*kept, user_id)[:MAX_PINS])


def _problem(now: Scene, boards: list[Board]) -> None:
    labels = {board.name: markdown(board.label) for board in boards}
    if len(boards) > 1:
        st.segmented_control(
            "Problem",
            list(labels),
            format_func=lambda name: labels[name],
            required=True,
            **state.control("problem", now.board.name, default=boards[0].name),
        )


def _runner(now: Scene) -> None:
    if len(now.runners) > 1:
        st.segmented_control(
            "Runner",
            [*now.runners, ALL_RUNNERS],
            format_func=lambda runner: markdown(runner_label(runner)),
            required=True,
            **state.control("runner", now.runner or ALL_RUNNERS, default=now.runners[0]),
        )


def _more(now: Scene) -> None:
    """Pinned users, days, flagged rows, length of the list."""
    view = now.view
    active = sum((bool(view.users), view.since is not None, view.until is not None, view.hide_flagged))
    with st.popover(f"Filters ({active})" if active else "Filters", icon=":material/tune:", key="filters"):
        _pins(now)
        first, last = st.columns(2)
        first.date_input("From (UTC day)", format="YYYY-MM-DD", **state.control("since", view.since))
        last.date_input(
            "To (UTC day)",
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


def _pins(now: Scene) -> None:
    # Everybody ever ranked here, whatever the other filters say: pins outlive them, and so does this answer.
    ranked = cached.leaderboard(now.board.name, competition=now.competition.slug)
    names = made(people, ranked)
    options = [*now.view.users, *(user for user in names if user not in now.view.users)]
    st.multiselect(
        "Pinned users",
        options,
        format_func=lambda user: names.get(user, f"{user} (not on this board)"),
        max_selections=MAX_PINS,
        select_all=False,
        placeholder="Find a user",
        help="Pinned users stay in every table and chart of this competition.",
        **state.control("users", list(now.view.users)),
    )
