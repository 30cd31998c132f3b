"""Tables: frames shaped for the eye (numbers stay numbers, so that they sort), and the actions in their rows."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.column_config import (
    ButtonColumn,
    DateColumn,
    LineChartColumn,
    NumberColumn,
    TextColumn,
)

from kbdash.catalog import runner_name
from kbdash.ui import state
from kbdash.ui.board import Scene, person
from kbdash.units import MISSING, Unit
from kbdash.view import SubmissionView

Columns = dict[str, Any]
CODE = "Code"
SECONDS = ("lo", "hi", "score", "best_so_far", "previous", "score_a", "score_b")
RUNNERS = ("runner", "runner_a", "runner_b")


def open_submission(submission: SubmissionView) -> None:
    """Open a submission's page."""
    state.go("submission", submission)


def open_row(click_key: str, rows: Sequence[SubmissionView]) -> None:
    """Open the submission of the row whose button was clicked; the callback of every code button."""
    click = st.session_state.get(click_key)
    if click is not None and 0 <= click["row"] < len(rows):
        open_submission(rows[click["row"]])


def code_column(key: str, rows: Sequence[SubmissionView]) -> Any:
    """A column of buttons that open the source code of their row."""
    click_key = f"{key}-code"
    return ButtonColumn(
        CODE, width=62, type="tertiary", key=click_key, on_click=open_row, args=(click_key, tuple(rows)),
        help="Open the source code",
    )  # fmt: skip


def links(frame: pd.DataFrame, competition: str, **context: Any) -> list[SubmissionView]:
    """The submission behind each row; the runner is named because an id can have run on several."""
    pairs = zip(frame["submission_id"], frame["runner"], strict=True)
    return [link(id_, runner, competition, **context) for id_, runner in pairs]


def link(submission_id: Any, runner: Any, competition: str, **context: Any) -> SubmissionView:
    """The page of one submission; without an id, the page that asks for one."""
    if pd.isna(submission_id):
        return SubmissionView()
    return SubmissionView(id=int(submission_id), runner=text(runner), competition=competition, **context)


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows one by one."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def times(seconds: pd.Series, unit: Unit) -> pd.Series:
    """Seconds in the board's unit."""
    return pd.to_numeric(seconds) * unit.per_second


def readable(frame: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """A chart's numbers as a table: times in the board's unit, runners by name, UTC without a zone."""
    shown = frame.copy()
    for name in frame.columns:
        if name in SECONDS:
            shown[name] = times(frame[name], unit)
        elif name in RUNNERS:
            shown[name] = [runner_name(runner) for runner in frame[name]]
        elif isinstance(frame[name].dtype, pd.DatetimeTZDtype):
            shown[name] = utc(frame[name])
    return shown.rename(columns={name: f"{name} ({unit.name})" for name in SECONDS})


def time_column(label: str, unit: Unit, reference: float | None, *, sign: str = "", said: str = "") -> Any:
    """A column of times in `unit`, aligned at the point, with four significant digits at the `reference` time."""
    digits = places(unit, reference) + bool(sign)  # differences are small
    return NumberColumn(f"{label} ({unit.name})", width=82, format=f"{sign}%.{digits}f", help=said or None)


def places(unit: Unit, reference: float | None) -> int:
    """Decimals that give the reference time (seconds) four significant digits: 3 below 10, 2 below 100 …"""
    value = unit.of(reference) if reference and reference > 0 else 1.0
    whole = len(str(int(value))) if value >= 1 else 1
    return max(0, 4 - whole)


def names(frame: pd.DataFrame) -> list[str]:
    """Users as people know them."""
    return [person(name, user) for name, user in zip(frame["user_name"], frame["user_id"], strict=True)]


def utc(times: pd.Series) -> pd.Series:
    """Times without their zone, because the table would move them into the reader's own."""
    return pd.to_datetime(times, utc=True).dt.tz_localize(None)


def ties(ranks: pd.Series) -> list[str]:
    """The sign of a shared rank, beside the number so that numbers still sort."""
    return ["=" if shared else "" for shared in ranks.duplicated(keep=False)]


def show(
    frame: pd.DataFrame, columns: Columns, *, key: str, alt: str, height: int | Literal["auto"] = "auto", **more: Any
) -> Any:
    """The columns named in `columns`, in that order."""
    with st.container(key=key):
        return st.dataframe(
            frame,
            hide_index=True,
            column_order=list(columns),
            column_config=columns,
            key=f"{key}-grid",
            alt=alt,
            height=height,
            placeholder=MISSING,
            **more,
        )


def leaderboard(now: Scene, frame: pd.DataFrame, trends: pd.DataFrame, on_pin: Callable[..., None]) -> None:
    """The ranking with its actions; one row per user and runner."""
    unit, light = now.unit, now.board.speed_of_light
    series = dict(zip(zip(trends["user_id"], trends["runner"], strict=True), trends["trend"], strict=True))
    shown = pd.DataFrame(
        {
            "tie": _ties_by_runner(frame),
            "rank": frame["rank"].to_numpy(),
            "user": names(frame),
            "time": times(frame["score"], unit),
            "ratio": frame["ratio"].to_numpy(),
            "code": CODE,
            "gap": times(frame["gap"], unit),
            "light": frame["score"] / light if light else None,
            "tries": frame["submissions"].to_numpy(),
            "day": utc(frame["submitted_at"]),
            "trend": [steps(series.get(place), unit) for place in zip(frame["user_id"], frame["runner"], strict=True)],
            "runner": [runner_name(runner) for runner in frame["runner"]],
            "flags": frame["flags"].to_numpy(),
            "pin": ["Unpin" if user in now.view.users else "Pin" for user in frame["user_id"]],
        }
    )
    columns = _leaderboard_columns(now, frame, "leaderboard", on_pin)
    show(shown, columns, key="leaderboard-table", alt=f"Leaderboard of {now.board.name}", height=_height(len(shown)))


def _leaderboard_columns(now: Scene, frame: pd.DataFrame, key: str, on_pin: Callable[..., None]) -> Columns:
    """Columns in reading order: what a phone must show comes first."""
    best = frame["score"].min()
    rows = links(
        frame, now.competition.slug, since=now.view.since, until=now.view.until, hide_flagged=now.view.hide_flagged
    )
    pin_key = f"{key}-pin"
    columns: Columns = {
        "tie": TextColumn("", width=28, alignment="right", help="Equal times share a rank."),
        "rank": NumberColumn("#", width=40, format="%d"),
        "user": TextColumn("User", width=120),
        "time": time_column("Time", now.unit, best, said="Each user's best ranked run that passed."),
        "ratio": NumberColumn("× best", width=58, format="%.2f", help="Time divided by the best time."),
        "code": code_column(key, rows),
        "gap": time_column("Gap", now.unit, best, sign="+", said="Behind the rank before."),
        "light": NumberColumn("× light", format="%.2f", help="Time divided by the task's speed of light."),
        "tries": NumberColumn("Tries", format="localized", help="Submissions of this user on this board."),
        "day": DateColumn("Day of best (UTC)", format="YYYY-MM-DD"),
        "trend": LineChartColumn("Best so far", width=100, help="The user's best time over the life of the board."),
        "runner": TextColumn("Runner"),
        "flags": TextColumn("Flags", width=150, help="Why a time deserves a second look."),
        "pin": ButtonColumn(
            "Pin",
            width=75,
            type="tertiary",
            key=pin_key,
            on_click=on_pin,
            args=(pin_key, tuple(frame["user_id"]), now.view.users),
        ),
    }
    needed = {
        "tie": any(_ties_by_runner(frame)), "light": bool(now.board.speed_of_light), "runner": now.runner is None,
        "flags": bool((frame["flags"] != "").any()),
    }  # fmt: skip
    # With several runners in one table, which one it was comes right after who it was.
    order = [*columns] if now.runner else ["tie", "rank", "user", "runner", *columns]
    return {name: columns[name] for name in dict.fromkeys(order) if needed.get(name, True)}


def _ties_by_runner(frame: pd.DataFrame) -> list[str]:
    return ties(frame["runner"].astype(str) + frame["rank"].astype(str))


def steps(series: Sequence[float] | None, unit: Unit) -> list[float]:
    """A best-so-far series for a sparkline: each value held, because the line between two values is curved."""
    values = [float(f"{unit.of(float(value)):.4g}") for value in series] if series is not None else []
    return [value for value in values for _ in range(4)] if len(set(values)) > 1 else values[:2]


def _height(rows: int) -> int:
    """All rows of a short table; a long one scrolls in itself."""
    return 35 * (min(rows, 25) + 1) + 3


def text(value: Any) -> str | None:
    """A text, or None where it is missing."""
    return None if pd.isna(value) else str(value)
