"""What the data are, the ranking rule, what cannot be matched, licence and citation, and how to do it yourself."""

import streamlit as st

from kbdash.database.competition_views import sql_text
from kbdash.database.questions import columns
from kbdash.dataset import catalog
from kbdash.dataset.config import DATASET
from kbdash.dataset.credit import CITATION, DATASET_PAGE
from kbdash.units import NANOSECONDS, bytes_text
from kbdash.view import AboutView
from kbdash.web import card, session, state, widgets
from kbdash.web.escape import markdown

RULE = """
A row counts when it is a ranked run (`mode = leaderboard`) that passed with a finite score above zero; a score of
thirty years or more is stored as infinity and counts as no time. For each problem and runner every user has one row:
their lowest score; ties inside a user go to the earliest submission, then to the lowest id. Users are ranked by that
score. Equal scores share a rank and the next rank is skipped.

Nothing is hidden. A time under {shortest:g} ns is impossible (no kernel launch is that fast) and ranks after all
others. A time below a heuristic floor, or one publicly reported not to measure what it claims, keeps its rank and
carries a flag with the reason. *Rank without flagged rows* ranks again without them.
"""

DIFFERENCES = """
- The site requires a passed secret run since 2026-06-18. Exported before secret-run filtering: {unfiltered}.
- A submission marked as a hack after it was scored still says `succeeded` in the export; the site drops it.
- The AMD MI300 files mix public and secret ranked runs and cannot tell them apart; users there are anonymous.
- The site numbers rows by position, so equal times get different ranks there.
- Boards that stayed open moved on after their prizes: set *To* to the closing day for the official result.
"""

COUNTS = {
    "Submissions, tries": columns.TRIES,
    "Passed": columns.PASSED,
    "Users": columns.USERS,
    "Share that passed": columns.RATE,
    "Never ran": f"{columns.NOT_RUN}; counted once, in no share",
}

PYTHON = """import kbdash

kb = kbdash.connect()                      # the Hub; or connect("sample"), connect("/data/kernelbot")
kb.problems()
kb.leaderboard("nvfp4_gemm", runner="NVIDIA", until="2025-12-21")
kb.progression("nvfp4_gemm", user="gau.nernst")
kb.code(187476)                            # one source text, without downloading the file
kb.sql("select runner, count(*) from submissions group by all")"""

DUCKDB = """-- DuckDB by itself, without kbdash: the same ranking from the file on the Hub
select
  rank() over (order by min(score)) as rank,
  any_value(user_name) as user_name,
  min(score) * 1e6 as microseconds
from 'hf://datasets/{dataset}/nvidia_nvfp4_submissions.parquet'
where problem_name = 'nvfp4_gemm' and runner = 'NVIDIA'
  and mode = 'leaderboard' and passed and isfinite(score) and score >= {shortest!r}
group by user_id
order by rank
limit 20;"""

_READABLE = 900  # pixels; longer lines are hard to read


def show() -> None:
    """The whole page."""
    state.view(AboutView)
    st.title("About", anchor=False)
    widgets.link_notes()
    with st.container(width=_READABLE):
        _text()


def _text() -> None:
    _data()
    st.header("How it is ranked", anchor=False)
    st.markdown(RULE.format(shortest=NANOSECONDS.of(catalog.IMPOSSIBLE_SECONDS)))
    with st.expander("The rule as SQL", key="rule-sql"):
        st.code(sql_text("ranking"), language="sql", wrap_lines=True)
    st.header("How it is counted", anchor=False)
    st.markdown("\n".join(f"- **{word}**: {meaning}." for word, meaning in COUNTS.items()))
    st.header("Where it can differ from gpumode.com", anchor=False)
    unfiltered = [item.title for item in session.engine().competitions if item.unfiltered]
    st.markdown(DIFFERENCES.format(unfiltered=markdown(", ".join(unfiltered) or "none of these files")))
    st.header("Words", anchor=False)
    with st.expander("Glossary", key="glossary"):
        st.markdown(card.glossary_text())
    st.header("Do it yourself", anchor=False)
    st.code(PYTHON, language="python", wrap_lines=True)
    st.code(DUCKDB.format(dataset=DATASET, shortest=catalog.IMPOSSIBLE_SECONDS), language="sql", wrap_lines=True)
    st.header("Licence, attribution, citation", anchor=False)
    _licence()
    st.code(CITATION.strip(), language=None, wrap_lines=True)


def _data() -> None:
    """The source that is read, its revision and its size."""
    kb = session.engine()
    st.markdown(
        f"kbdash shows the GPU kernel competitions of KernelBot, from "
        f"[GPU Mode and the KernelBot dataset]({DATASET_PAGE}). Nothing is downloaded first: the few columns a view "
        "needs are read in place, and one source text costs one page of its file. Times are seconds in exports and "
        "the board's unit on screen; days and times are UTC."
    )
    rows = [{"File": file.name, "Size": bytes_text(file.size)} for file in kb.source.files.values()]
    with st.expander(f"The {len(rows)} files of this revision", key="files"):
        st.dataframe(rows, hide_index=True, alt="Files of this revision", key="files-table")


def _licence() -> None:
    source = session.engine().source
    named = markdown(source.licence) if source.licence and source.kind != "sample" else "as the dataset says"
    st.markdown(
        f"Licence of the revision read here: **{named}**. The licence of the dataset changed over time; what counts "
        "is the revision in the footer. Scores are as published, not verified; each submission belongs to its author, "
        "its own licence is unknown and not inferred. No endorsement by GPU Mode is implied. Questions about removal "
        "or credit belong to the dataset's maintainers."
    )
