"""Tables: frames shaped for the eye (numbers stay numbers, so that they sort), and the actions in their rows."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.column_config import (
    ButtonColumn,
    NumberColumn,
)

from kbdash.catalog import runner_name
from kbdash.ui import state
from kbdash.ui.board import person
from kbdash.ui.memo import made
from kbdash.units import MISSING, Unit
from kbdash.view import SubmissionView

Columns = dict[str, Any]
T = TypeVar("T")
CODE = "Code"
ROW = 35  # pixels
MOST_ROWS = 25
SECONDS = ("lo", "hi", "score", "best_so_far", "previous", "score_a", "score_b")
RUNNERS = ("runner", "runner_a", "runner_b")


def open_submission(submission: SubmissionView) -> None:
    """Open a submission's page."""
    state.go("submission", submission)


def clicked(click_key: str, rows: Sequence[T]) -> T | None:
    """The entry of the row whose button was clicked; None when there is no such row (any more)."""
    click = st.session_state.get(click_key)
    return rows[click["row"]] if click is not None and 0 <= click["row"] < len(rows) else None


def open_row(click_key: str, rows: Sequence[SubmissionView]) -> None:
    """Open the submission of the row whose button was clicked; the callback of every code button."""
    if row := clicked(click_key, rows):
        open_submission(row)


def code_column(key: str, rows: Sequence[SubmissionView]) -> Any:
    """A column of buttons that open the source code of their row."""
    click_key = f"{key}-code"
    return ButtonColumn(
        CODE, width=62, type="tertiary", key=click_key, on_click=open_row, args=(click_key, rows),
        help="Open the source code",
    )  # fmt: skip


class Made(Sequence[T]):
    """Something of each row of a frame, made when it is asked for: of a hundred rows one is clicked, if any."""

    def __init__(self, frame: pd.DataFrame, make: Callable[[dict[str, Any]], T]) -> None:
        self._frame = frame
        self._make = make

    def __len__(self) -> int:
        return len(self._frame)

    def __getitem__(self, place: Any) -> Any:
        return self._make(rows(self._frame.iloc[[place]])[0])


def links(frame: pd.DataFrame, competition: str, **context: Any) -> Sequence[SubmissionView]:
    """The submission behind each row; the runner is named because an id can have run on several."""
    return Made(frame, partial(_link_of, competition=competition, context=tuple(context.items())))


def _link_of(row: dict[str, Any], competition: str, context: tuple[tuple[str, Any], ...]) -> SubmissionView:
    return link(row["submission_id"], row["runner"], competition, **dict(context))


def link(submission_id: Any, runner: Any, competition: str, **context: Any) -> SubmissionView:
    """The page of one submission; without an id, the page that asks for one."""
    if pd.isna(submission_id):
        return SubmissionView()
    return SubmissionView(id=int(submission_id), runner=text(runner), competition=competition, **context)


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows one by one. (Half the time of `to_dict("records")`, which every page felt.)"""
    names = [str(name) for name in frame.columns]
    columns = [frame[name].tolist() for name in frame.columns]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


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
            shown[name] = runners(frame[name])
        elif isinstance(frame[name].dtype, pd.DatetimeTZDtype):
            shown[name] = utc(frame[name])
    return shown.rename(columns={name: f"{name} ({unit.name})" for name in SECONDS})


def time_column(label: str, unit: Unit, reference: float | None, *, sign: str = "", said: str = "") -> Any:
    """A column of times in `unit`, aligned at the point, with four significant digits at the `reference` time."""
    digits = places(unit, reference)
    if sign:  # differences are small
        digits = max(digits, min(digits + 1, 3))
    return NumberColumn(f"{label} ({unit.name})", width=82, format=f"{sign}%.{digits}f", help=said or None)


def places(unit: Unit, reference: float | None) -> int:
    """Decimals that give the reference time (seconds) four significant digits: 3 below 10, 2 below 100 …"""
    value = unit.of(reference) if reference and reference > 0 else 1.0
    whole = len(str(int(value))) if value >= 1 else 1
    return max(0, 4 - whole)


def names(frame: pd.DataFrame) -> list[str]:
    """Users as people know them."""
    return [person(name, user) for name, user in zip(frame["user_name"], frame["user_id"], strict=True)]


def runners(labels: Iterable[Any]) -> list[str]:
    """Runners as people know them; – where a submission never ran."""
    return [runner_name(text(label)) for label in labels]


def utc(times: pd.Series) -> pd.Series:
    """Times without their zone, because the table would move them into the reader's own."""
    return pd.to_datetime(times, utc=True).dt.tz_localize(None)


def show(frame: pd.DataFrame, columns: Columns, *, key: str, alt: str, **more: Any) -> Any:
    """The columns named in `columns`, in that order; `frame` is a shared one."""
    with st.container(key=key):
        return st.dataframe(
            made(_arrow, frame),
            hide_index=True,
            column_order=list(columns),
            column_config=columns,
            key=f"{key}-grid",
            alt=alt,
            row_height=ROW,
            height=_height(len(frame)),
            placeholder=MISSING,
            **more,
        )


def steps(series: Sequence[float] | None, unit: Unit) -> list[float]:
    """A best-so-far series for a sparkline: each value held, because the line between two values is curved."""
    values = [float(f"{unit.of(float(value)):.4g}") for value in series] if series is not None else []
    return [value for value in values for _ in range(4)] if len(set(values)) > 1 else values[:2]


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """The form in which a table goes to the browser."""
    return pa.Table.from_pandas(frame, preserve_index=False)


def _height(rows: int) -> int | Literal["content"]:
    """All rows of a short table; a long one scrolls in itself, and half a row shows that there is more."""
    return "content" if rows <= MOST_ROWS else ROW * (MOST_ROWS + 1) + ROW // 2


def text(value: Any) -> str | None:
    """A text, or None where it is missing."""
    return None if pd.isna(value) else str(value)
