"""One submission: its facts, its source text, its neighbours, and where else the same text was sent."""

from functools import partial

import streamlit as st
from streamlit.column_config import DatetimeColumn, TextColumn

from kbdash import export
from kbdash.catalog import runner_name
from kbdash.code import SourceText
from kbdash.model import Submission
from kbdash.ui import cached, parts, share, state, tables
from kbdash.ui.code import components, texts, walk, which
from kbdash.ui.code.facts import Facts, facts_of, line, strip, tiles
from kbdash.ui.engines import engine
from kbdash.ui.escape import markdown
from kbdash.units import count_text, time_text, unit_for
from kbdash.view import CompareView, CompetitionView, LadderView, Ref, SubmissionView, UserView


def show() -> None:
    """The whole page."""
    view = state.view(SubmissionView)
    st.title(f"Submission {view.id}" if view.id is not None else "Submission", anchor=False)
    parts.link_notes()
    if view.id is None:
        _ask_for_id()
        return
    one = which.found(Ref(view.id, view.runner), view.competition, key="submission", on_pick=_picked)
    if one is None:
        return
    texts.begin(one)
    now = facts_of(one)
    _head(now)
    _neighbours(now, view)
    _code(now)
    with parts.boundary("same-problem"):
        _same_code(now)


def lines_in(text: str) -> tuple[int, int] | None:
    """The line range a link would mean by `text`."""
    return SubmissionView.parse({"line": [text]})[0].line


def _ask_for_id() -> None:
    st.text_input(
        "Number of a submission", placeholder="such as 187476", max_chars=19, width=260, key="submission-number",
        on_change=lambda: state.change(id=st.session_state["submission-number"].strip() or None),
    )  # fmt: skip
    st.markdown("Every row of a leaderboard or of a list of submissions leads here too.")


def _picked(one: Submission) -> None:
    state.change(runner=one.runner, competition=one.competition)


def _head(now: Facts) -> None:
    one = now.submission
    parts.chips(line(now))
    with st.container(horizontal=True, gap="medium", key="submission-links"):
        board = CompetitionView(problem=one.problem, runner=one.runner)
        _link(one.competition, "Board", board, ":material/leaderboard:")
        if one.competition in engine().linkable():
            _link("user", "User", UserView(user=one.user_id), ":material/person:")
        if now.placement.rank is not None:
            ladder = LadderView(one.competition, one.problem, one.runner, one.user_id)
            _link("ladder", "Ladder", ladder, ":material/stairs:")
        if now.placement.best_before_id is not None:
            before = Ref(now.placement.best_before_id, one.runner)
            _link("compare", "Diff to the best before", CompareView(before, now.ref), ":material/difference:")
        _compare_with_leader(now)
    if one.flags:
        with st.container(border=True, key="submission-flags"):
            st.markdown(f":material/flag: **Flagged.** {markdown(one.flags)}")
    strip(tiles(now), key="submission")


def _compare_with_leader(now: Facts) -> None:
    one = now.submission
    if one.runner is None:
        return
    board = cached.leaderboard(one.problem, competition=one.competition, runner=one.runner)
    if not board.empty and int(board["submission_id"].iloc[0]) != one.submission_id:
        leader = Ref(int(board["submission_id"].iloc[0]), one.runner)
        _link("compare", "Diff to rank 1", CompareView(now.ref, leader), ":material/trophy:")


def _link(path: str, label: str, view: CompareView | CompetitionView | LadderView | UserView, icon: str) -> None:
    st.page_link(state.target(path), label=markdown(label), icon=icon, query_params=view.query())


def _neighbours(now: Facts, view: SubmissionView) -> None:
    """Previous and next in the list the reader came from, and which list that is."""
    here = walk.position(now.submission, view, now.unit)
    if here is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="submission-neighbours"):
        _neighbour("Previous", here.previous, here)
        st.caption(f"{count_text(here.place)} of {count_text(here.of)}", width="content")
        _neighbour("Next", here.next, here)
        st.segmented_control(
            "List to walk through", list(walk.LISTS), format_func=lambda name: walk.LISTS[name], required=True,
            label_visibility="collapsed", **state.control("walk", here.walk, default="board"),
        )  # fmt: skip


def _neighbour(word: str, stop: walk.Stop | None, here: walk.Position) -> None:
    if stop is None:
        st.caption(f"No {word.lower()}", width="content")
        return
    # A button, because Streamlit leaves the address as it is when a link leads to the page that is open.
    st.button(
        f"{word} ({markdown(stop.short)})",
        key=f"submission-{word.lower()}",
        icon=":material/arrow_back:" if word == "Previous" else ":material/arrow_forward:",
        icon_position="left" if word == "Previous" else "right",
        help=markdown(stop.label),
        on_click=state.change,
        kwargs={"id": stop.ref.id, "runner": stop.ref.runner, "walk": here.walk, "line": None},
    )


@st.fragment
def _code(now: Facts) -> None:
    """The text with its tools; runs alone when lines are picked or something is looked for."""
    view = state.view(SubmissionView)
    if view.id != now.submission.submission_id:
        st.rerun()
    with parts.boundary("code-problem"):
        _text(now, view)


def _text(now: Facts, view: SubmissionView) -> None:
    found = texts.text_of(now.submission)
    with st.container(horizontal=True, vertical_alignment="center", key="code-bar"):
        st.caption(texts.facts(found))
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="code-tools"):
            share.copy_link(view, key="code")
            _download(now.submission, found)
    for note in found.notes:
        st.caption(f":material/info: {markdown(note)}")
    texts.indexing(now.submission.competition)
    if not found.text:
        return
    components.viewer(
        found,
        line=view.line,
        find=view.find,
        link=share.full_link("submission", SubmissionView()),
        label=f"Source code of submission {now.submission.submission_id}",
        key="code",
        on_line=lambda text: state.change(line=lines_in(text)),
        on_find=lambda text: state.change(find=text or None),
    )


def _download(one: Submission, found: SourceText) -> None:
    name = export.file_name(one, found.language)
    revision = share.file_stem(one.competition)
    st.download_button(
        "Download",
        partial(export.credited, found, one, engine().source),
        f"{revision}_{name}",
        "text/plain",
        key="code-download",
        on_click="ignore",
        disabled=not found.text,
        help="With a comment on top that names the source, its revision and its licence",
    )


def _same_code(now: Facts) -> None:
    """The same text by others, on other boards and runners."""
    if now.submission.code_id is None:
        return
    twins = cached.same_code_elsewhere(now.submission)
    st.header("Same code elsewhere", anchor=False)
    if twins.empty:
        st.caption("Nobody else sent this text, and it ran nowhere else.")
        return
    rows = tables.rows(twins)
    links = [tables.link(row["submission_id"], row["runner"], row["competition"]) for row in rows]
    shown = twins.assign(
        user=tables.names(twins),
        machine=[runner_name(runner) for runner in twins["runner"]],
        time=[time_text(row["score"], unit_for(row["score"])) for row in rows],
        at=tables.utc(twins["submitted_at"]),
        code=tables.CODE,
    )
    columns = {
        "user": TextColumn("User"),
        "problem": TextColumn("Problem"),
        "machine": TextColumn("Runner"),
        "time": TextColumn("Time", alignment="right"),
        "code": tables.code_column("same", links),
        "at": DatetimeColumn("Submitted (UTC)", format="YYYY-MM-DD HH:mm"),
    }
    st.caption(f"{count_text(len(twins))} other submissions hold exactly this text.")
    tables.show(shown, columns, key="same-table", alt="Other submissions with the same source text")
