"""One submission: its facts, its source text, its neighbours, and where else the same text was sent."""

from functools import partial

import pandas as pd
import streamlit as st

from kbdash.api import address
from kbdash.code import export
from kbdash.code.reader import SourceText, shown
from kbdash.dataset.model import Submission
from kbdash.units import Unit, count_text, plural, unit_for
from kbdash.view import CompareView, CompetitionView, LadderView, Ref, SubmissionView, UserView
from kbdash.web import answers, layout, share, state, table, tables, widgets
from kbdash.web.cells import Column
from kbdash.web.code import choose, components, neighbours, resolve, source_text
from kbdash.web.code.facts import Facts, facts_of, line, strip, tiles
from kbdash.web.content import text_panels
from kbdash.web.content.lineage import Lineage
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.session import engine


def show() -> None:
    """The whole page."""
    view = state.view(SubmissionView)
    st.title(f"Submission {view.id}" if view.id is not None else "Submission", anchor=False)
    widgets.link_notes()
    if view.id is None:
        _ask_for_id()
        return
    one = resolve.submission_of(Ref(view.id, view.runner), view.competition, key="submission", on_pick=_picked)
    if one is None:
        return
    source_text.begin(one)
    facts = facts_of(one)
    layout.name_tab(f"{facts.time} by {facts.who}", one.problem, f"Submission {one.submission_id}")
    _head(facts)
    _neighbours(facts, view)
    _code(facts)
    with widgets.boundary("same-problem"):
        _same_code(facts)


def lines_in(text: str) -> tuple[int, int] | None:
    """The line range that `text` means in a link."""
    return SubmissionView.parse({"line": [text]})[0].line


def _ask_for_id() -> None:
    st.text_input(
        "Id of a submission", placeholder="such as 187476", max_chars=19, width=260, key="submission-number",
        on_change=lambda: state.change(id=st.session_state["submission-number"].strip() or None),
    )  # fmt: skip
    st.markdown("Every row of a leaderboard or of a list of submissions has a link here.")


def _picked(one: Submission) -> None:
    state.change(runner=one.runner, competition=one.competition)


def _head(facts: Facts) -> None:
    one = facts.submission
    widgets.chips(line(facts))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="submission-links"):
        board = CompetitionView(problem=one.problem, runner=one.runner)
        _link(one.competition, "Board", board, ":material/leaderboard:")
        if one.competition in engine().linkable():
            _link("user", "User", UserView(user=one.user_id), ":material/person:")
        if facts.placement.rank is not None:
            ladder = LadderView(one.competition, one.problem, one.runner, one.user_id)
            _link("ladder", "Ladder", ladder, ":material/stairs:")
        if facts.placement.best_before_id is not None:
            before = Ref(facts.placement.best_before_id, one.runner, one.competition)
            _link("compare", "Diff with previous best", CompareView(before, facts.ref), ":material/difference:")
        _compare_with_leader(facts)
        choose.compare_with(facts)
    if one.flags:
        with st.container(border=True, key="submission-flags"):
            st.markdown(f":material/flag: **Flagged** as {markdown(one.flags)}")
    strip(tiles(facts), key="submission")


def _compare_with_leader(facts: Facts) -> None:
    one = facts.submission
    if one.runner is None:
        return
    board = answers.leaderboard(one.problem, competition=one.competition, runner=one.runner)
    if not board.empty and int(board["submission_id"].iloc[0]) != one.submission_id:
        leader = Ref(int(board["submission_id"].iloc[0]), one.runner, one.competition)
        _link("compare", "Diff with rank 1", CompareView(facts.ref, leader), ":material/trophy:")


def _link(path: str, label: str, view: CompareView | CompetitionView | LadderView | UserView, icon: str) -> None:
    st.page_link(state.target(path), label=markdown(label), icon=icon, query_params=view.query())


def _neighbours(facts: Facts, view: SubmissionView) -> None:
    """Previous and next in the list the reader came from, and which list that is."""
    here = neighbours.position(facts.submission, view, facts.unit)
    if here is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="submission-neighbours"):
        _neighbour("Previous", here.previous, here)
        st.caption(f"{count_text(here.place)} of {count_text(here.of)}", width="content")
        _neighbour("Next", here.next, here)
        st.segmented_control(
            "List to walk through", list(neighbours.LISTS), format_func=lambda name: neighbours.LISTS[name],
            required=True, label_visibility="collapsed", **state.control("walk", here.walk, default="board"),
        )  # fmt: skip


def _neighbour(word: str, stop: neighbours.Stop | None, here: neighbours.Position) -> None:
    if stop is None:
        st.caption(f"No {word.lower()}", width="content")
        return
    # A button, because Streamlit does not update the address when a link leads to the page that is open.
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
def _code(facts: Facts) -> None:
    """The text with its tools; a fragment that reruns alone when lines are picked or text is searched."""
    view = state.view(SubmissionView)
    if view.id != facts.submission.submission_id:
        st.rerun()
    with widgets.boundary("code-problem"):
        _text(facts, view)


def _text(facts: Facts, view: SubmissionView) -> None:
    found = source_text.text_of(facts.submission)
    with st.container(horizontal=True, vertical_alignment="center", key="code-bar"):
        st.caption(source_text.facts(found) if found.text else "")
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="code-tools"):
            share.copy_links(view, address.code_path(facts.submission), key="code")
            _download(facts.submission, found)
    part = shown(found)
    for note in part.notes:
        st.caption(f":material/info: {markdown(note)}")
    source_text.indexing(facts.submission.competition)
    with st.container(horizontal=True, vertical_alignment="center", key="code-panels"):
        text_panels.switch(view.show)
        chips = st.container(width="content")
    with widgets.boundary("panel-problem"):
        lines = _panel(facts.submission, view.show)
    if not part.text:
        return
    components.viewer(
        part,
        line=view.line,
        origins=lines,
        find=view.find,
        link=share.full_link("submission", SubmissionView()),
        label=f"Source code of submission {facts.submission.submission_id}",
        key="code",
        on_line=lambda text: state.change(line=lines_in(text)),
        on_find=lambda text: state.change(find=text or None),
    )
    with chips, widgets.boundary("techniques-problem"):
        text_panels.techniques(facts.submission, part)


def _panel(one: Submission, show: str) -> Lineage | None:
    """The panel beside the text that the reader chose; returns the origins for the margin."""
    if show == "relatives":
        text_panels.relatives(one)
    elif show == "rules":
        text_panels.guard(one)
    return text_panels.origins(one) if show == "origins" else None


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


def _same_code(facts: Facts) -> None:
    """The same text by others, on other boards and runners."""
    if facts.submission.code_id is None:
        return
    twins = answers.same_code_elsewhere(facts.submission)
    st.header("Same code elsewhere", anchor=False)
    widgets.left_out(twins)
    if twins.empty:
        st.caption("No identical submissions.")
        return
    st.caption(f"{plural(len(twins), 'identical submission')}.")
    table.show(
        memoise(same_rows, twins),
        same_columns(unit_for(twins["score"].min())),
        key="same-table",
        caption="Other submissions with the same source text",
        refs="ref",
    )


def same_rows(twins: pd.DataFrame) -> pd.DataFrame:
    """Table rows of the submissions with the same text."""
    found = tables.rows(twins)
    codes = [tables.code_address(row["submission_id"], row["runner"], row["competition"]) for row in found]
    return pd.DataFrame(
        {
            "user": tables.names(twins),
            "problem": twins["problem"],
            "runner": tables.runners(twins["runner"]),
            "score": twins["score"],
            "word": tables.code_words(codes),
            "code": codes,
            "at": twins["submitted_at"],
            "ref": [
                str(Ref(int(row["submission_id"]), tables.text(row["runner"]), row["competition"])) for row in found
            ],
        }
    )


def same_columns(unit: Unit) -> tuple[Column, ...]:
    """Columns of the submissions with the same text."""
    return (
        Column("user", "User", "name"),
        Column("problem", "Problem"),
        Column("runner", "Runner"),
        Column("score", "Time", "time", unit),
        tables.code_column(),
        Column("at", "Submitted", "minute", "UTC"),
    )
