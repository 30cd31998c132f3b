"""One board over time: everybody's best so far, the leaders in colour, the area below the record shaded."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import LOWER_IS_BETTER, date_axis, plain_axis, time_axis
from kbdash.charts.canvas import BELOW, Spec, caption, figure, message
from kbdash.charts.labels import LINE, end_label, spread
from kbdash.charts.own_line import own_label, own_line
from kbdash.charts.palette import Theme, theme_of
from kbdash.charts.people import shown_users, styles_of
from kbdash.charts.progression_lines import Board, Stage, board_of, greys, line, others_of, tries, unknown
from kbdash.charts.record_strip import reigns, strip
from kbdash.charts.text import escaped
from kbdash.charts.timespan import Window, deadline_label, deadline_line, window_of
from kbdash.units import Unit, count_text, plural, time_text

_PLOT = 360  # pixels of the lines
_STRIP = 24  # and of the strip of record holders below
_BETWEEN = 8
_NAME = 14  # letters of a name that fit the right margin
_LETTERS = 58  # of a caption that fits on a phone
_REACH = 1.2  # padding beyond the slowest that must be visible, on a log scale
_NEAREST = 1.03


def progression(
    bests: pd.DataFrame,
    unit: Unit,
    theme: str = "light",
    attempts: pd.DataFrame | None = None,
    *,
    deadline: datetime | None = None,
    until: object = None,
    pinned: Sequence[str] = (),
    span: str = "field",
    mine: float | None = None,
) -> go.Figure:
    """Best so far of everybody on one runner, from the frame of `personal_bests`.

    `attempts` adds all runs of one user; `until` is the last day asked for; `span` is field, final or all; `mine` is
    a time of the reader's own in seconds.
    """
    bests = bests[bests["submitted_at"].notna()].reset_index(drop=True)  # rows without a date cannot be drawn
    if bests.empty:
        return message("No passing run with a time and a date matches these filters.", theme)
    board = board_of(bests)
    tokens = theme_of(theme)
    users = shown_users(board.order, pinned)
    window = window_of(board.at, _last_record(board), deadline, until, span)
    low, high = _bounds(board, users, window, span)
    stage = Stage(board, unit, tokens, window, low, high, styles_of(users, tokens), mine)
    return _drawn(stage, attempts)


def _last_record(board: Board) -> np.datetime64:
    return board.at[int(np.argmin(board.score))]  # type: ignore[no-any-return]


def _bounds(board: Board, users: Sequence[str], window: Window, span: str) -> tuple[float, float]:
    """The ends of the time axis (seconds): from the best to the slowest that must be visible, with padding."""
    best = float(board.score.min())
    if span == "all":
        return best / 1.02, float(board.score.max()) * 1.05
    finals = [board.score[board.places[user][-1]] for user in users]
    early = max(int(np.searchsorted(board.at, window.early, "right")) - 1, 0)
    reach = max([*finals, float(board.record[early])]) / best
    high = best * max(reach**_REACH, _NEAREST)
    return best / (high / best) ** 0.05, high


def _drawn(stage: Stage, attempts: pd.DataFrame | None) -> go.Figure:
    theme, window = stage.theme, stage.window
    held = reigns(stage.board.bests, stage.window)
    plot = _PLOT + _STRIP + _BETWEEN
    floor = (_STRIP + _BETWEEN) / plot
    others, left_out = others_of(stage)
    traces = [unknown(stage), greys(others, stage)]
    if attempts is not None:
        traces.append(tries(attempts, stage))
    traces += [line(user, stage) for user in reversed(stage.styles)]
    traces.append(strip(held, stage.styles, stage.unit, theme) | {"yaxis": "y2"})
    words = _words(stage, attempts, left_out)
    above = 46 + LINE * (len(words) - 1)
    return figure(
        traces,
        theme,
        height=plot + above + BELOW,
        margin={"l": 62, "r": 100, "t": above, "b": BELOW},
        barmode="overlay",
        uniformtext={"mode": "hide", "minsize": 9},
        xaxis=date_axis(theme, range=window.ends, anchor="y2"),
        yaxis=time_axis(
            (stage.unit.of(stage.low), stage.unit.of(stage.high)), stage.unit, theme, "", domain=[floor, 1]
        ),
        yaxis2=_strip_axis(theme, plot),
        shapes=[*deadline_line(window, theme), *_own(stage, floor)[0]],
        annotations=[
            *_names(stage, plot, floor),
            caption("<br>".join(words), theme, lift=22),
            *deadline_label(window, theme),
            *_own(stage, floor)[1],
        ],
        uirevision=f"{window.ends} {stage.low} {stage.high}",
    )


def _own(stage: Stage, floor: float) -> tuple[list[Spec], list[Spec]]:
    """Line and label of the reader's own time, when it lies inside the axis."""
    if stage.mine is None or not stage.low <= stage.mine <= stage.high:
        return [], []
    height = floor + (1 - floor) * stage.height(stage.mine)
    return own_line(height, stage.theme), own_label(stage.mine, height, stage.unit, stage.theme)


def _strip_axis(theme: Theme, plot: int) -> Spec:
    ticks: Spec = {"tickmode": "array", "tickvals": [0], "ticktext": ["record"], "showgrid": False}
    return plain_axis(theme, domain=[0, _STRIP / plot], range=[-0.5, 0.5]) | ticks


def _names(stage: Stage, plot: int, floor: float) -> list[Spec]:
    """The name of every coloured line at its right end; an arrow where the line ends above the plot."""
    board = stage.board
    ends = [(user, float(board.score[board.places[user][-1]])) for user in stage.styles]
    heights = [plot * floor + _PLOT * min(stage.height(score), 1.0) for _, score in ends]
    placed = spread(heights, LINE, plot * floor, plot)
    return [
        end_label(
            escaped(board.name(user), _NAME) + (" ▲" if score > stage.high else ""),
            height / plot,
            stage.styles[user].ink,
        )
        for (user, score), height in zip(ends, placed, strict=True)
    ]


def _words(stage: Stage, attempts: pd.DataFrame | None, left_out: int) -> list[str]:
    """The lines of the caption: what the axis is, and what it does not show."""
    board = stage.board
    inside = (board.at >= stage.window.start) & (board.score > stage.high)
    parts = [f"time, {LOWER_IS_BETTER}"]
    if stage.mine is not None and not stage.low <= stage.mine <= stage.high:
        parts.append(f"yours {time_text(stage.mine, stage.unit)} is outside of this axis")
    if hidden := int(inside.sum()):
        parts.append(f"▲ {plural(hidden, 'slower best')} not shown")
    if left_out:
        count = len(board.order)
        parts.append(f"only the first {count_text(count - left_out)} of {plural(count, 'user')} have a line")
    if attempts is not None and (failed := int((~attempts["passed"].fillna(False).astype(bool)).sum())):
        parts.append(f"{plural(failed, 'failed attempt')}")
    lines = [parts[0]]
    for part in parts[1:]:
        if len(f"{lines[-1]} · {part}") <= _LETTERS:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return lines
