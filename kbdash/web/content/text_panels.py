"""Panels beside a source text: techniques, origins, relatives, KernelGuard's rules."""

import pandas as pd
import streamlit as st

from kbdash.code.reader import SourceText
from kbdash.content.techniques import rules
from kbdash.content.verdicts.examiner import Verdict
from kbdash.content.verdicts.named import named_in_rules
from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Submission
from kbdash.units import MISSING, person, plural, time_text, unit_for
from kbdash.view import CompareView, Ref, SubmissionView, href
from kbdash.web import answers, share, state, table
from kbdash.web.content import lineage, store_panel
from kbdash.web.content.lineage import SIGNS, WORDS, Lineage
from kbdash.web.content.technique_changes import change_words
from kbdash.web.escape import markdown
from kbdash.web.memo import key_of, memoise, shared
from kbdash.web.session import engine
from kbdash.web.table import Column
from kbdash.web.tables import rows, text

SWITCH = {"origins": "Origins", "relatives": "Relatives", "rules": "KernelGuard"}
WHAT = "With it this page says who wrote each line first, who holds much the same text, and which rules match."


def switch(show: str) -> None:
    """A picker of the open panel; none at first."""
    st.segmented_control(
        "Inside this text", list(SWITCH), format_func=lambda name: SWITCH[name], label_visibility="collapsed",
        **state.control("show", show or None),
    )  # fmt: skip


def techniques(one: Submission, found: SourceText) -> None:
    """The techniques of a text as chips, each a link to the line that shows it."""
    held = technique_lines(one, found)
    explained = {facet.name: facet.text for facet in rules().facets}
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="technique-chips"):
        st.caption("Techniques in this text:" if held else "No technique that is known.", width="content")
        for name, line in held:
            st.button(
                name, key=f"technique-{name}", help=f"{explained[name]} Line {line}. That is no proof that it runs.",
                on_click=state.change, kwargs={"line": (line, line), "find": None},
            )  # fmt: skip


def technique_lines(one: Submission, found: SourceText) -> tuple[tuple[str, int], ...]:
    """The techniques of a text with the line that shows each, memoised."""
    key = key_of("technique_lines", rules().version, engine().source.version, one.file, one.file_row)
    held: tuple[tuple[str, int], ...] = shared.get(key, lambda: lineage.technique_lines(found.text))
    return held


def difference(old: Submission, before: SourceText, new: Submission, after: SourceText) -> None:
    """Techniques that only the later of two texts has, and those that only the earlier has."""
    sides = ((old, before), (new, after))
    was, now = (tuple(name for name, _ in technique_lines(one, found)) for one, found in sides)
    words = change_words(was, now)
    st.caption(f"Techniques: {words}" if words else "Both texts hold the same techniques.")


def origins(one: Submission) -> Lineage | None:
    """The summary and the list of origins; returns the signs for the margin, or None without a store."""
    if store_panel.missing(one.competition, WHAT):
        return None
    found = answers.origins(one.submission_id, one.runner, one.competition)
    if found.empty:
        st.markdown("There is no text, so there are no lines.")
        return None
    _head(memoise(lineage.summary, found, one.submission_id), "origins", one)
    st.caption("In the margin: " + ", ".join(f"{SIGNS[kind]} {word}" for kind, word in WORDS.items()) + ".")
    shown = memoise(lineage.sources, found, one.submission_id, one.competition)
    if len(shown):
        with st.expander(f"The {plural(len(shown), 'submission')} these lines come from"):
            table.show(shown, lineage.SOURCES, key="origin-table", caption="Submissions these lines come from")
    return memoise(lineage.lineage, found, one.submission_id, one.competition)


def relatives(one: Submission) -> None:
    """The closest texts of other users, each with a diff."""
    if store_panel.missing(one.competition, WHAT):
        return
    found = answers.relatives(one.submission_id, one.runner, one.competition)
    if found.empty:
        st.markdown("No other user has a text that shares half of its rare lines.")
        return
    _head(f"{plural(len(found), 'other user')} with a text much like this one.", "relatives", one)
    st.caption(
        "The closest text of each. Similar texts have many reasons: a common starting point, a published kernel, one "
        "person with two names."
    )
    shown = memoise(relative_rows, found, Ref(one.submission_id, one.runner, one.competition))
    table.show(shown, RELATIVES, key="relatives-table", caption="The closest texts of other users", refs="ref")


def relative_rows(found: pd.DataFrame, here: Ref) -> pd.DataFrame:
    """Table rows of relatives; a diff goes from the earlier text to the later one."""
    every = rows(found)
    refs = [Ref(int(row["submission_id"]), text(row["runner"]), here.competition) for row in every]
    pairs = [(ref, here) if row["earlier"] else (here, ref) for row, ref in zip(every, refs, strict=True)]
    return pd.DataFrame(
        {
            "user": [person(row["user_name"], None) for row in every],
            "similarity": found["similarity"],
            "shared": found["shared_lines"],
            "kind": found["kind"],
            "when": ["earlier" if row["earlier"] else "later" for row in every],
            "open": [
                [("Diff", href("compare", CompareView(*pair))), ("Code", href("submission", _page(ref)))]
                for pair, ref in zip(pairs, refs, strict=True)
            ],
            "time": [time_text(row["score"], unit_for(row["score"])) for row in every],
            "problem": found["problem"],
            "runner": [runner_name(ref.runner) if ref.runner else MISSING for ref in refs],
            "at": found["submitted_at"],
            "ref": [str(ref) for ref in refs],
        }
    )


def _page(ref: Ref) -> SubmissionView:
    return SubmissionView(ref.id, ref.runner, ref.competition)


RELATIVES = (
    Column("user", "User", "name", width=24),
    Column("similarity", "Alike", "share", unit="%", places=0, help="Share of the rare lines that both texts hold."),
    Column("shared", "Shared lines", "whole"),
    Column("kind", "How"),
    Column("when", "Sent"),
    Column("open", "Open", "links"),
    Column("time", "Time", width=14),
    Column("problem", "Problem"),
    Column("runner", "Runner"),
    Column("at", "Submitted (UTC)", "minute"),
)


def guard(one: Submission) -> None:
    """The rules of KernelGuard that match, with their evidence and lines; no judgement."""
    if store_panel.missing(one.competition, WHAT):
        return
    if named_in_rules(one.competition, one.submission_id):
        st.markdown(
            ":material/menu_book: Named in KernelGuard's rules: one of its rules was made from this submission."
        )
    with st.spinner("Asking KernelGuard"):
        found = engine().verdict(one.submission_id, one.runner, one.competition)
    _head(verdict_words(found), "verdict", one)
    for place, rule in enumerate(found["rules"]):
        with st.container(border=True, key=f"rule-{place}"):
            st.markdown(f"KernelGuard rule **{markdown(rule['rule'])}** matches ({markdown(rule['severity'])}).")
            st.markdown(markdown(rule["evidence"]))
            _lines(place, rule["lines"])
    st.caption("A match is no judgement: honest texts match rules too. The rules look at the text and run nothing.")


def _lines(place: int, lines: list[int]) -> None:
    if not lines:
        st.caption("The evidence names no line.")
        return
    with st.container(horizontal=True, gap="xsmall", key=f"rule-{place}-lines"):
        for line in lines:
            st.button(
                f"Line {line}", key=f"rule-{place}-{line}", type="tertiary", on_click=state.change,
                kwargs={"line": (line, line), "find": None},
            )  # fmt: skip


def verdict_words(found: Verdict) -> str:
    """What KernelGuard said, in one sentence."""
    version = f"KernelGuard {found['version']}"
    if found["status"] == "timed out":
        return f"{version} did not come to an end with this text in time. That is no finding."
    if found["status"] == "no text":
        return f"There is no text that {version} could look at."
    if found["status"] == "clean":
        return f"No rule of {version} matches this text."
    return f"{plural(len(found['rules']), 'rule')} of {version} match{'es' if len(found['rules']) == 1 else ''}."


def _head(words: str, question: str, one: Submission) -> None:
    """What a panel says in one sentence, beside the link to its rows."""
    asked = {"submission_id": one.submission_id, "runner": one.runner, "competition": one.competition}
    with st.container(horizontal=True, vertical_alignment="center", key=f"{question}-head"):
        st.markdown(markdown(words))
        share.copy_links(None, share.data_path(question, asked), key=question)
