"""The study set of a view: source texts, facts and citation in one file, made in the background with progress."""

from collections.abc import Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from kbdash.cache import BYTES, SharedCache
from kbdash.code.study import MOST_TEXTS, Entry, Format, packed, within
from kbdash.database.questions import QUESTIONS
from kbdash.dataset.model import Submission
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.units import bytes_text, count_text, plural
from kbdash.web import widgets
from kbdash.web.escape import markdown
from kbdash.web.session import engine

FORMATS: dict[Format, str] = {"zip": "Zip", "jsonl": "JSONL"}
MEDIA = {"zip": "application/zip", "jsonl": "application/jsonl"}
OFFERED = ("leaderboard", "submissions")
AT_ONCE = 2
_workers = ThreadPoolExecutor(AT_ONCE, "kbdash-study")
_made: SharedCache[Hashable, bytes] = SharedCache(64 << 20, len, BYTES)
_WORK = "_study_work"


@dataclass
class Work:
    """A set in the making: its request, progress and result."""

    key: Hashable
    total: int
    done: int = 0
    stopped: bool = False
    end: "Future[None]" = field(default_factory=Future)


def popover(question: str, parameters: Mapping[str, object], stem: str, *, key: str) -> None:
    """The button and its popover."""
    with st.popover("Study set", key=f"{key}-study", on_change="rerun", help="Source texts with facts") as opened:
        if opened.open:  # nothing is computed while it is closed
            _content(question, dict(parameters), stem, key)


@st.fragment
def _content(question: str, parameters: dict[str, object], stem: str, key: str) -> None:
    with widgets.boundary(f"{key}-study-problem"):
        _offer(question, parameters, stem, key)


def _offer(question: str, parameters: dict[str, object], stem: str, key: str) -> None:
    kb = engine()
    most = st.number_input(
        "Texts, from the top of the list", 1, MOST_TEXTS, 20, key=f"{key}-study-most", help=f"At most {MOST_TEXTS}."
    )
    format_: Format = st.segmented_control(
        "Format", list(FORMATS), format_func=lambda name: FORMATS[name], default="zip", required=True,
        key=f"{key}-study-format",
    )  # fmt: skip
    rows = rows_of(kb, question, parameters, int(most))
    where = (kb.source.version, question, tuple(rows["submission_id"]), tuple(rows["runner"]), format_)
    work = st.session_state.get(_WORK)
    if isinstance(work, Work) and work.key == where and not work.end.done():
        _follow(work)
        return
    if where in _made:
        _download(kb, rows, parameters, format_, stem, where, key)
        return
    if isinstance(work, Work) and work.key == where and (error := work.end.exception()):
        st.markdown(f":material/error: {markdown(str(error))}")
    st.caption(cost_text(kb, rows, str(parameters["competition"])))
    st.button(
        f"Prepare {plural(len(rows), 'text')}", key=f"{key}-study-start", disabled=rows.empty,
        on_click=begin, args=(kb, rows, str(parameters["competition"]), format_, where),
    )  # fmt: skip


def rows_of(kb: KernelBot, question: str, parameters: Mapping[str, object], most: int) -> pd.DataFrame:
    """The first rows of the list that a view shows, under its filters."""
    known = {item.name for item in QUESTIONS[question].parameters}
    asked = {name: value for name, value in parameters.items() if name in known}
    more = {"top": None} if "top" in known else {"page": 1, "page_size": most}
    rows = kb.ask(question, **asked | more)
    return rows[rows["submission_id"].notna()].head(most)


def cost_text(kb: KernelBot, rows: pd.DataFrame, competition: str) -> str:
    """What fetching the texts takes, in words."""
    kb.index_code(competition)
    cost = kb.cost_of(submissions_of(kb, rows, competition))
    what = "to fetch" if kb.source.kind == "hub" else "to read from disk"
    if cost.unknown:
        known = f"{bytes_text(cost.bytes)} {what} for the others. " if cost.bytes else ""
        return f"{known}Not known yet for {plural(cost.unknown, 'text')}: the file is still being indexed."
    return f"{bytes_text(cost.bytes)} {what}." if cost.bytes else "All texts are at hand: nothing to fetch."


def submissions_of(kb: KernelBot, rows: pd.DataFrame, competition: str) -> list[Submission]:
    """The submissions of these rows."""
    named = zip(rows["submission_id"], rows["runner"], strict=True)
    wanted = [(int(id_), None if pd.isna(runner) else str(runner)) for id_, runner in named]
    return kb.submissions_at(wanted, competition)


def begin(kb: KernelBot, rows: pd.DataFrame, competition: str, format_: Format, where: Hashable) -> None:
    """Start to make a set; cancels the reader's previous one."""
    before = st.session_state.get(_WORK)
    if isinstance(before, Work):
        before.stopped = True
    work = Work(where, len(rows))
    work.end = _workers.submit(_make, kb, rows, competition, format_, work)
    st.session_state[_WORK] = work


def _make(kb: KernelBot, rows: pd.DataFrame, competition: str, format_: Format, work: Work) -> None:
    _made.get(work.key, lambda: study_set(kb, rows, competition, format_, work))


def study_set(kb: KernelBot, rows: pd.DataFrame, competition: str, format_: Format, work: Work) -> bytes:
    """The file with the texts of these rows, read in file order."""
    submissions = submissions_of(kb, rows, competition)
    ranks = dict(zip(rows["submission_id"], rows["rank"], strict=True)) if "rank" in rows else {}
    entries: dict[Submission, Entry] = {}
    for one in sorted(submissions, key=lambda one: (one.file, one.file_row)):
        if work.stopped:
            raise KbdashError("Another study set was asked for.")
        rank = ranks.get(one.submission_id)
        try:
            entries[one] = Entry(one, None if rank is None else int(rank), kb.text_of(one))
        except KbdashError as error:
            entries[one] = Entry(one, None if rank is None else int(rank), None, str(error))
        work.done += 1
    return packed(list(within(entries[one] for one in submissions)), kb.source, format_)


@st.fragment(run_every=0.5)
def _follow(work: Work) -> None:
    if work.end.done():
        st.rerun()
    said = f"{count_text(work.done)} of {plural(work.total, 'text')}"
    st.progress(work.done / max(work.total, 1), text=said if work.done else "Waiting for the texts")


def _download(
    kb: KernelBot, rows: pd.DataFrame, parameters: Mapping[str, object], format_: Format, stem: str, where: Hashable,
    key: str,
) -> None:  # fmt: skip
    def content() -> bytes:
        again = Work(where, len(rows))
        return _made.get(where, lambda: study_set(kb, rows, str(parameters["competition"]), format_, again))

    said = f"{plural(len(rows), 'text')} with facts, citation and licence"
    st.caption(f"{said}: {bytes_text(len(_made.get(where, content)))}.")
    st.download_button(
        f"Download {FORMATS[format_]}", content, f"{stem}_study.{format_}", MEDIA[format_],
        key=f"{key}-study-{format_}", on_click="ignore",
    )  # fmt: skip
