"""Tables as readers use them: select, follow, open beside, sort, look up a flag, tick and compare; on a phone too."""

import io
from urllib.parse import parse_qs, urlsplit

import httpx2
import pandas as pd
from playwright.sync_api import expect

from kbdash.engine import KernelBot
from tests.e2e.conftest import Open, eventually, query, settled
from tests.e2e.grid import column, press, table

BOARD = "nvfp4_group_gemm"
PATH = f"/nvfp4?problem={BOARD}&runner=NVIDIA"
SELECTED = """(cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return selection.toString();
}"""


def test_no_head_of_the_overview_is_cut(app: str, open_page: Open) -> None:
    """Its tables have columns of fixed widths, and a head carries the unit."""
    page = open_page(app, width=1280)
    heads = table(page, "problems-nvfp4").locator("thead th")
    cut = "(heads) => heads.filter((head) => head.scrollWidth > head.clientWidth).map((head) => head.textContent)"
    assert heads.evaluate_all(cut) == []


def test_text_links_order_flags_and_ticks(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(app + PATH, height=900)
    ranked = kb.leaderboard(BOARD, runner="NVIDIA")
    shown = table(page, "leaderboard-table")
    names = shown.locator("tbody th")
    assert names.nth(1).evaluate(SELECTED) == ranked["user_name"].iloc[1], "a name is copied as it is"
    expect(shown.locator("caption")).to_have_text(f"Leaderboard of {BOARD}")

    mark = shown.locator(".mark").first
    mark.hover()
    expect(shown.locator(".tip")).to_have_text(ranked["flags"].iloc[0])

    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 900)")
    head = shown.locator("thead th").nth(1)
    top = head.bounding_box()
    assert top is not None
    assert 0 <= top["y"] < 120, "the head stays in sight"

    page.evaluate("window.here = true")
    shown.get_by_role("link", name="Tries").click()
    page.wait_for_url("**order=-submissions**")
    settled(page)
    expect(shown.locator("thead th[aria-sort=descending]")).to_have_text("Tries")
    expect(names.first).to_have_text(
        ranked.sort_values("submissions", ascending=False, kind="stable")["user_name"].iloc[0]
    )
    tries = [int(text.replace(",", "")) for text in column(page, "leaderboard-table", "Tries")]
    assert tries == sorted(ranked["submissions"].tolist(), reverse=True)

    code = shown.get_by_role("link", name="Code", exact=True).first
    with page.context.expect_page() as beside:
        code.click(modifiers=["Control"])
    beside.value.wait_for_url("**/submission?**")  # a new tab is blank at first
    beside.value.close()

    boxes = shown.get_by_role("checkbox")
    boxes.nth(0).check()
    boxes.nth(2).check()
    compare = shown.get_by_role("link", name="Compare")
    wanted = parse_qs(urlsplit(compare.get_attribute("href") or "").query)
    compare.click()
    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    settled(page)
    eventually(page, lambda: {name: query(page).get(name) for name in ("a", "b")}, wanted)
    assert page.evaluate("window.here"), "a plain click stays in the session"


def test_on_a_phone_rows_are_cards(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(app + PATH, width=390, height=844)
    row = table(page, "leaderboard-table").locator("tbody tr").nth(1)
    boxes = [row.locator(f".{part}").bounding_box() for part in ("rank", "name", "lead")]
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    expect(row).to_contain_text(kb.leaderboard(BOARD, runner="NVIDIA")["user_name"].iloc[1])
    mark = table(page, "leaderboard-table").locator(".mark").first
    mark.click()
    expect(table(page, "leaderboard-table").locator(".tip")).to_be_visible()
    press(page, "leaderboard-table", 1)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Submission")


def test_a_download_holds_every_row_of_the_filter(app: str, open_page: Open, kb: KernelBot) -> None:
    page = open_page(f"{app}{PATH}&tab=submissions&sort=score")
    assert len(column(page, "submissions-table", "User")) == 50
    page.get_by_role("button", name="Download").click()
    links = [page.locator(f".st-key-submissions-{kind} a").get_attribute("href") or "" for kind in ("csv", "parquet")]
    sent = httpx2.get(links[0])
    assert sent.headers["Content-Disposition"].startswith("attachment; filename=")
    rows, others = pd.read_csv(io.StringIO(sent.text)), pd.read_parquet(io.BytesIO(httpx2.get(links[1]).content))
    assert others["score"].tolist() == rows["score"].tolist()
    total = kb.submissions(BOARD, runner="NVIDIA", passed=True, page_size=1).total
    assert total > 50
    assert len(rows) == total
    assert rows["score"].is_monotonic_increasing, "in the order of the table"
