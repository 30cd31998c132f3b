"""Techniques in the kernels of a board: who uses them, since when, and how fast those users are."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.content.techniques import WITHOUT, rules
from kbdash.dataset.catalog import runner_name
from kbdash.units import Unit, count_text, person
from kbdash.view import CompetitionView, SubmissionView, href
from kbdash.web import answers, chart, share, table, tables, widgets
from kbdash.web.board import Scene
from kbdash.web.cells import Column
from kbdash.web.content import pickers, store_panel
from kbdash.web.memo import memoise
from kbdash.web.tables import rows

WHAT = "With it this tab says which techniques the texts hold, since when, and how fast those users are."
CARE = (
    "A text that holds a technique is no proof that it runs, and a difference in time is no proof of a cause: who "
    "uses a technique differs in other ways too."
)


def show(scene: Scene) -> None:
    """The tab."""
    if store_panel.missing(scene.competition.slug, WHAT):
        return
    view = scene.view
    asked: dict[str, Any] = {
        "competition": scene.competition.slug, "since": view.since, "until": view.until, "facets": view.facets,
    }  # fmt: skip
    found = answers.techniques(scene.board.name, scene.runner, **asked)
    with st.container(horizontal=True, vertical_alignment="center", key="techniques-bar"):
        pickers.facets("Only texts that hold, on every tab", view.facets, bare=True)
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="techniques-tools"):
            path = share.data_path("techniques", {"problem": scene.board.name, "runner": scene.runner, **asked})
            share.copy_links(view, path, key="techniques")
            share.downloads(found, scene.stem("techniques"), key="techniques")
    st.caption(f":material/info: {CARE}")
    if found.empty:
        widgets.nothing("No text that matches these filters holds a known technique.", key="techniques")
        return
    shown = memoise(shown_rows, found, view, scene.competition.slug)
    table.show(shown, columns(scene.unit), key="techniques-table", caption=f"Techniques on {scene.board.name}")
    _field(scene, found)
    _adoption(scene, found, asked)


def shown_rows(found: pd.DataFrame, view: CompetitionView, slug: str) -> pd.DataFrame:
    """Table rows of techniques, with links that filter the whole page by them."""
    explained = {facet.name: facet.text for facet in rules().facets}
    every = rows(found)
    first = (SubmissionView(id=int(row["first_submission_id"]), competition=slug) for row in every)
    narrow: list[Any] = [
        [(word, href(slug, narrowed(view, name))) for word, name in _choices(row["facet"])] for row in every
    ]
    return found.assign(
        about=[explained.get(row["facet"], "") for row in every],
        narrow=narrow,
        by=[person(row["first_user_name"], None) for row in every],
        code=[href("submission", each) for each in first],
    )


def _choices(facet: str) -> tuple[tuple[str, str], ...]:
    return ("only", facet), ("without", f"{WITHOUT}{facet}")


def narrowed(view: CompetitionView, facet: str) -> CompetitionView:
    """The view of the leaderboard with a technique, or without it."""
    name = facet.removeprefix(WITHOUT)
    others = tuple(each for each in view.facets if each.removeprefix(WITHOUT) != name)
    return replace(view, facets=(*others, facet), tab="leaderboard", page=1)


def columns(unit: Unit) -> tuple[Column, ...]:
    """Columns in reading order; a phone shows the first ones."""
    return (
        Column("facet", "Technique", "name", note="about"),
        Column("narrow", "Leaderboard", "links"),
        Column("share", "Users", "share", unit="%", help="Share of all users who ever sent a text that holds it."),
        Column("share_top10", "First ten", "share", unit="%", places=0, help="Share of the first ten whose best does."),
        Column("best_score", "Best", "time", unit=unit, help="The best time of a user's best that holds it."),
        Column("median_with", "Median with", "time", unit=unit, help="Median of the users' bests that hold it."),
        Column("median_without", "without", "time", unit=unit, help="Median of the users' bests that do not."),
        Column("by", "First by", width=18, link="code"),
        Column("first_at", "First (UTC)", "day"),
        Column("submissions", "Submissions", "whole"),
        Column("group", "Group"),
    )


def _field(scene: Scene, found: pd.DataFrame) -> None:
    """Rank against technique, on one runner."""
    runner = scene.runner or (scene.runners[0] if scene.runners else None)
    if runner is None:
        return
    asked = {**scene.filters, "runner": runner}
    ranked = answers.leaderboard(scene.board.name, **asked)
    if ranked.empty:
        return
    ranked = memoise(with_ids, ranked)
    pairs = memoise(submissions_of, ranked, charts.FIELD_RANKS)
    held = tuple(answers.facets_of_many(scene.competition.slug, pairs))
    narrow = widgets.narrow()
    st.header("The field by technique", anchor=False)
    chart.show(
        memoise(charts.technique_field, ranked, held, tuple(found["facet"]), scene.unit, scene.theme, narrow=narrow),
        key="technique-field",
        title=f"Techniques by rank, {scene.board.name}, {runner_name(runner)}",
        alt=f"Which of {count_text(len(found))} techniques the bests of the first ranks hold",
        file_name=scene.stem("technique-field"),
        table=lambda: field_table(ranked, held),
        competition=scene.competition.slug,
        opens=tables.open_submission,
    )


def with_ids(ranked: pd.DataFrame) -> pd.DataFrame:
    """The ranked rows that can be opened."""
    return ranked.dropna(subset="submission_id").reset_index(drop=True)


def submissions_of(ranked: pd.DataFrame, most: int) -> tuple[tuple[int, str | None], ...]:
    """Id and runner of the first rows."""
    part = ranked.head(most)
    return tuple((int(id_), str(runner)) for id_, runner in zip(part["submission_id"], part["runner"], strict=True))


def field_table(ranked: pd.DataFrame, held: tuple[tuple[str, ...] | None, ...]) -> pd.DataFrame:
    """The chart as a table: rank, user, and the techniques of their best."""
    part = ranked.head(len(held))
    return pd.DataFrame(
        {
            "rank": part["rank"],
            "user": tables.names(part),
            "techniques": [", ".join(names) if names else "" for names in held],
        }
    )


def _adoption(scene: Scene, found: pd.DataFrame, asked: dict[str, Any]) -> None:
    first = answers.adoption(scene.board.name, scene.runner, **asked)
    st.header("How techniques spread", anchor=False)
    chart.show(
        memoise(charts.adoption, first, everybody(found), scene.theme, narrow=widgets.narrow()),
        key="technique-adoption",
        title=f"Users who ever used a technique, {scene.board.name}",
        alt="Users who ever used each technique, over time",
        file_name=scene.stem("technique-adoption"),
        table=lambda: first,
    )


def everybody(found: pd.DataFrame) -> int:
    """The number of users that the shares refer to."""
    return round(float(found["users"].iloc[0]) / float(found["share"].iloc[0]))
