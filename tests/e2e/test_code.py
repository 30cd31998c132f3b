"""Reading code in a real browser: from the board to a source, along the list, to the diff, up the ladder, by link."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from kbdash.dataset.sample import trap_code
from kbdash.engine import KernelBot
from tests.e2e import grid
from tests.e2e.conftest import Open, eventually, moved, query, settled

BOARD = "nvfp4_gemm"
RUNNER = "NVIDIA"
COMPETITION = "nvfp4"


def lines(page: Page) -> Locator:
    return page.locator(".st-key-code .line")


def line(page: Page, number: int) -> Locator:
    return page.locator(f'.st-key-code .line[data-n="{number}"]')


def placed(kb: KernelBot, rank: int) -> int:
    """The submission at a place of the board, from 1."""
    return int(kb.leaderboard(BOARD, runner=RUNNER)["submission_id"].iloc[rank - 1])


@cache
def leaders(kb: KernelBot) -> dict[str, int]:
    """Submissions by their source text, of the board that shows the odd ones first."""
    board = kb.leaderboard("nvfp4_dual_gemm", runner=RUNNER).head(40)
    return {kb.code(int(id_), RUNNER): int(id_) for id_ in board["submission_id"]}


def trap(kb: KernelBot, text: str) -> str:
    """Where a source text of the sample is shown."""
    return f"/submission?id={leaders(kb)[text]}&runner={RUNNER}&competition=nvfp4"


def test_from_the_board_to_code_diff_ladder_and_by_link_to_the_same_lines(
    open_page: Open, app: str, kb: KernelBot
) -> None:
    page = open_page(f"{app}/nvfp4?problem={BOARD}")
    grid.press(page, "leaderboard-table", row=1)
    expect(page.get_by_role("heading", name=f"Submission {placed(kb, 2)}")).to_be_visible()
    expect(line(page, 2)).to_have_text(kb.code(placed(kb, 2), RUNNER).splitlines()[1])

    page.get_by_role("button", name="Next (#3)").click()
    expect(page.get_by_role("heading", name=f"Submission {placed(kb, 3)}")).to_be_visible()
    expect(line(page, 2)).to_have_text(kb.code(placed(kb, 3), RUNNER).splitlines()[1])
    page.wait_for_url(f"**id={placed(kb, 3)}&**")

    page.get_by_role("link", name="Diff with previous best").click()
    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    expect(page.locator(".st-key-compare-verdict")).to_contain_text("faster")
    expect(page.locator(".st-key-diff .line.added").first).to_be_visible()
    page.wait_for_url(f"**b={placed(kb, 3)}%40{RUNNER}**")

    page.get_by_role("link", name="Ladder").click()
    expect(page.get_by_role("heading", name="Ladder")).to_be_visible()
    expect(grid.table(page, "ladder-table").locator("tbody tr").first).to_contain_text("+")  # counted meanwhile
    grid.press(page, "ladder-table", 1)
    expect(lines(page).first).to_be_visible()
    settled(page)

    line(page, 10).click(position={"x": 12, "y": 8})
    line(page, 14).click(position={"x": 12, "y": 8}, modifiers=["Shift"])
    page.wait_for_url("**line=10-14**")
    page.get_by_role("button", name="Copy link to lines").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")

    other = open_page(copied)
    expect(other.locator(".st-key-code .line.picked")).to_have_count(5)
    expect(line(other, 10)).to_be_in_viewport()
    assert query(other)["line"] == ["10-14"]
    assert query(other)["list"] == ["bests"]
    for number in range(10, 15):
        assert line(other, number).text_content() == line(page, number).text_content()


def test_eight_thousand_lines_stay_usable(open_page: Open, app: str, kb: KernelBot) -> None:
    text = trap_code.very_long().splitlines()
    ranked = kb.leaderboard("cholesky").itertuples()
    long = next(row for row in ranked if len(kb.code(int(row.submission_id), str(row.runner))) > 100_000)
    page = open_page(f"{app}/submission?id={long.submission_id}&runner={long.runner}&competition=linalg")
    expect(lines(page)).to_have_count(len(text))
    seen = "e => e.checkVisibility({ contentVisibilityAuto: true })"
    assert line(page, 1).evaluate(seen)
    assert not line(page, 8000).evaluate(seen), "what is out of view is not laid out"

    page.get_by_label("Go to lines").fill("8000-8002")
    page.get_by_label("Go to lines").press("Enter")
    expect(line(page, 8000)).to_be_in_viewport()
    expect(line(page, 8001)).to_have_text(text[8000])
    page.wait_for_url("**line=8000-8002**")

    wanted = "a[39][38] * d38"
    page.get_by_label("Find in code").fill(wanted)
    hits = trap_code.very_long().count(wanted)
    expect(page.locator(".st-key-code .count")).to_have_text(f"1 of {hits}")
    expect(page.locator(".st-key-code .line", has_text=wanted)).to_be_in_viewport()
    page.wait_for_function("[...CSS.highlights.values()].reduce((sum, one) => sum + one.size, 0) > 50")
    painted = page.evaluate("[...CSS.highlights.values()].reduce((sum, one) => sum + one.size, 0)")
    assert painted < 4000, "colour is spent on what is in view only"

    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == trap_code.very_long()


def test_find_counts_moves_and_survives_a_reload(open_page: Open, app: str, kb: KernelBot) -> None:
    page = open_page(f"{app}/submission?id={placed(kb, 1)}&runner={RUNNER}&competition=nvfp4")
    hits = kb.code(placed(kb, 1), RUNNER).lower().count("const")
    assert hits > 2
    box, count = page.get_by_label("Find in code"), page.locator(".st-key-code .count")
    box.fill("CONST")
    expect(count).to_have_text(f"1 of {hits}")
    box.press("Enter")
    expect(count).to_have_text(f"2 of {hits}")
    box.press("Shift+Enter")
    box.press("Shift+Enter")
    expect(count).to_have_text(f"{hits} of {hits}")
    page.wait_for_url("**find=CONST**")
    settled(page)
    page.reload()
    expect(count).to_have_text(f"1 of {hits}")
    expect(box).to_have_value("CONST")
    box.fill("nowhere to be found")
    expect(count).to_have_text("no hits")
    expect(page.get_by_role("button", name="Next hit")).to_be_disabled()


HOSTILE = ("HTML", "MARKDOWN", "PROMPT", "MIXED_LINE_ENDS", "UNICODE", "CONTROL")


def test_hostile_source_is_shown_and_does_nothing(open_page: Open, app: str, kb: KernelBot) -> None:
    page = open_page(app + trap(kb, getattr(trap_code, HOSTILE[0])))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for name in HOSTILE:
        text: str = getattr(trap_code, name)
        if name != HOSTILE[0]:
            moved(page, app + trap(kb, text))
        expect(page.get_by_role("heading", name=f"Submission {leaders(kb)[text]}")).to_be_visible()
        shown_as_it_is(page, text)
        assert dialogs == [], name


def shown_as_it_is(page: Page, text: str) -> None:
    """Every line is text, and there is nothing but lines."""
    expect(lines(page).first).to_be_visible()
    viewer = page.locator(".st-key-code .text")
    ends = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    # After a move the viewer may show the text before for another moment.
    read = "e => [...e.querySelectorAll('.line')].map(l => l.textContent.replace(/\\n$/, ''))"
    eventually(page, lambda: viewer.evaluate(read), ends)
    kinds = page.locator(".st-key-code .text").evaluate(
        "e => [...new Set([...e.querySelectorAll('*')].map(n => n.tagName))]"
    )
    assert kinds == ["DIV"]


def said(page: Page) -> str:
    """The words of the page, as they are meant."""
    return " ".join(page.get_by_test_id("stMarkdown").all_text_contents()).replace("\u2060", "")


def test_a_hostile_name_is_only_a_name(open_page: Open, app: str, kb: KernelBot) -> None:
    board = kb.leaderboard(BOARD, runner=RUNNER)
    row = board[board["user_name"].str.contains("<img", regex=False)].iloc[0]
    page = open_page(f"{app}/submission?id={row['submission_id']}&runner={RUNNER}&competition=nvfp4")
    for path, heading in (
        ("", f"Submission {row['submission_id']}"),
        (f"/ladder?competition=nvfp4&problem={BOARD}&runner={RUNNER}&user={row['user_id']}", "Ladder"),
    ):
        if path:
            moved(page, app + path)
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        eventually(page, lambda: row["user_name"] in said(page), wanted=True)
        assert page.locator("img[src='x']").count() == 0


def test_an_id_on_several_runners_asks_which(open_page: Open, app: str, kb: KernelBot) -> None:
    several = kb.sql("select submission_id from submissions group by 1 having count(distinct runner) > 1 limit 1")
    page = open_page(f"{app}/submission?id={several['submission_id'].iloc[0]}")
    expect(page.get_by_text("has several runs")).to_be_visible()
    page.locator(".st-key-submission-choices").get_by_role("button").first.click()
    expect(lines(page).first).to_be_visible()
    assert "runner" in query(page)


def pair(kb: KernelBot) -> str:
    """Two steps of a ladder that lie apart, so that there is something to fold."""
    user = kb.leaderboard(BOARD, runner=RUNNER)["user_id"].iloc[1]
    steps: pd.DataFrame = kb.ladder(BOARD, user, runner=RUNNER)
    first, last = steps["submission_id"].iloc[-5], steps["submission_id"].iloc[-1]
    return f"/compare?a={first}@{RUNNER}&b={last}@{RUNNER}"


def test_a_diff_folds_opens_splits_swaps_and_leaves(open_page: Open, app: str, kb: KernelBot) -> None:
    page = open_page(app + pair(kb))
    diff = page.locator(".st-key-diff")
    expect(diff.locator(".line.removed").first).to_be_visible()
    added = diff.locator(".line.added").count()
    folds = diff.locator(".fold").count()
    assert folds > 0
    diff.locator(".fold").first.click()
    expect(diff.locator(".fold")).to_have_count(folds - 1)
    diff.get_by_role("button", name="Next change").click()
    expect(diff.locator(".count")).to_contain_text("1 of")

    page.get_by_role("radio", name="Side by side").click()
    expect(diff.locator(".pair").first).to_be_visible()
    page.wait_for_url("**mode=split**")
    expect(diff.locator(".line.added")).to_have_count(added)

    with page.expect_download() as download:
        page.get_by_role("button", name="Download patch").click()
    patch = download.value.path().read_text()
    assert patch.count("\n+") - patch.count("\n+++") == added
    assert download.value.suggested_filename.endswith("_sample.patch")

    before = query(page)
    page.get_by_role("button", name="Swap").click()
    expect(diff.locator(".line.removed")).to_have_count(added)
    settled(page)
    swapped = [query(page)[side][0].removesuffix(f"@{COMPETITION}") for side in "ab"]
    assert swapped == [before[side][0] for side in "ba"]
    expect(page.locator(".st-key-compare-verdict")).to_contain_text("slower")


def test_back_leads_through_submissions_and_picked_lines(open_page: Open, app: str, kb: KernelBot) -> None:
    page = open_page(f"{app}/submission?id={placed(kb, 2)}&runner={RUNNER}&competition=nvfp4")
    page.get_by_role("button", name="Next (#3)").click()
    expect(page.get_by_role("heading", name=f"Submission {placed(kb, 3)}")).to_be_visible()
    settled(page)
    page.get_by_label("Go to lines").fill("4")
    page.get_by_label("Go to lines").press("Enter")
    page.wait_for_url("**line=4")
    settled(page)
    page.go_back()
    expect(page.locator(".st-key-code .line.picked")).to_have_count(0)
    settled(page)
    page.go_back()
    expect(page.get_by_role("heading", name=f"Submission {placed(kb, 2)}")).to_be_visible()
    expect(line(page, 2)).to_have_text(kb.code(placed(kb, 2), RUNNER).splitlines()[1])


def test_nothing_sticks_out_on_a_phone(open_page: Open, app: str, kb: KernelBot) -> None:
    user = kb.leaderboard(BOARD, runner=RUNNER)["user_id"].iloc[1]
    page = open_page(f"{app}/submission?id=1", width=390, height=844)
    themes: list[Literal["light", "dark"]] = ["light", "dark"]
    for path, part in (
        (pair(kb), ".st-key-diff .line"),
        (trap(kb, trap_code.LONG_LINE), ".st-key-code .line"),
        (f"/submission?id={placed(kb, 2)}&runner={RUNNER}&competition=nvfp4", ".st-key-code .line"),
        (f"/ladder?competition=nvfp4&problem={BOARD}&runner={RUNNER}&user={user}", ".st-key-ladder-chart-box .point"),
    ):
        moved(page, app + path)
        expect(page.locator(part).first).to_be_attached()
        if path.startswith("/submission"):
            expect(page.locator(part).first).to_be_in_viewport()
        for theme in themes:
            page.emulate_media(color_scheme=theme)
            settled(page)
            assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390, (path, theme)
        themes.reverse()  # the next page is seen first as this one was last


TOKENS = [
    ("python", [], "x = 1  # 'note'", [("number", "1"), ("comment", "# 'note'")]),
    ("python", [], "@triton.jit\ndef f(a=0x1F):", [("meta", "@triton.jit"), ("keyword", "def"), ("number", "0x1F")]),
    ("python", [], "s = f\"a\\\"b\" + 'c", [("string", 'f"a\\"b"'), ("string", "'c")]),
    ("python", [], 's = """a\n# b\n""" + None', [
        ("string", '"""'), ("string", "a"), ("string", "# b"), ("string", '"""'), ("type", "None"),
    ]),
    ("python", [[1, 3]], 's = r"""\n#include <a>\nint x; // y\n""" # z', [
        ("string", 'r"""'), ("meta", "#include"), ("type", "int"), ("comment", "// y"), ("string", '"""'),
        ("comment", "# z"),
    ]),
    ("python", [[1, 2]], '"""/* a\n*/ int b;"""\nc = 1', [
        ("string", '"""'), ("comment", "/*"), ("comment", " a"), ("comment", "*/"), ("type", "int"), ("string", '"""'),
        ("number", "1"),
    ]),
    ("cpp", [], "/*/ a\nb */ return 1.5e-3f;", [
        ("comment", "/*"), ("comment", "/ a"), ("comment", "b */"), ("keyword", "return"), ("number", "1.5e-3f"),
    ]),
    ("cpp", [], 'auto s = R"x(a\n)" )x"; char c = \'\\\'\';', [
        ("keyword", "auto"), ("string", 'R"x('), ("string", "a"), ("string", ')" )x"'), ("type", "char"),
        ("string", "'\\''"),
    ]),
    ("text", [], "return 1", []),
]  # fmt: skip


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """A page without anything on it, to run a script of ours by itself."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(("language", "embedded", "text", "expected"), TOKENS)
def test_tokens(
    blank: Page, language: str, embedded: list[list[int]], text: str, expected: list[tuple[str, str]]
) -> None:
    found = blank.evaluate(
        """async ([source, text, language, embedded]) => {
          const url = URL.createObjectURL(new Blob([source + "\\nexport { Tokens };"], { type: "text/javascript" }));
          const { Tokens } = await import(url);
          const lines = text.split("\\n");
          const tokens = new Tokens(lines, language, embedded);
          const found = [];
          const take = (line) => (kind, start, end) => found.push([kind, line.slice(start, end)]);
          lines.forEach((line, at) => tokens.line(at, take(line)));
          return found;
        }""",
        [(files("kbdash.web.code") / "assets" / "tokens.js").read_text(), text, language, embedded],
    )
    assert [tuple(token) for token in found] == expected
