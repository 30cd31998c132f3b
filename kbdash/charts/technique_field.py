"""The field by technique: ranks from left to right, a row per technique, a square where a user's best has it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import plain_axis
from kbdash.charts.canvas import Spec, caption, figure, message, rows_of, sign
from kbdash.charts.palette import Theme, theme_of
from kbdash.charts.people import refs_of
from kbdash.charts.rows import Row, arranged
from kbdash.charts.text import escaped
from kbdash.units import Unit, person, time_text

MOST_RANKS = 100
NARROW_RANKS = 30
_ROW = 17
_CELLS = 1500  # most cells of the chart: with many techniques, fewer ranks


def technique_field(ranked: pd.DataFrame, held: Sequence[tuple[str, ...] | None], facets: Sequence[str], unit: Unit,
                    theme: str = "light", *, narrow: bool = False) -> go.Figure:  # fmt: skip
    """The first ranks of one runner; `held` are the techniques of each row's text, `facets` the rows in order."""
    most = min(NARROW_RANKS if narrow else MOST_RANKS, len(ranked), len(held), _CELLS // max(len(facets), 1))
    part = ranked.head(most)
    used = [facet for facet in facets if any(facet in (names or ()) for names in held[:most])]
    if not used:
        return message("No best of the first ranks holds a technique that is known.", theme)
    tokens = theme_of(theme)
    rows = arranged([Row(facet) for facet in used], tokens, narrow=narrow, row=_ROW)
    words = sign("■", f"the best of that rank holds it; the first {most} of {len(ranked)} users", tokens.accent)
    return figure(
        [_squares(part, held, facet, at, unit, tokens, narrow=narrow) for facet, at in zip(used, rows.at, strict=True)],
        tokens,
        height=rows.height + 34 + 50,
        margin={"l": rows.left, "r": 12, "t": 34, "b": 50},
        xaxis=plain_axis(tokens, "rank", range=[0.3, most + 0.7], showgrid=False, tickangle=0, **_ticks(most)),
        yaxis=rows.axis(tokens),
        shapes=[_line(at, tokens) for at in rows.at],
        annotations=[caption(words, tokens, lift=8), *rows.labels],
    )


def _ticks(most: int) -> Spec:
    """Rank 1 and every fifth or tenth."""
    step = 5 if most <= 40 else 10
    places = [1, *range(step, most + 1, step)]
    return {"tickmode": "array", "tickvals": places, "ticktext": [str(place) for place in places]}


def _line(at: float, theme: Theme) -> Spec:
    """A thin line through a row, to guide the eye to its label."""
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at, "layer": "below",
            "line": {"color": theme.grid, "width": 1}}  # fmt: skip


def _squares(part: pd.DataFrame, held: Sequence[tuple[str, ...] | None], facet: str, at: float, unit: Unit,
             theme: Theme, *, narrow: bool) -> Spec:  # fmt: skip
    """The ranks whose best has one technique."""
    holds = [place for place in range(len(part)) if facet in (held[place] or ())]
    rows = part.iloc[holds]
    people = zip(rows["user_name"], rows["user_id"], rows["rank"], rows["score"], strict=True)
    words = [
        f"{escaped(person(name, user))}, rank {rank}, {time_text(score, unit)}" for name, user, rank, score in people
    ]
    size = 8 if narrow else max(4, min(12, 900 // max(len(part), 1) - 2))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": np.array(holds) + 1,
        "y": np.full(len(holds), at),
        "marker": {"symbol": "square", "size": size, "color": theme.accent, "line": {"width": 0}, "opacity": 1},
        "customdata": rows_of([refs_of(rows["submission_id"], rows["runner"]), words]),
        "meta": [facet],
        "hovertemplate": "%{customdata[1]}: holds %{meta[0]}.<extra></extra>",
    }
