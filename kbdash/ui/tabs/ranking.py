"""The leaderboard as a table: one row per user and runner, with its actions."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import ButtonColumn, DateColumn, LineChartColumn, NumberColumn, TextColumn

from kbdash.model import Family
from kbdash.ui import filters, state, tables
from kbdash.ui.board import Scene
from kbdash.ui.memo import made
from kbdash.units import Unit
from kbdash.view import LadderView, UserView

PIN, UNPIN, LADDER, PERSON = "Pin", "Unpin", "Ladder", "User page"


def show(now: Scene, frame: pd.DataFrame, trends: pd.DataFrame) -> None:
    """The table; `trends` holds each user's best-so-far series."""
    shown = made(shown_rows, frame, trends, now.unit, now.board.speed_of_light, now.competition.family, now.view.users)
    tables.show(shown, made(_columns, now, frame), key="leaderboard-table", alt=f"Leaderboard of {now.board.name}")


def shown_rows(
    frame: pd.DataFrame, trends: pd.DataFrame, unit: Unit, light: float | None, family: Family, pinned: tuple[str, ...]
) -> pd.DataFrame:
    """The ranking as the table shows it."""
    series = dict(zip(zip(trends["user_id"], trends["runner"], strict=True), trends["trend"], strict=True))
    places = zip(frame["user_id"], frame["runner"], strict=True)
    return pd.DataFrame(
        {
            "tie": ties(frame),
            "rank": frame["rank"],
            "user": tables.names(frame),
            "time": tables.times(frame["score"], unit),
            "ratio": frame["ratio"],
            "code": tables.CODE,
            "gap": tables.times(frame["gap"], unit),
            "light": frame["score"] / light if light else None,
            "tries": frame["submissions"],
            "day": tables.utc(frame["submitted_at"]),
            "trend": [tables.steps(series.get(place), unit) for place in places],
            "runner": tables.runners(frame["runner"]),
            "flags": frame["flags"],
            "more": [actions(user, family, pinned) for user in frame["user_id"]],
        }
    )


def ties(frame: pd.DataFrame) -> list[str]:
    """The sign of a shared rank, beside the number so that numbers still sort."""
    return ["=" if shared else "" for shared in frame.duplicated(["runner", "rank"], keep=False)]


def actions(user_id: str, family: Family, pinned: Sequence[str]) -> list[str]:
    """What can be done with a user; anonymous ones have no page of their own."""
    pin = UNPIN if user_id in pinned else PIN
    return [pin, LADDER] if family == "legacy" else [pin, LADDER, PERSON]


def act(click_key: str, ladders: Sequence[LadderView], pinned: Sequence[str]) -> None:
    """Do what was chosen in a row's menu."""
    row = tables.clicked(click_key, ladders)
    if row is None or row.user is None:
        return
    label = st.session_state[click_key]["label"]
    if label == LADDER:
        state.go("ladder", row)
    elif label == PERSON:
        state.go("user", UserView(user=row.user))
    else:
        filters.pin(row.user, pinned)


def _columns(now: Scene, frame: pd.DataFrame) -> tables.Columns:
    """Columns in reading order: what a phone must show comes first."""
    every = _every_column(now, frame)
    needed = {
        "tie": any(ties(frame)),
        "light": bool(now.board.speed_of_light),
        "runner": now.runner is None,
        "flags": bool((frame["flags"] != "").any()),
    }
    # With several runners in one table, which one it was comes right after who it was.
    order = [*every] if now.runner else ["tie", "rank", "user", "runner", *every]
    return {name: every[name] for name in dict.fromkeys(order) if needed.get(name, True)}


def _every_column(now: Scene, frame: pd.DataFrame) -> tables.Columns:
    view, best = now.view, frame["score"].min()
    period = {"since": view.since, "until": view.until, "hide_flagged": view.hide_flagged}
    return {
        "tie": TextColumn("=", width=28, alignment="right", help="Equal times share a rank."),
        "rank": NumberColumn("#", width=40, format="%d"),
        "user": TextColumn("User", width=120),
        "time": tables.time_column("Time", now.unit, best, said="Each user's best ranked run that passed."),
        "ratio": NumberColumn("× best", width=58, format="%.2f", help="Time divided by the best time."),
        "code": tables.code_column("leaderboard", tables.links(frame, now.competition.slug, **period)),
        "gap": tables.time_column("Gap", now.unit, best, sign="+", said="Behind the rank before."),
        "light": NumberColumn("× light", width=62, format="%.2f", help="Time divided by the task's speed of light."),
        "tries": NumberColumn("Tries", width=55, format="localized", help="Submissions of this user on this board."),
        "day": DateColumn("Day of best (UTC)", width=115, format="YYYY-MM-DD"),
        "trend": LineChartColumn("Best so far", width=100, help="The user's best time over the life of the board."),
        "runner": TextColumn("Runner", width=100),
        "flags": TextColumn("Flags", width=150, help="Why a time deserves a second look."),
        "more": _menu(now, frame),
    }


def _ladder_of(view: LadderView, row: dict[str, Any]) -> LadderView:
    return replace(view, runner=str(row["runner"]), user=str(row["user_id"]))


def _menu(now: Scene, frame: pd.DataFrame) -> Any:
    key = "leaderboard-more"
    view = LadderView(now.competition.slug, now.board.name, since=now.view.since, until=now.view.until)
    ladders = tables.Made(frame, partial(_ladder_of, view))
    return ButtonColumn(
        "More", width=60, type="tertiary", key=key, on_click=act, args=(key, ladders, now.view.users),
        help="Pin a user, follow how they got fast, or see all they did",
    )  # fmt: skip
