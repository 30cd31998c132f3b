"""Two boards with the same people: is one faster for everybody, or for some?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import plain_axis, time_axis
from kbdash.charts.canvas import BELOW, LETTER, PHONE, SMALL, Array, Spec, caption, figure, message, rows_of, thinned
from kbdash.charts.labels import LINE
from kbdash.charts.paired import Pairs, change_text, paired_users
from kbdash.charts.palette import Theme, faded, quiet_color, theme_of, user_style, warning_ink
from kbdash.charts.people import names_of, refs_of
from kbdash.charts.span import axis_end
from kbdash.charts.text import escaped
from kbdash.units import Unit, plural, time_text

_POINTS = 1_000
_DRIFT = 238  # pixels of the plot of changes
_NAME = 14


def drift(
    frame: pd.DataFrame,
    unit: Unit,
    labels: tuple[str, str],
    theme: str = "light",
    *,
    pinned: Sequence[str] = (),
    span: str = "field",
) -> go.Figure:
    """The change between two boards against the time on the second, with a band that contains half of the users."""
    pairs = paired_users(frame)
    if pairs is None:
        return message("Nobody has a time on both boards under these filters.", theme)
    tokens = theme_of(theme)
    across, up = (escaped(label, 24) for label in labels)
    scores = pairs.frame["score_b"].to_numpy(dtype=float)
    end = axis_end(scores, span=span)
    inside = np.flatnonzero(scores <= scores.min() * end.ratio * (1 + 1e-9))
    kept = inside[thinned(np.isin(pairs.frame["user_id"].to_numpy(dtype=object)[inside], list(pinned)), _POINTS)]
    low, high = (float(np.quantile(pairs.change, share)) for share in (0.25, 0.75))
    reach = _reach(pairs.change[kept])
    words = f"half of the {plural(len(scores), 'user')} within {change_text(low)} … {change_text(high)}"
    beyond = f" · {end.words(unit)}" if end.beyond else ""
    air = max(end.ratio**0.03, 1.003)
    return figure(
        _drifters(pairs, kept, unit, tokens, (across, up)),
        tokens,
        height=_DRIFT + 34 + BELOW,
        margin={"l": 58, "r": 14, "t": 34, "b": BELOW},
        xaxis=time_axis(
            (unit.of(scores.min() / air), unit.of(scores.min() * end.ratio * air)),
            unit,
            tokens,
            f"time on {up}{beyond}",
        ),
        yaxis=plain_axis(tokens, f"{up} against {across}", range=list(reach), tickformat="+.1~%", nticks=6),
        shapes=_levels(low, high, tokens),
        annotations=[caption(words, tokens, lift=10), *_far_names(pairs, kept, reach, unit, tokens, pinned)],
    )


def _levels(low: float, high: float, theme: Theme) -> list[Spec]:
    """The band of half of the users, and the line of no change."""
    across = {"xref": "paper", "x0": 0, "x1": 1}
    band = {"type": "rect", **across, "y0": low, "y1": high, "layer": "below", "line": {"width": 0}}
    zero = {"type": "line", **across, "y0": 0, "y1": 0, "line": {"width": 1.2, "color": theme.muted}}
    return [band | {"fillcolor": faded(quiet_color(theme), 0.2)}, zero]


def _drifters(pairs: Pairs, kept: Array, unit: Unit, theme: Theme, labels: tuple[str, str]) -> list[Spec]:
    traces = []
    for slower, symbol, ink in ((False, "triangle-down", theme.accent), (True, "triangle-up", warning_ink(theme))):
        chosen = kept[(pairs.change[kept] > 0) == slower]
        part = pairs.frame.iloc[chosen]
        facts = [
            refs_of(part["submission_b"], part["runner_b"]),
            [escaped(name) for name in names_of(part)],
            [time_text(seconds, unit) for seconds in part["score_a"]],
            [time_text(seconds, unit) for seconds in part["score_b"]],
            [change_text(change) for change in pairs.change[chosen]],
            pairs.rank_a[chosen],
            pairs.rank_b[chosen],
        ]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": unit.per_second * part["score_b"].to_numpy(dtype=float),
                "y": pairs.change[chosen],
                "meta": list(labels),
                "customdata": rows_of(facts),
                "marker": {"symbol": symbol, "size": 10, "color": ink, "line": {"width": 0}, "opacity": 1},
                "hovertemplate": (
                    "%{customdata[1]}: %{customdata[2]} on %{meta[0]} (rank %{customdata[5]}),<br>"
                    "%{customdata[3]} on %{meta[1]} (rank %{customdata[6]}): %{customdata[4]}.<extra></extra>"
                ),
            }
        )
    return traces


def _reach(change: Array) -> tuple[float, float]:
    """The ends of the axis of changes: all of them and zero, with padding, at least one percent."""
    low, high = min(float(change.min()), 0.0), max(float(change.max()), 0.0)
    air = max(0.12 * (high - low), 0.005)
    return low - air, high + air


def _far_names(
    pairs: Pairs, kept: Array, reach: tuple[float, float], unit: Unit, theme: Theme, pinned: Sequence[str]
) -> list[Spec]:
    """Names of the pinned users and of the six with the largest change, unless they would overlap on a phone."""
    users = pairs.frame["user_id"].tolist()
    order = list(pinned)
    far = sorted(kept.tolist(), key=lambda place: (users[place] not in order, -abs(pairs.change[place])))[
        : 6 + len(order)
    ]
    names = names_of(pairs.frame)
    middle = float(np.median(np.log(pairs.frame["score_b"])))
    logs = np.log(pairs.frame["score_b"].to_numpy(dtype=float))
    width = max(float(np.ptp(logs[kept])), 1e-9)
    taken: list[tuple[float, float, float]] = []
    labels = []
    for place in far:
        leftward = logs[place] > middle
        at = (logs[place] - logs[kept].min()) / width * PHONE
        up = (pairs.change[place] - reach[0]) / (reach[1] - reach[0]) * _DRIFT
        wide = LETTER * min(len(names[place]), _NAME) + 8
        left, right = (at - wide, at) if leftward else (at, at + wide)
        if any(abs(up - other) < LINE and left < end and right > start for other, start, end in taken):
            continue
        taken.append((up, left, right))
        ink = user_style(order.index(users[place]), theme).ink if users[place] in order else theme.text
        labels.append(
            {
                "text": escaped(names[place], _NAME),
                "x": float(np.log10(unit.of(pairs.frame["score_b"].iloc[place]))),
                "y": float(pairs.change[place]),
                "xanchor": "right" if leftward else "left",
                "xshift": -8 if leftward else 8,
                "showarrow": False,
                "font": {"size": SMALL, "color": ink},
            }
        )
    return labels
