"""Tables whose cells are coloured and carry their numbers: runner against runner, user against shape."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.catalog import runner_name
from kbdash.charts.axes import plain_axis
from kbdash.charts.canvas import SMALL, Array, Spec, caption, figure, message
from kbdash.charts.climbs import display_name
from kbdash.charts.text import shown
from kbdash.palette import Theme, diverging_scale, sequential_scale, theme_of
from kbdash.units import Unit, count_text, ratio_text, time_text

_FAR_OFF = 4.0  # times the best: everything slower gets the strongest colour


def ratio_heatmap(ratios: pd.DataFrame, theme: str = "light", kind: str = "same code") -> go.Figure:
    """How many times as long the column's runner takes as the row's, printed with the number of pairs."""
    frame = ratios[(ratios["kind"] == kind) & (ratios["ratio"] > 0)]
    if frame.empty:
        return message("No passing times on two runners to compare under these filters.", theme)
    runners = list(dict.fromkeys([*frame["runner_a"], *frame["runner_b"]]))
    z, text, words = _blank(len(runners), len(runners))
    for a, b, ratio, pairs in zip(*(frame[name] for name in ("runner_a", "runner_b", "ratio", "pairs")), strict=True):
        cell = runners.index(a), runners.index(b)
        z[cell] = np.log2(ratio)
        text[cell] = f"<b>{ratio_text(ratio)}</b><br>n = {count_text(pairs)}"
        words[cell] = (
            f"{shown(runner_name(b))} takes {ratio_text(ratio)} the time of {shown(runner_name(a))}"
            f" (median of {count_text(pairs)} pairs, {shown(kind)})."
        )
    tokens = theme_of(theme)
    names = [shown(runner_name(runner), 16).replace(" (", "<br>(") for runner in runners]
    reach = max(float(np.nanmax(np.abs(z))), 0.25)
    heat = {"z": z, "text": text, "customdata": words, "zmin": -reach, "zmax": reach, "textfont": {"size": SMALL}}
    title = "times as long as on the runner at the left"
    return _table(heat, names, names, diverging_scale(tokens), tokens, title, row_height=56)


def shapes(frame: pd.DataFrame, unit: Unit, theme: str = "light") -> go.Figure:
    """Users by shapes: each mean time as a multiple of the best mean of that shape, users in the frame's order."""
    measured = frame[frame["mean_ns"] > 0]
    if measured.empty:
        return message("No per-shape times for these users.", theme)
    users, columns = list(dict.fromkeys(measured["user_id"])), sorted(measured["shape"].unique())
    ratios = measured["mean_ns"] / measured.groupby("shape")["mean_ns"].transform("min")
    z, text, words = _blank(len(users), len(columns))
    names: dict[str, str] = {}
    for row, ratio in zip(measured.to_dict("records"), ratios, strict=True):
        cell = users.index(row["user_id"]), columns.index(row["shape"])
        z[cell], text[cell] = np.log2(ratio), f"{ratio:.2f}"
        name = names.setdefault(row["user_id"], display_name(row["user_name"], row["user_id"]))
        words[cell] = f"{shown(name)}, {_measured(row, unit)}, {ratio_text(ratio)} the best."
    tokens = theme_of(theme)
    heat = {"z": z, "text": text, "customdata": words, "zmin": 0, "zmax": np.log2(_FAR_OFF)}
    rows = [shown(names[user], 16) for user in users]
    title = "mean time as a multiple of the best of each shape"
    scale = sequential_scale(tokens)
    return _table(heat, rows, [str(column) for column in columns], scale, tokens, title, row_height=26)


def _blank(rows: int, columns: int) -> tuple[Array, Array, Array]:
    """Cells without a value: colour, text, hover sentence."""
    return (
        np.full((rows, columns), np.nan),
        np.full((rows, columns), "", dtype=object),
        np.full((rows, columns), "", dtype=object),
    )


def _measured(row: dict[Any, Any], unit: Unit) -> str:
    spread = "" if pd.isna(row["std_ns"]) else f" ± {time_text(row['std_ns'] / 1e9, unit)}"
    return f"shape {row['shape']} ({shown(row['spec'], 60)}):<br>{time_text(row['mean_ns'] / 1e9, unit)}{spread}"


def _table(
    heat: Spec,
    rows: list[str],
    columns: list[str],
    scale: list[list[Any]],
    theme: Theme,
    title: str,
    *,
    row_height: int,
) -> go.Figure:
    """A heat map read like a table: column names on top, first row first, cells numbered, not named, by place."""
    cells = {
        "type": "heatmap",
        "colorscale": scale,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "texttemplate": "%{text}",
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    return figure(
        [cells | heat | {"textfont": heat.get("textfont", {}) | {"color": theme.text}}],
        theme,
        height=row_height * len(rows) + 82,
        margin={"l": 12, "r": 12, "t": 66, "b": 16},
        xaxis=_names_axis(columns, theme, side="top"),
        title=caption(title, theme),
        yaxis=_names_axis(rows, theme, autorange="reversed"),
    )


def _names_axis(names: list[str], theme: Theme, **more: Any) -> Spec:
    places = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "showgrid": False}
    return plain_axis(theme) | places | {"tickfont": {"size": SMALL, "color": theme.text}} | more
