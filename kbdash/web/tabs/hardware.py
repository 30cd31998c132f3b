"""Machines against each other: runners, the twin boards of one task, shapes."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.database.standings import shape_board
from kbdash.dataset.model import Board, Competition
from kbdash.units import Unit, plural, time_text
from kbdash.web import answers, chart, share, state, table, tables, widgets
from kbdash.web.board import Scene
from kbdash.web.cells import Column
from kbdash.web.memo import memoise

SHAPE_USERS = 30
SPANS = {"field": "The field", "all": "Everybody"}


def show(scene: Scene) -> None:
    """The tab."""
    every = {**scene.filters, "runner": None}
    ranked = answers.leaderboard(scene.board.name, **every)
    if ranked.empty:
        widgets.nothing("No ranked submission with a time matches these filters.", key="hardware")
        return
    if not offered(scene):
        st.caption("This board has one runner, so there is nothing to compare.")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="hardware-bar"):
        if len(scene.runners) > 1:
            st.caption("Each user's best per runner, on one time axis; a line joins the same user.", width="content")
        if len(scene.runners) > 1 or scene.board.twin:  # a heat map of shapes has no time axis
            chart.span_picker(scene.view.span, SPANS)
        share.toolbar(
            scene.view, ranked, scene.stem("runners"), "leaderboard", {**scene.parameters, "runner": None, "top": None},
            key="hardware",
        )  # fmt: skip
    if len(scene.runners) > 1:
        _runners(scene, ranked, every)
        _ratios(scene, ranked, every)
    if scene.board.twin:
        _twins(scene)
    if scene.competition.has_shapes:
        _shapes(scene)


def offered(scene: Scene) -> bool:
    """Whether a board has machines or shapes to compare."""
    return bool(len(scene.runners) > 1 or scene.board.twin or scene.competition.has_shapes)


def _runners(scene: Scene, ranked: pd.DataFrame, every: dict[str, Any]) -> None:
    chart.show(
        memoise(charts.runner_strips, ranked, scene.unit, scene.theme, pinned=scene.view.users, span=scene.view.span),
        key="runners-chart",
        title=f"{scene.board.label}: each user's best per runner",
        alt=f"Users' best times on {scene.board.name}, per runner",
        file_name=scene.stem("runners"),
        table=lambda: _summary(scene, every),
        competition=scene.competition.slug,
        opens=tables.open_submission,
    )


def _summary(scene: Scene, every: dict[str, Any]) -> pd.DataFrame:
    frame = answers.summary(scene.board.name, **every)
    return pd.DataFrame(
        {
            "Runner": tables.runners(frame["runner"]),
            "Submissions": frame["rows"],
            "Passed": frame["passed"],
            "Users": frame["users"],
            f"Best ({scene.unit.name})": tables.times(frame["best"], scene.unit),
            f"Median of the bests ({scene.unit.name})": tables.times(frame["median_best"], scene.unit),
        }
    )


def _ratios(scene: Scene, ranked: pd.DataFrame, every: dict[str, Any]) -> None:
    ratios = answers.runner_ratios(scene.board.name, **every)
    st.header("Runner against runner", anchor=False)
    st.caption("How many times as long one runner takes as another: the same code, and each user's best on both.")
    chart.show(
        memoise(charts.forest, ratios, memoise(fastest_first, ranked), scene.theme),
        key="forest-chart",
        title=f"{scene.board.label}: runner against runner",
        alt=f"Ratios of times between runners on {scene.board.name}",
        file_name=scene.stem("ratios"),
        table=lambda: tables.readable(ratios, scene.unit),
    )


def fastest_first(ranked: pd.DataFrame) -> tuple[str, ...]:
    """The runners of a ranking by their best time."""
    possible = ranked[ranked["ratio"].notna()]
    return tuple(possible.groupby("runner")["score"].min().sort_values().index)


def twins_of(competition: Competition, board: Board) -> tuple[Board, Board]:
    """A board and its twin, in the order of the catalog."""
    first, second = (other for other in competition.boards if other.name in (board.name, board.twin))
    return first, second


def machines_of(twins: tuple[Board, Board]) -> tuple[str, str]:
    """What the machines of twin boards are called."""
    first, second = (board.machines or board.label for board in twins)
    return first, second


def _twins(scene: Scene) -> None:
    """Two boards of the same task, user by user."""
    twins = twins_of(scene.competition, scene.board)
    names, machines = [board.name for board in twins], machines_of(twins)
    against = " against ".join(machines)
    pairs = answers.paired(names[0], names[1], **{**scene.filters, "runner": None})
    st.header(f"{against[:1].upper()}{against[1:]}", anchor=False)
    if pairs.empty:
        st.caption("Nobody has a time on both boards with these filters.")
        return
    agreement = memoise(agreement_of, pairs)
    said = "" if agreement is None else f" Rank correlation (Spearman): {agreement:.2f}."
    few = len(pairs) <= charts.MOST_ROWS
    left_out = "" if few else f" The first {charts.MOST_ROWS} by rank and pinned users are drawn."
    st.caption(f"{plural(len(pairs), 'user')} with a time on both boards; ranks are among them.{said}{left_out}")
    common: dict[str, Any] = {"pinned": scene.view.users, "span": scene.view.span}
    figures = {"paired": memoise(
        charts.dumbbell, pairs, scene.unit, machines, scene.theme, narrow=widgets.narrow(), **common
    )}  # fmt: skip
    if not few:
        figures["drift"] = memoise(charts.drift, pairs, scene.unit, machines, scene.theme, **common)
    for name, figure in figures.items():
        chart.show(
            figure,
            key=f"{name}-chart",
            title=f"{scene.board.label}: {against}",
            alt=f"Best times of the same users on {names[0]} and {names[1]}",
            file_name=scene.stem(name),
            table=lambda: tables.readable(pairs, scene.unit),
            competition=scene.competition.slug,
            opens=tables.open_submission,
        )


def agreement_of(pairs: pd.DataFrame) -> float | None:
    """How alike two boards rank the same users."""
    return charts.rank_correlation(pairs["score_a"], pairs["score_b"])


def _shapes(scene: Scene) -> None:
    """Times per shape against the best of each; the ranking again over the shapes that are ticked."""
    timings = answers.shapes(scene.board.name, users=scene.view.users, top=SHAPE_USERS, **scene.filters)
    with st.container(horizontal=True, vertical_alignment="center", key="shapes-head"):
        st.header("Shape by shape", anchor=False, width="content")
        specs = memoise(specs_of, timings)
        if specs:
            _ticks(scene, specs)
    if timings.empty:
        st.caption("No per-shape timings are logged for these runs.")
        return
    chosen = tuple(shape for shape in specs if shape not in scene.view.skip_shapes)
    if not chosen:
        widgets.nothing("Every shape is unticked, so there is nothing to rank by.", key="shapes")
        return
    kept = memoise(of_shapes, timings, chosen)
    ranking = memoise(shape_board, timings, chosen)
    chart.show(
        memoise(charts.shapes, kept, scene.unit, scene.theme, narrow=widgets.narrow()),
        key="shapes-chart",
        title=f"{scene.board.label}: shape by shape",
        alt=f"Time per shape on {scene.board.name}, as a multiple of the best",
        file_name=scene.stem("shapes"),
        table=lambda: kept,
        competition=scene.competition.slug,
        opens=tables.open_submission,
    )
    _shape_ranking(scene, ranking, len(chosen), len(specs))


def specs_of(timings: pd.DataFrame) -> dict[int, str]:
    """The shapes of a board, each with what it stands for."""
    every = timings.drop_duplicates("shape").sort_values("shape")
    return dict(zip(every["shape"].tolist(), every["spec"].tolist(), strict=True))


def of_shapes(timings: pd.DataFrame, chosen: tuple[int, ...]) -> pd.DataFrame:
    """The timings of some shapes."""
    return timings[timings["shape"].isin(chosen)]


def _ticks(scene: Scene, specs: Mapping[int, str]) -> None:
    st.multiselect(
        "Shapes left out",
        list(specs),
        label_visibility="collapsed",
        width=420,
        format_func=lambda shape: f"{shape}: {specs[shape]}" if shape in specs else str(shape),
        placeholder="All shapes count; leave some out",
        help="The geometric mean and the ranking below are computed again without them.",
        **state.control("skip_shapes", [shape for shape in scene.view.skip_shapes if shape in specs]),
    )


def _shape_ranking(scene: Scene, ranking: pd.DataFrame, chosen: int, of: int) -> None:
    official = answers.leaderboard(scene.board.name, **scene.filters)
    best = ranking["score"].min()
    with st.container(horizontal=True, vertical_alignment="center", key="shapes-bar"):
        st.caption(f"Ranking by the geometric mean over {chosen} of {of} shapes; best {time_text(best, scene.unit)}.")
        share.downloads(ranking, scene.stem("shape-ranking"), key="shapes")
    table.show(
        memoise(shape_rows, ranking, official, scene.competition.slug, scene.competition.anonymous),
        shape_columns(scene.unit, best),
        key="shapes-table",
        caption=f"Ranking over shapes of {scene.board.name}",
        refs="ref",
    )


def shape_rows(ranking: pd.DataFrame, official: pd.DataFrame, competition: str, anonymous: bool) -> pd.DataFrame:
    """The ranking over some shapes as the table shows it, beside the board's own."""
    ranks = official.set_index(["user_id", "runner"])["rank"]
    boards = zip(ranking["user_id"], ranking["runner"], strict=True)
    codes = tables.code_addresses(ranking, competition)
    return pd.DataFrame(
        {
            "rank": ranking["rank"],
            "user": tables.names(ranking),
            "page": tables.user_addresses(ranking["user_id"], anonymous=anonymous),
            "score": ranking["score"],
            "ratio": ranking["score"] / ranking["score"].min(),
            "word": tables.code_words(codes),
            "code": codes,
            "official": [ranks.get(board) for board in boards],
            "ref": tables.refs(ranking, competition),
        }
    )


def shape_columns(unit: Unit, best: float) -> tuple[Column, ...]:
    """Columns of the ranking over shapes in reading order."""
    return (
        Column("rank", "#", "rank"),
        Column("user", "User", "name", link="page"),
        tables.time_column("score", "Geometric mean", unit, best),
        Column("ratio", "× best", "ratio", help="Time divided by the best time. The bar is the speed."),
        tables.code_column(),
        Column("official", "# on the board", "whole"),
    )
