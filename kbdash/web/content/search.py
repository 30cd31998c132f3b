"""Search all source texts: lines, who wrote them first, who has them, and how fast those are."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kbdash import charts
from kbdash.content.search.holding import Holding
from kbdash.dataset.catalog import runner_name
from kbdash.units import count_text, plural
from kbdash.view import SearchView, href
from kbdash.web import answers, chart, chips, share, state, table, tables, widgets
from kbdash.web.content import hits, pickers, store_panel
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.session import engine

EXAMPLES = (
    ("2-CTA matrix products", SearchView(q="cta_group::2")),
    ("Tensor memory", SearchView(q="tcgen05.mma")),
    ("CUDA graphs", SearchView(q="CUDAGraph", any_case=True)),
    ("Deep pipelines", SearchView(q=r"num_stages\s*=\s*[4-9]", regex=True)),
    ("Atomic adds of passing runs", SearchView(q="atomic_add", passed=True)),
)
WHAT = "With it all its source texts can be searched: who wrote a line first, who holds it, how fast they are."
HOLDERS = 25


def show() -> None:
    """The whole page."""
    view = state.view(SearchView)
    _box(view)
    widgets.link_notes()
    with widgets.boundary("search-problem"):
        if _has_store(view) and view.q:
            _results(view)
        elif not view.q:
            _examples()


def _box(view: SearchView) -> None:
    """Title, box, switches and filters in one row, so that the results start high."""
    with st.container(horizontal=True, vertical_alignment="center", key="search-box"):
        st.title("Search", anchor=False, width="content")
        st.text_input(
            "Search in all source texts", placeholder="a word, or part of a line", max_chars=500,
            label_visibility="collapsed", **state.control("q", view.q, default=""),
        )  # fmt: skip
        st.toggle(
            "Regex",
            help="A regular expression (RE2), matched within a line.",
            **state.control("regex", view.regex),
        )
        st.toggle("Any case", **state.control("any_case", view.any_case))
        _filters(view)
    chips.show(chips.chips_of(view))


def _filters(view: SearchView) -> None:
    with st.popover("Filters", icon=":material/tune:", key="search-filters"):
        pickers.board(view)
        st.text_input("User (name or id)", max_chars=60, **state.control("user", view.user or "", default=""))
        pickers.facets("Techniques", view.facets)
        first, last = st.columns(2)
        first.date_input("From (UTC day)", None, format="YYYY-MM-DD", **state.control("since", view.since))
        last.date_input("To (UTC day)", None, format="YYYY-MM-DD", **state.control("until", view.until))
        st.toggle("Only runs that passed", **state.control("passed", view.passed))


def _has_store(view: SearchView) -> bool:
    """Whether there is a store to search; shows which are searched and which are missing."""
    kb = engine()
    slug = pickers.competition(view)
    if slug is not None:
        return not store_panel.missing(slug, WHAT)
    there = kb.content_at_hand()
    titles = {item.slug: item.title for item in kb.competitions if item.slug in kb.readable()}
    without = [name for name in titles if name not in there]
    if not there:
        st.markdown(f"**No competition has a content store yet.** {WHAT} Choose one to see what it would take.")
        pickers.choose(titles)
        return False
    if without:
        named = ", ".join(
            f"[{markdown(titles[name])}]({href('search', replace(view, competition=name))})" for name in without
        )
        st.caption(f"Searched: {plural(len(there), 'competition')}. Without a content store, and left out: {named}")
    return True


def _examples() -> None:
    engine().open_content()  # loads the search while the reader thinks of a word
    st.markdown("Every source text is searched, line by line. Leading and trailing space does not matter. For example:")
    with st.container(horizontal=True, key="search-examples"):
        for place, (word, view) in enumerate(EXAMPLES):
            st.button(
                word, key=f"search-example-{place}", help=markdown(view.q), on_click=state.change,
                kwargs={"q": view.q, "regex": view.regex, "any_case": view.any_case, "passed": view.passed},
            )  # fmt: skip


def _results(view: SearchView) -> None:
    asked = hits.options(view)
    found = answers.search(view.q, limit=view.top, **asked)
    widgets.left_out(found)
    if found.empty:
        widgets.nothing("No line holds that, among the submissions that these filters leave.", key="search")
        return
    held = answers.holding(view.q, limit=1, **asked)
    total = int(found.attrs["total"])
    with st.container(horizontal=True, vertical_alignment="center", key="search-bar"):
        st.markdown(
            f"**{plural(total, 'line')}** in {plural(held.total, 'submission')} of {plural(held.users, 'user')}"
            + (f"; the best {count_text(len(found))} lines are listed." if total > len(found) else ".")
        )
        _tools(view, found)
    if view.opened is not None and view.opened <= len(found):
        _opened(view, str(found["line"].iloc[view.opened - 1]), asked)
    with st.container(key="search-results"):
        with st.container(key="search-pictures"):  # on a narrow screen the style puts it below the lines
            _pictures(view, held)
        _lines(view, found)


def _lines(view: SearchView, found: pd.DataFrame) -> None:
    shown = memoise(hits.shown_rows, found, tuple(found.attrs["places"]), replace(view, opened=None))
    table.show(shown, hits.COLUMNS, key="search-table", caption="Lines that hold what was searched for, best first")
    if int(found.attrs["total"]) > len(found) and view.top < 1000:
        st.button("Show more lines", key="search-more", on_click=state.change, kwargs={"top": view.top * 2})


def _tools(view: SearchView, found: pd.DataFrame) -> None:
    with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="search-tools"):
        asked = {"pattern": view.q, "limit": view.top, **hits.options(view)}
        share.copy_links(view, share.data_path("search", asked), key="search")
        share.downloads(found, share.file_stem("search"), key="search")
        with st.popover("Python", key="search-python"):
            st.code(hits.python_text(view), language="python", wrap_lines=True)
        with st.popover("SQL", key="search-sql"):
            st.caption("For DuckDB, in the folder of a content store: `python -m kbdash.content status` names it.")
            st.code(hits.sql_text(view), language="sql", wrap_lines=True)


def _opened(view: SearchView, line: str, asked: dict[str, Any]) -> None:
    """The submissions that hold one line."""
    narrowed = {name: value for name, value in asked.items() if name not in ("regex", "case")}
    held = answers.holding(line, line=True, limit=HOLDERS, **narrowed)
    with st.container(border=True, key="search-opened"):
        with st.container(horizontal=True, vertical_alignment="center", key="search-opened-bar"):
            st.markdown(f"In {plural(held.total, 'submission')} of {plural(held.users, 'user')}")
            st.button("Close", key="search-close", on_click=state.change, kwargs={"opened": None})
        st.code(line[: hits.LONGEST], language=None, wrap_lines=True)
        shown = memoise(hits.holder_rows, held.submissions, hits.first_hit(line, hits.expression(view)))
        table.show(shown, hits.HOLDERS, key="search-holders", caption="Submissions that contain the line, best first")


def _pictures(view: SearchView, held: Holding) -> None:
    """Charts: when the pattern appeared, and times of those with it against those without."""
    theme = widgets.theme()
    over_time, against = st.columns(2)
    with over_time:
        chart.show(
            memoise(charts.spread, held.weeks, theme),
            key="search-weeks",
            title=f"Submissions that hold {view.q}",
            alt=f"Submissions a week that hold it, {count_text(held.total)} in all, and users so far",
            file_name=share.file_stem("search", "weeks"),
            table=lambda: held.weeks,
        )
    with against:
        labels = tuple(((problem, runner), f"{problem}, {runner_name(runner)}") for problem, runner in _boards(held))
        chart.show(
            memoise(charts.with_without, held.bests, labels, theme),
            key="search-bests",
            title=f"Users' bests that hold {view.q}, and those that do not",
            alt="Users' bests with and without it, per board, as multiples of the board's best",
            file_name=share.file_stem("search", "bests"),
            table=lambda: charts.compared(held.bests),
            opens=tables.open_submission,
        )
        st.caption("Only bests of the same problem and runner are compared. A difference is no proof of a cause.")


def _boards(held: Holding) -> list[tuple[str, str]]:
    pairs = held.bests[["problem", "runner"]].drop_duplicates()
    return [(str(problem), str(runner)) for problem, runner in zip(pairs["problem"], pairs["runner"], strict=True)]
