"""The front page: every competition with its problems, who is fastest on each, and what to beware of."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import ButtonColumn, DateColumn, LineChartColumn, NumberColumn, TextColumn

from kbdash.catalog import runner_name
from kbdash.model import Competition
from kbdash.ui import cached, engines, parts, share, state, tables
from kbdash.ui.board import person
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.units import MISSING, count_text, day_text, share_text, time_text, unit_for
from kbdash.view import CompetitionView, OverviewView, UserView


def show() -> None:
    """The whole page."""
    view = state.view(OverviewView)
    kb = engines.engine()
    st.title("GPU kernel competitions", anchor=False)
    parts.link_notes()
    frame = cached.overview()
    st.markdown("Who is fastest, on which hardware, by how much, how they got there, and the code that did it.")
    parts.tiles(made(totals, frame), key="overview")
    with st.container(horizontal=True, vertical_alignment="bottom", key="overview-bar"):
        _find_person()
        first = {"competition": frame["competition"].iloc[0] if len(frame) else None}
        share.toolbar(view, made(exported, frame), share.file_stem("overview"), "overview", first, key="overview")
    for competition in kb.competitions:
        rows = made(rows_of, frame, competition.slug)
        _competition(competition, rows, kb.unavailable.get(competition.slug))


def exported(frame: pd.DataFrame) -> pd.DataFrame:
    """What a download holds: everything but the sparklines."""
    return frame.drop(columns=["trend"])


def rows_of(frame: pd.DataFrame, competition: str) -> pd.DataFrame:
    """The problems of one competition."""
    return frame[frame["competition"] == competition].reset_index(drop=True)


def totals(frame: pd.DataFrame) -> list[parts.Tile]:
    """The whole dataset, as far as it can be read, in four numbers."""
    rows, passed = int(frame["rows"].sum()), int(frame["passed"].sum())
    span = f"{day_text(frame['first_at'].min())} to {day_text(frame['last_at'].max())}" if len(frame) else MISSING
    return [
        parts.Tile("Submissions", count_text(rows), span),
        parts.Tile("Passed", share_text(passed / rows if rows else None), f"{count_text(passed)} ranked runs"),
        parts.Tile("Problems", count_text(len(frame)), _competitions(frame)),
        parts.Tile("Most users on a problem", count_text(frame["users"].max()), _busiest(frame)),
    ]


def problem_rows(rows: pd.DataFrame, competition: Competition) -> pd.DataFrame:
    """Problems as the table shows them; every board in its own unit, so times are text."""
    labels = {board.name: f"{board.label} †" if board.caveats else board.label for board in competition.boards}
    found = tables.rows(rows)
    units = [unit_for(row["best"]) for row in found]
    return pd.DataFrame(
        {
            "problem": [labels.get(row["problem"], row["problem"]) for row in found],
            "best": [time_text(row["best"], unit) for row, unit in zip(found, units, strict=True)],
            "holder": [_holder(row) for row in found],
            "code": [tables.CODE if pd.notna(row["best"]) else "" for row in found],
            "open": "Board",
            "trend": [tables.steps(row["trend"], unit) for row, unit in zip(found, units, strict=True)],
            "runner": [", ".join(runner_name(name) for name in row["runners"]) for row in found],
            "users": rows["users"],
            "rows": rows["rows"],
            "passed": 100 * rows["passed"] / rows["rows"].where(rows["rows"] > 0),
            "first": tables.utc(rows["first_at"]),
            "last": tables.utc(rows["last_at"]),
        }
    )


def open_board(click_key: str, slug: str, problems: Sequence[str]) -> None:
    """Open the board of the row whose button was clicked."""
    if problem := tables.clicked(click_key, problems):
        state.go(slug, CompetitionView(problem=None if problem == problems[0] else problem))


def _competition(competition: Competition, rows: pd.DataFrame, unavailable: str | None) -> None:
    slug = competition.slug
    with st.container(horizontal=True, vertical_alignment="center", key=f"head-{slug}"):
        st.header(markdown(competition.title), anchor=False, width="content")
        st.page_link(state.target(slug), label="Open", icon=":material/arrow_forward:")
    st.caption(markdown(competition.summary))
    if unavailable:
        st.warning(f"{markdown(unavailable)} {parts.still_works()}", icon=":material/cloud_off:")
        return
    if rows.empty:
        st.caption("No submissions yet.")
        return
    tables.show(
        made(problem_rows, rows, competition),
        made(_columns, competition, rows),
        key=f"problems-{slug}",
        alt=f"Problems of {competition.title}",
    )
    if care := made(care_of, competition):
        st.caption(care)


def _columns(competition: Competition, rows: pd.DataFrame) -> dict[str, Any]:
    slug = competition.slug
    winners = [tables.link(row["best_submission_id"], row["best_runner"], slug) for row in tables.rows(rows)]
    open_key = f"overview-{slug}-open"
    return {
        "problem": TextColumn("Problem", width=128),
        "best": TextColumn("Best time", width=80, alignment="right"),
        "holder": TextColumn("Holder", width=90),
        "code": tables.code_column(f"overview-{slug}", winners),
        "open": ButtonColumn(
            "Board", width=66, type="tertiary", key=open_key, on_click=open_board,
            args=(open_key, slug, tuple(rows["problem"])), help="Open the leaderboard",
        ),
        "trend": LineChartColumn("Record", width=90, help="The board's best time so far, day by day."),
        "runner": TextColumn("Runners", width=175),
        "users": NumberColumn("Users", width=55, format="localized"),
        "rows": NumberColumn("Submissions", width=85, format="localized"),
        "passed": NumberColumn("Passed (%)", width=75, format="%.1f"),
        "first": DateColumn("First (UTC)", width=85, format="YYYY-MM-DD"),
        "last": DateColumn("Last (UTC)", width=85, format="YYYY-MM-DD"),
    }  # fmt: skip


def care_of(competition: Competition) -> str:
    """The caveats, right under the numbers they are about."""
    notes = [f"† {board.label}: {caveat.text}" for board in competition.boards for caveat in board.caveats]
    notes = list(dict.fromkeys([*(caveat.text for caveat in competition.caveats), *_shared(notes, competition)]))
    return "  \n".join(markdown(note) for note in notes)


def _shared(notes: list[str], competition: Competition) -> list[str]:
    """Caveats that all boards have are said once."""
    texts = [caveat.text for board in competition.boards for caveat in board.caveats]
    if len(competition.boards) > 1 and len(set(texts)) < len(texts):
        return [f"† {text}" for text in dict.fromkeys(texts)]
    return notes


def _holder(row: dict[str, Any]) -> str:
    return person(row["best_user_name"], row["best_user_id"]) if pd.notna(row["best"]) else MISSING


def _find_person() -> None:
    st.text_input(
        "Find a person", placeholder="Part of a name, or an id", key="overview-person", width=260, max_chars=100,
        on_change=_open_person,
    )  # fmt: skip


def _open_person() -> None:
    text = str(st.session_state["overview-person"]).strip()
    if text:
        state.go("user", UserView(find=text))


def _competitions(frame: pd.DataFrame) -> str:
    number = frame["competition"].nunique()
    return f"in {number} competition{'s' * (number != 1)}"


def _busiest(frame: pd.DataFrame) -> str:
    return "" if frame.empty else str(frame.sort_values("users")["problem"].iloc[-1])
