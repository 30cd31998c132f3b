"""Users' bests with and without something: a row per board, a dot per user, the median of each side."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import ratio_axis
from kbdash.charts.canvas import POINT_LIMIT, Spec, caption, figure, message, note, rows_of, sign, thinned
from kbdash.charts.palette import Theme, quiet_color, theme_of
from kbdash.charts.people import refs_of
from kbdash.charts.rows import Row, arranged
from kbdash.charts.span import axis_end
from kbdash.charts.text import escaped
from kbdash.units import count_text, plural, time_text, unit_for

MOST_BOARDS = 4
FURTHEST = 10.0  # times the best: boards share one axis, and a wide one must not squeeze the others
_ROW = 36
_LANE = 9  # pixels from the middle of a row to the dots of either side


def with_without(
    bests: pd.DataFrame, labels: tuple[tuple[tuple[str, str], str], ...], theme: str = "light"
) -> go.Figure:
    """The boards with the most users who have it, as ratios to the board's best; `labels` name (problem, runner)."""
    boards = boards_of(bests)[:MOST_BOARDS]
    if not boards:
        return message("No ranked time of anybody holds it.", theme, height=120)
    tokens = theme_of(theme)
    words = dict(labels)
    groups = [bests[(bests["problem"] == problem) & (bests["runner"] == runner)] for problem, runner in boards]
    rows = arranged([Row(escaped(words.get(board, board[0]), 44)) for board in boards], tokens, narrow=True, row=_ROW)
    end = min(max(axis_end(group["score"]).ratio for group in groups), FURTHEST)
    beyond = sum(int((group["score"] / group["score"].min() > end).sum()) for group in groups)
    held, bare = tokens.accent, quiet_color(tokens)
    legend = f"{sign('●', 'hold it', held)}   {sign('○', 'do not', bare)}   ┃ median of each"
    if beyond:
        legend += f"<br>{plural(beyond, 'user')} further right not shown"
    traces = [_dots(group, at, end, tokens, holds=holds) for group, at in zip(groups, rows.at, strict=True)
              for holds in (True, False)]  # fmt: skip
    return figure(
        traces,
        tokens,
        height=rows.height + 50 + 50,
        margin={"l": rows.left, "r": 24, "t": 50, "b": 50},
        xaxis=ratio_axis(end, tokens, "× the best of the board, lower is better"),
        yaxis=rows.axis(tokens),
        shapes=[each for group, at in zip(groups, rows.at, strict=True) for each in _medians(group, at, end, tokens)],
        annotations=[caption(legend, tokens, lift=8), *rows.labels, *_counts(groups, rows.at, tokens)],
    )


def boards_of(bests: pd.DataFrame) -> list[tuple[str, str]]:
    """Problem and runner of each board, by number of users who have it."""
    counts = bests.groupby(["problem", "runner"], sort=False)["holds"].sum().sort_values(ascending=False, kind="stable")
    return [(str(problem), str(runner)) for problem, runner in counts.index]


def compared(bests: pd.DataFrame) -> pd.DataFrame:
    """One row per board: users, best and median of the bests with and without (seconds)."""
    found = []
    for problem, runner in boards_of(bests):
        group = bests[(bests["problem"] == problem) & (bests["runner"] == runner)]
        yes, no = group[group["holds"]]["score"], group[~group["holds"]]["score"]
        found.append((problem, runner, len(yes), len(no), yes.min(), no.min(), yes.median(), no.median()))
    names = ["problem", "runner", "users_with", "users_without", "best_with", "best_without", "median_with",
             "median_without"]  # fmt: skip
    return pd.DataFrame(found, columns=names)


def _dots(group: pd.DataFrame, at: float, end: float, theme: Theme, *, holds: bool) -> Spec:
    best = group["score"].min()
    part = group[(group["holds"] == holds) & (group["score"] / best <= end)]
    part = part.iloc[thinned(np.zeros(len(part), bool), POINT_LIMIT // (2 * MOST_BOARDS))]
    unit = unit_for(best)
    words = [
        f"{escaped(name or 'unnamed')}: {time_text(score, unit)}, {'holds it' if holds else 'does not hold it'}."
        for name, score in zip(part["user_name"].fillna(""), part["score"], strict=True)
    ]
    mark = {"color": theme.accent} if holds else {"color": quiet_color(theme), "symbol": "circle-open"}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": np.log(part["score"].to_numpy(float) / best),
        "y": np.full(len(part), at - _LANE if holds else at + _LANE),
        "marker": mark | {"size": 7, "line": {"width": 1}, "opacity": 0.85},
        "customdata": rows_of([refs_of(part["submission_id"], part["runner"]), part["competition"], words]),
        "hovertemplate": "%{customdata[2]}<extra></extra>",
    }


def _medians(group: pd.DataFrame, at: float, end: float, theme: Theme) -> list[Spec]:
    best, found = group["score"].min(), []
    for holds in (True, False):
        side = group.loc[group["holds"] == holds, "score"]
        if len(side) and side.median() / best <= end:
            x, middle = math.log(side.median() / best), at - _LANE if holds else at + _LANE
            line = {"color": theme.text, "width": 2.5}
            found.append({"type": "line", "x0": x, "x1": x, "y0": middle - 8, "y1": middle + 8, "line": line})
    return found


def _counts(groups: list[pd.DataFrame], places: tuple[float, ...], theme: Theme) -> list[Spec]:
    """How many users have it, at the right end of each row."""
    return [
        note(f"{count_text(group['holds'].sum())} of {count_text(len(group))}", theme, x=1, y=at - _ROW / 2 - 15,
             yref="y", xanchor="right", yanchor="top", bgcolor=theme.background, borderpad=0)
        for group, at in zip(groups, places, strict=True)
    ]  # fmt: skip
