"""The front page: every competition with its problems, who is fastest on each, and what to beware of."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import ButtonColumn, LineChartColumn, NumberColumn, TextColumn

from kbdash.catalog import runner_name
from kbdash.model import Competition
from kbdash.ui import cached, engines, parts, share, state, tables
from kbdash.ui.board import person
from kbdash.ui.escape import markdown
from kbdash.units import MISSING, count_text, day_text, share_text, time_text, unit_for
from kbdash.view import CompetitionView, OverviewView, SubmissionView, UserView


def show() -> None:
    """The whole page."""
    view = state.view(OverviewView)
    kb = engines.engine()
    st.title("GPU kernel competitions", anchor=False)
    parts.link_notes()
    frame = cached.overview()
    st.markdown("Who is fastest, on which hardware, by how much, how they got there, and the code that did it.")
    parts.tiles(totals(frame, kb.competitions), key="overview")
    with st.container(horizontal=True, vertical_alignment="bottom", key="overview-bar"):
        _find_person()
        share.toolbar(view, frame.drop(columns=["trend"]), share.file_stem("overview"), "overview", {}, key="overview")
    for competition in kb.competitions:
        rows = frame[frame["competition"] == competition.slug].reset_index(drop=True)
        _competition(competition, rows, kb.unavailable.get(competition.slug))


def totals(frame: pd.DataFrame, competitions: Sequence[Competition]) -> list[parts.Tile]:
    """The whole dataset in four numbers."""
    rows, passed = int(frame["rows"].sum()), int(frame["passed"].sum())
    span = f"{day_text(frame['first_at'].min())} to {day_text(frame['last_at'].max())}" if len(frame) else MISSING
    return [
        parts.Tile("Submissions", count_text(rows), span),
        parts.Tile("Passed", share_text(passed / rows if rows else None), f"{count_text(passed)} ranked runs"),
        parts.Tile("Problems", count_text(len(frame)), f"in {len(competitions)} competitions"),
        parts.Tile("Most users on a problem", count_text(frame["users"].max()), _busiest(frame)),
    ]


def problem_rows(rows: pd.DataFrame, competition: Competition) -> pd.DataFrame:
    """Problems as the table shows them; every board in its own unit, so times are text."""
    labels = {board.name: board.label for board in competition.boards}
    flagged = {board.name: bool(board.caveats) for board in competition.boards}
    units = [unit_for(best) for best in rows["best"]]
    return pd.DataFrame(
        {
            "problem": [labels.get(name, name) for name in rows["problem"]],
            "best": [time_text(best, unit) for best, unit in zip(rows["best"], units, strict=True)],
            "holder": [person(str(row.best_user_name), str(row.best_user_id)) if pd.notna(row.best) else MISSING
                       for row in rows.itertuples()],
            "code": [tables.CODE if pd.notna(best) else "" for best in rows["best"]],
            "open": "Board",
            "trend": [[unit.of(float(value)) for value in trend] if trend is not None else []
                      for trend, unit in zip(rows["trend"], units, strict=True)],
            "runner": [", ".join(runner_name(name) for name in runners) for runners in rows["runners"]],
            "users": rows["users"],
            "rows": rows["rows"],
            "passed": 100 * rows["passed"] / rows["rows"].where(rows["rows"] > 0),
            "days": [f"{day_text(row.first_at)} to {day_text(row.last_at)}" for row in rows.itertuples()],
            "care": ["see caveat" if flagged.get(name) else "" for name in rows["problem"]],
        }
    )  # fmt: skip


def open_board(click_key: str, slug: str, problems: Sequence[str]) -> None:
    """Open the board of the row whose button was clicked."""
    click = st.session_state.get(click_key)
    if click is not None and 0 <= click["row"] < len(problems):
        first = click["row"] == 0
        state.go(slug, CompetitionView(problem=None if first else problems[click["row"]]))


def _competition(competition: Competition, rows: pd.DataFrame, unavailable: str | None) -> None:
    slug = competition.slug
    with st.container(horizontal=True, vertical_alignment="center", key=f"head-{slug}"):
        st.subheader(markdown(competition.title), anchor=False, width="content")
        st.page_link(state.target(slug), label="Open", icon=":material/arrow_forward:")
    st.caption(markdown(competition.summary))
    if unavailable:
        st.warning(f"{markdown(unavailable)} The other competitions still work.", icon=":material/cloud_off:")
        return
    if rows.empty:
        st.caption("No submissions yet.")
        return
    tables.show(
        problem_rows(rows, competition),
        _columns(competition, rows),
        key=f"problems-{slug}",
        alt=f"Problems of {competition.title}",
    )


def _columns(competition: Competition, rows: pd.DataFrame) -> dict[str, Any]:
    slug = competition.slug
    winners = [
        SubmissionView(id=int(row.best_submission_id), runner=str(row.best_runner), competition=slug)
        if pd.notna(row.best_submission_id) else SubmissionView()
        for row in rows.itertuples()
    ]  # fmt: skip
    open_key = f"overview-{slug}-open"
    return {
        "problem": TextColumn("Problem", width=150),
        "best": TextColumn("Best time", width=95, alignment="right"),
        "holder": TextColumn("Holder", width=140),
        "code": tables.code_column(f"overview-{slug}", winners),
        "open": ButtonColumn(
            "Board", width=75, type="tertiary", key=open_key, on_click=open_board,
            args=(open_key, slug, tuple(rows["problem"])), help="Open the leaderboard",
        ),
        "trend": LineChartColumn("Record over time", width=130, help="The board's best time so far, day by day."),
        "runner": TextColumn("Runners", width=170),
        "users": NumberColumn("Users", format="localized"),
        "rows": NumberColumn("Submissions", format="localized"),
        "passed": NumberColumn("Passed (%)", format="%.1f"),
        "days": TextColumn("Days (UTC)", width=185),
        "care": TextColumn("Care", help="The board's page says why."),
    }  # fmt: skip


def _find_person() -> None:
    st.text_input(
        "Find a person", placeholder="Part of a name, or an id", key="overview-person", width=260, max_chars=100,
        on_change=_open_person,
    )  # fmt: skip


def _open_person() -> None:
    text = str(st.session_state["overview-person"]).strip()
    if text:
        state.go("user", UserView(find=text))


def _busiest(frame: pd.DataFrame) -> str:
    return "" if frame.empty else str(frame.loc[frame["users"].idxmax(), "problem"])
