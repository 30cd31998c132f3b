"""The dashboard as its readers use it: by link, click and Back, on a phone, in the dark, and while the Hub is down."""

import io
from pathlib import Path
from urllib.request import urlopen

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from kbdash.dataset import catalog
from kbdash.dataset.config import DATASET
from kbdash.engine import KernelBot
from tests.conftest import part_of
from tests.e2e.conftest import Open, Serve, eventually, moved, query, settled
from tests.e2e.grid import column, press, table
from tests.hub import LoopbackHub

BOARD = "nvfp4_group_gemm"
HELION = "helion_b200_nebius_submissions.parquet"
TRIMUL = "trimul_submissions.parquet"


WIDE = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
    .map((part) => part.scrollWidth - part.clientWidth)"""


def chosen(page: Page, field: str) -> str:
    """What a row of choices stands on."""
    return page.locator(f".st-key-nvfp4-{field} [aria-checked=true]").inner_text()


def leaders(page: Page) -> list[tuple[str, str]]:
    """Users and times of the leaderboard, of the rows in sight."""
    names = column(page, "leaderboard-table", "User")
    return list(zip(names, column(page, "leaderboard-table", "Time (µs)"), strict=True))


def filter_out_flagged(page: Page) -> None:
    """Use the switch behind the Filters button."""
    page.get_by_role("button", name="Filters").click()
    page.locator(".st-key-nvfp4-hide_flagged label").click()
    settled(page)
    page.keyboard.press("Escape")


def links(kb: KernelBot) -> dict[str, str]:
    """Every path of the dashboard with a heading that only the right page has."""
    first = kb.leaderboard(BOARD, runner="NVIDIA").iloc[0]
    steps = kb.ladder(BOARD, first["user_id"], runner="NVIDIA")["submission_id"]
    competitions = {f"/{item.slug}": item.title for item in catalog.COMPETITIONS}
    return {
        "/": "GPU kernel competitions",
        **competitions,
        f"/submission?id={first['submission_id']}": f"Submission {first['submission_id']}",
        f"/?page=submission&id={first['submission_id']}": f"Submission {first['submission_id']}",
        f"/compare?a={steps.iloc[0]}&b={steps.iloc[-1]}": "Compare",
        f"/ladder?problem={BOARD}&user={first['user_id']}": "Ladder",
        f"/user?user={first['user_id']}": first["user_name"],
        "/about": "How it is ranked",
    }


def test_a_link_opens_its_view_on_a_cold_server(serve: Serve, open_page: Open) -> None:
    base = serve(KBDASH_SOURCE="sample")
    page = open_page(f"{base}/nvfp4?problem={BOARD}&runner=NVIDIA&tab=progression")
    expect(page.get_by_role("heading", name="NVIDIA NVFP4")).to_be_visible()
    expect(page.get_by_role("tab", name="Progression")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".st-key-progression-chart-box .point").first).to_be_attached()
    expect(page.get_by_test_id("stTopNavLink").first).to_have_text("Overview")
    assert (chosen(page, "problem"), chosen(page, "runner")) == ("group_gemm", "B200 (on-prem)")


def test_every_path_opens_its_page(app: str, open_page: Open, kb: KernelBot) -> None:
    """On a phone those that differ in their layout, where nothing may hang over; the others as at a desk."""
    page = open_page(f"{app}/submission?id=1")
    alike = {f"/{item.slug}" for item in catalog.COMPETITIONS} - {"/nvfp4", "/amd-mi300"}
    for path, heading in sorted(links(kb).items(), key=lambda link: link[0] not in alike):
        if path not in alike:
            page.set_viewport_size({"width": 390, "height": 844})
        with urlopen(app + path, timeout=10) as answer:  # the page itself is the same for all, but for its preview
            assert "kbdash" in answer.read().decode()
        moved(page, app + path)
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        expect(page.locator(".st-key-sample-banner")).to_contain_text("synthetic")
        expect(page.locator(".st-key-footer")).to_contain_text("GPU Mode and the KernelBot dataset")
        expect(page.locator("[class*=-problem-box], .st-key-problem-box, .st-key-unexpected-box")).to_have_count(0)
        assert path in alike or page.evaluate(WIDE) == [0, 0], path


def test_filters_are_in_the_link_and_another_reader_sees_the_same(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(f"{app}/nvfp4")
    page.get_by_role("radio", name="group_gemm").click()
    settled(page)
    page.get_by_role("radio", name="B200 (on-prem)").click()
    settled(page)
    filter_out_flagged(page)
    eventually(page, lambda: query(page), {"problem": [BOARD], "runner": ["NVIDIA"], "flags": ["hide"]})
    ranked = kb.leaderboard(BOARD, runner="NVIDIA", flagged=False)
    expect(table(page, "leaderboard-table").locator("tbody th").first).to_have_text(ranked["user_name"][0])
    seen = leaders(page)
    assert [float(time) for _, time in seen] == pytest.approx(
        (ranked["score"].head(len(seen)) * 1e6).tolist(), abs=0.0051
    )

    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_attached()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    other = open_page(link)
    assert leaders(other) == seen
    page.reload()
    settled(page)
    assert leaders(page) == seen
    assert chosen(page, "runner") == "B200 (on-prem)"


def test_back_undoes_the_last_step(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(f"{app}/nvfp4?problem={BOARD}")
    page.get_by_role("radio", name="B200 (on-prem)").click()
    settled(page)
    users = kb.leaderboard(BOARD, runner="NVIDIA")["user_id"].nunique()
    expect(page.locator(".st-key-board-figures")).to_contain_text(f"{users} users")
    page.get_by_role("tab", name="Submissions").click()
    settled(page)
    eventually(page, lambda: query(page), {"problem": [BOARD], "runner": ["NVIDIA"], "tab": ["submissions"]})
    page.go_back()
    expect(page.get_by_role("tab", name="Leaderboard")).to_have_attribute("aria-selected", "true")
    settled(page)

    press(page, "leaderboard-table", 1)
    second = kb.leaderboard(BOARD, runner="NVIDIA").iloc[1]
    expect(page.get_by_role("heading", name=f"Submission {second['submission_id']}")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="NVIDIA NVFP4")).to_be_visible()
    settled(page)
    eventually(page, lambda: query(page), {"problem": [BOARD], "runner": ["NVIDIA"]})
    assert chosen(page, "runner") == "B200 (on-prem)"
    page.go_back()
    expect(page.get_by_role("radio", name="B200 (Modal)")).to_have_attribute("aria-checked", "true")
    eventually(page, lambda: query(page), {"problem": [BOARD]})


def test_downloads_hold_exactly_the_table(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(f"{app}/nvfp4?problem={BOARD}&runner=NVIDIA&top=10&to=2026-02-15")
    shown = leaders(page)
    page.get_by_role("button", name="Download").click()
    files = {}
    for kind in ("CSV", "Parquet"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind).click()
        assert (
            download.value.suggested_filename
            == f"kbdash_nvfp4_nvfp4-group-gemm_NVIDIA_leaderboard_sample.{kind.lower()}"
        )
        files[kind] = Path(download.value.path()).read_bytes()

    expected = kb.leaderboard(BOARD, runner="NVIDIA", until="2026-02-15", top=10)
    written = pd.read_csv(
        io.BytesIO(files["CSV"]), dtype={"user_id": str}, keep_default_na=False, na_values={"gap": ""}
    )
    assert list(written.columns) == list(expected.columns)
    assert written["score"].tolist() == expected["score"].tolist()
    assert written["user_id"].tolist() == expected["user_id"].tolist()
    assert written["user_name"].tolist() == expected["user_name"].tolist()
    assert [float(time) for _, time in shown] == pytest.approx((written["score"] * 1e6).tolist(), abs=0.0051)
    kept = pd.read_parquet(io.BytesIO(files["Parquet"]))
    pd.testing.assert_frame_equal(kept, expected, check_dtype=False, check_frame_type=False)


def test_on_a_phone_nothing_hangs_over_and_the_controls_work(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/nvfp4?problem={BOARD}", width=390, height=844)
    assert page.evaluate(WIDE) == [0, 0]
    choices = [radio.bounding_box() for radio in page.get_by_role("radio").all()]
    assert [box for box in choices if box is None or box["x"] < 0 or box["x"] + box["width"] > 390] == []
    page.get_by_role("radio", name="B200 (on-prem)").click()
    settled(page)
    filter_out_flagged(page)
    eventually(page, lambda: query(page), {"problem": [BOARD], "runner": ["NVIDIA"], "flags": ["hide"]})
    expect(table(page, "leaderboard-table").locator("thead a").first).to_have_text("#")
    page.get_by_role("tab", name="Distribution").click()
    settled(page)
    expect(page.locator(".st-key-distribution-chart-box .js-plotly-plot")).to_be_visible()
    assert page.evaluate(WIDE) == [0, 0]


def test_dark_pages_have_dark_charts(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/nvfp4?problem={BOARD}&tab=distribution", dark=True)
    chart = page.locator(".st-key-distribution-chart-box .js-plotly-plot")
    expect(chart.locator(".xtick").first).to_be_visible()
    assert page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor") == "rgb(15, 19, 24)"
    ink = chart.locator(".xtick text").first.evaluate("text => getComputedStyle(text).fill")
    assert min(int(part) for part in ink.removeprefix("rgb(").removesuffix(")").split(",")) > 120


JUNK = (
    "/?problem=x",
    "/nvfp4?tab=nonsense&top=1e9&from=2026-13-45&zzz=1",
    "/submission?id=x&line=20-",
    "/compare?a=x@y&b=-1",
    "/ladder?top=many",
    "/user?user=" + "9" * 100,
    "/about?x=%00%F0%9F",
)


def test_junk_in_a_link_is_named_and_breaks_nothing(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/submission?id=1")
    for path in JUNK:
        moved(page, app + path)
        expect(page.get_by_role("alert")).to_contain_text("were not understood")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".st-key-unexpected-box")).to_have_count(0)
    page.goto(f"{app}/nvfp4?tab=nonsense")
    settled(page)
    expect(page.get_by_role("alert")).to_contain_text("Ignored tab=nonsense")
    eventually(page, lambda: query(page), {})


def test_without_the_hub_the_sample_stands_in_until_the_reader_retries(
    serve: Serve, open_page: Open, sample_folder: Path, tmp_path: Path
) -> None:
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", HELION)) as hub:
        hub.faults.refuse = True
        page = open_page(serve(HF_ENDPOINT=hub.endpoint))
        banner = page.locator(".st-key-sample-banner")
        expect(banner).to_contain_text("All rows are synthetic, not real.")
        expect(page.get_by_role("heading", name="AMD MI300")).to_be_visible()
        hub.faults.clear()
        page.get_by_role("button", name="Why").click()
        expect(page.get_by_text("could not be opened")).to_be_visible()
        page.get_by_role("button", name="Try the Hub again").click()
        expect(banner).to_have_count(0)
        expect(page.locator(".st-key-footer")).to_contain_text(hub.commit[:7])
        expect(page.get_by_role("heading", name="Helion")).to_be_visible()
        expect(page.get_by_role("heading", name="AMD MI300")).to_have_count(0)


def test_a_named_dataset_fails_openly_heals_and_offers_what_is_newer(
    serve: Serve, open_page: Open, sample_folder: Path, tmp_path: Path
) -> None:
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", HELION)) as hub:
        hub.faults.refuse = True
        base = serve(HF_ENDPOINT=hub.endpoint, KBDASH_SOURCE=DATASET, KBDASH_NEWER_SECONDS="0")
        page = open_page(f"{base}/helion")
        expect(page.locator(".st-key-problem-box")).to_contain_text("cannot be reached")
        expect(page.locator("table")).to_have_count(0)
        hub.faults.clear()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Helion")).to_be_visible()
        before = column(page, "leaderboard-table", "User")

        old = hub.commit
        part_of(sample_folder, hub.folder, TRIMUL)
        new = hub.publish()
        newer = page.get_by_role("button", name="Load the newer revision")
        for tab in ("Distribution", "Leaderboard"):
            page.get_by_role("tab", name=tab).click()
            settled(page)
        expect(newer).to_be_visible()
        expect(page.locator(".st-key-footer")).to_contain_text(old[:7])
        assert column(page, "leaderboard-table", "User") == before
        newer.click()
        expect(page.locator(".st-key-footer")).to_contain_text(new[:7])
        expect(newer).to_have_count(0)
        moved(page, f"{base}/trimul")
        expect(page.get_by_role("heading", name="TriMul")).to_be_visible()


FILTERED = (
    "&mine=14us&user=Sample+Weevil&user=Sample+Lynx&user=Sample+Wren&from=2025-12-25&to=2026-01-19&flags=hide&top=50"
)
CROWDED = FILTERED + "".join(f"&user=Sample+{name}" for name in ("Moth", "Finch", "Heron", "Badger", "Shrew", "Mink"))


def test_the_table_is_in_sight_at_once(app: str, open_page: Open) -> None:
    def top(page: Page) -> float:
        box = page.locator(".st-key-leaderboard-table").bounding_box()
        assert box is not None
        return box["y"]

    desk = open_page(f"{app}/nvfp4?problem=nvfp4_dual_gemm", height=900)
    expect(desk).to_have_title("dual_gemm on B200 (on-prem) · NVIDIA NVFP4 · kbdash")
    for filtered in ("", "&mine=30us", FILTERED, CROWDED):
        if filtered:
            moved(desk, f"{app}/nvfp4?problem=nvfp4_dual_gemm{filtered}")
        rows = table(desk, "leaderboard-table").locator("tbody tr")
        expect(rows.nth(11)).to_be_in_viewport(ratio=1)
        assert top(desk) < 420, filtered
    expect(desk.locator(".st-key-progression-chart-box")).to_have_count(0)
    phone = open_page(f"{app}/nvfp4?problem=nvfp4_dual_gemm", width=390, height=844)
    for filtered in ("", "&mine=30us"):
        if filtered:
            moved(phone, f"{app}/nvfp4?problem=nvfp4_dual_gemm{filtered}")
        expect(table(phone, "leaderboard-table").locator("tbody tr").first).to_be_in_viewport(ratio=1)
    wide = open_page(f"{app}/nvfp4?problem=nvfp4_dual_gemm", width=1920, height=1080)
    chart = wide.locator(".st-key-progression-chart-box")
    expect(chart.locator(".point").first).to_be_attached()
    ranks, beside = wide.locator(".st-key-leaderboard-table").bounding_box(), chart.bounding_box()
    assert ranks is not None
    assert beside is not None
    assert beside["x"] >= ranks["x"] + ranks["width"]
    assert abs(top(wide) - beside["y"]) < 200


def test_a_name_copied_from_the_page_has_no_invisible_characters(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/submission?id=1")
    page.evaluate(
        """() => { const p = document.createElement("p"); p.id = "odd"; p.textContent = "s\\u2060.am";
                   document.body.append(p); getSelection().selectAllChildren(p); }"""
    )

    def copied() -> str:
        page.keyboard.press("Control+c")
        text: str = page.evaluate("navigator.clipboard.readText()")
        return text

    eventually(page, copied, "s.am")
