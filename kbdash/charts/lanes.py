"""Who held each of the first ranks, as a timetable."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis, plain_axis
from kbdash.charts.canvas import BELOW, Spec, figure, message, rows_of, stamps, utc
from kbdash.charts.palette import theme_of
from kbdash.charts.people import final_order, names_of, refs_of, shown_users, styles_of
from kbdash.charts.record_strip import bar_color, bar_ink
from kbdash.charts.text import escaped
from kbdash.charts.timespan import Window, window_of
from kbdash.database import standings
from kbdash.units import Unit, duration_text, time_text

_LANE = 25  # pixels: Plotly hides the names in lower bars
_BARS = 1_200


def lanes(
    bests: pd.DataFrame,
    unit: Unit,
    theme: str = "light",
    *,
    pinned: Sequence[str] = (),
    until: object = None,
    span: str = "field",
) -> go.Figure:
    """The first ten ranks, a row each, with bars for the time that each user held it; the first five in colour."""
    if bests.empty:
        return message("Nobody has a rank under these filters.", theme)
    tokens = theme_of(theme)
    at, score = utc(bests["submitted_at"]), bests["score"].to_numpy(dtype=float)
    window = window_of(at, at[int(np.argmin(score))], None, until, "final" if span == "final" else "field")
    styles = styles_of(shown_users(final_order(bests), pinned), tokens)
    held = _inside(standings.lanes(bests), window)
    count = int(held["place"].max())
    trace = _bars(held, bests["runner"].iloc[0], unit)
    looks = [styles.get(user) for user in held["user_id"]]
    trace["marker"] = {
        "color": [bar_color(look, tokens) for look in looks],
        "line": {"width": 1, "color": tokens.background},
    }
    trace["textfont"] = {"size": 11, "color": [bar_ink(look, tokens) for look in looks]}
    return figure(
        [trace],
        tokens,
        height=_LANE * count + 12 + BELOW,
        margin={"l": 34, "r": 12, "t": 12, "b": BELOW},
        barmode="overlay",
        uniformtext={"mode": "hide", "minsize": 9},
        xaxis=date_axis(tokens, range=window.ends),
        yaxis=plain_axis(tokens, range=[count + 0.5, 0.5], showgrid=False, tickmode="array")
        | {"tickvals": list(range(1, count + 1))},
    )


def _inside(held: pd.DataFrame, window: Window) -> pd.DataFrame:
    """The stays that overlap the window; if there are too many, the longest."""
    start, end = (pd.Timestamp(moment, tz="UTC") for moment in (window.start, window.end))
    until, since = held["until"].fillna(end), held["since"]
    cut = held.assign(until=until.where(until < end, end), since=since.where(since > start, start))
    cut = cut[cut["until"] > cut["since"]]
    if len(cut) > _BARS:
        cut = cut.loc[(cut["until"] - cut["since"]).nlargest(_BARS).index].sort_index()
    return cut


def _bars(held: pd.DataFrame, runner: str, unit: Unit) -> Spec:
    since, until = utc(held["since"]), utc(held["until"])
    names = names_of(held)
    widths = (until - since) / np.timedelta64(1, "ms")
    stays = [duration_text(width / 1000) for width in widths]
    times = [time_text(score, unit) for score in held["score"]]
    return {
        "type": "bar",
        "orientation": "h",
        "base": stamps(since),
        "x": widths,
        "y": held["place"].to_numpy(),
        "width": np.full(len(held), 0.9),
        "text": [escaped(name, 16) for name in names],
        "textposition": "inside",
        "insidetextanchor": "start",
        "textangle": 0,
        "customdata": rows_of(
            [refs_of(held["submission_id"], [runner] * len(held)), [escaped(name) for name in names], stays, times]
        ),
        "hovertemplate": (
            "%{customdata[1]} stood on rank %{y} for %{customdata[2]}<br>from %{base|%Y-%m-%d %H:%M} UTC on,"
            " at first with %{customdata[3]}.<extra></extra>"
        ),
    }
