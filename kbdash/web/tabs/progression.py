"""How the board got fast: attempts, records, ranks over time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.charts.people import final_order, shown_users
from kbdash.database.questions.boards import RECORDS
from kbdash.database.standings import rank_changes
from kbdash.dataset.catalog import runner_name
from kbdash.units import Unit, duration_text, plural
from kbdash.view import LadderView, href
from kbdash.web import answers, chart, share, state, table, tables, widgets
from kbdash.web.board import Scene, people
from kbdash.web.cells import Column
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise

SPANS = {"field": "The field", "final": "The final", "all": "Everything"}
NEWEST = "-submitted_at"
RANKS = {"bump": "Lines", "lanes": "Timetable"}
DAY = 86_400  # seconds


def show(scene: Scene) -> None:
    """The tab."""
    if not scene.runners:
        widgets.nothing("No runs on this board yet.", key="progression")
        return
    runner = scene.runner or scene.runners[0]
    asked = {**scene.filters, "runner": runner}
    bests = memoise(tables.dated, answers.personal_bests(scene.board.name, **asked))
    if bests.empty:
        widgets.nothing("No ranked run with a time and a date matches these filters.", key="progression")
        return
    ranked = answers.leaderboard(scene.board.name, **asked)
    _bar(scene, bests, runner)
    _progression(scene, bests, asked)
    _ladders(scene, memoise(people, ranked), memoise(users_to_show, ranked, scene.view.users), runner)
    _ranks(scene, bests)
    order = tables.order_of(RECORDS, scene.view.order) or NEWEST
    _records(scene, answers.records(scene.board.name, order=order, **asked), order, runner)


def best_so_far(scene: Scene) -> None:
    """Only the chart, to show beside a table; nothing if no time has a date."""
    if not scene.runners:
        return
    asked = {**scene.filters, "runner": scene.runner or scene.runners[0]}
    bests = memoise(tables.dated, answers.personal_bests(scene.board.name, **asked))
    if len(bests):
        _progression(scene, bests, asked)


def users_to_show(ranked: pd.DataFrame, pinned: tuple[str, ...]) -> tuple[str, ...]:
    """The pinned users, or the first five ranks if nobody is pinned."""
    return shown_users(ranked["user_id"].tolist(), pinned)


def only_pin(bests: pd.DataFrame, pinned: tuple[str, ...]) -> str | None:
    """The one pinned user, when exactly one of the pinned has a time here."""
    there = [user for user in pinned if user in set(bests["user_id"])]
    return there[0] if len(there) == 1 else None


def _bar(scene: Scene, bests: pd.DataFrame, runner: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="progression-bar"):
        chart.span_picker(scene.view.span, SPANS)
        machine = f" on {runner_name(runner)}" if len(scene.runners) > 1 else ""
        count = plural(bests["user_id"].nunique(), "user")
        st.caption(f"Best so far of {count}{machine}. Click a point to open its code.", width="content")
        share.toolbar(
            scene.view, bests, scene.stem("progression"), "personal_bests", {**scene.parameters, "runner": runner},
            key="progression",
        )  # fmt: skip


def _progression(scene: Scene, bests: pd.DataFrame, asked: dict[str, Any]) -> None:
    """Everybody's best so far; all attempts only of a user who is pinned alone."""
    pin = memoise(only_pin, bests, scene.view.users)
    attempts = answers.progression(scene.board.name, users=(pin,), **asked) if pin else None
    chart.show(
        memoise(
            charts.progression, bests, scene.unit, scene.theme, attempts, deadline=scene.board.deadline,
            until=scene.view.until, pinned=scene.view.users, span=scene.view.span, mine=scene.view.my_time,
        ),
        key="progression-chart",
        title=f"{scene.board.label}: best so far",
        alt=f"Best times so far on {scene.board.name}, and who held the record",
        file_name=scene.stem("progression"),
        table=lambda: tables.readable(bests, scene.unit),
        competition=scene.competition.slug,
        opens=tables.open_submission,
    )  # fmt: skip


def _ladders(scene: Scene, ranked: Mapping[str, str], users: Sequence[str], runner: str) -> None:
    """Links to the ladders of the users."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="progression-ladders"):
        st.caption("Ladder of", width="content")
        for user, name in ranked.items():
            if user in users:
                ladder = LadderView(
                    scene.competition.slug, scene.board.name, runner, user, scene.view.since, scene.view.until
                )
                st.page_link(
                    state.target("ladder"), label=markdown(name), icon=":material/stairs:", query_params=ladder.query()
                )


def _ranks(scene: Scene, bests: pd.DataFrame) -> None:
    """Who led, and with one user pinned who passed whom."""
    pin = memoise(only_pin, bests, scene.view.users)
    view = scene.view
    with st.container(horizontal=True, vertical_alignment="center", key="ranks-bar"):
        st.header("Passed by" if pin and view.ranks == "bump" else "Rank over time", anchor=False, width="content")
        st.segmented_control(
            "Ranks as", list(RANKS), format_func=lambda name: RANKS[name], required=True,
            label_visibility="collapsed", **state.control("ranks", view.ranks),
        )  # fmt: skip
    common: dict[str, Any] = {"until": view.until, "span": view.span}
    if view.ranks == "lanes":
        figure = memoise(charts.lanes, bests, scene.unit, scene.theme, pinned=view.users, **common)
    elif pin:
        figure = memoise(charts.passed_by, bests, pin, scene.theme, narrow=widgets.narrow(), **common)
    else:
        figure = memoise(charts.bump, bests, scene.theme, pinned=view.users, **common)
    chart.show(
        figure,
        key="bump-chart",
        title=f"{scene.board.label}: rank over time",
        alt=f"Ranks over time on {scene.board.name}",
        file_name=scene.stem("ranks"),
        table=lambda: tables.readable(memoise(rank_rows, bests, view.users), scene.unit),
        competition=scene.competition.slug,
        opens=tables.open_submission,
    )


def rank_rows(bests: pd.DataFrame, pinned: tuple[str, ...]) -> pd.DataFrame:
    """Every change of rank of the pinned, or of the first ten, newest first."""
    changes = rank_changes(bests, shown_users(final_order(bests), pinned, 10))
    names = dict(zip(bests["user_id"], bests["user_name"], strict=True))
    named = changes.assign(user_name=changes["user_id"].map(names))
    return named.sort_values("at", ascending=False, kind="stable").reset_index(drop=True)


def _records(scene: Scene, records: pd.DataFrame, order: str, runner: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="records-bar"):
        st.header("Records", anchor=False, width="content")
        st.caption("Each time the best of the whole field was broken.", width="content")
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="records-tools"):
            asked = {**scene.parameters, "runner": runner, "order": order}
            share.copy_links(None, share.data_path("records", asked), key="records")
            share.downloads(records, scene.stem("records"), key="records")
    slug = scene.competition.slug
    table.show(
        memoise(record_rows, records, slug, scene.competition.anonymous),
        record_columns(scene.unit, records["score"].min(), memoise(gain_places, records)),
        key="records-table",
        caption=f"Records of {scene.board.name}",
        order=table.Order(
            order,
            lambda asked: href(slug, replace(scene.view, order="" if asked == NEWEST else asked)),
        ),
        refs="ref",
    )


def record_rows(records: pd.DataFrame, competition: str, anonymous: bool) -> pd.DataFrame:
    """Table rows of the records."""
    codes = tables.code_addresses(records, competition, walk="user")
    return pd.DataFrame(
        {
            "at": records["submitted_at"],
            "user": tables.names(records),
            "page": tables.user_addresses(records["user_id"], anonymous=anonymous),
            "score": records["score"],
            "flags": records["flags"],
            "word": tables.code_words(codes),
            "code": codes,
            "gain": -records["gain"],
            "held": [duration_text(days * DAY) for days in records["held_days"].tolist()],
            "state": ["standing" if pd.isna(end) else "" for end in records["until_at"]],
            "ref": tables.refs(records, competition),
        }
    )


def gain_places(records: pd.DataFrame) -> int:
    """Decimals of the gains in percent: two where one would write a record's gain as 0.0."""
    return 2 if (records["gain"] < 0.0005).any() else 1


def record_columns(unit: Unit, best: float, places: int = 1) -> tuple[Column, ...]:
    """Columns of the records in reading order; `places` are the decimals of the gains."""
    return (
        Column("at", "Set", "minute", "UTC", sort="submitted_at", first="descending"),
        Column("user", "Holder", "name", link="page", sort="user_name"),
        tables.time_column("score", "Time", unit, best, mark="flags", sort="score"),
        tables.code_column(),
        Column(
            "gain", "Gain", "share", "%", places=places, help="vs. the previous record.", sort="gain",
            first="descending",
        ),
        Column("held", "Held for", sort="held_days", first="descending"),
        Column("state", "Now"),
    )  # fmt: skip
