"""The URL state: every view survives its own link, and no link can break a page."""

import importlib
import inspect
import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, get_args
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash import view
from kbdash.content.techniques import facet_names
from kbdash.database.questions.parameters import SORTS, Sort
from kbdash.dataset.model import LARGEST_ID
from kbdash.units import MICROSECONDS
from kbdash.view import (
    CompareView,
    CompetitionView,
    LadderView,
    Ref,
    SearchView,
    StepsView,
    SubmissionView,
    UserView,
    View,
)
from kbdash.view.values import statement, text_up_to
from kbdash.web import overview, registry, user
from kbdash.web.tabs import progression, ranking
from kbdash.web.tabs.submissions import columns_of

VIEWS = [*view.PAGES.values(), CompetitionView]

word = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=40)
maybe_word = st.none() | word
maybe_day = st.none() | st.dates()
number = st.integers(0, LARGEST_ID)
seconds = st.floats(1e-12, 1e6)
refs = st.none() | st.builds(Ref, number, maybe_word)
line = st.integers(1, 9999)
lines = st.none() | st.tuples(line, line).map(lambda pair: (min(pair), max(pair)))

facet_name = st.sampled_from(sorted(facet_names()))
facets = st.lists(facet_name | facet_name.map("!{}".format), max_size=view.MAX_FACETS, unique=True).map(tuple)

competition_views = st.builds(
    CompetitionView,
    problem=maybe_word,
    runner=maybe_word,
    users=st.lists(word, max_size=view.MAX_PINS, unique=True).map(tuple),
    since=maybe_day,
    until=maybe_day,
    failures=st.booleans(),
    hide_flagged=st.booleans(),
    facets=facets,
    tab=st.sampled_from(view.TABS),
    top=st.integers(5, view.MAX_TOP),
    find=word | st.just(""),
    sort=st.sampled_from(SORTS + tuple(f"-{key}" for key in SORTS)),
    page=st.integers(1, 1_000_000),
    my_time=st.none() | seconds,
    span=st.sampled_from(view.SPANS),
    ranks=st.sampled_from(view.RANKS),
    skip_shapes=st.lists(st.integers(0, 999), max_size=100, unique=True).map(tuple),
)
submission_views = st.builds(
    SubmissionView,
    id=st.none() | number,
    runner=maybe_word,
    competition=maybe_word,
    line=lines,
    find=word | st.just(""),
    show=st.sampled_from(view.PANELS),
    walk=st.sampled_from(["board", "user", "bests"]),
    since=maybe_day,
    until=maybe_day,
    hide_flagged=st.booleans(),
)
compare_views = st.builds(CompareView, a=refs, b=refs, mode=st.sampled_from(["unified", "split"]))
user_views = st.builds(UserView, user=maybe_word, find=word | st.just(""))
ladder_views = st.builds(
    LadderView, maybe_word, maybe_word, maybe_word, maybe_word, maybe_day, maybe_day, st.integers(5, 500)
)
search_views = st.builds(
    SearchView,
    q=word | st.just(""),
    regex=st.booleans(),
    any_case=st.booleans(),
    competition=maybe_word,
    problem=maybe_word,
    runner=maybe_word,
    user=maybe_word,
    passed=st.booleans(),
    facets=facets,
    since=maybe_day,
    until=maybe_day,
    top=st.integers(10, view.MAX_TOP),
    opened=st.none() | st.integers(1, view.MAX_TOP),
)
steps_views = st.builds(
    StepsView, maybe_word, maybe_word, maybe_word, maybe_word, st.none() | facet_name, st.integers(1, 99)
)
any_view = st.one_of(
    competition_views, submission_views, compare_views, user_views, ladder_views, search_views, steps_views
)

names = {param.name for kind in VIEWS for _, _, param in view.params_of(kind)} | {"junk", "page"}
odd_text = st.sampled_from(["9" * 400, "-1", "1e9", "NaN", "inf", "٣", "\x00", "2026-02-30"])
any_text = st.text(max_size=300) | odd_text
junk = st.dictionaries(st.sampled_from(sorted(names)) | any_text, st.lists(any_text, max_size=40))


@given(any_view)
def test_a_view_survives_its_own_query(state: View) -> None:
    assert type(state).parse(state.query()) == (state, ())


@given(any_view)
def test_a_view_survives_its_own_link(state: View) -> None:
    read = parse_qs(urlsplit(view.href("page", state)).query, strict_parsing=bool(state.query()))
    assert type(state).parse(read)[0] == state


@given(junk, st.sampled_from(VIEWS))
def test_any_junk_parses_into_a_view_that_links(params: dict[str, list[str]], kind: type[View]) -> None:
    state, notes = kind.parse(params)
    assert kind.parse(state.query()) == (state, ())
    assert len(notes) <= view.MAX_NOTES
    assert all(len(note) < 400 and "\x00" not in note for note in notes)
    view.href("page", state).encode("ascii")


@pytest.mark.parametrize(
    ("text", "read"),
    [("abc", "abc"), ("abcd", None), ("a\x00", None), ("\ud800", None), ("a\n", None), ("", "")],
)
def test_a_short_text_of_a_link(text: str, read: str | None) -> None:
    assert text_up_to(3)(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (" select\r\n\t1 \n", "select\n\t1"), ("select '\x00'", None), ("\ud800", None),
        ("x" * 4000, "x" * 4000), ("x" * 4001, None),
    ],
)  # fmt: skip
def test_a_statement_of_a_link(text: str, read: str | None) -> None:
    assert statement(text) == read


def test_what_a_link_without_numbers_means() -> None:
    defaults = {
        (kind.__name__, name): default
        for kind in VIEWS
        for name, default, _ in view.params_of(kind)
        if type(default) is int
    }
    assert defaults == {
        ("CompetitionView", "page"): 1,
        ("CompetitionView", "top"): 100,
        ("LadderView", "top"): 15,
        ("SearchView", "top"): 50,
        ("StepsView", "percent"): 10,
        ("StepsView", "top"): 50,
        ("TrustView", "top"): 20,
    }


def test_defaults_make_an_empty_query() -> None:
    assert all(kind().query() == {} for kind in VIEWS)


def test_the_documented_parameters_keep_their_names() -> None:
    state = CompetitionView(
        problem="nvfp4_gemm",
        runner="NVIDIA",
        users=("1", "2"),
        since=date(2025, 12, 1),
        until=date(2025, 12, 21),
        failures=True,
        hide_flagged=True,
        tab="hardware",
        top=10,
    )
    assert view.href("nvfp4", state) == (
        "/nvfp4?problem=nvfp4_gemm&runner=NVIDIA&user=1&user=2&from=2025-12-01&to=2025-12-21"
        "&passed=all&flags=hide&tab=hardware&top=10"
    )
    assert view.href("submission", SubmissionView(id=7, line=(10, 20))) == "/submission?id=7&line=10-20"
    assert view.href("compare", CompareView(Ref(1), Ref(2, "H100"))) == "/compare?a=1&b=2%40H100"
    assert view.href("submission", SubmissionView(id=7, show="origins")) == "/submission?id=7&show=origins"


def test_the_parameters_of_a_search_keep_their_names() -> None:
    state = SearchView(
        q="cta_group::2",
        regex=True,
        any_case=True,
        problem="nvfp4_gemm",
        runner="NVIDIA",
        user="someone",
        passed=True,
        facets=("tcgen05", "!triton"),
        since=date(2025, 12, 1),
        until=date(2025, 12, 21),
    )
    assert view.href("search", state) == (
        "/search?q=cta_group%3A%3A2&mode=regex&case=any&problem=nvfp4_gemm&runner=NVIDIA&user=someone&passed=yes"
        "&facet=tcgen05&facet=%21triton&from=2025-12-01&to=2025-12-21"
    )


def test_another_question_closes_the_opened_result_and_keeps_the_rest() -> None:
    before = SearchView(q="tma", competition="nvfp4", problem="nvfp4_gemm", runner="NVIDIA", opened=3)
    assert replace(before, opened=4).after(before).opened == 4
    assert replace(before, q="wgmma").after(before) == replace(before, q="wgmma", opened=None)
    assert replace(before, problem="nvfp4_gemv").after(before).runner is None
    assert replace(before, competition="trimul").after(before).problem is None


def test_a_technique_that_nobody_knows_is_named_and_left_out() -> None:
    state, notes = CompetitionView.parse({"facet": ["tcgen05", "!triton", "magic", "!"]})
    assert state.facets == ("tcgen05", "!triton")
    assert notes == ("Ignored facet=magic", "Ignored facet=!")


@pytest.mark.parametrize(
    ("params", "note"),
    [
        ({"tab": ["nothing"]}, "Ignored tab=nothing"),
        ({"from": ["2026-02-30"]}, "Ignored from=2026-02-30"),
        ({"top": ["99999"]}, "Read top=99999 as 1000"),
        ({"user": [str(n) for n in range(99)]}, "Too many values for user: only 12 can be shown"),
        ({"probelm": ["x"]}, "This page does not know: probelm"),
        ({"problem": ["x" * 101]}, "Ignored problem=" + "x" * 40 + "…"),
        ({"mine": ["-3us"]}, "Ignored mine=-3us"),
    ],
)
def test_notes_name_what_was_ignored(params: dict[str, list[str]], note: str) -> None:
    assert CompetitionView.parse(params)[1] == (note,)


def test_repeated_single_parameters_take_the_last_and_say_so() -> None:
    state, notes = CompetitionView.parse({"tab": ["hardware", "progression"]})
    assert state.tab == "progression"
    assert notes == ("Too many values for tab: only 1 can be shown",)


def test_an_empty_value_is_no_value() -> None:
    assert CompetitionView.parse({"problem": [""], "user": ["", "7"]}) == (CompetitionView(users=("7",)), ())


@pytest.mark.parametrize(
    ("text", "seconds_"),
    [
        ("30us", 30e-6), ("30 µs", 30e-6), ("30μs", 30e-6), ("1.2ms", 1.2e-3), ("850 ns", 850e-9),
        ("2s", 2.0), ("3e-05", 3e-5), ("1e3us", 1e-3),
        ("", None), ("fast", None), ("nan", None), ("inf", None), ("0", None), ("-1us", None), ("1e99", None),
        ("1e-12", 1e-12), ("9e-13", None), ("1000000 s", 1e6), ("1000000.5 s", None),
    ],
)  # fmt: skip
def test_times_as_people_write_them(text: str, seconds_: float | None) -> None:
    assert view.read_time(text) == seconds_


@pytest.mark.parametrize(("text", "seconds_"), [("30us", 30e-6), ("9954ns", 9.954e-6), ("1.5s", 1.5)])
def test_times_are_written_in_the_shortest_unit(text: str, seconds_: float) -> None:
    assert view.write_time(seconds_) == text


def test_another_problem_keeps_pins_and_drops_what_belongs_to_the_board() -> None:
    before = CompetitionView(problem="a", runner="H100", users=("7",), page=4, find="x", tab="hardware")
    after = replace(before, problem="b", my_time=1e-5, skip_shapes=(1,)).after(before)
    assert after == CompetitionView(problem="b", users=("7",), tab="hardware")


def test_a_filter_leads_back_to_the_first_page_and_paging_does_not() -> None:
    before = CompetitionView(page=4)
    assert CompetitionView(page=4, failures=True).after(before).page == 1
    assert CompetitionView(page=5).after(before).page == 5


def test_every_other_parameter_leads_back_to_the_first_page_unless_it_says_that_it_does_not() -> None:
    changed = {
        "runner": "A100", "users": ("u1",), "since": date(2026, 1, 1), "until": date(2026, 1, 1), "failures": True,
        "hide_flagged": True, "facets": ("tma",), "find": "x", "sort": "score",
        "top": 5, "order": "gap", "my_time": 1e-5, "span": "all", "ranks": "lanes", "skip_shapes": (1,), "page": 4,
    }  # fmt: skip
    names = {name for name, _, _ in view.params_of(CompetitionView)}
    assert changed.keys() | {"problem", "tab"} == names
    before = CompetitionView(page=4)
    kept = {name for name, value in changed.items() if replace(before, **{name: value}).after(before).page == 4}
    assert kept == {"top", "order", "my_time", "span", "ranks", "skip_shapes", "page"}

    @dataclass(frozen=True)
    class Longer(CompetitionView):
        extra: Annotated[str, view.Param("extra", text_up_to(9))] = ""

    assert Longer(page=4, extra="x").after(Longer(page=4)).page == 1


def test_the_root_forwards_to_known_pages_only() -> None:
    pages = ("", "submission", "nvfp4")
    assert view.forward({"page": ["submission"], "id": ["7"]}, pages) == ("submission", {"id": ["7"]})
    assert view.forward({"page": ["https://x.example"], "id": ["7"]}, pages) is None
    assert view.forward({}, pages) is None
    assert view.forward({"page": [""]}, pages) is None


def test_a_page_offers_every_order_that_its_link_may_ask_for() -> None:
    assert {column.sort for column in columns_of(MICROSECONDS, 1e-6)} - {""} == set(get_args(Sort))
    for name in get_args(Sort):
        for order in (name, f"-{name}"):
            assert CompetitionView.parse({"sort": [order]}) == (CompetitionView(sort=order), ())


def test_every_head_of_a_whole_table_names_an_order_that_links_know() -> None:
    heads = (
        *ranking.columns_of(MICROSECONDS, 1e-6, several=True), *progression.record_columns(MICROSECONDS, 1e-6),
        *overview.columns_of(MICROSECONDS), *user.board_columns(MICROSECONDS),
    )  # fmt: skip
    assert {column.sort for column in heads} - {""} == set(view.ORDERS)


@pytest.mark.parametrize(("path", "kind"), [*view.PAGES.items(), ("competition", view.view_at("nvfp4"))])
def test_a_page_reads_the_view_that_its_path_has(path: str, kind: type[View]) -> None:
    script = (registry.PAGES / f"{path or 'overview'}.py").read_text("utf-8")
    (package, name) = re.findall(r"^from (kbdash\.web[\w.]*) import (\w+)", script, re.MULTILINE)[0]
    read = re.findall(r"state\.view\((\w+)\)", inspect.getsource(importlib.import_module(f"{package}.{name}")))
    assert set(read) == {kind.__name__}
