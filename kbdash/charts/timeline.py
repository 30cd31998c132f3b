"""Every board in one picture: when it was worked on, and when its standing record was set."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import date_axis
from kbdash.charts.canvas import Spec, caption, figure, message, row_tuples, rows_of, sign, stamps, utc
from kbdash.charts.contested import Titles, grouped
from kbdash.charts.palette import Theme, faded, theme_of, warning_ink
from kbdash.charts.people import refs_of
from kbdash.charts.rows import arranged
from kbdash.charts.text import escaped
from kbdash.units import minute_text, person, plural, time_text, unit_for

_WEEK = 7 * 86_400_000  # milliseconds
_BAR = 15  # pixels of the busiest week of a board


def timeline(
    weeks: pd.DataFrame,
    titles: Titles,
    labels: tuple[tuple[tuple[str, str], str], ...],
    theme: str = "light",
    *,
    narrow: bool = False,
) -> go.Figure:
    """A row per board: submissions a week as bars on the board's own scale, ★ where the standing record was set."""
    if weeks.empty:
        return message("There are no submissions yet.", theme)
    tokens = theme_of(theme)
    keys = ["competition", "problem"]
    boards = weeks.drop_duplicates(keys)
    boards, entries = grouped(boards.rename(columns={"score": "best"}), titles, dict(labels))
    rows = arranged(entries, tokens, narrow=narrow)
    at = [y for y, entry in zip(rows.at, entries, strict=True) if not entry.heading]
    places = dict(zip(zip(boards["competition"], boards["problem"], strict=True), at, strict=True))
    legend = f"{sign('▮', 'submissions a week', tokens.accent)}   {sign('★', 'standing record', warning_ink(tokens))}"
    return figure(
        [_bars(weeks, places, tokens), _stars(boards, at, tokens)],
        tokens,
        height=rows.height + 34 + 50,
        margin={"l": rows.left, "r": 12, "t": 34, "b": 50},
        barmode="overlay",
        xaxis=date_axis(tokens, showgrid=True),
        yaxis=rows.axis(tokens),
        annotations=[caption(legend, tokens, lift=8), *rows.labels],
    )


def _bars(weeks: pd.DataFrame, places: dict[tuple[str, str], float], theme: Theme) -> Spec:
    keys = list(zip(weeks["competition"], weeks["problem"], strict=True))
    share = weeks["submissions"] / weeks.groupby(["competition", "problem"])["submissions"].transform("max")
    foot = np.array([places[key] for key in keys]) + 8
    heights = np.maximum(share.to_numpy(dtype=float) * _BAR, 1.5)
    days = stamps(utc(weeks["week"]) + np.timedelta64(84, "h"))
    words = [plural(count, "submission") for count in weeks["submissions"]]
    return {
        "type": "bar",
        "x": days,
        "y": -heights,
        "base": foot,
        "width": np.full(len(weeks), _WEEK * 0.92),
        "marker": {"color": faded(theme.accent, 0.8), "line": {"width": 0}},
        "customdata": rows_of(
            [[""] * len(weeks), [escaped(name) for name in weeks["problem"]], words, weeks["week"].astype(str)]
        ),
        "hovertemplate": "%{customdata[1]}: %{customdata[2]} in the week of %{customdata[3]}.<extra></extra>",
    }


def _stars(boards: pd.DataFrame, at: list[float], theme: Theme) -> Spec:
    known = boards["record_at"].notna().to_numpy()
    part = boards[known]
    sentences = [
        f"{escaped(row.problem)}: {escaped(person(row.user_name, row.user_id))} set the standing record,<br>"
        f"{time_text(row.best, unit_for(row.best))}, on {minute_text(row.record_at)}."
        for row in row_tuples(part)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": stamps(utc(part["record_at"])),
        "y": np.array(at)[known],
        "marker": {
            "symbol": "star",
            "size": 11,
            "color": warning_ink(theme),
            "opacity": 1,
            "line": {"width": 1, "color": theme.background},
        },
        "customdata": rows_of([refs_of(part["submission_id"], part["runner"]), part["competition"], sentences]),
        "hovertemplate": "%{customdata[2]}<extra></extra>",
    }
