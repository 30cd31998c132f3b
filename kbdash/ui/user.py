"""One person across competitions, and the steps by which they got fast on a board."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import ButtonColumn, DateColumn, DatetimeColumn, ListColumn, NumberColumn, TextColumn

from kbdash.catalog import runner_name
from kbdash.ui import cached, engines, parts, share, state, tables
from kbdash.ui.board import person
from kbdash.ui.escape import markdown
from kbdash.units import count_text, duration_text, rank_text, time_text, unit_for
from kbdash.view import CompareView, Ref, UserView

ANONYMOUS = (
    "Users of the AMD MI300 competitions are anonymous numbers, shuffled at export; they cannot be joined with "
    "anybody here."
)


def show() -> None:
    """The whole page."""
    view = state.view(UserView)
    st.title("User", anchor=False)
    parts.link_notes()
    st.text_input(
        "Find a person", placeholder="Part of a name, or an id", width=320, max_chars=100,
        **state.control("find", view.find, default=""),
    )  # fmt: skip
    st.caption(ANONYMOUS)
    if view.find:
        _found(view)
    elif view.user:
        _person(view, view.user)
    else:
        st.markdown("Type a part of a name to see where that person took part, and how they did.")


def open_user(click_key: str, users: Sequence[str]) -> None:
    """Show the person of the row whose button was clicked."""
    click = st.session_state.get(click_key)
    if click is not None and 0 <= click["row"] < len(users):
        state.change(user=users[click["row"]], find="", competition=None, problem=None, runner=None)


def open_steps(click_key: str, boards: Sequence[tuple[str, str, str | None]]) -> None:
    """Show the steps on the board of the row whose button was clicked."""
    click = st.session_state.get(click_key)
    if click is not None and 0 <= click["row"] < len(boards):
        competition, problem, runner = boards[click["row"]]
        state.change(competition=competition, problem=problem, runner=runner)


def open_diff(click_key: str, pairs: Sequence[CompareView]) -> None:
    """Compare the step of the row whose button was clicked with the one before it."""
    click = st.session_state.get(click_key)
    if click is not None and 0 <= click["row"] < len(pairs) and state.has("compare"):
        state.go("compare", pairs[click["row"]])


def _found(view: UserView) -> None:
    people = cached.find_users(view.find)
    if people.empty:
        parts.nothing("Nobody's name holds that text, and it is nobody's id.", key="people")
        return
    titles = {item.slug: item.title for item in engines.engine().competitions}
    shown = pd.DataFrame(
        {
            "user": tables.names(people),
            "open": "Open",
            "submissions": people["submissions"],
            "competitions": [[titles.get(slug, slug) for slug in slugs] for slugs in people["competitions"]],
            "id": people["user_id"],
        }
    )
    columns = {
        "user": TextColumn("User"),
        "open": ButtonColumn(
            "", width=75, type="tertiary", key="people-open", on_click=open_user,
            args=("people-open", tuple(people["user_id"])),
        ),
        "submissions": NumberColumn("Submissions", format="localized"),
        "competitions": ListColumn("Competitions"),
        "id": TextColumn("Id"),
    }  # fmt: skip
    st.caption(f"{count_text(len(people))} people.")
    tables.show(shown, columns, key="people-table", alt="People found")


def _person(view: UserView, user_id: str) -> None:
    boards = cached.user(user_id)
    if boards.empty:
        parts.nothing(f"No linkable competition has a user with the id {user_id}.", key="person")
        return
    name = person(str(boards["user_name"].iloc[-1]), user_id)
    st.subheader(markdown(name), anchor=False)
    parts.tiles(_numbers(boards), key="person")
    share.toolbar(view, boards, share.file_stem("user", user_id), "user", {"user": user_id}, key="person")
    _boards_table(boards)
    if view.problem:
        _ladder(view, user_id, view.problem)
    else:
        st.caption("Steps shows each new personal best on a board, with what it gained.")


def _numbers(boards: pd.DataFrame) -> list[parts.Tile]:
    ranked = boards.dropna(subset="rank")
    best = ranked.sort_values("rank").head(1)
    where = "" if best.empty else f"{best['problem'].iloc[0]}, {runner_name(best['runner'].iloc[0])}"
    submissions = boards.groupby(["competition", "problem"])["submissions"].max().sum()
    return [
        parts.Tile("Best rank", rank_text(None if best.empty else best["rank"].iloc[0]), where),
        parts.Tile("First places", count_text(int((ranked["rank"] == 1).sum()))),
        parts.Tile("Boards with a time", count_text(len(ranked)), "problem and runner"),
        parts.Tile("Submissions", count_text(submissions)),
    ]


def _boards_table(boards: pd.DataFrame) -> None:
    titles = {item.slug: item.title for item in engines.engine().competitions}
    shown = pd.DataFrame(
        {
            "problem": boards["problem"],
            "runner": [runner_name(runner) for runner in boards["runner"]],
            "rank": boards["rank"],
            "of": boards["of"],
            "time": [time_text(row["score"], unit_for(row["best"])) for row in tables.rows(boards)],
            "ratio": boards["ratio"],
            "code": [tables.CODE if pd.notna(id_) else "" for id_ in boards["submission_id"]],
            "steps": ["Steps" if pd.notna(id_) else "" for id_ in boards["submission_id"]],
            "tries": boards["submissions"],
            "first": tables.utc(boards["first_at"]),
            "last": tables.utc(boards["last_at"]),
            "competition": [titles.get(slug, slug) for slug in boards["competition"]],
        }
    )
    tables.show(shown, _boards_columns(boards), key="person-table", alt="Boards this user took part in")


def _boards_columns(boards: pd.DataFrame) -> dict[str, Any]:
    found = tables.rows(boards)
    places = tuple((row["competition"], row["problem"], tables.text(row["runner"])) for row in found)
    rows = [tables.link(row["submission_id"], row["runner"], row["competition"], walk="user") for row in found]
    return {
        "problem": TextColumn("Problem"),
        "runner": TextColumn("Runner"),
        "rank": NumberColumn("#", format="%d", width=50),
        "of": NumberColumn("of", format="%d", width=50),
        "time": TextColumn("Best time", alignment="right"),
        "ratio": NumberColumn("× best", format="%.2f"),
        "code": tables.code_column("person", rows),
        "steps": ButtonColumn(
            "Steps", width=75, type="tertiary", key="person-steps", on_click=open_steps, args=("person-steps", places)
        ),
        "tries": NumberColumn("Tries", format="localized"),
        "first": DateColumn("First (UTC)", format="YYYY-MM-DD"),
        "last": DateColumn("Last (UTC)", format="YYYY-MM-DD"),
        "competition": TextColumn("Competition"),
    }


def _ladder(view: UserView, user_id: str, problem: str) -> None:
    """Each new personal best on one board: what it gained, how long it took, and its diff."""
    steps = cached.ladder(problem, user_id, competition=view.competition, runner=view.runner)
    st.subheader(f"Steps on {markdown(problem)}", anchor=False)
    if steps.empty:
        st.caption("No ranked run of this user passed on that board.")
        return
    unit = unit_for(steps["score"].min())
    shown = pd.DataFrame(
        {
            "step": range(1, len(steps) + 1),
            "at": tables.utc(steps["submitted_at"]),
            "time": tables.times(steps["score"], unit),
            "gain": -100 * steps["gain"],
            "waited": [duration_text(waited) for waited in steps["waited"]],
            "attempts": steps["attempts"],
            "code": tables.CODE,
            "diff": ["Diff" if pair.a else "" for pair in step_pairs(steps)],
        }
    )
    columns = {
        "step": NumberColumn("Step", format="%d", width=55),
        "at": DatetimeColumn("At (UTC)", format="YYYY-MM-DD HH:mm"),
        "time": tables.time_column("Time", unit, steps["score"].min()),
        "gain": NumberColumn("Gain (%)", format="%.1f", help="Against the personal best before."),
        "waited": TextColumn("After", help="Time since the personal best before."),
        "attempts": NumberColumn("Attempts", format="localized", help="Made since the personal best before."),
        "code": tables.code_column("ladder", tables.links(steps, view.competition or "", walk="bests")),
        "diff": ButtonColumn(
            "Diff", width=75, type="tertiary", key="ladder-diff", on_click=open_diff,
            args=("ladder-diff", tuple(step_pairs(steps))), help="Compare with the step before",
        ),
    }  # fmt: skip
    with st.container(horizontal=True, horizontal_alignment="right", key="ladder-bar"):
        share.downloads(steps, share.file_stem("steps", problem, view.runner, user_id), key="ladder")
    tables.show(shown, columns, key="ladder-table", alt=f"Personal bests on {problem}")


def step_pairs(steps: pd.DataFrame) -> list[CompareView]:
    """Each step beside the one before it on the same runner; the first has none."""
    pairs = []
    last: dict[str | None, Ref] = {}
    for row in tables.rows(steps):
        runner = tables.text(row["runner"])
        here = Ref(int(row["submission_id"]), runner)
        pairs.append(CompareView(a=last.get(runner), b=here))
        last[runner] = here
    return pairs
