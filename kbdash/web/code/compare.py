"""Two submissions side by side: the change in time, and the change in the text."""

from functools import partial

import streamlit as st

from kbdash.api import address
from kbdash.code import diff, export
from kbdash.code.reader import SourceText, shown
from kbdash.dataset.model import Submission
from kbdash.units import count_text, minute_text
from kbdash.view import CompareView, LadderView, Ref, SubmissionView
from kbdash.web import answers, layout, share, state, tables, widgets
from kbdash.web.code import choose, components, resolve, source_text
from kbdash.web.code.facts import Facts, facts_of
from kbdash.web.code.verdict import Verdict, differences, verdict
from kbdash.web.content import text_panels
from kbdash.web.escape import markdown
from kbdash.web.session import engine

MODES = {"unified": "One column", "split": "Side by side"}


def show() -> None:
    """The whole page."""
    view = state.view(CompareView)
    st.title("Compare", anchor=False)
    widgets.link_notes()
    if view.a is None or view.b is None:
        _ask_for_both(view)
        choose.two_users()
        return
    before = _side(view.a, "a")
    after = _side(view.b, "b")
    if before is None or after is None:
        return
    old, new = facts_of(before), facts_of(after)
    layout.name_tab(f"{old.who} {old.ref.id} → {new.who} {new.ref.id}", after.problem)
    _verdict(verdict(old, new))
    _sides(old, new)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="compare-tools"):
        _ladder(before, after)
        st.button("Swap", key="compare-swap", icon=":material/swap_horiz:", on_click=_swap, args=(old.ref, new.ref))
    _diff(old, new)
    with widgets.boundary("histories-problem"):
        choose.histories(old, new)


def _ask_for_both(view: CompareView) -> None:
    st.markdown(
        "Two submission ids; `id@runner` where an id ran on several runners, `id@runner@competition` where two "
        "competitions have it."
    )
    with st.container(horizontal=True, key="compare-ask"):
        for field, label in (("a", "Before"), ("b", "After")):
            st.text_input(
                label, placeholder="187476", max_chars=80, width=220,
                **state.control(field, str(getattr(view, field) or ""), default=""),
            )  # fmt: skip


def _side(ref: Ref, field: str) -> Submission | None:
    return resolve.submission_of(ref, ref.competition, key=f"compare-{field}", on_pick=partial(_picked, field))


def _picked(field: str, one: Submission) -> None:
    state.change(**{field: Ref(one.submission_id, one.runner, one.competition)})


def _verdict(found: Verdict) -> None:
    """The change in time as a headline; or why the times cannot be compared."""
    if found.refused:
        with st.container(border=True, key="compare-refused"):
            st.markdown(f":material/warning: **These two cannot be compared by time.** {markdown(found.refused)}")
        return
    with st.container(key="compare-verdict"):
        st.metric(found.label, found.change, delta=found.times, delta_color="off", delta_arrow="off")


def _sides(old: Facts, new: Facts) -> None:
    differ = differences(old, new)
    with st.grid(2, min_column_width=280, gap="small"):
        for name, facts in (("Before", old), ("After", new)):
            _card(name, facts, differ)


def _card(name: str, facts: Facts, differ: frozenset[str]) -> None:
    one = facts.submission
    with st.container(border=True, height="stretch", key=f"compare-{name.lower()}"):
        st.page_link(
            state.target("submission"),
            label=f"{name}: submission {one.submission_id}",
            icon=":material/code:",
            query_params=SubmissionView(one.submission_id, one.runner, one.competition, walk="user").query(),
        )
        lines = [
            f"**{markdown(facts.time)}**, {markdown(facts.standing)}",
            f"{_marked('user', facts.who, differ)}, {minute_text(one.submitted_at)}",
            f"{_marked('problem', one.problem, differ)}, {_marked('runner', facts.machine, differ)}",
        ]
        if one.flags:
            lines.append(f":material/flag: {markdown(one.flags)}")
        st.markdown("  \n".join(lines))


def _marked(field: str, text: str, differ: frozenset[str]) -> str:
    return f"**{markdown(text)}**" if field in differ else markdown(text)


def _swap(before: Ref, after: Ref) -> None:
    state.change(a=after, b=before)


def _ladder(before: Submission, after: Submission) -> None:
    """Where the two are on their user's ladder, with links to the steps around them."""
    same = (before.competition, before.problem, before.runner, before.user_id)
    if same != (after.competition, after.problem, after.runner, after.user_id) or after.runner is None:
        return
    steps = answers.ladder(after.problem, after.user_id, competition=after.competition, runner=after.runner)
    refs = [Ref(int(row["submission_id"]), tables.text(row["runner"]), after.competition) for row in tables.rows(steps)]
    here = [place for place in range(1, len(refs)) if refs[place - 1 : place + 1] == [_ref(before), _ref(after)]]
    if here:
        _step(refs, here[0] - 1, "Previous", ":material/arrow_back:")
        st.caption(f"Step {count_text(here[0] + 1)} of {count_text(len(refs))}", width="content")
        _step(refs, here[0] + 1, "Next", ":material/arrow_forward:")
    ladder = LadderView(after.competition, after.problem, after.runner, after.user_id)
    st.page_link(state.target("ladder"), label="Ladder", icon=":material/stairs:", query_params=ladder.query())


def _ref(one: Submission) -> Ref:
    return Ref(one.submission_id, one.runner, one.competition)


def _step(refs: list[Ref], place: int, word: str, icon: str) -> None:
    if not 1 <= place < len(refs):
        st.caption(f"No {word.lower()} step", width="content")
        return
    # A button, because Streamlit does not update the address when a link leads to the page that is open.
    st.button(
        f"{word} step",
        key=f"compare-{word.lower()}",
        icon=icon,
        icon_position="left" if word == "Previous" else "right",
        on_click=state.change,
        kwargs={"a": refs[place - 1], "b": refs[place]},
    )


@st.fragment
def _diff(old: Facts, new: Facts) -> None:
    view = state.view(CompareView)
    if (view.a, view.b) != (old.ref, new.ref) and not _meant(view, old, new):
        st.rerun()
    with widgets.boundary("diff-problem"):
        _changes(old, new, view)


def _changes(old: Facts, new: Facts, view: CompareView) -> None:
    for one in (old.submission, new.submission):
        source_text.begin(one)
    before, after = shown(source_text.text_of(old.submission)), shown(source_text.text_of(new.submission))
    changes = diff.compare(before.text, after.text)
    _bar(view, before, after, changes, old, new)
    for note in (*_text_notes(before, after), *changes.notes):
        st.caption(f":material/info: {markdown(note[:1].upper() + note[1:])}")
    text_panels.difference(old.submission, before, new.submission, after)
    components.diff(before, after, changes, mode=view.mode, key="diff")


def _meant(view: CompareView, old: Facts, new: Facts) -> bool:
    """Whether the link still names these two; it may omit a runner or a competition that is unambiguous."""
    pairs = ((view.a, old.ref), (view.b, new.ref))
    return all(
        ref is not None
        and ref.id == one.id
        and ref.runner in (None, one.runner)
        and ref.competition in (None, one.competition)
        for ref, one in pairs
    )


def _bar(view: CompareView, before: SourceText, after: SourceText, changes: diff.Diff, old: Facts, new: Facts) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="diff-bar"):
        st.segmented_control(
            "Layout", list(MODES), format_func=lambda mode: MODES[mode], required=True, label_visibility="collapsed",
            **state.control("mode", view.mode),
        )  # fmt: skip
        sizes = f"{count_text(before.lines)} lines before, {count_text(after.lines)} after"
        st.caption(f"{sizes} · {source_text.cost(before.cost_bytes + after.cost_bytes)}")
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="diff-tools"):
            share.copy_links(view, address.patch_path(old.submission, new.submission), key="diff")
            st.download_button(
                "Download patch",
                partial(export.patch, changes, old.submission, new.submission, engine().source),
                f"{share.file_stem(new.submission.competition, str(old.ref.id), 'to', str(new.ref.id))}.patch",
                "text/plain",
                key="diff-download",
                on_click="ignore",
            )


def _text_notes(before: SourceText, after: SourceText) -> list[str]:
    return [f"{side}: {note}" for side, found in (("Before", before), ("After", after)) for note in found.notes]
