"""Outcomes of the submissions over time."""

from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import Array, Spec, caption, figure, message, note, rows_of, sign, stamps, utc
from kbdash.charts.palette import Theme, quiet_color, status_color, theme_of
from kbdash.units import count_text, plural, share_text

PASSED, FAILED, REST = "passed", "failed", "timed out, hacked, not ranked"
_SPANS = ((45, "day"), (400, "week"))  # a bar per day up to this many days, per week up to this many, then per month
_LENGTH = {"day": 1, "week": 7, "month": 30}
_FEWEST = 20  # with fewer submissions, a share says nothing


def status(frame: pd.DataFrame, theme: str = "light", deadline: datetime | None = None) -> go.Figure:
    """Passed above zero, failed and the rest below, a bar a day, a week or a month; the share in words."""
    counted = frame[frame["rows"] > 0]
    if counted.empty:
        return message("No submission matches these filters.", theme)
    tokens = theme_of(theme)
    starts, word = _periods(counted["day"])
    days, place = np.unique(starts, return_inverse=True)
    rows, passed = (counted[column].to_numpy(dtype=float) for column in ("rows", "passed"))
    failed = rows * (counted["status"].to_numpy(dtype=object) == "failed") * (passed == 0)
    counts = {PASSED: passed, FAILED: failed, REST: rows - passed - failed}
    sums = {kind: np.bincount(place, values) for kind, values in counts.items()}
    totals = np.bincount(place, rows)
    bars = [_bars(days, sums, kind, totals, word, tokens) for kind in counts]
    return figure(
        bars,
        tokens,
        height=330,
        margin={"l": 12, "r": 12, "t": 50, "b": 50},
        barmode="overlay",
        xaxis=date_axis(tokens),
        yaxis=plain_axis(tokens, zeroline=True, zerolinecolor=tokens.text, zerolinewidth=1, **_ticks(sums)),
        shapes=_line(deadline, days, tokens),
        annotations=[_words(float(passed.sum()), float(rows.sum()), word, tokens), *_due(deadline, days, tokens)],
    )


def _periods(days: "pd.Series[Any]") -> tuple[Array, str]:
    """The first day of each row's day, week or month, and which of the three."""
    exact = utc(days).astype("datetime64[D]")
    span = (exact.max() - exact.min()) / np.timedelta64(1, "D")
    word = next((name for most, name in _SPANS if span <= most), "month")
    if word == "week":
        return exact - (exact.astype(int) + 3) % 7, word  # day 0 was a Thursday
    return (exact if word == "day" else exact.astype("datetime64[M]").astype("datetime64[D]")), word


def _ticks(sums: dict[str, Array]) -> Spec:
    """Counts on both sides of zero, without a sign."""
    up, down = float(sums[PASSED].max()), float((sums[FAILED] + sums[REST]).max())
    rough = max(up + down, 1) / 4
    size = 10.0 ** np.floor(np.log10(rough))
    step = max(1, int(next(size * nice for nice in (1, 2, 5, 10) if size * nice >= rough)))
    values = np.arange(-int(down // step) * step, int(up // step) * step + 1, step)
    reach = [-down * 1.05, max(up, 0.1 * down) * 1.14]  # the word deadline has room above the bars
    texts = [count_text(abs(int(value))) for value in values]
    return {"range": reach, "tickmode": "array", "tickvals": values, "ticktext": texts}


def _bars(days: Array, sums: dict[str, Array], kind: str, totals: Array, word: str, theme: Theme) -> Spec:
    counts = sums[kind]
    used = counts > 0
    width = _LENGTH[word]
    color = quiet_color(theme) if kind == REST else status_color("succeeded" if kind == PASSED else "failed", theme)
    pattern = {
        "shape": "/",
        "fillmode": "replace",
        "fgcolor": color,
        "bgcolor": theme.background,
        "size": 6,
        "solidity": 0.5,
    }
    shares = [
        f" ({share_text(count / total)} of {count_text(total)})" if total >= _FEWEST else f" of {count_text(total)}"
        for count, total in zip(counts[used], totals[used], strict=True)
    ]
    middle = days[used].astype("datetime64[h]") + np.timedelta64(12 * width, "h")
    base = -sums[FAILED][used] if kind == REST else np.zeros(int(used.sum()))
    words = [count_text(count) for count in counts[used]]
    return {
        "type": "bar",
        "x": stamps(middle),
        "y": counts[used] if kind == PASSED else -counts[used],
        "base": base,
        "width": np.full(int(used.sum()), width * 86_400_000 * 0.88),
        "marker": {"color": color, "line": {"width": 0}} | ({"pattern": pattern} if kind == REST else {}),
        "customdata": rows_of([[""] * int(used.sum()), words, shares, np.datetime_as_string(days[used])]),
        "meta": [kind, word],
        "hovertemplate": (
            "%{customdata[1]} %{meta[0]}%{customdata[2]}, %{meta[1]} of %{customdata[3]} UTC.<extra></extra>"
        ),
    }


def _words(passed: float, rows: float, word: str, theme: Theme) -> Spec:
    """The share that passed, what a bar is, and the legend."""
    share = (
        f"<b>{share_text(passed / rows)}</b> of {count_text(rows)} passed"
        if rows >= _FEWEST
        else (f"{count_text(passed)} of {plural(rows, 'submission')} passed")
    )
    good, bad = (status_color(name, theme) for name in ("succeeded", "failed"))
    legend = f"{sign('■', PASSED, good)}   {sign('■', FAILED, bad)}   {sign('▨', REST, quiet_color(theme))}"
    return caption(f"{share} · a bar is a {word}<br>{legend}", theme, lift=8)


def _moment(deadline: datetime | None, days: Array) -> str | None:
    """The deadline, if it is within the days drawn."""
    if deadline is None:
        return None
    at = np.datetime64(pd.Timestamp(deadline).tz_convert("UTC").tz_localize(None), "s")
    return str(at) if days.min() <= at <= days.max() + np.timedelta64(31, "D") else None


def _line(deadline: datetime | None, days: Array, theme: Theme) -> list[Spec]:
    at = _moment(deadline, days)
    line = {"color": theme.muted, "width": 1.2, "dash": "dot"}
    return (
        [{"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "xref": "x", "yref": "paper", "line": line}]
        if at
        else []
    )


def _due(deadline: datetime | None, days: Array, theme: Theme) -> list[Spec]:
    at = _moment(deadline, days)
    back: Spec = {"bgcolor": theme.background, "borderpad": 0}
    return (
        [note("deadline", theme, x=at, y=1, xref="x", xanchor="right", yanchor="top", xshift=-4) | back] if at else []
    )
