"""How close the field is, with the reader's own time in it."""

from functools import partial

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.dataset.catalog import runner_name
from kbdash.web import answers, chart, share, tables, widgets
from kbdash.web.board import Scene
from kbdash.web.memo import memoise

SPANS = {"field": "The field", "all": "Everybody"}


def show(scene: Scene) -> None:
    """The tab."""
    ranked = answers.leaderboard(scene.board.name, **scene.filters)
    if ranked.empty:
        widgets.nothing("No ranked submission with a time matches these filters.", key="distribution")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="distribution-bar"):
        chart.span_picker(scene.view.span, SPANS)
        share.toolbar(
            scene.view, ranked, scene.stem("field"), "leaderboard", {**scene.parameters, "top": None},
            key="distribution",
        )  # fmt: skip
    for runner in (scene.runner,) if scene.runner else scene.runners:
        _field(scene, memoise(of_runner, ranked, runner), runner)
    st.caption("A block is a user, at their best time. Below: who that is, by rank. Click a dot to open its code.")


def of_runner(ranked: pd.DataFrame, runner: str) -> pd.DataFrame:
    """The ranking of one runner."""
    return ranked[ranked["runner"] == runner]


def _field(scene: Scene, ranked: pd.DataFrame, runner: str) -> None:
    several = scene.runner is None
    if several:
        st.header(runner_name(runner), anchor=False)
    title = f"{scene.board.label}: the field on {runner_name(runner)}"
    chart.show(
        memoise(
            charts.field, ranked, scene.unit, scene.theme, light=scene.board.speed_of_light, mine=scene.view.my_time,
            pinned=scene.view.users, span=scene.view.span,
        ),
        key=f"distribution-chart-{runner}" if several else "distribution-chart",
        title=title,
        alt=f"Each user's best time on {scene.board.name}, {runner_name(runner)}, as a multiple of the best",
        file_name=scene.stem(f"field-{runner}" if several else "field"),
        table=partial(tables.readable, ranked, scene.unit),
        competition=scene.competition.slug,
        opens=tables.open_submission,
    )  # fmt: skip
