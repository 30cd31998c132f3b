"""Which submission a link means: the one, one of several the reader picks from, or none."""

from collections.abc import Callable, Sequence

import streamlit as st

from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Submission
from kbdash.errors import DataUnavailable, KbdashError, UnknownSubmission
from kbdash.units import MISSING, time_text, unit_for
from kbdash.view import Ref
from kbdash.web import answers
from kbdash.web.escape import markdown
from kbdash.web.session import engine

Pick = Callable[[Submission], None]


def submission_of(ref: Ref, competition: str | None, *, key: str, on_pick: Pick) -> Submission | None:
    """The submission that a link names. If several fit, asks the reader and returns None."""
    rows = answers.submission_rows(ref.id, ref.runner, competition)
    if len(rows) == 1 and (competition or not engine().unavailable):
        return rows[0]
    others = rows or answers.submission_rows(ref.id, None, None)
    if not others:
        raise _unknown(ref, competition)
    _ask(ref, rows, others, key=key, on_pick=on_pick)
    return None


def _unknown(ref: Ref, competition: str | None) -> KbdashError:
    """Says that there is no such submission, or that this is unknown while its competition cannot be read."""
    closed = engine().unavailable
    reasons = [closed[competition]] if competition in closed else closed.values()
    if reasons:
        return DataUnavailable(f"Submission {ref.id} cannot be looked up now.", advice=" ".join(reasons))
    return UnknownSubmission(
        f"There is no submission {ref.id} in this dataset.",
        advice="Check the number, or look for it under Submissions of its competition.",
    )


def _ask(ref: Ref, rows: Sequence[Submission], others: Sequence[Submission], *, key: str, on_pick: Pick) -> None:
    said = f"Submission {ref.id} has several runs. Which one?"
    if len(rows) == 1:
        closed = ", ".join(engine().unavailable)
        said = f"Submission {ref.id} may be another in {closed}, which cannot be read now. This one can:"
    if not rows:
        said = f"Submission {ref.id} has no run on {ref.runner} there. It is here:"
    with st.container(border=True, key=f"{key}-which"):
        st.markdown(f":material/alt_route: **{markdown(said)}**")
        with st.container(horizontal=True, key=f"{key}-choices"):
            for place, row in enumerate(others):
                st.button(markdown(_label(row)), key=f"{key}-choice-{place}", on_click=on_pick, args=(row,))


def _label(row: Submission) -> str:
    machine = runner_name(row.runner) if row.runner else "no runner"
    time = MISSING if row.score is None else time_text(row.score, unit_for(row.score))
    return f"{machine} · {row.problem} · {time}"
