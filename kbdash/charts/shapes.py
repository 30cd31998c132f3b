"""User against shape: each mean time as a multiple of the best of that shape."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import plain_axis
from kbdash.charts.canvas import LETTER, PHONE, SMALL, Array, Spec, caption, figure, message
from kbdash.charts.palette import Theme, sequential_scale, theme_of
from kbdash.charts.people import refs_of
from kbdash.charts.text import escaped
from kbdash.units import Unit, person, ratio_text, time_text

_FAR_OFF = 4.0  # times the best: anything slower has the strongest colour
_ROW = 26
_NAME = 16  # letters
_CROWDED = 10  # columns above which a phone has room for their names only upright
_LEAST = {"seed"}  # differs between shapes, but says nothing about them


def shapes(frame: pd.DataFrame, unit: Unit, theme: str = "light", *, narrow: bool = False) -> go.Figure:
    """Users by shapes, users in the frame's order; the columns are named by what differs between the shapes."""
    measured = frame[frame["mean_ns"] > 0]
    if measured.empty:
        return message("No per-shape times for these users.", theme)
    tokens = theme_of(theme)
    users, columns = list(dict.fromkeys(measured["user_id"])), sorted(measured["shape"].unique())
    ratios = measured["mean_ns"] / measured.groupby("shape")["mean_ns"].transform("min")
    size = len(users), len(columns)
    z, text, facts = np.full(size, np.nan), np.full(size, "", dtype=object), np.full((*size, 2), "", dtype=object)
    names: dict[str, str] = {}
    for row, ratio in zip(measured.to_dict("records"), ratios, strict=True):
        cell = users.index(row["user_id"]), columns.index(row["shape"])
        z[cell], text[cell] = np.log2(ratio), f"{ratio:.2f}"
        name = names.setdefault(row["user_id"], person(row["user_name"], row["user_id"]))
        facts[cell][0] = refs_of([row["submission_id"]], [row["runner"]])[0]
        facts[cell][1] = f"{escaped(name)}, {_measured(row, unit)}, {ratio_text(ratio)} the best."
    keys, heads = column_names(dict(zip(measured["shape"], measured["spec"], strict=True)), columns)
    heat: Spec = {"z": z, "text": text, "customdata": facts, "zmin": 0, "zmax": np.log2(_FAR_OFF)}
    numbers = "" if narrow and not _fits(text, names.values()) else "%{text}"
    words = f"mean time, × the best of each shape<br>shapes: {escaped(keys, 36)}"
    return _table(
        heat | {"texttemplate": numbers},
        [escaped(names[user], _NAME) for user in users],
        heads,
        tokens,
        words,
        narrow=narrow,
    )


def _fits(text: Array, names: Iterable[str]) -> bool:
    """Whether a phone has room for the numbers of all columns beside the names of the rows."""
    room = PHONE - LETTER * min(max(map(len, names)), _NAME)
    return bool(text.shape[1] * (LETTER * max(map(len, text.ravel())) + 4) <= room)


def column_names(specs: dict[Any, str], columns: Sequence[Any]) -> tuple[str, list[str]]:
    """What differs between the shapes, and each shape by its values of that; by number where it cannot be read."""
    read = {shape: _pairs(specs[shape]) for shape in columns}
    keys = list(dict.fromkeys(key for pairs in read.values() for key in pairs if key not in _LEAST))
    varying = [key for key in keys if len({pairs.get(key) for pairs in read.values()}) > 1]
    names = [" · ".join(read[shape].get(key, "–") for key in varying) for shape in columns]
    if not varying or len(set(names)) < len(columns):
        return "by number", [str(shape) for shape in columns]
    return " · ".join(varying), [escaped(name, 26) for name in names]


def _pairs(spec: object) -> dict[str, str]:
    """The values of a shape by name, from "m: 64; n: 128"."""
    parts = (part.partition(":") for part in str(spec).split(";"))
    return {key.strip(): value.strip() for key, colon, value in parts if colon}


def _measured(row: dict[Any, Any], unit: Unit) -> str:
    spread = "" if pd.isna(row["std_ns"]) else f" ± {time_text(row['std_ns'] / 1e9, unit)}"
    return f"{escaped(row['spec'], 60)}:<br>{time_text(row['mean_ns'] / 1e9, unit)}{spread}"


def _table(heat: Spec, rows: list[str], columns: list[str], theme: Theme, words: str, *, narrow: bool) -> go.Figure:
    """A heat map read like a table: column names on top, first row first."""
    cells = {
        "type": "heatmap",
        "colorscale": sequential_scale(theme),
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "hovertemplate": "%{customdata[1]}<extra></extra>",
        "textfont": {"color": theme.text},
    }
    longest = max(len(name) for name in columns)
    angle = 0 if longest <= 4 else -90 if narrow and len(columns) > _CROWDED else -45
    head = 20 + min(round(6 * longest * (1 if angle == -90 else 0.75)), 150)
    return figure(
        [cells | heat],
        theme,
        height=_ROW * len(rows) + head + 54,
        margin={"l": 12, "r": 26, "t": head + 38, "b": 16},
        xaxis=_names_axis(columns, theme, side="top", tickangle=angle),
        yaxis=_names_axis(rows, theme, autorange="reversed"),
        annotations=[caption(words, theme, lift=head)],
    )


def _names_axis(names: list[str], theme: Theme, **more: Any) -> Spec:
    places = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "showgrid": False}
    return plain_axis(theme) | places | {"tickfont": {"size": SMALL, "color": theme.text}} | more
