"""What is inside the kernels, by clicking: from a search to a diff, from a technique to a link, and a build."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from kbdash.dataset.config import DATASET
from tests.conftest import part_of
from tests.e2e.conftest import Open, Serve, moved, settled
from tests.hub import LoopbackHub

HELION = "helion_b200_nebius_submissions.parquet"


def test_from_a_search_to_the_line_its_origin_its_relatives_and_a_diff(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/search?q=tcgen05&problem=nvfp4_gemm")
    page.locator(".st-key-search-table td.code a, .st-key-search-table th.code a").first.click()
    page.wait_for_url(re.compile(r"/submission\?.*line=\d+"))
    expect(page.locator(".line.picked")).to_have_count(1)
    expect(page.locator(".line.picked")).to_contain_text("tcgen05")
    expect(page.locator(".count")).to_contain_text("of")
    settled(page)
    page.get_by_test_id("stButtonGroup").get_by_text("Origins").click()
    page.wait_for_url(re.compile("show=origins"))
    expect(page.get_by_text("telling lines")).to_be_visible()
    # A line whose first submission has texts that are alike; many of the sample have none.
    sign = page.locator('.line[data-origin="other"]', has_text="THREADS").first
    sign.scroll_into_view_if_needed()
    place = sign.bounding_box()
    assert place is not None
    gutter = sign.evaluate("row => parseFloat(getComputedStyle(row).paddingLeft)")
    before = page.url
    page.mouse.click(place["x"] + gutter * 0.85, place["y"] + place["height"] / 2)
    page.wait_for_url(lambda url: url != before and "/submission?" in url)
    settled(page)
    page.get_by_test_id("stButtonGroup").get_by_text("Relatives").click()
    page.locator(".st-key-relatives-table").get_by_role("link", name="Diff").first.click()
    page.wait_for_url(re.compile("/compare"))
    settled(page)
    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    expect(page.get_by_text("Techniques:").or_(page.get_by_text("the same techniques")).first).to_be_visible()


def test_from_a_technique_to_a_narrowed_board_that_a_link_opens_again(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/nvfp4?problem=nvfp4_gemm&tab=techniques")
    row = page.locator(".st-key-techniques-table tr", has_text="tcgen05")
    row.get_by_role("link", name="only").click()
    page.wait_for_url(re.compile("facet=tcgen05"))
    settled(page)
    expect(page.get_by_role("button", name="with tcgen05")).to_be_visible()
    names = page.locator(".st-key-leaderboard-table tbody .name").all_inner_texts()
    assert names
    other = open_page(page.url)
    expect(other.locator(".st-key-leaderboard-table tbody .name").first).to_be_visible()
    assert other.locator(".st-key-leaderboard-table tbody .name").all_inner_texts() == names
    moved(page, f"{app}/trust?problem=nvfp4_group_gemm")
    page.locator(".st-key-trust-flags").get_by_role("link", name="Evidence").first.click()
    page.wait_for_url(re.compile("show=rules"))
    rule = page.locator(".st-key-rule-1")
    expect(rule).to_contain_text("POINTER_REPLAY", timeout=60_000)
    expect(page.get_by_text("A match is no judgement")).to_be_visible()
    rule.get_by_role("button", name="Line 9").click()
    expect(page.locator(".line.picked")).to_contain_text("data_ptr()")


@pytest.fixture
def small_hub(sample_folder: Path, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A Hub with the smallest competition alone: its texts are built soonest."""
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", HELION)) as hub:
        yield hub


def test_a_build_survives_a_reload_and_is_stopped_and_resumed(
    serve: Serve, open_page: Open, small_hub: LoopbackHub, tmp_path: Path
) -> None:
    hub = small_hub
    base = serve(
        KBDASH_SOURCE=DATASET, HF_ENDPOINT=hub.endpoint, KBDASH_CACHE=str(tmp_path / "cache"), KBDASH_CONTENT_BUILD="on"
    )
    page = open_page(f"{base}/helion?tab=techniques")
    hub.faults.latency = 3.0
    page.get_by_role("button", name="Build it now").click()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible(timeout=60_000)
    page.reload()
    settled(page)
    expect(stop).to_be_visible()
    stop.click()
    again = page.get_by_role("button", name=re.compile("Build it now|Go on building"))
    expect(again).to_be_visible(timeout=60_000)
    hub.faults.latency = 0.0
    again.click()
    expect(page.locator(".st-key-techniques-table")).to_be_visible(timeout=120_000)
