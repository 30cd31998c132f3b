"""The view is the link: what is written is read back, Back undoes, and nothing in a link can break a page."""

import pytest

from kbdash.view import TABS
from tests.app.conftest import Open, healthy, link, opened_engine, words
from tests.app.shown import numbers, table, tables


def test_a_cold_link_opens_what_it_names(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_group_gemm", runner="NVIDIA", top="7", from_="2026-01-01", to="2026-02-20")
    assert healthy(app)
    assert app.segmented_control(key="nvfp4-problem").value == "nvfp4_group_gemm"
    assert app.segmented_control(key="nvfp4-runner").value == "NVIDIA"
    assert len(tables(app)[0]) == 7
    assert tables(app)[0]["day"].max() < "2026-02-21"


def test_widgets_write_the_link_and_defaults_leave_it(sample: Open) -> None:
    app = sample("nvfp4")
    app.segmented_control(key="nvfp4-problem").set_value("nvfp4_group_gemm").run()
    assert link(app) == {"problem": ["nvfp4_group_gemm"]}
    app.toggle(key="nvfp4-hide_flagged").set_value(True).run()
    assert link(app) == {"problem": ["nvfp4_group_gemm"], "flags": ["hide"]}
    app.toggle(key="nvfp4-hide_flagged").set_value(False).run()
    app.segmented_control(key="nvfp4-problem").set_value("nvfp4_gemv").run()
    assert link(app) == {}


def test_back_shows_the_view_before(sample: Open) -> None:
    app = sample("trimul", tab="submissions")
    app.toggle(key="trimul-failures").set_value(True).run()
    assert link(app) == {"passed": ["all"], "tab": ["submissions"]}
    app.query_params.pop("passed")
    app.run()
    assert app.toggle(key="trimul-failures").value is False
    assert "submissions that passed" in words(app)


def test_a_click_that_overtakes_the_address_bar_is_not_lost(sample: Open) -> None:
    app = sample("trimul", tab="submissions")
    app.toggle(key="trimul-failures").set_value(True).run()
    app.query_params.pop("passed")
    app.text_input(key="trimul-find").set_value("a").run()
    assert link(app) == {"passed": ["all"], "tab": ["submissions"], "find": ["a"]}


def test_another_problem_keeps_the_pins(sample: Open) -> None:
    app = sample("nvfp4", tab="submissions", problem="nvfp4_gemm")
    pinned = [opened_engine().leaderboard("nvfp4_gemm")["user_id"].iloc[3]]
    app.multiselect(key="nvfp4-users").select(pinned[0]).run()
    assert link(app)["user"] == pinned
    app.segmented_control(key="nvfp4-problem").set_value("nvfp4_group_gemm").run()
    assert link(app)["user"] == pinned
    assert healthy(app)


def test_a_filter_leads_back_to_the_first_page(sample: Open) -> None:
    app = sample("nvfp4", tab="submissions", p="3")
    assert link(app)["p"] == ["3"]
    app.toggle(key="nvfp4-failures").set_value(True).run()
    assert "p" not in link(app)


def test_the_sort_of_all_rows_happens_before_paging(sample: Open) -> None:
    app = sample("nvfp4", tab="submissions", sort="score")
    times = numbers(table(app)["score"])
    assert list(times) == sorted(times)
    best = numbers(table(sample("nvfp4"))["score"])[0]
    assert times[0] == pytest.approx(best)


JUNK = {
    "problem": "'; drop table submissions; --",
    "runner": "<script>alert(1)</script>",
    "user": ["../../etc/passwd", "' or 1=1 --", "9" * 200, "\u202e"],
    "from_": "2026-13-45",
    "to": "0000-00-00",
    "passed": "maybe",
    "flags": "1",
    "tab": "[a](javascript:alert(1))",
    "top": "1e9",
    "p": "99999999999999999999",
    "sort": "score; drop",
    "find": "%' or '1'='1",
    "mine": "-1us",
    "skip": ["x", "-1"],
    "id": "1 or 1",
    "line": "20-",
    "a": "x@y",
    "nonsense": ["1"] * 50,
}


@pytest.mark.parametrize("page", ["", "nvfp4", "amd-mi300", "user", "about"])
def test_junk_never_breaks_a_page(sample: Open, page: str) -> None:
    app = sample(page, **JUNK)
    assert healthy(app)
    assert "not understood" in words(app)
    app.run()
    assert healthy(app)
    assert "not understood" not in words(app)


@pytest.mark.parametrize("tab", ["distribution", "progression", "hardware", "submissions"])
def test_hostile_values_are_only_values(sample: Open, tab: str) -> None:
    app = sample("nvfp4", tab=tab, find="' or 1=1 --", user=["' or 1=1 --"], runner="' or 1=1 --")
    assert healthy(app)


def test_an_unknown_problem_is_named_and_the_first_one_shown(sample: Open) -> None:
    app = sample("nvfp4", problem="_nothing_ $x$")
    assert healthy(app)
    assert "has no problem named" in app.warning[0].value
    assert tables(app)


@pytest.mark.parametrize("tab", TABS)
def test_filters_that_match_nothing_offer_a_way_back(sample: Open, tab: str) -> None:
    app = sample("nvfp4", tab=tab, from_="2030-01-01")
    assert healthy(app)
    assert "match" in words(app)
    app.button(key=f"{tab}-reset").click().run()
    assert link(app) == {}
    assert tables(app)


def test_the_root_forwards_and_ignores_strangers(sample: Open) -> None:
    assert sample("trimul", tab="hardware").title[0].value == "TriMul"
    assert sample("https://evil.example").title[0].value == "GPU kernel competitions"
