"""Answers in a terminal and in files: data on standard output, everything else on standard error.

Untrusted text cannot control the terminal: it is made inert in tables always, in other text when it goes to a terminal.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kbdash import units
from kbdash.api import tables
from kbdash.api.answers import encoded
from kbdash.database.questions.kinds import Column, Question, Unit
from kbdash.dataset.source import Source
from kbdash.errors import QueryRefused
from kbdash.terminal import inert

FORMATS = ("table", "csv", "json", "parquet")
_BREAKS = "\n\t"
_LONGEST = 60
_WORDS: Mapping[Unit, Any] = {
    "seconds": lambda value: units.time_text(value, units.unit_for(value)),
    "share": units.share_text,
    "ratio": units.ratio_text,
    "count": units.count_text,
    "UTC": units.minute_text,
    "days": lambda value: f"{value:,.1f} d",
    "nanoseconds": lambda value: units.time_text(value / 1e9, units.unit_for(value / 1e9)),
}


class Screen(Console):
    """A console that lets the program handle a closed pipe."""

    def on_broken_pipe(self) -> None:
        """Raise the error instead of exiting."""
        raise BrokenPipeError


@dataclass(frozen=True)
class Output:
    """Where an answer goes (None: standard output) and in which format; a file's extension can name it too."""

    format: str | None = None
    file: Path | None = None

    def chosen(self) -> str:
        """The format; a table by default."""
        ending = self.file.suffix.removeprefix(".") if self.file else ""
        return self.format or (ending if ending in FORMATS else "table")

    def answer(self, frame: pd.DataFrame, question: Question, source: Source, total: int) -> None:
        """Write the answer to a question."""
        if source.kind == "sample":
            say("Synthetic sample, not real results.")
        if (chosen := self.chosen()) == "table":
            self._table(frame, question.columns)
            return
        answer = tables.table(frame, question.columns, sample=source.kind == "sample")
        missing = frame.attrs.get("unavailable", {})
        about = {"truncated": bool(frame.attrs.get("truncated")), "total": total, "unavailable": missing}
        self._bytes(encoded(answer, chosen, source, about, question), chosen)

    def text(self, text: str) -> None:
        """Write a text unchanged; to a terminal, without control characters."""
        if self.file is None and sys.stdout.isatty():
            sys.stdout.write(inert(text, _BREAKS) + ("" if text.endswith("\n") else "\n"))
        else:
            self._write(text.encode("utf-8", "replace"))

    def _bytes(self, content: bytes, format_: str) -> None:
        if self.file is None and sys.stdout.isatty():
            if format_ == "parquet":
                raise QueryRefused("Parquet is no text for a terminal.", advice="Name a file: -o answer.parquet")
            sys.stdout.write(inert(content.decode().replace("\r\n", "\n"), _BREAKS).rstrip("\n") + "\n")
        else:
            self._write(content)

    def _write(self, content: bytes) -> None:
        if self.file is None:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            self.file.write_bytes(content)
            say(f"{self.file}: {units.bytes_text(len(content))}")

    def _table(self, frame: pd.DataFrame, columns: Sequence[Column]) -> None:
        cells = {column.name: [_cell(value, column) for value in frame[column.name]] for column in columns}
        fits = sys.stdout.isatty() and self.file is None
        console = Screen(width=None if fits else 4000, file=None if self.file is None else self.file.open("w"))
        kept, dropped = _fitting(cells, columns, console.width)
        drawn = Table(box=None, pad_edge=False, header_style="bold")
        for column in kept:
            right = column.kind in ("whole", "number", "duration") and column.unit != "id"
            drawn.add_column(column.name, justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
        for row in zip(*(cells[column.name] for column in kept), strict=True):
            drawn.add_row(*(Text(cell) for cell in row))
        console.print(drawn)
        if dropped:
            say(f"No room for {', '.join(dropped)}: --format csv has all columns.")


def say(text: str) -> None:
    """A line for the person, on standard error."""
    sys.stderr.write(inert(text, _BREAKS) + "\n")


def columns_of(frame: pd.DataFrame) -> tuple[Column, ...]:
    """Columns for an answer of SQL, which no question describes."""
    return tuple(Column(str(name), _kind(frame[name]), "") for name in frame.columns)


def _kind(column: Any) -> Any:
    kinds = pd.api.types
    for fits, kind in (
        (kinds.is_bool_dtype, "switch"), (kinds.is_integer_dtype, "whole"), (kinds.is_float_dtype, "number"),
        (kinds.is_timedelta64_dtype, "duration"), (kinds.is_datetime64_any_dtype, "time"),
    ):  # fmt: skip
        if fits(column):
            return kind
    first = next((value for value in column if not pd.api.types.is_scalar(value)), None)
    if isinstance(first, list | np.ndarray):
        return "numbers" if kinds.is_numeric_dtype(np.asarray(first)) else "texts"
    return "text"


def _cell(value: Any, column: Column) -> str:
    """A value as a person reads it, on one line."""
    if column.kind in ("texts", "numbers"):
        words = ", ".join(
            f"{item:.4g}" if isinstance(item, float) else str(item) for item in (() if value is None else value)
        )
    elif value is None or pd.isna(value):
        words = units.MISSING if column.kind != "text" else ""
    elif column.kind == "day":
        words = units.day_text(value)
    elif column.kind == "duration":
        words = units.duration_text(value)
    elif column.kind == "switch":
        words = "yes" if value else "no"
    elif column.unit in _WORDS:
        words = _WORDS[column.unit](value)
    elif column.kind == "number":
        words = f"{value:.6g}"
    else:
        words = str(value)
    shown = inert(words.replace("\u2009", " "))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _fitting(
    cells: Mapping[str, Sequence[str]], columns: Sequence[Column], width: int
) -> tuple[list[Column], list[str]]:
    """The columns that fit, and the names of the others: lists and long ids are dropped first, then from the right."""
    kept = list(columns)
    sizes = {name: max(_width(text) for text in (name, *texts)) for name, texts in cells.items()}
    least = {name: min(size, 24) for name, size in sizes.items()}
    order = sorted(columns, key=lambda c: (c.kind in ("texts", "numbers"), c.name == "user_id"), reverse=True)
    later = [c for c in reversed(columns) if c not in order[:1] and c.name not in ("score", "best", "line")]
    for column in (*[c for c in order if c.kind in ("texts", "numbers") or c.name == "user_id"], *later):
        if sum(least[c.name] + 2 for c in kept) <= width or len(kept) <= 2:
            break
        if column in kept:
            kept.remove(column)
    return kept, [column.name for column in columns if column not in kept]


def _width(text: str) -> int:
    """Cells that a text takes in a terminal."""
    return Text(text).cell_len
