"""Is it the code or the machine? Runner against runner, as a forest of ratios."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import plain_axis, tick_text
from kbdash.charts.canvas import SMALL, Spec, caption, figure, message, row_tuples
from kbdash.charts.palette import Theme, faded, quiet_color, runner_style, theme_of
from kbdash.charts.text import escaped
from kbdash.dataset.catalog import runner_name
from kbdash.units import count_text, plural, ratio_text

KINDS = {"same code": "same code", "same user best": "each user's best"}
_ROW = 46  # pixels of a pair of runners
_TALL_ROW = 62  # and with a head of two lines
_LONG = 60  # letters of a head that a narrow phone has room for
_FEWEST = 5  # with fewer pairs, a median is only a hint
_TICKS = (1, 0.5, 2, 0.1, 10, 100, 0.25, 4, 0.2, 5, 20, 50, 0.75, 1.5, 3)  # those before others have priority
_OFFSETS = {"same code": 0.16, "same user best": 0.4}


def forest(ratios: pd.DataFrame, runners: Sequence[str], theme: str = "light") -> go.Figure:
    """A row per pair of runners, each against those before it in `runners` (fastest first)."""
    order = {runner: place for place, runner in enumerate(runners)}
    sides = zip(ratios["runner_a"], ratios["runner_b"], strict=True)
    frame = ratios[[a in order and b in order and order[a] < order[b] for a, b in sides]]
    if frame.empty:
        return message("Nobody has passing times on two runners under these filters.", theme)
    tokens = theme_of(theme)
    pairs = sorted({(order[a], order[b]) for a, b in zip(frame["runner_a"], frame["runner_b"], strict=True)})
    rows = {(runners[a], runners[b]): row for row, (a, b) in enumerate(pairs)}
    reach = _reach(frame)
    heads = {pair: _head_words(pair, frame, reach) for pair in rows}
    tall = any(sum(map(len, head)) > _LONG for head in heads.values())
    words = f"● same code   ○ each user's best<br>bar: middle half   × under {_FEWEST} pairs"
    return figure(
        [trace for _, row in frame.iterrows() for trace in _traces(row, rows, reach, tokens)],
        tokens,
        height=(_TALL_ROW if tall else _ROW) * len(rows) + 110,
        margin={"l": 12, "r": 12, "t": 48, "b": 62},
        xaxis=_axis(reach, tokens),
        yaxis=plain_axis(tokens, range=[len(rows) - 0.42, -0.45], showticklabels=False, showgrid=False),
        shapes=[_equal(tokens)],
        annotations=[
            caption(words, tokens, lift=10),
            *(_head(heads[pair], row, tokens, tall=tall) for pair, row in rows.items()),
        ],
    )


def _reach(frame: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis (ln ratio): all medians and middle halves, equality, and some padding."""
    ends = np.log(frame[["low", "high", "ratio"]].to_numpy(dtype=float))
    low, high = min(float(ends.min()), -0.1), max(float(ends.max()), 0.1)
    air = 0.12 * (high - low)
    return low - air, high + air


def _traces(row: Any, rows: dict[tuple[str, str], int], reach: tuple[float, float], theme: Theme) -> list[Spec]:
    """The bar of the middle half, a tick per pair, and the median."""
    a, b, kind, pairs = str(row["runner_a"]), str(row["runner_b"]), str(row["kind"]), int(row["pairs"])
    style = runner_style(b, theme)
    y = rows[a, b] + _OFFSETS[kind]
    ticks = np.log(np.asarray(row["ratios"], dtype=float))
    ticks = ticks[(ticks >= reach[0]) & (ticks <= reach[1])]
    low, median, high = (math.log(float(row[name])) for name in ("low", "ratio", "high"))
    sentence = (
        f"{escaped(runner_name(b))} takes {ratio_text(math.exp(median))} the time of {escaped(runner_name(a))}<br>"
        f"({KINDS[kind]}, {plural(pairs, 'pair')}, half of them between {ratio_text(math.exp(low))} and"
        f" {ratio_text(math.exp(high))})."
    )
    symbol = "x-thin-open" if pairs < _FEWEST else "circle" if kind == "same code" else "circle-open"
    base: Spec = {"type": "scatter", "hoverinfo": "skip"}
    tick: Spec = {"symbol": "line-ns-open", "size": 7, "color": faded(quiet_color(theme), 0.9), "line": {"width": 1}}
    return [
        base
        | {"mode": "lines", "x": [low, high], "y": [y, y], "line": {"width": 6, "color": faded(style.color, 0.45)}},
        base | {"mode": "markers", "x": ticks, "y": np.full(len(ticks), y), "marker": tick},
        {
            "type": "scatter",
            "mode": "markers",
            "x": [median],
            "y": [y],
            "customdata": [sentence],
            "hovertemplate": "%{customdata}<extra></extra>",
            "marker": {
                "symbol": symbol,
                "size": 11,
                "color": style.color,
                "opacity": 1,
                "line": {"width": 2, "color": style.color},
            },
        },
    ]


def _head_words(pair: tuple[str, str], frame: pd.DataFrame, reach: tuple[float, float]) -> tuple[str, str, str]:
    """The pair in words: its names, both medians with the number of pairs, and how many lie beyond the axis."""
    part = frame[(frame["runner_a"] == pair[0]) & (frame["runner_b"] == pair[1])]
    said = []
    for kind in KINDS:
        found = part[part["kind"] == kind]
        said += [f"{ratio_text(row.ratio)} (n {count_text(row.pairs)})" for row in row_tuples(found)] or ["no pair"]
    logs = np.log(np.concatenate([np.asarray(values, dtype=float) for values in part["ratios"]]))
    beyond = int(((logs < reach[0]) | (logs > reach[1])).sum())
    more = f" · {count_text(beyond)} beyond" if beyond else ""
    return f"{escaped(runner_name(pair[1]))} against {escaped(runner_name(pair[0]))}", " | ".join(said), more


def _head(words: tuple[str, str, str], row: int, theme: Theme, *, tall: bool) -> Spec:
    """The words above a row; in two lines where one of the heads is too long for a phone."""
    names, said, more = words
    return {
        "text": f"{names}{'<br>' if tall else '  '}<b>{said}</b>{more}",
        "align": "left",
        "x": 0,
        "xref": "paper",
        "y": row - (0.2 if tall else 0.14),
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
        "borderpad": 1,
        "bgcolor": faded(theme.background, 0.8),
        "font": {"size": SMALL, "color": theme.text},
    }


def _axis(reach: tuple[float, float], theme: Theme) -> Spec:
    inside = [tick for tick in _TICKS if reach[0] <= math.log(tick) <= reach[1]]
    kept = [1.0]
    for tick in inside:
        if all(abs(math.log(tick / other)) > 0.14 * (reach[1] - reach[0]) for other in kept):
            kept.append(tick)
    ticks: Spec = {"tickmode": "array", "tickvals": [math.log(tick) for tick in sorted(kept)]}
    ticks["ticktext"] = [f"{tick_text(tick)}×" for tick in sorted(kept)]
    return plain_axis(theme, "times as long", range=list(reach)) | ticks


def _equal(theme: Theme) -> Spec:
    line = {"color": theme.muted, "width": 1.5}
    return {
        "type": "line",
        "x0": 0,
        "x1": 0,
        "y0": 0,
        "y1": 1,
        "xref": "x",
        "yref": "paper",
        "line": line,
        "layer": "below",
    }
