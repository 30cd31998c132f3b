"""The reader's own time on a board: typed once, kept in the link, shown between its neighbours."""

import pandas as pd
import streamlit as st

from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Standing
from kbdash.units import Unit, count_text, parse_time, person, plural, rank_text, share_text, time_text
from kbdash.web import answers, state, tables
from kbdash.web.board import Scene
from kbdash.web.escape import markdown

MOST_LINES = 2  # in sight; more would push the table down
_REFUSED = "_own_time_refused"


def control(scene: Scene) -> None:
    """The input for the time, with a note when the text is not a time."""
    shown = "" if scene.view.my_time is None else time_text(scene.view.my_time, scene.unit).replace("\u2009", " ")
    st.text_input(
        "My time",
        placeholder=f"My time, {scene.unit.name}",
        width=115,
        max_chars=40,
        label_visibility="collapsed",
        help="Where would your kernel stand? A number without a unit is in the board's unit.",
        **state.control("my_time", shown, default="", read=lambda text: _read(text, scene.unit)),
    )


def remarks(scene: Scene) -> None:
    """Warnings about the time: it is not a time, or no kernel can be that fast."""
    if refused := st.session_state.pop(_REFUSED, None):
        example = f"Write it like 30 {scene.unit.name} or 0.03 ms."
        st.warning(f"{markdown(repr(refused))} is no time. {example}", icon=":material/timer_off:")
    seconds = scene.view.my_time
    if seconds is not None and (remark := too_fast(seconds, scene.board.speed_of_light, scene.unit)):
        st.warning(remark, icon=":material/timer_off:")


def show(scene: Scene) -> None:
    """The rank of the time on each runner shown, with links to the code of its neighbours."""
    seconds = scene.view.my_time
    if seconds is None:
        return
    ranked = answers.leaderboard(scene.board.name, **scene.filters)
    runners = (scene.runner,) if scene.runner else tuple(scene.runners)
    for runner in runners[:MOST_LINES]:
        _line(scene, ranked[ranked["runner"] == runner], runner, seconds)
    if rest := runners[MOST_LINES:]:
        with st.popover(f"Its rank on {plural(len(rest), 'more runner')}", type="tertiary", key="own-time-more"):
            for runner in rest:
                _line(scene, ranked[ranked["runner"] == runner], runner, seconds)


def too_fast(seconds: float, light: float | None, unit: Unit) -> str:
    """A note for a time below the task's speed of light; "" for any other."""
    if light is None or seconds >= light:
        return ""
    return (
        f"{time_text(seconds, unit)} is below the task's speed of light, {time_text(light, unit)}: "
        "no kernel that does all of the work should be that fast."
    )


def neighbours(ranked: pd.DataFrame, seconds: float) -> tuple[pd.Series | None, pd.Series | None]:
    """The users just before and just after a time in the ranking of one runner; equal times come before it."""
    possible = ranked[ranked["ratio"].notna()]
    before, after = possible[possible["score"] <= seconds], possible[possible["score"] > seconds]
    return (None if before.empty else before.iloc[-1]), (None if after.empty else after.iloc[0])


def standing_text(found: Standing, where: str) -> str:
    """One sentence: the rank a time would have, and the share of users it would beat."""
    if not found.of:
        return f"{where}: nobody is ranked with these filters."
    rank = rank_text(found.rank, tied=found.ties > 0)
    share = share_text(found.faster_than)
    return f"{where}: rank {rank} of {count_text(found.of + 1)} with it, faster than {share} of the users."


def _line(scene: Scene, ranked: pd.DataFrame, runner: str, seconds: float) -> None:
    found = answers.standing(scene.board.name, seconds, **{**scene.filters, "runner": runner})
    where = f"{time_text(seconds, scene.unit)} on {runner_name(runner)}"
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", width="content", key=f"own-time-{runner}"
    ):
        st.markdown(standing_text(found, where), width="content")
        for word, row in zip(("After", "Before"), neighbours(ranked, seconds), strict=True):
            if row is None:
                continue
            name = markdown(person(row["user_name"], row["user_id"]))
            code = tables.link(row["submission_id"], row["runner"], scene.competition.slug)
            st.page_link(
                state.target("submission"),
                label=f"{word} {rank_text(row['rank'])}. {name}, {time_text(row['score'], scene.unit)}",
                icon=":material/code:",
                query_params=code.query(),
            )


def _read(text: str, unit: Unit) -> float | None:
    seconds = parse_time(text, unit)
    if seconds is None:
        st.session_state[_REFUSED] = text
    return seconds
