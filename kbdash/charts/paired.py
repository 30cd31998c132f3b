"""Two boards with the same people: how far each moved."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import time_axis
from kbdash.charts.canvas import (
    SMALL,
    Array,
    Spec,
    caption,
    figure,
    message,
    note,
    rows_of,
    sign,
)
from kbdash.charts.palette import Theme, faded, runner_style, theme_of, user_style, warning_ink
from kbdash.charts.people import names_of, refs_of
from kbdash.charts.rows import Row, arranged
from kbdash.charts.span import axis_end
from kbdash.charts.text import escaped
from kbdash.units import MINUS, THIN, Unit, count_text, time_text

MOST_ROWS = 30
_FEWEST = 3  # with fewer pairs, a rank correlation says nothing
_SAME = 0.0005  # a smaller change counts as none
_LOUD = 0.005  # from this change on it is coloured


@dataclass(frozen=True)
class Pairs:
    """Users on both boards, fastest on the second first; `change` is the share by which the second is slower."""

    frame: pd.DataFrame
    change: Array
    rank_a: Array
    rank_b: Array

    def only(self, places: Array) -> "Pairs":
        """Some of the users; their ranks stay those among all."""
        part = self.frame.iloc[places].reset_index(drop=True)
        return Pairs(part, self.change[places], self.rank_a[places], self.rank_b[places])

    def words(self, place: int) -> str:
        """Change of time and of rank of one user."""
        moved = int(self.rank_a[place] - self.rank_b[place])
        return f"{change_text(self.change[place])} {f'▲{moved}' if moved > 0 else f'▼{-moved}' if moved < 0 else '='}"


def change_text(change: float) -> str:
    """A change of time, such as "−5.0 %" or "+0.4 %"."""
    sign_ = "+" if change > _SAME else MINUS if change < -_SAME else "±"
    return f"{sign_}{abs(change) * 100:.1f}{THIN}%"


def dumbbell(
    frame: pd.DataFrame,
    unit: Unit,
    labels: tuple[str, str],
    theme: str = "light",
    *,
    pinned: Sequence[str] = (),
    span: str = "field",
    narrow: bool = False,
) -> go.Figure:
    """A row per user by rank on the second board, the first thirty and the pinned: both times, the change in words."""
    pairs = paired_users(frame)
    if pairs is None:
        return message("Nobody has a time on both boards under these filters.", theme)
    tokens = theme_of(theme)
    drawn = pairs.only(_drawn(pairs.frame, pinned))
    times = drawn.frame[["score_a", "score_b"]].to_numpy(dtype=float)
    end = axis_end(times.max(axis=1), span=span)
    low, high = float(times.min()), float(times.max(axis=1).min()) * end.ratio
    air = max((high / low) ** 0.04, 1.003)
    rows = arranged(_labels(drawn, pinned, tokens), tokens, narrow=narrow, row=21)
    across, up = (escaped(label, 24) for label in labels)
    median = change_text(float(np.median(pairs.change)))
    style = runner_style(str(pairs.frame["runner_b"].iloc[0]), tokens)
    legend = f"○ {across}   {sign('◆', up, style.ink)}   median change {median}"
    beyond = f"{end.words(unit)}" if end.beyond else ""
    return figure(
        _dumbbells(drawn, rows.at, unit, style.color, tokens, (across, up)),
        tokens,
        height=rows.height + 36 + 44,
        margin={"l": rows.left, "r": 84, "t": 36, "b": 44},
        xaxis=time_axis((unit.of(low / air), unit.of(high * air)), unit, tokens, beyond),
        yaxis=rows.axis(tokens),
        annotations=[
            caption(legend, tokens, lift=10),
            *rows.labels,
            *_changes(drawn, rows.at, tokens),
            *_far_off(drawn, rows.at, high * air, unit, tokens),
        ],
    )


def _drawn(frame: pd.DataFrame, pinned: Sequence[str]) -> Array:
    """The rows that are drawn, by their places in a frame ordered by rank: the first thirty and the pinned users."""
    return np.flatnonzero((np.arange(len(frame)) < MOST_ROWS) | frame["user_id"].isin(list(pinned)).to_numpy())


def rank_correlation(one: pd.Series, other: pd.Series) -> float | None:
    """Spearman's rank correlation, -1 to 1; None under three pairs or when one side is constant."""
    pairs = pd.DataFrame({"one": one.to_numpy(dtype=float), "other": other.to_numpy(dtype=float)}).dropna()
    ranks = pairs.rank().to_numpy(dtype=float)
    if len(ranks) < _FEWEST or np.ptp(ranks, axis=0).min() == 0:
        return None
    return float(np.corrcoef(ranks.T)[0, 1])


def paired_users(frame: pd.DataFrame) -> Pairs | None:
    """Users with a time on both boards; None without any."""
    usable = frame[(frame["score_a"] > 0) & (frame["score_b"] > 0)]
    if usable.empty:
        return None
    ordered = usable.sort_values(["score_b", "score_a"], kind="stable").reset_index(drop=True)
    ranks = [ordered[name].rank(method="min").to_numpy(dtype=int) for name in ("score_a", "score_b")]
    change = ordered["score_b"].to_numpy(dtype=float) / ordered["score_a"].to_numpy(dtype=float) - 1
    return Pairs(ordered, change, ranks[0], ranks[1])


def _labels(pairs: Pairs, pinned: Sequence[str], theme: Theme) -> list[Row]:
    order = list(pinned)
    rows = []
    people = zip(names_of(pairs.frame), pairs.frame["user_id"], pairs.rank_b, strict=True)
    for name, user, rank in people:
        text = f"{count_text(rank)}  {escaped(name, 16)}"
        ink = user_style(order.index(user), theme).ink if user in order else ""
        rows.append(Row(f'<b><span style="color:{ink}">{text}</span></b>' if ink else text))
    return rows


def _dumbbells(
    pairs: Pairs, at: Sequence[float], unit: Unit, color: str, theme: Theme, labels: tuple[str, str]
) -> list[Spec]:
    """Bars from the first time to the second, and a mark at either end."""
    y = np.array(at)
    open_, solid = _marker("circle-open", theme.text, 2), _marker("diamond", color, 0)
    return [
        _bars(pairs, y, unit, theme.accent, pairs.change <= 0),
        _bars(pairs, y, unit, warning_ink(theme), pairs.change > 0),
        _ends(pairs.frame, "a", y, unit, pairs.rank_a) | {"meta": labels[0], "marker": open_},
        _ends(pairs.frame, "b", y, unit, pairs.rank_b) | {"meta": labels[1], "marker": solid},
    ]


def _marker(symbol: str, color: str, line: int) -> Spec:
    return {"symbol": symbol, "size": 10, "color": color, "opacity": 1, "line": {"width": line, "color": color}}


def _bars(pairs: Pairs, y: Array, unit: Unit, color: str, mask: Array) -> Spec:
    both = unit.per_second * pairs.frame[["score_a", "score_b"]].to_numpy(dtype=float)[mask]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.column_stack([both, np.full(len(both), np.nan)]).ravel(),
        "y": np.repeat(y[mask], 3),
        "hoverinfo": "skip",
        "line": {"width": 3, "color": faded(color, 0.55)},
    }


def _ends(part: pd.DataFrame, side: str, y: Array, unit: Unit, ranks: Array) -> Spec:
    """The times on one of the boards, with the sentence of each."""
    seconds = part[f"score_{side}"]
    names, times = [escaped(name) for name in names_of(part)], [time_text(each, unit) for each in seconds]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": unit.per_second * seconds.to_numpy(dtype=float),
        "y": y,
        "customdata": rows_of([refs_of(part[f"submission_{side}"], part[f"runner_{side}"]), names, times, ranks]),
        "hovertemplate": (
            "%{customdata[1]} on %{meta}: %{customdata[2]},<br>rank %{customdata[3]} of those on both.<extra></extra>"
        ),
    }


def _changes(pairs: Pairs, at: Sequence[float], theme: Theme) -> list[Spec]:
    """Change of time and of rank at the right of each row."""
    labels = []
    for place in range(len(pairs.change)):
        change = pairs.change[place]
        color = theme.muted if abs(change) < _LOUD else warning_ink(theme) if change > 0 else theme.accent
        labels.append(
            note(pairs.words(place), theme, x=1, y=at[place], yref="y", xanchor="left", yanchor="middle", xshift=8)
            | {"font": {"size": SMALL, "color": color}}
        )
    return labels


def _far_off(pairs: Pairs, at: Sequence[float], end: float, unit: Unit, theme: Theme) -> list[Spec]:
    """Both times in words, at the edge of rows that lie beyond the axis as a whole."""
    both = pairs.frame[["score_a", "score_b"]].to_numpy(dtype=float)
    return [
        note(
            f"{time_text(both[place, 0], unit)} → {time_text(both[place, 1], unit)} ▸", theme,
            x=1, y=at[place], yref="y", xanchor="right", yanchor="middle", xshift=-4,
        )
        for place in np.flatnonzero(both.min(axis=1) > end).tolist()
    ]  # fmt: skip
