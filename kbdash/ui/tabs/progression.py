"""How the board got fast: attempts, records, ranks over time."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from streamlit.column_config import DatetimeColumn, NumberColumn, TextColumn

from kbdash import charts
from kbdash.catalog import runner_name
from kbdash.ui import cached, parts, share, state, tables
from kbdash.ui.board import Scene, people
from kbdash.ui.escape import markdown
from kbdash.ui.memo import made
from kbdash.units import MISSING, Unit, count_text
from kbdash.view import LadderView, SubmissionView

DEFAULT_USERS = 5
BUMP_USERS = 10


def show(now: Scene) -> None:
    """The tab."""
    runner = now.runner or now.runners[0]
    asked = {**now.filters, "runner": runner}
    ranked = cached.leaderboard(now.board.name, **asked)
    users = made(users_to_show, ranked, now.view.users)
    attempts = cached.progression(now.board.name, users, **asked)
    if attempts.empty:
        parts.nothing("No attempt of these users matches these filters.", key="progression")
        return
    records = cached.records(now.board.name, **asked)
    _bar(now, attempts, users, runner)
    parts.chart(
        made(charts.progression, attempts, records, now.unit, now.theme, now.board.deadline, users),
        key="progression-chart",
        alt=f"Attempts and best times so far on {now.board.name}",
        file_name=now.stem("progression"),
        table=lambda: tables.readable(attempts, now.unit),
        on_point=lambda data: open_point(data, now),
    )
    _ladders(now, made(people, ranked), users, runner)
    _ranks(now, asked, users)
    _records(now, records)


def users_to_show(ranked: pd.DataFrame, pinned: tuple[str, ...]) -> tuple[str, ...]:
    """The pinned users, or the first five ranks while nobody is pinned."""
    return pinned or tuple(ranked["user_id"].head(DEFAULT_USERS))


def open_point(data: Sequence[object], now: Scene) -> None:
    """Open the submission behind a point; its customdata starts with id and runner."""
    submission = SubmissionView(
        id=int(str(data[0])), runner=str(data[1]) if data[1] else None, competition=now.competition.slug, walk="user"
    )
    tables.open_submission(submission)


def _bar(now: Scene, attempts: pd.DataFrame, users: tuple[str, ...], runner: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="progression-bar"):
        who = "the pinned users" if now.view.users else f"the first {len(users)} ranks"
        machine = f" on {runner_name(runner)}" if len(now.runners) > 1 else ""
        st.caption(f"{count_text(len(attempts))} attempts of {who}{machine}. Click a point to open its code.")
        share.toolbar(
            now.view, attempts, now.stem("progression"), "progression",
            {**now.parameters, "runner": runner, "users": list(users), "limit": 4000}, key="progression",
        )  # fmt: skip


def _ladders(now: Scene, ranked: Mapping[str, str], users: Sequence[str], runner: str) -> None:
    """Where each user's personal bests, and the diffs between them, are told one by one."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="progression-ladders"):
        st.caption("Ladder of", width="content")
        for user, name in ranked.items():
            if user in users:
                ladder = LadderView(now.competition.slug, now.board.name, runner, user, now.view.since, now.view.until)
                st.page_link(
                    state.target("ladder"), label=markdown(name), icon=":material/stairs:", query_params=ladder.query()
                )


def _ranks(now: Scene, asked: dict[str, object], users: tuple[str, ...]) -> None:
    st.header("Rank over time", anchor=False)
    history = cached.rank_history(now.board.name, top=BUMP_USERS, **asked)
    parts.chart(
        made(charts.bump, history, now.theme, users),
        key="bump-chart",
        alt=f"Ranks over time of the first {BUMP_USERS} of {now.board.name}",
        file_name=now.stem("ranks"),
        table=lambda: tables.readable(history, now.unit),
    )


def _records(now: Scene, records: pd.DataFrame) -> None:
    st.header("Records", anchor=False)
    with st.container(horizontal=True, key="records-bar"):
        st.caption("Each time the best of the whole field was broken, newest first.")
        share.downloads(records, now.stem("records"), key="records")
    tables.show(
        made(record_rows, records, now.unit),
        made(_record_columns, records, now.competition.slug, now.unit),
        key="records-table",
        alt=f"Records of {now.board.name}",
    )


def record_rows(records: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """Records as the table shows them, newest first."""
    newest = records.iloc[::-1].reset_index(drop=True)
    return pd.DataFrame(
        {
            "at": tables.utc(newest["submitted_at"]),
            "user": tables.names(newest),
            "time": tables.times(newest["score"], unit),
            "code": tables.CODE,
            "gain": -100 * newest["gain"],
            "held": newest["held_days"],
            "state": ["standing" if pd.isna(end) else MISSING for end in newest["until_at"]],
        }
    )


def _record_columns(records: pd.DataFrame, competition: str, unit: Unit) -> tables.Columns:
    return {
        "at": DatetimeColumn("Set (UTC)", format="YYYY-MM-DD HH:mm"),
        "user": TextColumn("Holder"),
        "time": tables.time_column("Time", unit, records["score"].min()),
        "code": tables.code_column("records", tables.links(records.iloc[::-1], competition, walk="user")),
        "gain": NumberColumn("Gain (%)", format="%.1f", help="Against the record before."),
        "held": NumberColumn("Held (days)", format="%.1f"),
        "state": TextColumn("Now"),
    }
