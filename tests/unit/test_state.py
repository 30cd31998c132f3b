"""The view behind the URL, when clicks come faster than the browser is told what they led to."""

from kbdash.view import CompetitionView
from kbdash.web.state import Query, _Url

GEMM: Query = {"problem": ["nvfp4_gemm"]}
ON_FIELD: Query = GEMM | {"tab": ["distribution"]}


def run(url: _Url, seen: Query, *, cut_off: bool = False, **changes: object) -> Query:
    """A run after a click: what the address should be; told to the browser unless the next click cuts the run off."""
    url.change(changes)
    view, _ = url.resolve(CompetitionView, seen)
    url.told |= not cut_off
    return view.query()


def test_a_click_sent_before_the_new_address_arrived_keeps_what_came_before() -> None:
    url = _Url("nvfp4")
    assert run(url, {}, problem="nvfp4_gemm") == GEMM
    assert run(url, {}, tab="distribution") == ON_FIELD


def test_a_third_click_that_saw_only_the_first_address_keeps_the_second() -> None:
    url = _Url("nvfp4")
    run(url, {}, problem="nvfp4_gemm")
    run(url, {}, tab="distribution")
    assert run(url, GEMM, hide_flagged=True) == ON_FIELD | {"flags": ["hide"]}


def test_what_a_run_concluded_is_kept_when_it_is_cut_off_before_the_browser_was_told() -> None:
    for changes in ({"tab": "distribution"}, {}):  # the next click changes the view, or only opens something
        url = _Url("nvfp4")
        run(url, {}, problem="nvfp4_gemm", cut_off=True)
        assert run(url, {}, cut_off=True, **changes) == (ON_FIELD if changes else GEMM)
        assert not url.told, "the browser is told now"


def test_the_browser_is_told_when_a_click_leads_back_to_the_address_it_was_sent_from() -> None:
    url = _Url("nvfp4")
    run(url, {}, tab="distribution")
    assert run(url, {}, cut_off=True, tab="leaderboard") == {}
    assert not url.told, "the first run's address is on its way"


def test_back_and_links_lead_to_their_address() -> None:
    url = _Url("nvfp4")
    run(url, {}, problem="nvfp4_gemm")
    run(url, GEMM, tab="distribution")
    assert run(url, GEMM) == GEMM
    assert run(url, {}) == {}
    assert run(url, {}, tab="distribution") == {"tab": ["distribution"]}
