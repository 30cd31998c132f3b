"""How times are spread, and where a time of the reader's own would stand."""

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.catalog import runner_name
from kbdash.model import Standing
from kbdash.ui import cached, parts, share, state, tables
from kbdash.ui.board import Scene, person
from kbdash.ui.memo import made
from kbdash.units import Unit, count_text, parse_time, rank_text, share_text, time_text


def show(now: Scene) -> None:
    """The tab."""
    question = "ecdf" if now.view.ecdf else "distribution"
    ask = cached.ecdf if now.view.ecdf else cached.distribution
    frame = ask(now.board.name, **now.filters)
    if frame.empty:
        parts.nothing("No ranked submission with a time matches these filters.", key="distribution")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="distribution-bar"):
        _own_time(now)
        st.toggle("Cumulative", help="Share of users at or below a time.", **state.control("ecdf", now.view.ecdf))
        share.toolbar(
            now.view, frame, now.stem(question), question, {**now.parameters, "bins": 60, "points": 400},
            key="distribution",
        )  # fmt: skip
    if now.view.my_time is not None:
        _standings(now, now.view.my_time)
    draw = charts.ecdf if now.view.ecdf else charts.distribution
    parts.chart(
        made(draw, frame, now.unit, now.theme, marks(now)),
        key="distribution-chart",
        alt=f"Distribution of times on {now.board.name}",
        file_name=now.stem(question),
        table=lambda: tables.readable(frame, now.unit),
    )
    st.caption(
        "Pale: all submissions that passed. Front: each user's best." if not now.view.ecdf else "Each user counts once."
    )


def marks(now: Scene) -> tuple[charts.Mark, ...]:
    """The times worth a line: best, median, speed of light, pinned users, the reader's own."""
    summary = cached.summary(now.board.name, **now.filters)
    ranked = cached.leaderboard(now.board.name, **now.filters)
    found = made(marks_of, summary, ranked, now.board.speed_of_light, now.view.users)
    return found if now.view.my_time is None else (*found, charts.Mark("yours", now.view.my_time, "yours"))


def marks_of(
    summary: pd.DataFrame, ranked: pd.DataFrame, light: float | None, pinned: tuple[str, ...]
) -> tuple[charts.Mark, ...]:
    """The marks that a board has of itself."""
    found = []
    if len(summary) == 1 and pd.notna(summary["best"].iloc[0]):
        found.append(charts.Mark("best", float(summary["best"].iloc[0]), "best"))
        found.append(charts.Mark("median", float(summary["median_best"].iloc[0]), "median"))
    if light:
        found.append(charts.Mark("speed of light", light, "light"))
    for place, user in enumerate(pinned):
        for row in tables.rows(ranked[ranked["user_id"] == user]):
            found.append(charts.Mark(person(row["user_name"], user), row["score"], "user", place))
    return tuple(found)


def standing_text(found: Standing, where: str) -> str:
    """One sentence: the rank a time would have, and whom it would leave behind."""
    if not found.of:
        return f"{where}: nobody is ranked with these filters."
    rank = rank_text(found.rank, tied=found.ties > 0)
    return f"{where}: rank {rank} of {count_text(found.of)}, faster than {share_text(found.faster_than)} of the users."


def _own_time(now: Scene) -> None:
    shown = "" if now.view.my_time is None else time_text(now.view.my_time, now.unit).replace("\u2009", " ")
    st.text_input(
        "My kernel takes",
        placeholder=f"30 {now.unit.name}",
        width=200,
        max_chars=40,
        help="Your own time: see the rank it would have here. A bare number is in the board's unit.",
        **state.control("my_time", shown, default="", read=lambda text: _read_time(text, now.unit)),
    )


def _read_time(text: str, unit: Unit) -> float | None:
    seconds = parse_time(text, unit)
    if seconds is None:
        st.toast(f"That is no time. Write it like 30 {unit.name}.")
    return seconds


def _standings(now: Scene, seconds: float) -> None:
    runners = (now.runner,) if now.runner else now.runners
    for runner in runners:
        found = cached.standing(now.board.name, seconds, **{**now.filters, "runner": runner})
        where = f"{time_text(seconds, now.unit)} on {runner_name(runner)}"
        st.markdown(standing_text(found, where))
