"""The table in a real browser, without a server: what it draws, tells, shows on hover and focus, and keeps."""

from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from kbdash.units import MICROSECONDS
from kbdash.web import cells
from kbdash.web.cells import Column
from kbdash.web.table import as_bytes
from tests.js.conftest import WEB, script

STATIC = WEB / "static"
HOSTILE = "<img src=x onerror=alert(1)>"
REASON = "Below the floor of 3 µs."
COLUMNS = (
    Column("rank", "#", "rank"),
    Column("user", "User", "name", link="page", sort="user_name"),
    Column("score", "Time", "time", unit=MICROSECONDS, places=3, mark="flags", sort="score", help="The best run."),
    Column("ratio", "× best", "ratio", aside=True),
    Column("word", "Code", link="code"),
    Column("trend", "Best so far", "trend"),
    Column("more", "More", "links"),
)
SHOW = """(data) => {
    window.told ??= [];
    const setTriggerValue = (name, value) => window.told.push([name, value]);
    component({ parentElement: document.body, data: new TextEncoder().encode(data), setTriggerValue });
}"""


def rows(count: int) -> pd.DataFrame:
    """A small ranking; the second user's name is markup, and their time is flagged."""
    places = range(1, count + 1)
    return pd.DataFrame(
        {
            "rank": list(places),
            "user": [HOSTILE if place == 2 else f"user {place}" for place in places],
            "page": [f"/user?user={place}" for place in places],
            "score": [place * 1e-6 for place in places],
            "flags": [REASON if place == 2 else "" for place in places],
            "ratio": [float(place) for place in places],
            "word": "Code",
            "code": [f"/submission?id={place}" for place in places],
            "trend": [[0.2, 0.1, 0.0]] * count,
            "more": [[("Ladder", f"/ladder?user={place}"), ("Pin", f"/?user={place}")] for place in places],
            "ref": ["" if place == 3 else f"{place}@H100" for place in places],
            "look": ["pinned" if place == 1 else "" for place in places],
        }
    )


def sent(count: int = 5, order: str = "score", table: bytes | None = None, **more: Any) -> str:
    """What the server sends of a ranking, or of another table."""
    table = table or cells.as_json(rows(count), COLUMNS, "A ranking", "ref", "look")
    heads = {"score": "/?sort=-score", "user_name": "/?sort=user_name"}
    return as_bytes({"heads": heads, "order": order, "most": 200, "root": ""} | more, table).decode()


@pytest.fixture
def board(chromium: Page) -> Page:
    """A page with the component's own HTML, style and script, and five rows in it."""
    chromium.goto("about:blank")
    chromium.set_viewport_size({"width": 1000, "height": 700})
    style = (STATIC / "table.css").read_text("utf-8")
    chromium.set_content(f"<!doctype html><style>{style}</style>{(STATIC / 'table.html').read_text('utf-8')}")
    chromium.add_script_tag(content=script(STATIC / "table.js"))
    chromium.evaluate("window.told = []")
    chromium.evaluate(SHOW, sent())
    return chromium


def test_a_real_table_with_caption_scope_and_text_that_is_never_markup(board: Page) -> None:
    expect(board.locator("caption")).to_have_text("A ranking")
    assert board.locator("thead th:not(.tick)").all_inner_texts() == [
        "#", "User", "Time (µs)", "× best", "Code", "Best so far", "More",
    ]  # fmt: skip
    assert {head.get_attribute("scope") for head in board.locator("thead th").all()} == {"col"}
    assert board.locator("tbody th[scope=row]").all_text_contents()[:2] == ["user 1", HOSTILE]
    assert board.locator("img").count() == 0
    assert board.locator("thead th[aria-sort=ascending]").inner_text().startswith("Time (µs)")
    assert board.locator("tbody tr.pinned").count() == 1
    assert board.locator("svg path").first.get_attribute("d") == "M0 3.7H50.0V10.8H100.0V18.0"


def test_a_plain_click_is_told_and_every_other_one_is_the_browsers(board: Page) -> None:
    link = board.locator('a[href="/submission?id=2"]')
    link.evaluate("""(link) => {
        document.addEventListener("click", (event) => {
            window.left = event.defaultPrevented;
            event.preventDefault();
        });
    }""")
    link.click()
    assert board.evaluate("[window.told, window.left]") == [[["follow", "/submission?id=2"]], True]
    for key in ("Control", "Meta", "Shift"):
        link.click(modifiers=[key])  # type: ignore[list-item]
        assert board.evaluate("[window.told.length, window.left]") == [1, False]
    link.focus()
    board.keyboard.press("Enter")
    board.locator("thead a", has_text="Time").click()
    assert board.evaluate("window.told.map(([, to]) => to)") == ["/submission?id=2"] * 2 + ["/?sort=-score"]


def test_a_flag_says_why_on_hover_focus_and_tap(board: Page) -> None:
    mark, tip = board.get_by_role("button", name=f"Flagged: {REASON}"), board.locator(".tip")
    expect(tip).to_be_hidden()
    mark.hover()
    expect(tip).to_have_text(REASON)
    board.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    mark.focus()
    expect(tip).to_be_visible()
    board.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    mark.dispatch_event("click")
    expect(tip).to_be_visible()
    board.locator("thead a", has_text="Time").hover()
    expect(tip).to_have_text("The best run.")


def test_two_ticked_rows_lead_to_their_comparison(board: Page) -> None:
    boxes = board.locator("tbody input")
    expect(boxes).to_have_count(4)
    boxes.nth(0).check()
    expect(board.locator(".compare")).to_be_hidden()
    boxes.nth(1).check()
    expect(board.locator(".compare")).to_have_attribute("href", "/compare?a=1%40H100&b=2%40H100")
    boxes.nth(3).check()
    expect(boxes.nth(0)).not_to_be_checked()
    board.evaluate(SHOW, sent(order="-score"))
    expect(boxes.nth(1)).to_be_checked()
    board.locator(".compare").click()
    assert board.evaluate("window.told.at(-1)") == ["follow", "/compare?a=2%40H100&b=5%40H100"]
    board.locator(".clear").click()
    expect(board.locator(".bar")).to_be_hidden()


def test_two_hundred_rows_are_drawn_and_more_on_demand(board: Page) -> None:
    board.evaluate(SHOW, sent(450))
    expect(board.locator("tbody tr")).to_have_count(200)
    expect(board.locator(".more")).to_contain_text("200 of 450 rows.")
    board.locator(".next").click()
    expect(board.locator("tbody tr")).to_have_count(400)
    board.locator(".next").click()
    expect(board.locator("tbody tr")).to_have_count(450)
    expect(board.locator(".more")).to_be_hidden()


def test_j_and_k_go_from_row_to_row_and_enter_opens_one(board: Page) -> None:
    focused = "document.activeElement.closest('tr')?.rowIndex ?? null"
    board.keyboard.press("j")
    board.keyboard.press("j")
    assert board.evaluate(focused) == 2
    board.keyboard.press("k")
    assert board.evaluate(focused) == 1
    board.keyboard.press("Enter")
    assert board.evaluate("window.told") == [["follow", "/submission?id=1"]]
    board.evaluate("document.body.append(document.createElement('textarea'))")
    board.locator("textarea").focus()
    board.keyboard.press("j")
    assert board.evaluate("document.activeElement.value") == "j"


def test_a_narrow_table_is_cards_and_a_tight_one_keeps_rank_in_sight(board: Page) -> None:
    board.set_viewport_size({"width": 390, "height": 700})
    row = board.locator("tbody tr").nth(1)
    expect(board.locator(".frame")).to_have_class("frame cards")
    places = {name: row.locator(f".{name}").bounding_box() for name in ("rank", "name", "lead")}
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in places.values())
    tops = [box["y"] for box in places.values() if box]
    assert max(tops) - min(tops) < 10, "rank, name and time share a line"
    assert board.evaluate("document.documentElement.scrollWidth") <= 390
    expect(board.locator("thead a", has_text="Time")).to_be_visible()
    expect(row.locator(".ratio")).to_be_hidden()
    board.set_viewport_size({"width": 640, "height": 700})
    expect(board.locator(".box")).to_have_class("box wide")
    expect(row.locator(".ratio")).to_be_visible()
    board.locator(".box").evaluate("(box) => { box.scrollLeft = 200; }")
    rank = row.locator(".rank").bounding_box()
    assert rank is not None
    assert 0 <= rank["x"] < 80


def test_a_long_text_in_a_card_wraps(board: Page) -> None:
    columns = (Column("user", "User", "name"), Column("where", "Competitions"))
    frame = pd.DataFrame({"user": ["ann"], "where": [", ".join(f"Competition {number}" for number in range(9))]})
    board.set_viewport_size({"width": 390, "height": 700})
    board.evaluate(SHOW, sent(table=cells.as_json(frame, columns, "People", "", ""), heads={}))
    assert board.evaluate("document.documentElement.scrollWidth") <= 390
    cell = board.locator("tbody td").last
    assert cell.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth && cell.clientHeight > 25")


def test_nothing_is_drawn_again_when_nothing_changed(board: Page) -> None:
    board.evaluate("document.querySelector('tbody tr').dataset.seen = 'yes'")
    board.evaluate(SHOW, sent())
    assert board.locator("tbody tr").first.get_attribute("data-seen") == "yes"
    board.evaluate(SHOW, sent(4))
    expect(board.locator("tbody tr")).to_have_count(4)


def test_what_is_cut_is_said_in_full(board: Page) -> None:
    columns = (Column("user", "User", "name", width=10), Column("why", "Why", width=10))
    frame = pd.DataFrame({"user": ["ann", "a rather long name"], "why": ["short", "a reason of some length"]})
    board.evaluate(SHOW, sent(table=cells.as_json(frame, columns, "Reasons", "", ""), heads={}))
    assert board.locator("tbody [data-tip]").evaluate_all("(all) => all.map((one) => one.dataset.tip)") == [
        "a rather long name", "a reason of some length",
    ]  # fmt: skip
    board.locator("tbody [data-tip]").nth(1).focus()
    expect(board.locator(".tip")).to_have_text("a reason of some length")


def test_columns_with_shares_line_up_whatever_is_in_them(board: Page) -> None:
    columns = (Column("user", "User", "name", share=30), Column("why", "Why", share=50), Column("n", "N", share=20))
    places = []
    for text in ("x", "a much longer reason " * 3):
        frame = pd.DataFrame({"user": [text], "why": [text[:5]], "n": ["1"]})
        board.evaluate(SHOW, sent(table=cells.as_json(frame, columns, "Reasons", "", ""), heads={}))
        places.append(board.locator("thead th").evaluate_all("(all) => all.map((one) => one.offsetLeft)"))
    assert places[0] == places[1]


def test_the_bar_of_a_ratio_ends_before_its_number(board: Page) -> None:
    ends = """(cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        const box = cell.getBoundingClientRect();
        const bar = Number(cell.style.getPropertyValue("--part")) * (box.width - 56);
        return [box.left + bar, text.getBoundingClientRect().left, getComputedStyle(cell).backgroundImage];
    }"""
    board.add_style_tag(content=":root { --st-primary-color: #0072B2; --st-background-color: #fff }")
    bar, number, drawn = board.locator("tbody td.ratio").first.evaluate(ends)
    assert bar <= number
    assert "3.5rem" in drawn or "56px" in drawn
    board.locator("tbody tr").first.hover()
    assert "gradient" in board.locator("tbody td.ratio").first.evaluate(
        "(cell) => getComputedStyle(cell).backgroundImage"
    )
