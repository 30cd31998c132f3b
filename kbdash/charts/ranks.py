"""Rank over time: every change at its exact moment."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import BELOW, Array, Spec, figure, message, rows_of, stamps, utc
from kbdash.charts.labels import LINE, end_label, spread
from kbdash.charts.palette import Style, Theme, faded, quiet_color, theme_of
from kbdash.charts.people import final_order, refs_of, shown_users, styles_of
from kbdash.charts.text import escaped
from kbdash.charts.timespan import Window, window_of
from kbdash.database.standings import rank_changes
from kbdash.units import count_text, person

_LEADERS = 10  # ranks a reader can still follow
_BOLD = 3  # users highlighted while nobody is pinned
_DEEPEST = 30  # the most ranks drawn when pinned users rank lower
_NAME = 13  # letters of a name that fit the margin
_SLOPE = 0.006  # share of the span: width of a change, so that crossing lines can be followed
_CHANGES = 700  # of all lines together, the last ones
_PLOT = 260  # pixels of all ranks
_TALL = 26  # and of one at most


@dataclass(frozen=True)
class _Line:
    """One user's changes of rank: moments (UTC), ranks, what a click opens, who caused them ('': the user)."""

    user: str
    name: str
    at: Array
    rank: Array
    refs: list[str]
    by: list[str]
    final: int


def bump(
    bests: pd.DataFrame, theme: str = "light", *, pinned: Sequence[str] = (), until: object = None, span: str = "field"
) -> go.Figure:
    """Ranks of the leaders and the pinned over time, from the frame of `personal_bests`; the best on top."""
    if bests.empty:
        return message("Nobody has a rank under these filters.", theme)
    tokens = theme_of(theme)
    order = final_order(bests)
    strong = shown_users(order, pinned, _BOLD)
    styles = styles_of(strong, tokens)
    window = _window(bests, until, span)
    users = list(dict.fromkeys([*order[:_LEADERS], *strong]))
    deepest = min(max([min(_LEADERS, len(order)), *(order.index(user) + 1 for user in strong)]), _DEEPEST)
    return _drawn(_lines(bests, users, deepest), styles, deepest, window, tokens, band=len(order) > deepest)


def _lines(bests: pd.DataFrame, users: Sequence[str], deepest: int) -> list[_Line]:
    """The visible changes of rank of these users, in their order; ranks below `deepest` share a row."""
    changes = rank_changes(bests, users)
    rows = changes["rank"].clip(upper=deepest + 1)
    seen = changes[rows.ne(rows.groupby(changes["user_id"]).shift()).fillna(True)]
    last = changes.groupby("user_id")["rank"].last()
    runner = bests["runner"].iloc[0]
    names = dict(zip(bests["user_id"], bests["user_name"], strict=True))
    groups = dict(list(seen.groupby("user_id", sort=False)))
    lines = []
    for user in users:
        part = groups[user].tail(_CHANGES // len(users))
        causes = zip(part["by_id"], part["by_name"], strict=True)
        by = ["" if pd.isna(id_) else person(name, id_) for id_, name in causes]
        refs = refs_of(part["submission_id"], [runner] * len(part))
        ranks = part["rank"].to_numpy(dtype=int)
        lines.append(_Line(user, person(names[user], user), utc(part["at"]), ranks, refs, by, int(last[user])))
    return lines


def _window(bests: pd.DataFrame, until: object, span: str) -> Window:
    at, score = utc(bests["submitted_at"]), bests["score"].to_numpy(dtype=float)
    return window_of(at, at[int(np.argmin(score))], None, until, "final" if span == "final" else "field")


def _drawn(
    lines: Sequence[_Line], styles: dict[str, Style], deepest: int, window: Window, theme: Theme, *, band: bool
) -> go.Figure:
    """The figure; ranks below the deepest share a row, a band that is there only if somebody is in it."""
    row = min(max(_PLOT / (deepest + band + 0.2), 11), _TALL)
    rows = deepest + band
    quiet = [line for line in lines if line.user not in styles]
    loud = [line for line in lines if line.user in styles]
    crowded = deepest if row >= LINE or not band else deepest - 1  # there is no room for the tick right above the band
    ticks = [rank for rank in range(1, crowded + 1) if deepest <= 12 or rank == 1 or rank % 5 == 0]
    area = {"type": "rect", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": deepest + 0.6, "y1": deepest + 1.6}
    shade = {"fillcolor": faded(quiet_color(theme), 0.14), "line": {"width": 0}, "layer": "below"}
    return figure(
        [_trace(line, styles.get(line.user), deepest, window, theme) for line in [*quiet, *reversed(loud)]],
        theme,
        height=round(row * (rows + 0.2)) + 14 + BELOW,
        margin={"l": 40, "r": 104, "t": 14, "b": BELOW},
        xaxis=date_axis(theme, range=window.ends),
        yaxis=plain_axis(theme, range=[rows + 0.6, 0.4], zeroline=False, showgrid=False)
        | {
            "tickmode": "array",
            "tickvals": [*ticks, *[deepest + 1] * band],
            "ticktext": [*map(str, ticks), *[f">{deepest}"] * band],
        },
        shapes=[area | shade] * band,
        annotations=_names(lines, styles, deepest, row, rows, theme),
    )


def _trace(line: _Line, style: Style | None, deepest: int, window: Window, theme: Theme) -> Spec:
    """Level lines with short slopes that begin at the exact moment of a change."""
    moments, rows = sloped(line.at, np.minimum(line.rank, deepest + 1), window)
    places = np.repeat(np.arange(len(line.at)), 2)
    words = ["" if by == "" else f", passed by {escaped(by, 24)}" for by in line.by]
    color = faded(quiet_color(theme), 0.7) if style is None else style.color
    ends = np.zeros(len(moments))
    ends[[0, -1]] = 0 if style is None else 9
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": stamps(moments),
        "y": rows,
        "cliponaxis": False,
        "customdata": rows_of(
            [
                np.array(line.refs, dtype=object)[places],
                line.rank[places],
                np.array(words, dtype=object)[places],
                stamps(line.at)[places],
            ]
        ),
        "line": {"width": 1 if style is None else 3, "color": color},
        "marker": {
            "symbol": "circle" if style is None else style.marker,
            "size": ends,
            "color": color,
            "opacity": 1,
            "line": {"width": 0},
        },
        "meta": escaped(line.name),
        "hovertemplate": (
            "%{meta} came to rank %{customdata[1]:,}<br>on %{customdata[3]|%Y-%m-%d %H:%M} UTC"
            "%{customdata[2]}.<extra></extra>"
        ),
    }


def sloped(at: Array, rows: Array, window: Window) -> tuple[Array, Array]:
    """Corners of a line that is level until a change and slopes for a short time: twice as many points."""
    slope = np.timedelta64(max(int((window.end - window.start) / np.timedelta64(1, "s") * _SLOPE), 1), "s")
    following = np.append(at[1:], max(window.end, at[-1]))
    arrived = np.minimum(at + slope, following)
    arrived[0] = at[0]
    moments = np.stack([arrived, following], axis=1).ravel()
    return moments, np.repeat(rows.astype(float), 2)


def _names(
    lines: Sequence[_Line], styles: dict[str, Style], deepest: int, row: float, rows: int, theme: Theme
) -> list[Spec]:
    """Names at the right: highlighted users move apart, the others have one only where there is room."""
    plot = row * (rows + 0.2)  # with the edges
    loud = sorted((line for line in lines if line.user in styles), key=lambda line: -line.final)
    placed = spread([_height(line, rows, row) for line in loud], LINE, 0, plot)
    named = list(zip(loud, placed, strict=True))
    for line in (line for line in lines if line.user not in styles):
        height = _height(line, rows, row)
        if all(abs(height - other) >= LINE for _, other in named):
            named.append((line, height))
    labels = []
    for line, height in named:
        style = styles.get(line.user)
        rank = f"{count_text(line.final)} " if line.final > deepest or deepest > 12 else ""
        text = f"{rank}{escaped(line.name, _NAME)}"
        labels.append(
            end_label(f"<b>{text}</b>" if style else text, height / plot, style.ink if style else theme.muted)
        )
    return labels


def _height(line: _Line, rows: int, row: float) -> float:
    """Where a line ends, in pixels from the bottom."""
    return row * (rows + 0.6 - min(line.final, rows))
