"""One person's personal bests, step by step, against the record of the day."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import plain_axis, time_axis
from kbdash.charts.canvas import Array, Spec, caption, figure, message, note, row_tuples, rows_of, stamps, utc
from kbdash.charts.palette import Theme, faded, quiet_color, theme_of, user_style
from kbdash.charts.people import refs_of
from kbdash.charts.span import axis_end
from kbdash.units import Unit, count_text, gain_text, plural, time_text

_MOST = 400  # steps drawn, the last ones


def ladder(
    steps: pd.DataFrame, records: pd.DataFrame, unit: Unit, theme: str = "light", *, span: str = "field"
) -> go.Figure:
    """Best so far by step, clipped like every time axis; the area below the record of that moment is shaded."""
    if steps.empty:
        return message("No ranked run of this user passed.", theme)
    tokens = theme_of(theme)
    drawn = steps.tail(_MOST).reset_index(drop=True)
    scores = drawn["score"].to_numpy(dtype=float)
    end = axis_end(scores, span=span)
    then = records_then(drawn, records)
    floor = float(np.nanmin(np.append(scores, then)))
    high = max(float(scores.min()) * end.ratio, float(then[-1]) * 1.01 if len(then) else 0.0)
    low = floor / (high / floor) ** 0.06
    hidden = drawn[scores > high * (1 + 1e-9)]
    return figure(
        [_record(drawn, then, low, unit, tokens), _steps(drawn, unit, tokens)],
        tokens,
        height=320,
        margin={"l": 62, "r": 14, "t": 34, "b": 48},
        xaxis=plain_axis(
            tokens,
            "step",
            range=[drawn["step"].iloc[0] - 0.6, drawn["step"].iloc[-1] + 0.6],
            nticks=8,
            tickformat="d",
            showgrid=False,
        ),
        yaxis=time_axis((unit.of(low), unit.of(high * (high / floor) ** 0.06)), unit, tokens, ""),
        annotations=_words(hidden, unit, tokens),
    )


def records_then(steps: pd.DataFrame, records: pd.DataFrame) -> Array:
    """The board's record (seconds) just before each step; NaN before there was one."""
    at, moments = utc(steps["submitted_at"]), utc(records["submitted_at"])
    order = np.argsort(moments, kind="stable")
    scores = records["score"].to_numpy(dtype=float)[order]
    places = np.searchsorted(moments[order], at, "left") - 1
    return np.where(places >= 0, scores[np.maximum(places, 0)], np.nan) if len(scores) else np.full(len(at), np.nan)


def _steps(drawn: pd.DataFrame, unit: Unit, theme: Theme) -> Spec:
    style = user_style(0, theme)
    scores = drawn["score"].to_numpy(dtype=float)
    gains = ["the first" if pd.isna(gain) else gain_text(gain) for gain in drawn["gain"]]
    facts = [
        refs_of(drawn["submission_id"], drawn["runner"]),
        [time_text(score, unit) for score in scores],
        gains,
        stamps(utc(drawn["submitted_at"])),
        drawn["rank"] if "rank" in drawn else [""] * len(drawn),
    ]
    ranked = ", rank %{customdata[4]:,} then" if "rank" in drawn else ""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": drawn["step"].to_numpy(),
        "y": unit.per_second * scores,
        "line": {"shape": "hv", "width": 2, "color": style.color},
        "marker": {"size": 8 if len(drawn) <= 60 else 5, "color": style.color, "line": {"width": 0}},
        "customdata": rows_of(facts),
        "hovertemplate": (
            f"Step %{{x}}: %{{customdata[1]}}, %{{customdata[2]}}{ranked},"
            "<br>%{customdata[3]|%Y-%m-%d %H:%M} UTC.<extra></extra>"
        ),
    }


def _record(drawn: pd.DataFrame, then: Array, low: float, unit: Unit, theme: Theme) -> Spec:
    """The record at each step as the upper edge of a shade."""
    known = np.isfinite(then)
    x, y = drawn["step"].to_numpy(dtype=float)[known], then[known]
    corners = np.repeat(np.append(x, x[-1:] + 0.6), 2)[1:-1]
    heights = np.repeat(y, 2)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([corners[:1], corners, corners[-1:]]),
        "y": unit.per_second * np.concatenate([[low] * bool(len(y)), heights, [low] * bool(len(y))]),
        "fill": "toself",
        "fillcolor": faded(quiet_color(theme), 0.2),
        "line": {"width": 0},
        "hoverinfo": "skip",
    }


def _words(hidden: pd.DataFrame, unit: Unit, theme: Theme) -> list[Spec]:
    notes = [note("faster than the record of the day", theme, x=0, y=0, xanchor="left", yanchor="bottom", xshift=4)]
    if len(hidden):
        first = ", ".join(f"{count_text(row.step)}: {time_text(row.score, unit)}" for row in row_tuples(hidden.head(3)))
        more = f" and {plural(len(hidden) - 3, 'more step', 'more steps')}" if len(hidden) > 3 else ""
        notes.append(caption(f"▲ above: step {first}{more}", theme, lift=8))
    return notes
