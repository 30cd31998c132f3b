"""Every board in one picture: how close the first ranks are to the best time."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import ratio_axis
from kbdash.charts.canvas import Spec, caption, figure, message, note, row_tuples, rows_of, sign
from kbdash.charts.palette import Theme, faded, theme_of, warning_ink
from kbdash.charts.people import refs_of
from kbdash.charts.rows import Row, arranged
from kbdash.charts.text import escaped
from kbdash.dataset.catalog import runner_name
from kbdash.units import person, plural, ratio_text, time_text, unit_for

Labels = Mapping[tuple[str, str], str]
Titles = Sequence[tuple[str, str]]

CLIP = 4.0  # times the best: values beyond it are given as a number
_PLACES = (("second", "rank 2"), ("third", "rank 3"))


def contested(
    frame: pd.DataFrame,
    titles: Titles,
    labels: tuple[tuple[tuple[str, str], str], ...],
    theme: str = "light",
    *,
    span: str = "field",
    narrow: bool = False,
) -> go.Figure:
    """A row per board: best = 1, the second and third, a bar to the tenth, the median; grouped by competition."""
    known = frame[frame["best"] > 0]
    if known.empty:
        return message("No board has a ranked time yet.", theme)
    tokens = theme_of(theme)
    boards, entries = grouped(known, titles, dict(labels), with_best=True)
    rows = arranged(entries, tokens, narrow=narrow)
    at = np.array([y for y, entry in zip(rows.at, entries, strict=True) if not entry.heading])
    clip = math.log(CLIP) if span != "all" else float(np.log(_ratios(boards).max().max())) * 1.001
    legend = (
        f"┃ best   {sign('●', 'rank 2', tokens.accent)}   {sign('○', 'rank 3', tokens.accent)}<br>"
        f"{sign('━', 'to rank 10', tokens.accent)}   {sign('◇', 'median', warning_ink(tokens))}"
    )
    return figure(
        [*_bars(boards, at, clip, tokens), *_leaders(boards, at, clip, tokens), _medians(boards, at, clip, tokens)],
        tokens,
        height=rows.height + 48 + 46,
        margin={"l": rows.left, "r": 52, "t": 48, "b": 46},
        xaxis=ratio_axis(math.exp(clip), tokens, "× the best time"),
        yaxis=rows.axis(tokens),
        annotations=[caption(legend, tokens, lift=8), *rows.labels, *_beyond(boards, at, clip, tokens)],
    )


def grouped(
    frame: pd.DataFrame, titles: Titles, labels: Labels, *, with_best: bool = False
) -> tuple[pd.DataFrame, list[Row]]:
    """The boards by competition in the order of the titles, and the rows to draw: a heading before each group."""
    order = [slug for slug, _ in titles if slug in set(frame["competition"])]
    named = dict(titles)
    parts, rows = [], []
    for slug in order:
        part = in_order(frame[frame["competition"] == slug], labels)
        parts.append(part)
        rows.append(Row(escaped(named[slug], 24), heading=True))
        for row in row_tuples(part):
            label = escaped(squeezed(labels.get((slug, row.problem), row.problem)))
            rows.append(Row(f"{label}  {time_text(row.best, unit_for(row.best))}" if with_best else label))
    return pd.concat(parts, ignore_index=True), rows


def in_order(frame: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Boards in the order of their labels, those without one last."""
    order = {key: place for place, key in enumerate(labels)}
    keys = zip(frame["competition"], frame["problem"], strict=True)
    places = np.array([order.get(key, len(order)) for key in keys], dtype=int)
    return frame.iloc[np.argsort(places, kind="stable")]


def squeezed(name: str, limit: int = 17) -> str:
    """A name cut in its middle: boards of one task often differ at the end."""
    return name if len(name) <= limit else f"{name[: limit - 8]}…{name[-7:]}"


def _ratios(boards: pd.DataFrame) -> pd.DataFrame:
    names = ["second", "third", "tenth", "median"]
    return boards[names].astype(float).div(boards["best"].astype(float), axis=0)


def _bars(boards: pd.DataFrame, at: np.ndarray[Any, Any], clip: float, theme: Theme) -> list[Spec]:
    """A bar from the best to the tenth (or the last, where there are fewer), and the best itself."""
    ratios = _ratios(boards)
    reach = np.log(ratios.max(axis=1).fillna(1).where(ratios["tenth"].isna(), ratios["tenth"]).to_numpy(dtype=float))
    reach = np.minimum(reach, clip)
    gap = np.full(len(at), np.nan)
    x = np.column_stack([np.zeros(len(at)), reach, gap]).ravel()
    tenth = np.log(ratios["tenth"].to_numpy(dtype=float))
    ends = tenth <= clip
    tick: Spec = {"symbol": "line-ns-open", "size": 11, "opacity": 1}
    base: Spec = {"type": "scatter", "hoverinfo": "skip"}
    return [
        base
        | {"mode": "lines", "x": x, "y": np.repeat(at, 3), "line": {"width": 8, "color": faded(theme.accent, 0.36)}},
        base
        | {
            "mode": "markers",
            "x": tenth[ends],
            "y": at[ends],
            "marker": tick | {"color": theme.accent, "line": {"width": 2}},
        },
        _points(boards, at, np.zeros(len(at)), 0, "the best")
        | {"marker": tick | {"color": theme.text, "size": 15, "line": {"width": 3}}},
    ]


def _leaders(boards: pd.DataFrame, at: np.ndarray[Any, Any], clip: float, theme: Theme) -> list[Spec]:
    traces = []
    ratios = _ratios(boards)
    for place, (column, words) in enumerate(_PLACES, 1):
        logs = np.log(ratios[column].to_numpy(dtype=float))
        inside = logs <= clip
        symbol = "circle" if place == 1 else "circle-open"
        marker = {
            "symbol": symbol,
            "size": 9,
            "color": theme.accent,
            "opacity": 1,
            "line": {"width": 0 if place == 1 else 1.5},
        }
        part = boards[inside]
        traces.append(_points(part, at[inside], logs[inside], place, words) | {"marker": marker})
    return traces


def _points(boards: pd.DataFrame, at: np.ndarray[Any, Any], logs: np.ndarray[Any, Any], place: int, words: str) -> Spec:
    """The user on one rank of every board; a click opens their code."""
    scores = [row.best if place == 0 else getattr(row, _PLACES[place - 1][0]) for row in row_tuples(boards)]
    who = [escaped(person(row.user_names[place], row.user_ids[place])) for row in row_tuples(boards)]
    sentences = [
        f"{escaped(row.problem)} on {escaped(runner_name(row.runner))}: {name}, "
        f"{words} of {plural(row.users, 'user')},<br>"
        f"{time_text(score, unit_for(row.best))}, {ratio_text(score / row.best)} the best."
        for row, name, score in zip(row_tuples(boards), who, scores, strict=True)
    ]
    refs = refs_of([row.submission_ids[place] for row in row_tuples(boards)], boards["runner"])
    return {
        "type": "scatter",
        "mode": "markers",
        "x": logs,
        "y": at,
        "customdata": rows_of([refs, boards["competition"], sentences]),
        "hovertemplate": "%{customdata[2]}<extra></extra>",
    }


def _medians(boards: pd.DataFrame, at: np.ndarray[Any, Any], clip: float, theme: Theme) -> Spec:
    logs = np.log(_ratios(boards)["median"].to_numpy(dtype=float))
    inside = logs <= clip
    words = [
        f"{escaped(row.problem)}: the median of {plural(row.users, 'user')} is"
        f" {ratio_text(row.median / row.best)} the best."
        for row in row_tuples(boards[inside])
    ]
    marker = {"symbol": "diamond-open", "size": 10, "color": warning_ink(theme), "opacity": 1, "line": {"width": 1.5}}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": logs[inside],
        "y": at[inside],
        "marker": marker,
        "text": words,
        "hovertemplate": "%{text}<extra></extra>",
    }


def _beyond(boards: pd.DataFrame, at: np.ndarray[Any, Any], clip: float, theme: Theme) -> list[Spec]:
    """A number for what lies beyond the axis: the larger of the tenth and the median."""
    furthest = _ratios(boards).max(axis=1).to_numpy(dtype=float)
    labels = []
    for y, ratio in zip(at, furthest, strict=True):
        if ratio > math.exp(clip) * 1.0001:
            text = f"{ratio:,.0f}× ▸" if ratio >= 10 else f"{ratio:.1f}× ▸"
            labels.append(
                note(text, theme, x=1, y=y, yref="y", xanchor="left", yanchor="middle", xshift=4)
                | {"font": {"size": 11, "color": warning_ink(theme)}}
            )
    return labels
