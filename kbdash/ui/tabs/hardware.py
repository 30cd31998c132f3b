"""Machines against each other: runners, the on-prem and Modal twins, shapes."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from kbdash import charts
from kbdash.queries import shape_board
from kbdash.ui import cached, engines, parts, share, state, tables
from kbdash.ui.board import Scene
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.units import Unit, time_text

TWINS = {"nvfp4_dual_gemm": "modal_nvfp4_dual_gemm", "modal_nvfp4_dual_gemm": "nvfp4_dual_gemm"}
"""The same task on two kinds of machine, as two boards."""

SHAPE_USERS = 30
KINDS = {"same code": "The same code of the same user", "same user best": "Each user's best on both"}


def show(now: Scene) -> None:
    """The tab."""
    every = {**now.filters, "runner": None}
    bins = cached.distribution(now.board.name, **every)
    if bins.empty:
        parts.nothing("No ranked submission with a time matches these filters.", key="hardware")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="hardware-bar"):
        st.caption("Each user's best per runner, on one time axis.")
        share.toolbar(
            now.view, bins, now.stem("runners"), "distribution", {**now.parameters, "runner": None, "bins": 60},
            key="hardware",
        )  # fmt: skip
    parts.chart(
        made(charts.runner_distributions, bins, now.unit, now.theme),
        key="runners-chart",
        alt=f"Users' best times on {now.board.name}, per runner",
        file_name=now.stem("runners"),
        table=lambda: _summary(now, every),
    )
    if len(now.runners) > 1:
        _ratios(now, every)
    if now.board.name in TWINS:
        _twins(now)
    if now.competition.family == "legacy":
        _shapes(now)


def _summary(now: Scene, every: dict[str, object]) -> pd.DataFrame:
    frame = cached.summary(now.board.name, **every)
    return pd.DataFrame(
        {
            "Runner": tables.runners(frame["runner"]),
            "Submissions": frame["rows"],
            "Passed": frame["passed"],
            "Users": frame["users"],
            f"Best ({now.unit.name})": tables.times(frame["best"], now.unit),
            f"Median of the bests ({now.unit.name})": tables.times(frame["median_best"], now.unit),
        }
    )


def _ratios(now: Scene, every: dict[str, object]) -> None:
    ratios = cached.runner_ratios(now.board.name, **every)
    st.header("Runner against runner", anchor=False)
    for kind, words in KINDS.items():
        part = made(of_kind, ratios, kind)
        if part.empty:
            st.caption(f"{words}: nobody has times on two runners.")
            continue
        st.caption(f"{words}: median of the column's time divided by the row's, and how many pairs it rests on.")
        name = kind.replace(" ", "-")
        parts.chart(
            made(charts.ratio_heatmap, ratios, now.theme, kind),
            key=f"ratio-{name}",
            alt=f"{words}: ratio of times between runners on {now.board.name}",
            file_name=now.stem(f"ratios-{name}"),
            table=partial(tables.readable, part, now.unit),
        )


def of_kind(ratios: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The ratios of one kind of pairs."""
    return ratios[ratios["kind"] == kind]


def _twins(now: Scene) -> None:
    """The on-prem board and the Modal board of the same task, user by user."""
    names = sorted({now.board.name, TWINS[now.board.name]}, reverse=True)
    pairs = cached.paired(names[0], names[1], **{**now.filters, "runner": None})
    labels = tuple(engines.engine().board(name, now.competition.slug).label for name in names)
    st.header("On-prem against Modal", anchor=False)
    if pairs.empty:
        st.caption("Nobody has a time on both boards with these filters.")
        return
    agreement = made(agreement_of, pairs)
    said = "" if agreement is None else f" Rank correlation (Spearman): {agreement:.2f}."
    st.caption(f"{len(pairs)} users with a time on both boards; on the line both are equal.{said}")
    parts.chart(
        made(charts.paired, pairs, now.unit, (labels[0], labels[1]), now.theme),
        key="paired-chart",
        alt=f"Best times of the same users on {names[0]} and {names[1]}",
        file_name=now.stem("paired"),
        table=lambda: tables.readable(pairs, now.unit),
    )


def agreement_of(pairs: pd.DataFrame) -> float | None:
    """How alike two boards rank the same users."""
    return charts.rank_correlation(pairs["score_a"], pairs["score_b"])


def _shapes(now: Scene) -> None:
    """Times per shape against the best of each; the ranking again over the shapes that are ticked."""
    timings = cached.shapes(now.board.name, now.view.users, top=SHAPE_USERS, **now.filters)
    st.header("Shape by shape", anchor=False)
    if timings.empty:
        st.caption("No per-shape timings are logged for these runs.")
        return
    specs = made(specs_of, timings)
    _ticks(now, specs)
    chosen = tuple(shape for shape in specs if shape not in now.view.skip_shapes)
    if not chosen:
        parts.nothing("Every shape is unticked, so there is nothing to rank by.", key="shapes")
        return
    kept = made(of_shapes, timings, chosen)
    ranking = made(shape_board, timings, chosen)
    parts.chart(
        made(charts.shapes, kept, now.unit, now.theme),
        key="shapes-chart",
        alt=f"Time per shape on {now.board.name}, as a multiple of the best",
        file_name=now.stem("shapes"),
        table=lambda: kept,
    )
    _shape_ranking(now, ranking, len(chosen), len(specs))


def specs_of(timings: pd.DataFrame) -> dict[int, str]:
    """The shapes of a board, each with what it stands for."""
    every = timings.drop_duplicates("shape").sort_values("shape")
    return dict(zip(every["shape"].tolist(), every["spec"].tolist(), strict=True))


def of_shapes(timings: pd.DataFrame, chosen: tuple[int, ...]) -> pd.DataFrame:
    """The timings of some shapes."""
    return timings[timings["shape"].isin(chosen)]


def _ticks(now: Scene, specs: Mapping[int, str]) -> None:
    st.multiselect(
        "Shapes left out",
        list(specs),
        format_func=lambda shape: f"{shape}: {specs[shape]}" if shape in specs else str(shape),
        placeholder="All shapes count",
        help="The geometric mean and the ranking below are computed again without them.",
        **state.control("skip_shapes", [shape for shape in now.view.skip_shapes if shape in specs]),
    )


def _shape_ranking(now: Scene, ranking: pd.DataFrame, chosen: int, of: int) -> None:
    official = cached.leaderboard(now.board.name, **now.filters)
    best = ranking["score"].min()
    st.caption(f"Ranking by the geometric mean over {chosen} of {of} shapes; best {time_text(best, now.unit)}.")
    with st.container(horizontal=True, horizontal_alignment="right", key="shapes-bar"):
        share.downloads(ranking, now.stem("shape-ranking"), key="shapes")
    tables.show(
        made(shape_rows, ranking, official, now.unit),
        made(_shape_columns, ranking, now.competition.slug, now.unit),
        key="shapes-table",
        alt=markdown(f"Ranking over shapes of {now.board.name}"),
    )


def shape_rows(ranking: pd.DataFrame, official: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """The ranking over some shapes as the table shows it, beside the board's own."""
    ranks = official.set_index(["user_id", "runner"])["rank"]
    boards = zip(ranking["user_id"], ranking["runner"], strict=True)
    return pd.DataFrame(
        {
            "rank": ranking["rank"],
            "user": tables.names(ranking),
            "time": tables.times(ranking["score"], unit),
            "ratio": ranking["score"] / ranking["score"].min(),
            "code": tables.CODE,
            "official": [ranks.get(board) for board in boards],
        }
    )


def _shape_columns(ranking: pd.DataFrame, competition: str, unit: Unit) -> tables.Columns:
    return {
        "rank": NumberColumn("#", width=48, format="%d"),
        "user": TextColumn("User"),
        "time": tables.time_column("Geometric mean", unit, ranking["score"].min()),
        "ratio": NumberColumn("× best", format="%.2f"),
        "code": tables.code_column("shapes", tables.links(ranking, competition)),
        "official": NumberColumn("# on the board", format="%d"),
    }
