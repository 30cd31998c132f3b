"""What the tables share: names, runners, addresses, and common columns."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from kbdash.database.questions.kinds import Question
from kbdash.dataset.catalog import runner_name
from kbdash.units import Unit, person
from kbdash.view import Ref, SubmissionView, UserView, href
from kbdash.web import state
from kbdash.web.cells import Column

CODE = "Code"
SECONDS = ("lo", "hi", "score", "best_so_far", "previous", "score_a", "score_b")
RUNNERS = ("runner", "runner_a", "runner_b")
TREND_SCALE = "from 1.25 times the best time of the board (top) down to the best"


def open_submission(submission: SubmissionView) -> None:
    """Open a submission's page."""
    state.go("submission", submission)


def link(submission_id: Any, runner: Any, competition: str, **context: Any) -> SubmissionView:
    """The page of one submission; without an id, the page that asks for one."""
    if pd.isna(submission_id):
        return SubmissionView()
    return SubmissionView(id=int(submission_id), runner=text(runner), competition=competition, **context)


def code_address(submission_id: Any, runner: Any, competition: str, **context: Any) -> str:
    """Address of a submission's code; "" if there is none. Names the runner, because an id can have run on several."""
    return "" if pd.isna(submission_id) else href("submission", link(submission_id, runner, competition, **context))


def code_addresses(frame: pd.DataFrame, competition: str, **context: Any) -> list[str]:
    """Addresses of the code of each row."""
    pairs = zip(frame["submission_id"].tolist(), frame["runner"].tolist(), strict=True)
    return [code_address(id_, runner, competition, **context) for id_, runner in pairs]


def refs(frame: pd.DataFrame, competition: str) -> list[str]:
    """The name of each row in a comparison; "" if it has no code."""
    pairs = zip(frame["submission_id"].tolist(), frame["runner"].tolist(), strict=True)
    return ["" if pd.isna(id_) else str(Ref(int(id_), text(runner), competition)) for id_, runner in pairs]


def user_addresses(users: Iterable[Any], *, anonymous: bool = False) -> list[str]:
    """Addresses of the users' pages; anonymous users have none."""
    return ["" if anonymous or not text(user) else href("user", UserView(user=str(user))) for user in users]


def people_addresses(users: Iterable[Any], slugs: Iterable[str], linkable: Sequence[str]) -> list[str]:
    """The same for rows of several competitions; only in the linkable ones does a user have a page."""
    pairs = zip(users, slugs, strict=True)
    return [user_addresses([user], anonymous=slug not in linkable)[0] for user, slug in pairs]


def code_words(addresses: Sequence[str]) -> list[str]:
    """The text of each link to code; empty without code."""
    return [CODE if address else "" for address in addresses]


def code_column() -> Column:
    """Links to the code of each row: the word in "word", the address in "code"."""
    return Column("word", CODE, link="code")


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows one by one, in half the time of `to_dict("records")`, which slowed down every page."""
    names = [str(name) for name in frame.columns]
    columns = [frame[name].tolist() for name in frame.columns]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def order_of(question: Question, order: str) -> str | None:
    """The order, if the question has it: one address serves several tables."""
    known = next(parameter.choices for parameter in question.parameters if parameter.name == "order")
    return order if order in known else None


def dated(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with a date: the others have no place in a chart over time."""
    return frame[frame["submitted_at"].notna()].reset_index(drop=True)


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


def time_column(name: str, head: str, unit: Unit, reference: float | None, **more: Any) -> Column:
    """A column of times in `unit`, aligned at the point, with four significant digits at the `reference` time."""
    column = Column(name, head, "time", unit, places=places(unit, reference), **more)
    digits = column.places or 0
    return replace(column, places=max(digits, min(digits + 1, 3))) if column.plus else column  # differences are small


def places(unit: Unit, reference: float | None) -> int:
    """Decimals that give the reference time (seconds) four significant digits: 3 below 10, 2 below 100 …"""
    value = unit.of(reference) if reference and reference > 0 else 1.0
    whole = len(str(int(value))) if value >= 1 else 1
    return max(0, 4 - whole)


def trend_column(head: str, said: str) -> Column:
    """A column of sparklines, all rows on one scale."""
    return Column("trend", head, "trend", help=f"{said}: {TREND_SCALE}.")


def names(frame: pd.DataFrame) -> list[str]:
    """Display names of users."""
    return [person(name, user) for name, user in zip(frame["user_name"], frame["user_id"], strict=True)]


def runners(labels: Iterable[Any]) -> list[str]:
    """Display names of runners; – for a submission that never ran."""
    return [runner_name(text(label)) for label in labels]


def utc(times: pd.Series) -> pd.Series:
    """Times without their zone, because a grid would convert them to the reader's own."""
    return pd.to_datetime(times, utc=True).dt.tz_localize(None)


def text(value: Any) -> str | None:
    """A text, or None where it is missing."""
    return None if pd.isna(value) else str(value)
