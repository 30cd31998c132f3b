"""One person on every board: their place in its field."""

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import ratio_axis
from kbdash.charts.canvas import SMALL, Spec, figure, message, row_tuples, rows_of
from kbdash.charts.contested import in_order
from kbdash.charts.palette import Theme, faded, quiet_color, runner_style, theme_of
from kbdash.charts.people import refs_of
from kbdash.charts.text import escaped
from kbdash.dataset.catalog import runner_name
from kbdash.units import count_text, ratio_text, time_text, unit_for

CLIP = 3.0  # times the best
_ROW = 37  # pixels of a board: its label, and its strip below
_TICKS = 4_500


def person_strips(
    frame: pd.DataFrame,
    theme: str = "light",
    *,
    labels: tuple[tuple[tuple[str, str], str], ...] = (),
    span: str = "field",
) -> go.Figure:
    """A row per board: everybody's ratio to the best as grey ticks, the person as a marker in the runner's look."""
    known = frame[frame["score"].notna() & (frame["best"] > 0)].reset_index(drop=True)
    if known.empty:
        return message("This person has no ranked time.", theme)
    named = dict(labels)
    known = in_order(known, named).reset_index(drop=True)
    known = known.assign(
        label=[named.get(key, key[1]) for key in zip(known["competition"], known["problem"], strict=True)]
    )
    tokens = theme_of(theme)
    ratios = (known["score"] / known["best"]).to_numpy(dtype=float)
    furthest = max(float(known["slowest"].max()), CLIP)
    clip = CLIP if span != "all" else furthest
    strips = [_everybody(known, clip, tokens)]
    strips += [_own(row, place, min(ratios[place], clip), tokens) for place, row in enumerate(row_tuples(known))]
    return figure(
        strips,
        tokens,
        height=_ROW * len(known) + 62,
        margin={"l": 12, "r": 12, "t": 6, "b": 50},
        xaxis=ratio_axis(clip, tokens, "× the best time of the board"),
        yaxis={"range": [len(known) - 0.3, -0.62], "visible": False, "fixedrange": True},
        annotations=[_label(row, place, ratios[place], clip, tokens) for place, row in enumerate(row_tuples(known))],
    )


def _everybody(known: pd.DataFrame, clip: float, theme: Theme) -> Spec:
    lists = [np.asarray(values, dtype=float) for values in known["ratios"]]
    most = max(_TICKS // max(len(lists), 1), 1)
    logs, rows = [], []
    for place, values in enumerate(lists):
        inside = np.log(values[values <= clip * 1.0001])
        kept = (
            inside[np.linspace(0, len(inside) - 1, min(len(inside), most)).round().astype(int)]
            if len(inside)
            else inside
        )
        logs.append(kept)
        rows.append(np.full(len(kept), place))
    marker = {"symbol": "line-ns-open", "size": 12, "color": faded(quiet_color(theme), 0.8), "line": {"width": 1}}
    x, y = np.concatenate(logs), np.concatenate(rows)
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker, "hoverinfo": "skip"}


def _own(row: Any, place: int, ratio: float, theme: Theme) -> Spec:
    style = runner_style(row.runner, theme).filled
    unit = unit_for(row.best)
    sentence = (
        f"{escaped(row.label)} on {escaped(runner_name(row.runner))}: {time_text(row.score, unit)},<br>"
        f"rank {count_text(row.rank)} of {count_text(row.users)}, {ratio_text(row.score / row.best)} the best."
    )
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [math.log(ratio)],
        "y": [place],
        "cliponaxis": False,
        "marker": {"symbol": style.marker, "size": 12, "color": style.color, "opacity": 1, "line": {"width": 0}},
        "customdata": rows_of([refs_of([row.submission_id], [row.runner]), [row.competition], [sentence]]),
        "hovertemplate": "%{customdata[2]}<extra></extra>",
    }


def _label(row: Any, place: int, ratio: float, clip: float, theme: Theme) -> Spec:
    """Rank, board and runner above the strip; and the ratio if it lies beyond the axis."""
    far = f" · {ratio_text(ratio)} the best ▸" if ratio > clip * 1.0001 else ""
    text = (
        f"<b>{count_text(row.rank)}</b> of {count_text(row.users)}  "
        f"{escaped(row.label, 28)} · {escaped(runner_name(row.runner))}{far}"
    )
    return {
        "text": text,
        "x": 0,
        "xref": "paper",
        "y": place - 0.46,
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
        "borderpad": 0,
        "font": {"size": SMALL, "color": theme.text},
    }
