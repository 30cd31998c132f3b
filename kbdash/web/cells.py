"""The content of a table: columns described as data, and a frame of plain values converted to the texts of its cells.

This module knows neither Streamlit nor HTML. User text stays text, never markup.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from kbdash.charts.sparkline import REACH
from kbdash.units import MISSING, Unit, day_text, minute_text, signed, significant

Kind = Literal[
    "text", "name", "rank", "whole", "number", "time", "share", "ratio", "day", "minute", "trend", "links", "code"
]
"""How a value is read and written:

text, name      as it stands; a name is cut last
rank            a place; it stays in sight when a wide table is moved
whole, number   with thousands separators; a number with `places` decimals
time            seconds, written in the column's unit
share           a part of one, written in percent
ratio           a multiple of the best, with a bar for the speed in parts of the best
day, minute     a moment, written in UTC
trend           numbers from 0 to the sparkline's reach, drawn as a line
links           pairs of words and address
code            pieces of a line of code, each with whether it is a hit
"""
NUMBERS = ("rank", "whole", "number", "time", "share", "ratio")


@dataclass(frozen=True)
class Column:
    """One column: `name` is the frame's column with the values, `head` and `unit` what stands above them.

    `link`, `mark` and `note` name further columns of the frame, row by row: the address the cell leads to ("" where
    there is none), why its value deserves a second look, and what is said about it on hover, focus and tap. `sort` is
    the order that a click on the head asks for, as the address names it. `width` bounds a text, in letters. `share` is
    the column's part of the table's width in percent, so that tables below each other line up. A column `aside` is left
    out where rows are cards.
    """

    name: str
    head: str
    kind: Kind = "text"
    unit: Unit | str = ""
    help: str = ""
    places: int | None = None
    plus: bool = False
    width: int | None = None
    share: int | None = None
    aside: bool = False
    link: str = ""
    mark: str = ""
    note: str = ""
    sort: str = ""
    first: Literal["ascending", "descending"] = "ascending"

    @property
    def title(self) -> str:
        """The head with its unit, which the cells then leave out."""
        unit = self.unit.name if isinstance(self.unit, Unit) else self.unit
        return f"{self.head} ({unit})" if unit else self.head


def table(
    frame: pd.DataFrame, columns: Sequence[Column], *, caption: str, refs: str = "", emphasis: str = ""
) -> dict[str, Any]:
    """A frame as the browser draws it; columns without any value are left out.

    `refs` names the column with the row's name in a comparison, which adds a tick box; `emphasis` the one
    that says which rows stand out.
    """
    shown = [column_cells(frame, column) for column in columns]
    return {
        "caption": caption,
        "rows": len(frame),
        "columns": [cells for cells in shown if any(text not in ("", MISSING) for text in cells["texts"])],
        "refs": _texts(frame, refs),
        "emphasis": _texts(frame, emphasis),
    }


def as_json(frame: pd.DataFrame, columns: tuple[Column, ...], caption: str, refs: str, emphasis: str) -> bytes:
    """The same as JSON for the browser, made once for all readers."""
    made = table(frame, columns, caption=caption, refs=refs, emphasis=emphasis)
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def column_cells(frame: pd.DataFrame, column: Column) -> dict[str, Any]:
    """The texts of one column, and its cells' links, marks and notes."""
    values = frame[column.name].tolist()
    cells: dict[str, Any] = {
        "name": column.name,
        "head": column.title,
        "kind": column.kind,
        "help": column.help,
        "sort": column.sort,
        "first": column.first,
        "width": column.width,
        "share": column.share,
        "aside": column.aside,
        "texts": [_text(value, column) for value in values],
        "links": [address(link) for link in _texts(frame, column.link)],
        "marks": _texts(frame, column.mark),
        "notes": _texts(frame, column.note),
    }
    if column.kind == "ratio":
        cells["parts"] = [_part(value) for value in values]
    if column.kind == "trend":
        cells["trends"] = [[round(float(point) / REACH, 3) for point in _items(value)] for value in values]
    if column.kind == "code":
        cells["pieces"] = [[[str(text), bool(hit)] for text, hit in _items(value)] for value in values]
    if column.kind == "links":
        cells["choices"] = [[[str(word), address(link)] for word, link in _items(value)] for value in values]
    return cells


def address(text: str) -> str:
    """An address inside the app; "" for anything else."""
    return text if text.startswith("/") and not text.startswith(("//", "/\\")) else ""


def time_cell(seconds: float | None, unit: Unit, places: int | None = None, *, plus: bool = False) -> str:
    """A time in the unit of its column; a score that is not a time is shown unchanged."""
    if not is_known(seconds):
        return MISSING
    value = float(seconds)  # type: ignore[arg-type]
    if math.isinf(value):
        return f"no time ({'' if value > 0 else '−'}Infinity)"
    if value < 0 and not plus:
        return f"no time ({signed(value, 3).rstrip('0').rstrip('.')}{' s'})"
    shown = unit.of(value)
    text = significant(shown) if places is None else signed(shown, places)
    return f"+{text}" if plus and value >= 0 else text


def is_known(value: Any) -> bool:
    """Whether a cell has a value."""
    return (
        value is not None
        and value is not pd.NaT
        and value is not pd.NA
        and not (isinstance(value, float) and math.isnan(value))
    )


def _number(value: Any, column: Column) -> str:
    if not math.isfinite(value):
        return f"{'' if value > 0 else '−'}Infinity"
    text = signed(float(value), column.places or 0)
    return f"+{text}" if column.plus and value >= 0 else text


def _time(value: Any, column: Column) -> str:
    if not isinstance(column.unit, Unit):
        raise TypeError(f"The column {column.name} holds times and has no unit of time.")
    return time_cell(value, column.unit, column.places, plus=column.plus)


_WRITTEN: dict[str, Callable[[Any, Column], str]] = {
    "rank": lambda value, _: str(value) if isinstance(value, str) else f"{value:.0f}",
    "whole": lambda value, _: signed(float(value), 0),
    "number": _number,
    "time": _time,
    "share": lambda value, column: signed(100 * float(value), 1 if column.places is None else column.places),
    "ratio": lambda value, column: f"{value:,.{2 if abs(value) < 100 else 0}f}" if math.isfinite(value) else "Infinity",
    "day": lambda value, _: day_text(value),
    "minute": lambda value, _: minute_text(value).removesuffix(" UTC"),
    "trend": lambda value, _: "line" if len(_items(value)) > 1 else "",
    "code": lambda value, _: "".join(str(text) for text, _ in _items(value)),
    "links": lambda value, _: " ".join(str(word) for word, _ in _items(value)),
}


def _text(value: Any, column: Column) -> str:
    if not isinstance(value, list) and not is_known(value):
        return MISSING
    written = _WRITTEN.get(column.kind)
    return str(value) if written is None else written(value, column)


def _texts(frame: pd.DataFrame, name: str) -> list[str]:
    """The texts of a further column; none if it is not named or is empty."""
    if not name:
        return []
    texts = [str(value) if is_known(value) else "" for value in frame[name].tolist()]
    return texts if any(texts) else []


def _items(value: Any) -> list[Any]:
    return list(value) if value is not None and not isinstance(value, float) else []


def _part(ratio: Any) -> float:
    """Length of the bar: the speed relative to the best."""
    return round(1 / max(float(ratio), 1.0), 4) if is_known(ratio) and math.isfinite(ratio) else 0.0
