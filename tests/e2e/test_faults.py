"""A failing Hub as a reader meets it in the browser. Every fault on every page is in tests/app/test_fault_matrix.py."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from kbdash.dataset.config import DATASET
from kbdash.engine import KernelBot
from tests.e2e.conftest import Open, Serve, moved
from tests.e2e.grid import table
from tests.hub import LoopbackHub

BROKEN = "nvidia_nvfp4_submissions.parquet"
WHOLE = ("trimul_submissions.parquet", "helion_b200_nebius_submissions.parquet")
CHARTS = ".js-plotly-plot"


@pytest.fixture
def shelf(sample_folder: Path, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A Hub with a dataset of three competitions, of which one can be broken."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    for name in (BROKEN, *WHOLE):
        (folder / name).write_bytes((sample_folder / name).read_bytes())
    with LoopbackHub(folder) as hub:
        yield hub


@pytest.fixture
def dashboard(serve: Serve, shelf: LoopbackHub, tmp_path: Path) -> Callable[[], str]:
    """Starts a dashboard that reads this dataset and nothing else."""
    return lambda: serve(HF_ENDPOINT=shelf.endpoint, KBDASH_SOURCE=DATASET, KBDASH_CACHE=str(tmp_path / "cache"))


def test_a_silent_hub_is_named_while_the_server_answers(
    dashboard: Callable[[], str], shelf: LoopbackHub, open_page: Open
) -> None:
    shelf.faults.hang("/api/*")
    base = dashboard()  # waits for the health check, which does not wait for the Hub
    page = open_page(f"{base}/trimul?runner=H100")
    expect(page.locator(".st-key-problem-box")).to_contain_text("did not answer within")
    expect(page.locator(".st-key-problem-box")).to_contain_text("KBDASH_SOURCE=sample")
    expect(page.locator("table")).to_have_count(0)
    shelf.faults.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("radio", name="H100")).to_have_attribute("aria-checked", "true")
    expect(table(page, "leaderboard-table")).to_be_visible()
    assert page.url == f"{base}/trimul?runner=H100"


def test_the_overview_shows_what_is_here_while_a_file_is_held_back(
    dashboard: Callable[[], str], shelf: LoopbackHub, open_page: Open
) -> None:
    shelf.faults.hang(f"*{BROKEN}")
    base = dashboard()
    page = open_page(f"{base}/", wait=False)
    status = page.get_by_text("Still coming: NVIDIA NVFP4")
    expect(status).to_contain_text(f"{len(WHOLE)} of {len(WHOLE) + 1} competitions are here")
    expect(page.locator("table")).to_have_count(len(WHOLE))
    expect(page.get_by_text("Reading …")).to_have_count(1)
    assert shelf.counts[BROKEN].gets == 0
    shelf.faults.clear()
    expect(page.locator("table")).to_have_count(len(WHOLE) + 1)
    expect(page.get_by_text(f"problems in {len(WHOLE) + 1} competitions")).to_be_visible()
    expect(status).to_have_count(0)
    resolved = Counter(entry.file for entry in shelf.counts.log if entry.area == "resolve" and entry.status == 302)
    assert set(resolved.values()) == {1}


def test_a_reader_can_leave_while_a_file_is_held_back(
    dashboard: Callable[[], str], shelf: LoopbackHub, open_page: Open
) -> None:
    shelf.faults.hang(f"*{BROKEN}")
    page = open_page(f"{dashboard()}/", wait=False)
    expect(page.get_by_text("Still coming: NVIDIA NVFP4")).to_be_visible()
    page.get_by_role("link", name="Open").nth(1).click()
    expect(table(page, "leaderboard-table")).to_be_visible()
    assert shelf.counts[BROKEN].gets == 0


def test_a_file_that_is_gone_leaves_the_others_alone(
    dashboard: Callable[[], str], shelf: LoopbackHub, open_page: Open, kb: KernelBot
) -> None:
    shelf.faults.fail(404, f"*{BROKEN}")
    base = dashboard()
    page = open_page(f"{base}/")
    expect(page.get_by_role("alert")).to_contain_text(f"{BROKEN} cannot be read")
    expect(page.get_by_role("alert")).to_contain_text("The other competitions still work.")
    expect(page.locator("table")).to_have_count(len(WHOLE))
    moved(page, f"{base}/trimul")
    expect(table(page, "leaderboard-table")).to_be_visible()
    best = kb.leaderboard("nvfp4_gemm").iloc[0]["submission_id"]
    moved(page, f"{base}/submission?id={best}")
    expect(page.locator(".st-key-problem-box")).to_contain_text(f"Submission {best} cannot be looked up now")
    moved(page, f"{base}/nvfp4?problem=nvfp4_gemm")
    expect(page.locator(".st-key-problem-box")).to_contain_text("no longer has nvidia_nvfp4_submissions.parquet (404)")
    expect(page.locator(CHARTS)).to_have_count(0)
    shelf.faults.clear()
    page.get_by_role("button", name="Try again").click()
    expect(table(page, "leaderboard-table")).to_be_visible()
    moved(page, f"{base}/")
    expect(page.locator("table")).to_have_count(len(WHOLE) + 1)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_failure_in_the_middle_stays_where_it_happened(
    dashboard: Callable[[], str], shelf: LoopbackHub, open_page: Open, kb: KernelBot
) -> None:
    base = dashboard()
    page = open_page(f"{base}/submission?id=1")
    shelf.faults.fail(503, f"*{BROKEN}")
    moved(page, f"{base}/nvfp4?problem=nvfp4_gemm&tab=submissions")
    box = page.locator("[class*=problem-box]")
    expect(box).to_contain_text("failed to answer (503)")
    expect(page.get_by_role("heading", name="NVIDIA NVFP4")).to_be_visible()
    expect(page.locator(".st-key-footer")).to_contain_text(shelf.commit[:7])
    expect(page.locator(CHARTS)).to_have_count(0)
    shelf.faults.clear()
    box.get_by_role("button", name="Try again").click()
    expect(table(page, "submissions-table")).to_be_visible()

    far = kb.leaderboard("trimul").iloc[-1]
    shelf.faults.refuse = True
    moved(page, f"{base}/submission?id={far['submission_id']}")
    expect(box).to_contain_text("cannot be reached", timeout=60_000)
    expect(page.locator(".st-key-code .line")).to_have_count(0)
    shelf.faults.clear()
    box.get_by_role("button", name="Try again").click()
    expect(page.locator(".st-key-code .line").first).to_be_visible()
    first = kb.code(int(far["submission_id"])).splitlines()[0]
    assert page.locator('.st-key-code .line[data-n="1"]').text_content() == first
