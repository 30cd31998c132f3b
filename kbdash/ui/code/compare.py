"""Two submissions side by side: what the time did, and what changed in the text."""

from functools import partial

import streamlit as st

from kbdash import diff, export
from kbdash.code import SourceText
from kbdash.model import Submission
from kbdash.ui import cached, parts, share, state, tables
from kbdash.ui.code import components, texts, which
from kbdash.ui.code.facts import Facts, facts_of
from kbdash.ui.code.verdict import Verdict, differences, verdict
from kbdash.ui.engines import engine
from kbdash.ui.escape import markdown
from kbdash.units import count_text, minute_text
from kbdash.view import CompareView, LadderView, Ref, SubmissionView

MODES = {"unified": "One column", "split": "Side by side"}


def show() -> None:
    """The whole page."""
    view = state.view(CompareView)
    st.title("Compare", anchor=False)
    parts.link_notes()
    if view.a is None or view.b is None:
        _ask_for_both(view)
        return
    before = _side(view.a, "a")
    after = _side(view.b, "b")
    if before is None or after is None:
        return
    old, new = facts_of(before), facts_of(after)
    _verdict(verdict(old, new))
    _sides(old, new)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="compare-tools"):
        _ladder(before, after)
        st.button("Swap", key="compare-swap", icon=":material/swap_horiz:", on_click=_swap, args=(old.ref, new.ref))
    _diff(old, new)


def _ask_for_both(view: CompareView) -> None:
    st.markdown("Two submissions, each as its number, or as `number@runner` where a number ran on several.")
    with st.container(horizontal=True, key="compare-ask"):
        for field, label in (("a", "Before"), ("b", "After")):
            st.text_input(
                label, placeholder="187476", max_chars=80, width=220,
                **state.control(field, str(getattr(view, field) or ""), default=""),
            )  # fmt: skip


def _side(ref: Ref, field: str) -> Submission | None:
    return which.found(ref, None, key=f"compare-{field}", on_pick=partial(_picked, field))


def _picked(field: str, one: Submission) -> None:
    state.change(**{field: Ref(one.submission_id, one.runner)})


def _verdict(found: Verdict) -> None:
    """The change in time, large; or why there is none to speak of."""
    if found.refused:
        with st.container(border=True, key="compare-refused"):
            st.markdown(f":material/warning: **These two cannot be compared by time.** {markdown(found.refused)}")
        return
    with st.container(key="compare-verdict"):
        st.metric(found.label, found.change, delta=found.times, delta_color="off", delta_arrow="off")


def _sides(old: Facts, new: Facts) -> None:
    differ = differences(old, new)
    with st.grid(2, min_column_width=280, gap="small"):
        for name, now in (("Before", old), ("After", new)):
            _card(name, now, differ)


def _card(name: str, now: Facts, differ: frozenset[str]) -> None:
    one = now.submission
    with st.container(border=True, height="stretch", key=f"compare-{name.lower()}"):
        st.page_link(
            state.target("submission"),
            label=f"{name}: submission {one.submission_id}",
            icon=":material/code:",
            query_params=SubmissionView(one.submission_id, one.runner, one.competition, walk="user").query(),
        )
        lines = [
            f"**{markdown(now.time)}**, user at rank {markdown(now.rank)}",
            f"{_marked('user', now.who, differ)}, {minute_text(one.submitted_at)}",
            f"{_marked('problem', one.problem, differ)}, {_marked('runner', now.machine, differ)}",
        ]
        if one.flags:
            lines.append(f":material/flag: {markdown(one.flags)}")
        st.markdown("  \n".join(lines))


def _marked(field: str, text: str, differ: frozenset[str]) -> str:
    return f"**{markdown(text)}**" if field in differ else markdown(text)


def _swap(before: Ref, after: Ref) -> None:
    state.change(a=after, b=before)


def _ladder(before: Submission, after: Submission) -> None:
    """Where the two stand on their user's ladder, and the way to the steps around them."""
    same = (before.competition, before.problem, before.runner, before.user_id)
    if same != (after.competition, after.problem, after.runner, after.user_id) or after.runner is None:
        return
    steps = cached.ladder(after.problem, after.user_id, competition=after.competition, runner=after.runner)
    refs = [Ref(int(row["submission_id"]), tables.text(row["runner"])) for row in tables.rows(steps)]
    here = [place for place in range(1, len(refs)) if refs[place - 1 : place + 1] == [_ref(before), _ref(after)]]
    if here:
        _step(refs, here[0] - 1, "Previous", ":material/arrow_back:")
        st.caption(f"Step {count_text(here[0] + 1)} of {count_text(len(refs))}", width="content")
        _step(refs, here[0] + 1, "Next", ":material/arrow_forward:")
    ladder = LadderView(after.competition, after.problem, after.runner, after.user_id)
    st.page_link(state.target("ladder"), label="Ladder", icon=":material/stairs:", query_params=ladder.query())


def _ref(one: Submission) -> Ref:
    return Ref(one.submission_id, one.runner)


def _step(refs: list[Ref], place: int, word: str, icon: str) -> None:
    if not 1 <= place < len(refs):
        st.caption(f"No {word.lower()} step", width="content")
        return
    # A button, because Streamlit leaves the address as it is when a link leads to the page that is open.
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
    with parts.boundary("diff-problem"):
        _changes(old, new, view)


def _changes(old: Facts, new: Facts, view: CompareView) -> None:
    for one in (old.submission, new.submission):
        texts.begin(one)
    before, after = texts.text_of(old.submission), texts.text_of(new.submission)
    changes = diff.compare(before.text, after.text)
    _bar(view, before, after, changes, old, new)
    for note in (*_text_notes(before, after), *changes.notes):
        st.caption(f":material/info: {markdown(note[:1].upper() + note[1:])}")
    components.diff(before, after, changes, mode=view.mode, key="diff")


def _meant(view: CompareView, old: Facts, new: Facts) -> bool:
    """Whether the link still names these two; it may leave out a runner that is clear without it."""
    pairs = ((view.a, old.ref), (view.b, new.ref))
    return all(ref is not None and ref.id == one.id and ref.runner in (None, one.runner) for ref, one in pairs)


def _bar(view: CompareView, before: SourceText, after: SourceText, changes: diff.Diff, old: Facts, new: Facts) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="diff-bar"):
        st.segmented_control(
            "Layout", list(MODES), format_func=lambda mode: MODES[mode], required=True, label_visibility="collapsed",
            **state.control("mode", view.mode),
        )  # fmt: skip
        sizes = f"{count_text(before.lines)} lines before, {count_text(after.lines)} after"
        st.caption(f"{sizes} · {texts.cost(before.cost_bytes + after.cost_bytes)}")
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="diff-tools"):
            share.copy_link(view, key="diff")
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
