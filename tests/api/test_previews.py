"""A shared link tells what it shows: in the HTML that is served for it, and as a picture."""

import io
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

import kbdash
from kbdash.api.preview import LinkPreviews, Previews
from kbdash.api.preview.serving import tags
from kbdash.api.preview.summary import PLAIN, Preview, fallback, preview_of
from kbdash.dataset import page_paths
from kbdash.dataset.catalog import COMPETITIONS
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable
from kbdash.units import person, time_text, unit_for
from kbdash.view import PAGES, CompetitionView
from tests.api.asked import BOARD
from tests.api.conftest import Ask

HOSTILE = '</title><script>alert(1)</script>" onload="x'


class Head(HTMLParser):
    """Title and meta tags of a page, as a crawler reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title, self.meta, self.scripts, self._in = "", {}, 0, ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self._in, given = tag, dict(attrs)
        self.scripts += tag == "script" and "src" not in given
        if tag == "meta" and "content" in given:
            self.meta[given.get("property") or given.get("name")] = given["content"]

    def handle_data(self, data: str) -> None:
        self.title += data if self._in == "title" else ""

    def handle_endtag(self, _: str) -> None:
        self._in = ""


def test_a_board_names_the_first_three_and_has_their_picture(ask: Ask, kb: KernelBot) -> None:
    head = Head(ask("/nvfp4?problem=nvfp4_gemm&runner=NVIDIA&to=2025-12-20").text)
    board = kb.leaderboard("nvfp4_gemm", runner="NVIDIA", until="2025-12-20")
    unit = unit_for(float(board["score"].iloc[0]))
    for row in board.head(3).to_dict("records"):
        who = person(row["user_name"], row["user_id"])
        assert f"{row['rank']}. {who} {time_text(row['score'], unit)}" in head.title
    assert head.title.startswith("nvfp4_gemm on B200")
    assert head.meta["og:title"] + " · kbdash" == head.title
    assert f"{len(board)} users ranked" in head.meta["og:description"]
    assert head.meta["twitter:card"] == "summary_large_image"
    assert head.meta["og:url"].endswith("/nvfp4?problem=nvfp4_gemm&runner=NVIDIA&to=2025-12-20")
    picture = ask(head.meta["og:image"])
    assert picture.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(picture.content)).size == (1200, 630)
    assert ask(head.meta["og:image"], headers={"If-None-Match": picture.headers["etag"]}).status_code == 304


def test_a_board_narrowed_to_techniques_is_the_one_of_the_page(sample_cache: Path, store: None) -> None:
    kb = kbdash.connect(settings=Settings(source="sample", cache=sample_cache))
    techniques = kb.techniques(BOARD)
    name = techniques.loc[techniques["users"] < techniques["users"].max(), "facet"].iloc[0]
    for facets, words in (((name,), f"with {name}"), ((f"!{name}",), f"without {name}")):
        view = CompetitionView(problem=BOARD, facets=facets)
        board = kb.leaderboard(BOARD, runner=kb.board(BOARD).runners[0], facets=facets)
        shown = preview_of(kb, kb.find(BOARD)[0], view)
        assert f" {words}: 1. " in shown.title
        assert shown.sentence.startswith(f"{len(board)} user")
    kb.close()


def test_every_kind_of_page_has_a_title_of_its_own(ask: Ask, kb: KernelBot) -> None:
    first, second = kb.leaderboard("nvfp4_gemm", runner="NVIDIA").head(2).to_dict("records")
    a, b = first["submission_id"], second["submission_id"]
    addresses = ["/", f"/submission?id={a}", f"/compare?a={b}&b={a}", f"/user?user={first['user_id']}",
                 f"/ladder?user={first['user_id']}&problem=nvfp4_gemm&runner=NVIDIA", "/trimul", "/about",
                 "/sql", "/search", "/steps", "/trust"]  # fmt: skip
    titles = [Head(ask(address).text).title for address in addresses]
    assert len(set(titles)) == len(titles)
    for title in titles[1:5]:
        assert person(first["user_name"], first["user_id"]) in title
    for address in addresses:
        assert ask(Head(ask(address).text).meta["og:image"]).status_code == 200


def test_a_browser_waits_for_no_preview_and_odd_addresses_get_a_page(ask: Ask) -> None:
    plain = Head(ask("/nvfp4", headers={"Sec-Fetch-Mode": "navigate"}).text)
    assert plain.title == "GPU kernel competitions · kbdash"
    for odd in ("/submission?id=999999999", "/nosuchpage?x=1", "/nvfp4?problem=nope", "/user?user=%00%ff"):
        page = ask(odd)
        assert page.status_code == 200
        assert Head(page.text).title.endswith("kbdash")
    assert ask("/api/health").headers["content-type"] == "application/json"


def test_nothing_a_user_wrote_becomes_markup() -> None:
    text = tags(Preview(HOSTILE, HOSTILE), {"page": f"http://x/{HOSTILE}", "image": "http://x"})
    assert "<script" not in text
    head = Head(text)
    assert head.meta["og:title"] == HOSTILE
    assert head.scripts == 0


def pages(engine: Callable[[], KernelBot]) -> TestClient:
    """Pages that say little, with previews."""

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse("<html><head><title>x</title></head>" + "<p>é</p>" * 1000)

    previews = Previews(engine, lambda _: None)
    inner = [*previews.routes(), Route("/{path:path}", page)]
    return TestClient(Starlette(routes=inner, middleware=[Middleware(LinkPreviews, previews=previews)]))


STATEMENT = "select problem, count(*) from submissions where passed and score < 1e-3 -- " + "long " * 200 + "end"
QUERIES = {
    "": {"show": "timeline"},
    "search": {"q": "tcgen05.mma " + "x" * 300, "mode": "regex", "facet": ["tma", "!triton"], "from": "2025-12-01"},
    "steps": {"competition": "nvfp4", "problem": "nvfp4_gemm", "facet": "tma", "gain": "20"},
    "trust": {"competition": "nvfp4", "problem": "nvfp4_gemm", "runner": "NVIDIA"},
    "user": {"user": "gau.nernst"},
    "sql": {"q": STATEMENT, "x": "problem"},
    "about": {},
    "submission": {"id": "187476", "line": "10-20"},
    "compare": {"a": "187476", "b": "32750@H100"},
    "ladder": {"problem": "nvfp4_gemm", "runner": "NVIDIA", "user": "gau.nernst"},
    "nvfp4": {"problem": "nvfp4_gemm", "user": ["1", "2"], "mine": "30us"},
    "amd-mi300": {"problem": "amd-fp8-mm", "skip": [str(shape) for shape in range(100)], "tab": "hardware",
                  "user": [str(user) for user in range(12)]},
}  # fmt: skip


def away() -> KernelBot:
    raise DataUnavailable("The Hub is away.")


def test_every_page_is_among_these() -> None:
    slugs = {competition.slug for competition in COMPETITIONS}
    assert QUERIES.keys() - slugs == {"", *page_paths.IN_MENU, *page_paths.HIDDEN} == PAGES.keys()


@pytest.mark.parametrize("path", QUERIES)
@pytest.mark.parametrize("mode", ["cors", "navigate"])
def test_the_address_of_a_page_keeps_its_parameters(path: str, mode: str) -> None:
    asked = f"/{path}?{urlencode(QUERIES[path], doseq=True)}".removesuffix("?")
    head = Head(pages(away).get(asked, headers={"Sec-Fetch-Mode": mode}).text)
    address = urlsplit(head.meta["og:url"])
    assert address.path == f"/{path}"
    assert parse_qs(address.query) == parse_qs(urlsplit(asked).query)
    assert urlsplit(head.meta["og:image"]).path == f"/preview/{path or 'overview'}.png"


def test_an_address_that_is_too_long_loses_its_parameters_instead_of_its_end() -> None:
    asked = urlencode({"q": "select 1", "x": "x" * 20_000})
    assert urlsplit(Head(pages(away).get(f"/sql?{asked}").text).meta["og:url"]).query == ""


@pytest.mark.parametrize("path", sorted(PLAIN))
def test_a_plain_page_has_a_title_and_one_picture_for_all_parameters(path: str) -> None:
    head = Head(pages(away).get(f"/{path}?{urlencode(QUERIES[path], doseq=True)}").text)
    assert head.meta["og:title"] == PLAIN[path] != fallback("").title
    assert urlsplit(head.meta["og:image"]).query == ""


@pytest.mark.parametrize("failing", [True, False])
def test_a_page_without_data_is_served_all_the_same(kb: KernelBot, failing: bool) -> None:
    answer = pages(away if failing else lambda: kb).get("/trimul")
    assert answer.text.count("<p>é</p>") == 1000
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert ("trimul on" in Head(answer.text).title) is not failing
