"""The field of one board and runner: where everybody stands, how close they are, and where a time would stand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.axes import LOWER_IS_BETTER, plain_axis, ratio_axis
from kbdash.charts.canvas import LETTER, PHONE, SMALL, Array, Spec, figure, message, rows_of, thinned
from kbdash.charts.field_signs import Field, signs
from kbdash.charts.labels import LINE
from kbdash.charts.palette import faded, quiet_color, runner_style, theme_of, user_style
from kbdash.charts.people import names_of, refs_of
from kbdash.charts.span import axis_end
from kbdash.charts.text import escaped
from kbdash.units import Unit, count_text, plural, rank_texts, time_text

_BLOCKS = 72  # pixels of the blocks
_BETWEEN = 14
_RANKS = (130, 430)  # pixels of the ranks, least and most
_ROW = 19  # pixels of a rank while there are few
_FEW = 8  # with no more users, blocks say nothing
_CROWDED = 60  # from this many users on, bins are finer
_DRAWN = 800  # dots of one chart
_BLOCKY = 30  # up to this many users in a bin, each is a block
_NAME = 16
_BESIDE = 7  # pixels from a dot to its name
_EDGE = 8  # pixels between the outer dots and the edge
_TIGHT = 12  # pixels of a rank below which names move off the curve


def field(
    ranked: pd.DataFrame,
    unit: Unit,
    theme: str = "light",
    *,
    light: float | None = None,
    mine: float | None = None,
    pinned: Sequence[str] = (),
    span: str = "field",
) -> go.Figure:
    """One runner's ranking as a picture: a block per user above, the rank curve below; `mine` in seconds."""
    frame = ranked[ranked["ratio"].notna()].sort_values(["score", "rank"], kind="stable").reset_index(drop=True)
    if frame.empty:
        return message("No ranked submission with a time matches these filters.", theme)
    tokens = theme_of(theme)
    scores = frame["score"].to_numpy(dtype=float)
    style = runner_style(frame["runner"].iloc[0], tokens).filled
    end = axis_end(scores, span=span)
    drawn = Field(frame, np.log(scores / scores[0]), scores[0], end, unit, tokens, style, mine)
    return _drawn(drawn, pinned, _title(drawn, len(ranked), light))


def _drawn(drawn: Field, pinned: Sequence[str], title: str) -> go.Figure:
    theme, count = drawn.theme, len(drawn.inside)
    blocks = _BLOCKS + _BETWEEN if len(drawn.frame) > _FEW else 0
    ranks = min(max(_ROW * count, _RANKS[0]), _RANKS[1])
    plot = blocks + ranks
    edge = max(0.9, _EDGE * count / ranks)
    labels, lines, room = signs(drawn, plot)
    below = 62 + LINE * title.count("<br>")
    users: Spec = {"visible": False}
    if blocks:
        users = plain_axis(
            theme, "users", domain=[1 - _BLOCKS / plot, 1], rangemode="tozero", nticks=4, tickformat=",d"
        )
    return figure(
        [*_curve(drawn, pinned), *(_blocks(drawn) if blocks else [])],
        theme,
        height=plot + room + below,
        margin={"l": 46, "r": 12, "t": room, "b": below},
        barmode="overlay",
        xaxis=ratio_axis(drawn.end.ratio, theme, title, drawn.best, drawn.unit) | {"range": [drawn.left, drawn.right]},
        yaxis=_rank_axis(drawn, count, ranks / plot, edge),
        yaxis2=users,
        shapes=lines,
        annotations=[*labels, *_names(drawn, pinned, ranks / (count - 1 + 2 * edge))],
    )


def _title(drawn: Field, ranked: int, light: float | None) -> str:
    """The title of the axis, with the speed of light and what is not drawn."""
    lines = [f"× the best time, {LOWER_IS_BETTER}"]
    if light:
        lines.append(f"the best is {drawn.best / light:.2f} × the speed of light")
    if left_out := ranked - len(drawn.frame):
        lines.append(f"{plural(left_out, 'impossible time')} ranked last and not drawn")
    if len(drawn.inside) > _DRAWN:
        lines.append(f"{count_text(_DRAWN)} of {plural(len(drawn.inside), 'user')} have a dot")
    return "<br>".join(lines)


def _rank_axis(drawn: Field, count: int, share: float, edge: float) -> Spec:
    """Ranks, the first on top; the tick of a row is its rank, which ties share."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000) if count / step <= 8 or step == 2000)
    ticks = [1, *range(step if step > 1 else 2, count + 1, step)]
    ranks = rank_texts(drawn.frame["rank"].tolist())
    texts = {"tickmode": "array", "tickvals": ticks, "ticktext": [ranks[place - 1] for place in ticks]}
    return plain_axis(drawn.theme, "rank", domain=[0, share], range=[count + edge, 1 - edge]) | texts


def _curve(drawn: Field, pinned: Sequence[str]) -> list[Spec]:
    """Everybody inside the axis as a dot on the curve of ranks; pinned users in their own look."""
    inside = drawn.inside
    users = drawn.frame["user_id"].to_numpy(dtype=object)[inside]
    is_pinned = np.isin(users, list(pinned))
    kept = thinned(is_pinned | (inside < 10), _DRAWN)
    line: Spec = {"shape": "hv", "width": 1.2, "color": faded(drawn.style.color, 0.55)}
    steps = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": line}
    others, mine = kept[~is_pinned[kept]], kept[is_pinned[kept]]
    size = 8 if len(inside) <= 40 else 6
    traces = [
        steps | {"x": drawn.ratios[kept], "y": kept + 1.0},
        _dots(drawn, others) | {"marker": _marker(drawn.style.color, drawn.style.marker, size)},
    ]
    looks = [user_style(list(pinned).index(user), drawn.theme) for user in users[mine]]
    if looks:
        marker = _marker([look.color for look in looks], [look.marker for look in looks], 11)
        traces.append(_dots(drawn, mine) | {"marker": marker})
    return traces


def _marker(color: object, symbol: object, size: int) -> Spec:
    return {"color": color, "symbol": symbol, "size": size, "opacity": 1, "line": {"width": 0}}


def _dots(drawn: Field, places: Array) -> Spec:
    part = drawn.frame.iloc[places]
    gaps = [_gap(gap, rank, drawn.unit) for gap, rank in zip(part["gap"], part["rank"], strict=True)]
    facts: list[Any] = [
        refs_of(part["submission_id"], part["runner"]),
        [escaped(name) for name in names_of(part)],
        [time_text(score, drawn.unit) for score in part["score"]],
        np.array(rank_texts(drawn.frame["rank"].tolist()), dtype=object)[places],
        [f"{ratio:.3f}" for ratio in part["ratio"]],
        gaps,
    ]
    of = count_text(len(drawn.frame))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": drawn.ratios[places],
        "y": places + 1.0,
        "customdata": rows_of(facts),
        "hovertemplate": (
            f"%{{customdata[1]}}: %{{customdata[2]}}, rank %{{customdata[3]}} of {of},"
            "<br>%{customdata[4]} × the best%{customdata[5]}.<extra></extra>"
        ),
    }


def _gap(gap: float, rank: int, unit: Unit) -> str:
    return "" if pd.isna(gap) or rank == 1 else f", {time_text(gap, unit)} behind the next-better rank"


def _blocks(drawn: Field) -> list[Spec]:
    """A block per user, in bins; users beyond the end of the axis are grey blocks after it."""
    bins = 24 if len(drawn.frame) < _CROWDED else 40
    width = drawn.far / bins
    counts = np.bincount(np.minimum((drawn.ratios[drawn.inside] / width).astype(int), bins - 1), minlength=bins)
    colors = drawn.style.color, quiet_color(drawn.theme)
    traces = [_stack((np.arange(bins) + 0.5) * width, counts, width, colors[0], drawn)]
    if drawn.end.beyond:
        room = 0.09 * drawn.far
        columns = min(-(-drawn.end.beyond // max(int(counts.max()), 4)), 3)
        behind = np.array(
            [drawn.end.beyond // columns + (place < drawn.end.beyond % columns) for place in range(columns)]
        )
        centres = drawn.far * 1.03 + (np.arange(columns) + 0.5) * room / columns
        traces.append(_stack(centres, behind, room / columns, colors[1], drawn))
    return traces


def _stack(centres: Array, counts: Array, width: float, color: str, drawn: Field) -> Spec:
    blocky = counts.max() <= _BLOCKY
    x = np.repeat(centres, counts) if blocky else centres[counts > 0]
    base = np.concatenate([np.arange(count) for count in counts]) if blocky else np.zeros(len(x))
    height = np.ones(len(x)) if blocky else counts[counts > 0]
    per_bin = np.repeat(counts, counts) if blocky else counts[counts > 0]
    return {
        "type": "bar",
        "x": x,
        "y": height,
        "base": base,
        "width": np.full(len(x), width),
        "yaxis": "y2",
        "marker": {"color": color, "line": {"width": 1, "color": drawn.theme.background}},
        "text": [plural(int(count), "user") for count in per_bin],
        "textposition": "none",
        "hovertemplate": "%{text} here.<extra></extra>",
    }


def _names(drawn: Field, pinned: Sequence[str], height: float) -> list[Spec]:
    """Names beside the dots, as many as fit; the first three and the pinned users have priority."""
    inside = drawn.inside
    pins = set(pinned)
    users, names = drawn.frame["user_id"].tolist(), names_of(drawn.frame)
    tied = rank_texts(drawn.frame["rank"].tolist())
    wanted = sorted(inside.tolist(), key=lambda place: (users[place] not in pins, place >= 3, place))
    taken: list[float] = []
    labels = []
    for place in wanted:
        y = place * height
        if all(abs(y - other) >= LINE for other in taken):
            taken.append(y)
            text = f"{tied[place]}  {escaped(names[place], _NAME)}"
            length = LETTER * (len(tied[place]) + 2 + min(len(names[place]), _NAME))
            leftward = drawn.place(float(drawn.ratios[place])) > max(1 / 3, (length + _BESIDE) / PHONE)
            spec = _name(drawn, place, text, leftward=leftward, tight=height < _TIGHT)
            labels.append(_as_pinned(spec, drawn, list(pinned).index(users[place])) if users[place] in pins else spec)
    return labels


def _name(drawn: Field, place: int, text: str, *, leftward: bool, tight: bool) -> Spec:
    """A name beside its dot. Where dots are close, it is above to the right or below to the left: the curve, which
    falls to the right, never comes there."""
    return {
        "text": text,
        "x": float(drawn.ratios[place]),
        "y": place + 1,
        "xanchor": "right" if leftward else "left",
        "xshift": -_BESIDE if leftward else _BESIDE,
        "yanchor": "middle",
        "yshift": 0 if not tight else -6 if leftward else 6,
        "showarrow": False,
        "borderpad": 0,
        "bgcolor": faded(drawn.theme.background, 0 if tight else 0.75),
        "font": {"size": SMALL, "color": drawn.theme.text if place < 3 else drawn.theme.muted},
    }


def _as_pinned(name: Spec, drawn: Field, pin: int) -> Spec:
    ink = user_style(pin, drawn.theme).ink
    return name | {"text": f"<b>{name['text']}</b>", "font": name["font"] | {"color": ink}}
