"""Lines, their layout, search and the clipboard, in a real browser."""

import pytest
from playwright.sync_api import Page

from tests.js.conftest import WEB, script
from tests.unit.test_language import LINES

LAID_OUT = """(lines) => {
    const start = performance.now();
    const box = document.createElement("div");
    box.style.cssText = "white-space:pre;font-family:monospace;width:800px;overflow:auto";
    box.append(...lines.map((line, at) => lineElement(line, at + 1)));
    document.body.replaceChildren(box);
    box.getBoundingClientRect();
    return (performance.now() - start) / 1000;
}"""


@pytest.mark.parametrize(("text", "lines"), LINES)
def test_lines_end_where_an_editor_ends_them(page: Page, text: str, lines: list[str]) -> None:
    assert page.evaluate("linesOf", text) == lines


def test_stacked_marks_become_letters_of_their_own_and_keep_their_places(page: Page) -> None:
    (line,) = page.evaluate("linesOf", "a" + "\u0301" * 20 + "b\U0001d167" + "\U0001d165" * 10)
    assert line[:9] == "a" + "\u0301" * 8
    assert line[9:21] == "\u25cc" * 12
    assert page.evaluate("(line) => line.length", line) == 1 + 20 + 1 + 2 + 20


@pytest.mark.parametrize("marks", ["\u0301", "\u0300\u0301", "\U0001d165", "\u20dd", "\ufe0f", "\u0e31"])
def test_two_hundred_thousand_marks_are_laid_out_in_time(page: Page, marks: str) -> None:
    lines = page.evaluate("linesOf", "a" + marks * (200_000 // len(marks)))
    assert page.evaluate(LAID_OUT, lines) < 5


def test_text_is_never_markup(page: Page) -> None:
    hostile = "<img src=x onerror=alert(1)>&amp;"
    shown = page.evaluate("(text) => lineElement(text, 1, 'same').innerHTML", hostile)
    assert shown == "&lt;img src=x onerror=alert(1)&gt;&amp;amp;"
    assert page.evaluate("lineElement('', 1).textContent") == "\n"


def test_columns_of_the_widest_line(page: Page) -> None:
    assert page.evaluate("widest", ["ab", "\tx", "核核", ""]) == 5
    assert page.evaluate("widest", []) == 0


def test_search_finds_letters_and_not_patterns(page: Page) -> None:
    page.add_script_tag(content=script(WEB / "code" / "assets" / "viewer.js"))
    hits = "([lines, text]) => hitsIn(lines, text).map(({ line, start, end }) => [line, start, end])"
    assert page.evaluate(hits, [["a.b A.B axb", "", "a.b"], "a.b"]) == [[0, 0, 3], [0, 4, 7], [2, 0, 3]]
    assert page.evaluate(hits, [["((a"], "(("]) == [[0, 0, 2]]
    assert page.evaluate("(lines) => hitsIn(lines, 'a').length", ["a" * 30_000]) == 10_000


def test_what_cannot_be_put_on_the_clipboard_is_said(page: Page) -> None:
    page.add_script_tag(content=script(WEB / "static" / "clipboard.js"))
    page.evaluate("document.execCommand = () => false")
    assert page.evaluate("toClipboard('x')") is False
    page.evaluate("document.execCommand = (what) => { window.copied = document.activeElement.value; return true; }")
    assert page.evaluate("toClipboard('line 1\\nline 2')") is True
    assert page.evaluate("window.copied") == "line 1\nline 2"
    assert page.evaluate("document.querySelectorAll('textarea').length") == 0
