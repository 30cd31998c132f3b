"""The front page: every competition with its problems, who is fastest on each, and caveats."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kbdash import charts
from kbdash.charts import sparkline
from kbdash.database.competition_views import EMPTY
from kbdash.database.questions import columns
from kbdash.database.questions.boards import OVERVIEW
from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Board, Competition
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable
from kbdash.units import MISSING, Unit, count_text, day_text, person, plural, share_text, unit_for
from kbdash.view import CompetitionView, OverviewView, UserView, href
from kbdash.web import answers, as_completed, chart, session, share, state, table, tables, widgets
from kbdash.web.cells import Column
from kbdash.web.escape import markdown, message
from kbdash.web.memo import memoise

MOST_PROBLEMS = 500
MOST_RUNNERS = 8
SHARES = (14, 9, 13, 5, 8, 19, 5, 8, 7, 8, 8)  # of the width, in percent: one for each column
SHOWS = {"boards": "Boards", "contested": "Contested", "timeline": "Timeline"}


def show() -> None:
    """The whole page; slow parts have a placeholder from the start."""
    view = state.view(OverviewView)
    kb = session.engine()
    competitions = {item.slug: item for item in kb.competitions}
    order = tables.order_of(OVERVIEW, view.order)
    asked = answers.overview(competitions, order)
    st.title("GPU kernel competitions", anchor=False)
    widgets.link_notes()
    st.markdown(
        "Who is fastest, on which hardware, by how much, how they got there, and the code that did it. "
        "A problem opens its ranking, Code the fastest kernel."
    )
    status, numbers = st.empty(), st.container()
    bar = st.container(horizontal=True, vertical_alignment="center", key="overview-bar")
    with bar:
        st.segmented_control(
            "Show", list(SHOWS), format_func=lambda name: SHOWS[name], required=True, label_visibility="collapsed",
            **state.control("show", view.show),
        )  # fmt: skip
        _find_person()
    places = {slug: _place(item, asked[slug]) for slug, item in competitions.items()} if view.show == "boards" else {}
    parts = {}
    for slug, part in _arrived(kb, asked, competitions, status):
        if part is not None:
            parts[slug] = part
        if place := places.get(slug):
            with place.container():
                _competition(view, competitions[slug], part, kb.unavailable.get(slug, ""))
    known = [parts[slug] for slug in competitions if slug in parts]
    frame = memoise(joined, *(known or [kb.frame("overview", competition=EMPTY, order=None)]))
    with numbers:
        widgets.figures(memoise(totals, frame), key="overview")
    with bar:
        share.toolbar(
            view, memoise(exported, frame), share.file_stem("overview"), "overview", {"order": order}, key="overview"
        )
    if view.show != "boards":
        _picture(view)


def _place(competition: Competition, asked: Future[pd.DataFrame]) -> DeltaGenerator:
    """The heading of a competition, and a placeholder for its rows."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"head-{competition.slug}"):
        st.header(markdown(competition.title), anchor=False, width="content")
        st.page_link(state.target(competition.slug), label="Open", icon=":material/arrow_forward:")
    st.caption(markdown(competition.summary))
    place = st.container()
    # Memoised rows are shown at once; others replace this line when they arrive.
    return place if asked.done() else place.caption(f"{as_completed.COMING} Reading …")


def _arrived(
    kb: KernelBot,
    asked: Mapping[str, Future[pd.DataFrame]],
    competitions: Mapping[str, Competition],
    status: DeltaGenerator,
) -> Iterator[tuple[str, pd.DataFrame | None]]:
    """Yield each competition with its overview as it arrives; without one if its file cannot be read."""
    titles = {slug: item.title for slug, item in competitions.items()}
    failures = 0
    for slug in as_completed.as_completed(asked, titles, status):
        try:
            yield slug, asked[slug].result()
        except DataUnavailable as error:
            kb.mark_unavailable(slug, error)
            failures += 1
            if failures == len(asked):
                raise
            yield slug, None


def joined(*parts: pd.DataFrame) -> pd.DataFrame:
    """The parts concatenated, without empty ones, which would change the types of the columns."""
    return pd.concat([part for part in parts if len(part)] or [parts[0]], ignore_index=True)


def _picture(view: OverviewView) -> None:
    """All boards in one picture: which are contested, or when they were worked on."""
    labels, titles = board_labels(), board_titles()
    if view.show == "contested":
        frame = answers.contested()
        chart.span_picker(view.span, {"field": "Up to 4 × the best", "all": "Everything"})
        figure = memoise(
            charts.contested, frame, titles, labels, widgets.theme(), span=view.span, narrow=widgets.narrow()
        )
    else:
        frame = answers.weekly()
        figure = memoise(charts.timeline, frame, titles, labels, widgets.theme(), narrow=widgets.narrow())
    said = {
        "contested": "Each board on the runner of its best time. The closer the marks, the more contested.",
        "timeline": "Each board on a scale of its own. A board whose star is old has been left alone since.",
    }
    st.caption(f"{said[view.show]} Click a mark to open its code.")
    chart.show(
        figure,
        key=f"{view.show}-chart",
        title="GPU kernel competitions: " + ("how close at the top" if view.show == "contested" else "when"),
        alt=said[view.show],
        file_name=share.file_stem("overview", view.show),
        table=lambda: frame,
        opens=tables.open_submission,
    )
    widgets.left_out(frame)


def board_titles() -> tuple[tuple[str, str], ...]:
    """Titles of the competitions by slug."""
    return tuple((item.slug, item.title) for item in session.engine().competitions)


def board_labels() -> tuple[tuple[tuple[str, str], str], ...]:
    """Short names of the boards in the catalog, by competition and problem."""
    return tuple(
        ((item.slug, board.name), board.label) for item in session.engine().competitions for board in item.boards
    )


def exported(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows for a download: everything but the sparklines."""
    return frame.drop(columns=["trend"])


def first_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The problems of one competition, as many as a table can show."""
    return rows.head(MOST_PROBLEMS)


def totals(frame: pd.DataFrame) -> list[widgets.Figure]:
    """The totals of the readable dataset in one line."""
    rows, passed, waiting = (int(frame[name].sum()) for name in ("rows", "passed", "rows_without_runner"))
    ran = rows - waiting
    span = f"{day_text(frame['first_at'].min())} to {day_text(frame['last_at'].max())}" if len(frame) else MISSING
    boards = f"problems in {plural(frame['competition'].nunique(), 'competition')}"
    found = [
        widgets.Figure(count_text(len(frame)), after=boards),
        widgets.Figure(count_text(rows), after=f"submissions, {span}", help=f"Submissions: {columns.TRIES}."),
        widgets.Figure(
            share_text(passed / ran if ran else None),
            after=f"of {plural(ran, 'run')} passed",
            help=f"Passed: {columns.PASSED}; the share is {columns.RATE}.",
        ),
    ]
    never = f"Never ran: {columns.NOT_RUN}; they are in no share."
    return [*found, widgets.Figure(count_text(waiting), after="never ran", help=never)] if waiting else found


def problem_rows(rows: pd.DataFrame, competition: Competition, first: str) -> pd.DataFrame:
    """Table rows of problems; the page of the competition opens with the `first` one."""
    labels = {board.name: f"{board.label} †" if board.caveats else board.label for board in competition.boards}
    found, slug = tables.rows(rows), competition.slug
    codes = [tables.code_address(row["best_submission_id"], row["best_runner"], slug) for row in found]
    return pd.DataFrame(
        {
            "problem": [labels.get(row["problem"], row["problem"]) for row in found],
            "board": [_board(slug, row["problem"], first) for row in found],
            "best": rows["best"],
            "flags": rows["best_flags"],
            "holder": [_holder(row) for row in found],
            "page": tables.user_addresses(rows["best_user_id"], anonymous=competition.anonymous),
            "word": tables.code_words(codes),
            "code": codes,
            "trend": [sparkline(row["trend"], row["best"]) for row in found],
            "runner": [", ".join(runner_name(name) for name in row["runners"][:MOST_RUNNERS]) for row in found],
            "users": rows["users"],
            "rows": rows["rows"],
            "passed": rows["pass_rate"],
            "first": rows["first_at"],
            "last": rows["last_at"],
            "ref": tables.refs(rows.assign(submission_id=rows["best_submission_id"], runner=rows["best_runner"]), slug),
        }
    )


def _board(slug: str, problem: str, first: str) -> str:
    return href(slug, CompetitionView(problem=None if problem == first else problem))


def _competition(view: OverviewView, competition: Competition, rows: pd.DataFrame | None, unavailable: str) -> None:
    """The rows of a competition, or why there are none."""
    if rows is None:
        st.warning(f"{message(unavailable)} {widgets.still_works()}", icon=":material/cloud_off:")
        return
    if rows.empty:
        st.caption("No submissions yet.")
        return
    table.show(
        memoise(
            problem_rows, memoise(first_of, rows), competition, session.engine().problem_names(competition.slug)[0]
        ),
        columns_of(unit_for(rows["best"].min())),
        key=f"problems-{competition.slug}",
        caption=f"Problems of {competition.title}",
        order=table.Order(view.order, lambda order: href("", replace(view, order=order))),
        refs="ref",
    )
    if care := memoise(care_of, competition, tuple(rows["problem"])):
        st.caption(care)


def columns_of(unit: Unit) -> tuple[Column, ...]:
    """Columns in reading order, equally wide for every competition; the times of one have one unit."""
    return tuple(replace(column, share=share) for column, share in zip(_columns(unit), SHARES, strict=True))


def _columns(unit: Unit) -> tuple[Column, ...]:
    return (
        Column("problem", "Problem", "name", link="board", sort="problem"),
        Column("best", "Best time", "time", unit, mark="flags", sort="best"),
        Column("holder", "Holder", link="page", width=24, sort="best_user_name"),
        tables.code_column(),
        tables.trend_column("Record", "The board's best time so far"),
        Column("runner", "Runners", width=30),
        Column("users", "Users", "whole", help=f"{columns.USERS.capitalize()}.", sort="users", first="descending"),
        Column("rows", "Submissions", "whole", help=f"{columns.TRIES.capitalize()}.", sort="rows", first="descending"),
        Column(
            "passed",
            "Passed",
            "share",
            "%",
            help=f"{columns.RATE.capitalize()}.",
            sort="pass_rate",
            first="descending",
            aside=True,
        ),
        Column("first", "First", "day", "UTC", sort="first_at", aside=True),
        Column("last", "Last", "day", "UTC", sort="last_at", first="descending", aside=True),
    )


def care_of(competition: Competition, problems: tuple[str, ...]) -> str:
    """The caveats of a competition and of these problems, right under the numbers they are about."""
    boards = [board for board in competition.boards if board.name in problems]
    notes = list(dict.fromkeys([*(caveat.text for caveat in competition.caveats), *_care_of_boards(boards)]))
    return "  \n".join(markdown(note) for note in notes)


def _care_of_boards(boards: list[Board]) -> list[str]:
    """Each caveat with its board; caveats that boards share are shown once."""
    texts = [caveat.text for board in boards for caveat in board.caveats]
    if len(boards) > 1 and len(set(texts)) < len(texts):
        return [f"† {text}" for text in dict.fromkeys(texts)]
    return [f"† {board.label}: {caveat.text}" for board in boards for caveat in board.caveats]


def _holder(row: dict[str, Any]) -> str:
    return person(row["best_user_name"], row["best_user_id"]) if pd.notna(row["best"]) else MISSING


def _find_person() -> None:
    st.text_input(
        "Find a person", placeholder="Find a person: name or id", label_visibility="collapsed", key="overview-person",
        width=260, max_chars=100,
        on_change=_open_person,
    )  # fmt: skip


def _open_person() -> None:
    text = str(st.session_state["overview-person"]).strip()
    if text:
        state.go("user", UserView(find=text))
