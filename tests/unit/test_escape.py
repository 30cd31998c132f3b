"""User text in markdown: shown as it is, never read."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kbdash.web.escape import markdown

NAMES = [
    "<img src=x onerror=alert(1)>", "[a](http://b)", "![i](http://b/x.png)", "$x$", "$$y$$", "_spatters",
    "happy_sloth_", "**bold**", "`code`", "# title", "1. one", "- item", "> quote", "lynn 𖤐", "Cookie 🍪",
    "南北绿豆糕", "ağaç.mp4", "www.evil.example", "https://evil.example/x", "me@evil.example", ":smile:", ":red[x]",
    ":material/delete:", "a -> b", "a -- b", "<- back", "~~gone~~", "|a|b|", "a\\b", "&lt;b&gt;", "&copy;",
    "line\nbreak",
]  # fmt: skip
# Patterns that are looked for in the text after markdown was read.
LATE = re.compile(r"https?://|www\.|[-.\w+]+@[-\w]|:[\w+-]+:|:material/|->|<-|--|>=|<=|~=")


def shown(name: str) -> str:
    """What a reader of CommonMark sees, without the invisible characters."""
    rendered = MarkdownIt("commonmark").enable(["strikethrough", "table"]).render("x " + markdown(name))
    text = rendered.removeprefix("<p>x ").removesuffix("</p>\n")
    assert "<" not in text.replace("<p>", "", 0), rendered
    return html.unescape(text)


def visible(text: str) -> str:
    return re.sub("[\u2060\u2066-\u2069\u202c]", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are(name: str) -> None:
    assert visible(shown(name)) == name.replace("\n", " ")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_the_text_later(name: str) -> None:
    assert not LATE.search(shown(name))


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp")), max_size=40))
def test_any_text_survives(name: str) -> None:
    # CommonMark trims the ends of a line; nothing else may change.
    assert visible(shown(name + ".")) == name + "."


@pytest.mark.parametrize("name", ["شخص", "a\u202egnp.exe", "\u2067x"])
def test_right_to_left_text_does_not_reorder_what_stands_around_it(name: str) -> None:
    written = markdown(name)
    assert written.startswith("\u2068")
    assert written.endswith("\u2069")


def test_what_a_name_turns_round_ends_with_it() -> None:
    assert markdown("\u202ea\u202bb") == "\u2068\u202ea\u202bb\u202c\u202c\u2069"
    assert markdown("\u2067a") == "\u2068\u2067a\u2069\u2069"
