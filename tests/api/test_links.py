"""How links are answered: headers, parts, errors, limits. The engine is real, the server is in this process."""

import gzip
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import kbdash
from kbdash.api import address, answers, tables
from kbdash.api.answers import Answers
from kbdash.api.gate import Bounds
from kbdash.api.options import Refused
from kbdash.api.responses import Body
from kbdash.api.routes import routes
from kbdash.content.stores import ContentMissing
from kbdash.database.questions import QUESTIONS
from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable, KbdashError
from tests.api.conftest import Ask
from tests.hub import LoopbackHub

BOARD = "/api/leaderboard.csv?problem=trimul"


def client(engine: Callable[[], KernelBot], bounds: Bounds | None = None, who: str | None = None) -> TestClient:
    return TestClient(Starlette(routes=routes(engine, lambda _: who, bounds)))


@pytest.fixture(scope="module")
def links(kb: KernelBot) -> TestClient:
    return client(lambda: kb)


# --- what is sent --------------------------------------------------------------------------------------------------


def test_who_has_the_bytes_is_not_sent_them_again(ask: Ask) -> None:
    plain = ask(BOARD, headers={"Accept-Encoding": "identity"})
    packed = ask(BOARD, headers={"Accept-Encoding": "gzip"})
    assert plain.content == packed.content
    assert (plain.headers.get("content-encoding"), packed.headers["content-encoding"]) == (None, "gzip")
    assert plain.headers["etag"] != packed.headers["etag"]
    assert not plain.headers["etag"].startswith("W/")
    for tag in (plain.headers["etag"], packed.headers["etag"], f"W/{plain.headers['etag']}", "*"):
        again = ask(BOARD, headers={"If-None-Match": f'"other", {tag}' if tag != "*" else tag})
        assert (again.status_code, again.content) == (304, b"")
    assert ask(BOARD, headers={"If-None-Match": '"other"'}).status_code == 200
    assert plain.headers["cache-control"] == "public, max-age=300"
    assert "Accept-Encoding" in plain.headers["vary"]


def test_head_tells_what_get_would_send(links: TestClient) -> None:
    head, get = links.head(BOARD), links.get(BOARD)
    assert head.content == b""
    assert dict(head.headers) == dict(get.headers)


def test_gzip_is_sent_to_who_takes_it(links: TestClient) -> None:
    with links.stream("GET", BOARD, headers={"Accept-Encoding": "br, gzip;q=0.5"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert gzip.decompress(raw).startswith(b"rank,user_name")
    assert "content-encoding" not in links.get(BOARD, headers={"Accept-Encoding": "gzip;q=0"}).headers


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [("bytes=0-3", 206, slice(0, 4)), ("bytes=-4", 206, slice(-4, None)), ("bytes=5-", 206, slice(5, None)),
     ("bytes=5-2", 200, slice(None)), ("lines=1-2", 200, slice(None)), ("bytes=99999999-", 416, slice(0, 0))],
)  # fmt: skip
def test_a_part_can_be_asked_for(links: TestClient, asked: str, status: int, part: slice) -> None:
    link = BOARD.replace("csv", "parquet")
    whole = links.get(link)
    answer = links.get(link, headers={"Range": asked})
    assert (answer.status_code, answer.content) == (status, whole.content[part])
    stale = links.get(link, headers={"Range": asked, "If-Range": '"other"'})
    assert (stale.status_code, stale.content) == (200, whole.content)


def test_scripts_of_any_page_may_read(links: TestClient) -> None:
    answer = links.get(BOARD, headers={"Origin": "https://elsewhere.example"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "Kbdash-Commit" in answer.headers["access-control-expose-headers"]
    before = links.options(
        BOARD, headers={"Origin": "https://a.example", "Access-Control-Request-Method": "GET",
                        "Access-Control-Request-Headers": "if-none-match"},
    )  # fmt: skip
    assert before.status_code == 200
    assert "if-none-match" in before.headers["access-control-allow-headers"]


def test_source_texts_are_plain_text_and_nothing_else(ask: Ask, kb: KernelBot) -> None:
    row = kb.leaderboard("trimul").iloc[0]
    one = kb.submission(int(row["submission_id"]), row["runner"])
    answer = ask(address.code_path(one))
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text == kb.text_of(one).text
    assert kb.source.version[:7] in answer.headers["content-disposition"]


def test_a_patch_leads_from_one_text_to_the_other(links: TestClient, kb: KernelBot) -> None:
    first, second = (
        kb.submission(int(row["submission_id"]), row["runner"])
        for row in kb.leaderboard("trimul", runner="A100").head(2).to_dict("records")
    )
    answer = links.get(address.patch_path(first, second))
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    lines = answer.text.splitlines()
    assert sum(line.startswith("--- a/") for line in lines) == 1
    assert any(line.startswith("@@ ") for line in lines)


def test_pages_of_submissions_lead_to_the_next(links: TestClient, kb: KernelBot) -> None:
    first = links.get("/api/submissions.json?problem=trimul&page_size=5&passed=all&sort=score")
    following = links.get(first.links["next"]["url"])
    ids = [row["submission_id"] for row in (*first.json()["rows"], *following.json()["rows"])]
    told = kb.submissions("trimul", page_size=10, sort="score", descending=False)
    assert ids == told.rows["submission_id"].tolist()
    assert first.json()["total"] == told.total == int(first.headers["kbdash-total"])


# --- what is asked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "arguments", "query"),
    [
        ("leaderboard", {"problem": "a b", "since": "2025-01-02", "until": "2025-12-21", "flagged": False, "top": 5},
         {"problem": ["a b"], "top": ["5"], "from": ["2025-01-02"], "to": ["2025-12-21"], "flags": ["hide"]}),
        ("submissions", {"problem": "x", "sort": "score", "descending": False, "passed": True, "users": ["1", "2"]},
         {"problem": ["x"], "user": ["1", "2"], "sort": ["score"]}),
        ("submissions", {"problem": "x", "sort": "score", "passed": False, "page": 3},
         {"problem": ["x"], "passed": ["failed"], "sort": ["-score"], "p": ["3"]}),
        ("standing", {"problem": "x", "score": 3e-05}, {"problem": ["x"], "mine": ["30us"]}),
        ("progression", {"problem": "x", "user": "me"}, {"problem": ["x"], "user": ["me"]}),
    ],
)  # fmt: skip
def test_links_have_the_words_of_the_pages_address(question: str, arguments: Any, query: Any) -> None:
    written = address.write(QUESTIONS[question], arguments)
    assert {name: texts for name, texts in written.items() if (name, texts) != ("passed", ["all"])} == query
    asked = QUESTIONS[question]
    read = asked.checked(address.read(asked, written))
    expected = dict(arguments)
    if "user" in arguments:
        expected["users"] = [expected.pop("user")]
    assert {name: read[name] for name in expected} == {
        name: value for name, value in asked.checked(expected).items() if name in expected
    }


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({}, "problem"), ({"problem": [""]}, "problem"), ({"problem": ["a\n"]}, "problem"),
        ({"problem": ["x" * 201]}, "problem"), ({"problem": ["a", "b"]}, "problem"),
        ({"problem": ["a"], "tab": ["b"]}, "tab"),
        *(({"problem": ["a"], "top": [text]}, "top") for text in ("x", "-1", "1000001", "1_0", "+5", "٣", "", "1.0")),
        *(({"problem": ["a"], "to": [text]}, "to") for text in ("20251221", "2025-13-01", "today", "2025-12-21T00:00")),
        ({"problem": ["a"], "flags": ["no"]}, "flags"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_by_name(query: Any, parameter: str) -> None:
    with pytest.raises(Refused) as refused:
        address.read(QUESTIONS["leaderboard"], query)
    assert refused.value.parameter == parameter
    assert refused.value.accepted


@pytest.mark.parametrize(
    ("link", "status", "words"),
    [
        ("/api/leaderboard.csv?problem=trimull", 404, "Did you mean trimul?"),
        ("/api/leadrboard.csv", 404, "Did you mean leaderboard"),
        ("/api/leaderboard.xml?problem=trimul", 404, "csv, json, parquet"),
        ("/api/leaderboard.csv?problem=trimul&top=x", 400, "a whole number from 0 to 1000000"),
        ("/api/ladder.csv?problem=trimul&user=nobody-at-all", 404, "Nobody has the id or name nobody-at-all."),
        ("/api/problems.csv?competition=nope", 404, "There are nvfp4"),
        ("/api/submission/1/code", 404, "There is no submission 1"),
        ("/api/submission/one/code", 404, "There is no submission one"),
        ("/api/nothing", 404, "/api lists what there is"),
        ("/badge/trimul/nobody-at-all.svg", 404, "Nobody has"),
        ("/badge/nothing", 404, "/api lists what there is"),
    ],
)
def test_errors_are_problem_documents_with_the_sentence_of_a_page(
    links: TestClient, link: str, status: int, words: str
) -> None:
    answer = links.get(link)
    told = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.status_code == told["status"] == status
    assert words in f"{told['detail']} {told['advice']}"
    assert {"type", "title", "status", "detail", "advice"} <= told.keys()


def test_an_id_that_ran_on_several_machines_says_which(links: TestClient, kb: KernelBot) -> None:
    found = kb.sql("select submission_id from submissions where runner is not null group by all having count(*) > 1")
    answer = links.get(f"/api/submission/{found['submission_id'].iloc[0]}/code")
    assert answer.status_code == 409
    assert answer.json()["parameter"] == "runner"
    assert len(answer.json()["accepted"].split(", ")) > 1


def test_nothing_but_reading_is_answered(links: TestClient) -> None:
    answer = links.post(BOARD)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.headers["content-type"] == "application/problem+json"


# --- limits and failures -------------------------------------------------------------------------------------------


def test_rows_are_cut_and_that_is_said(kb: KernelBot) -> None:
    few = client(lambda: kb, Bounds(rows=3))
    whole = len(kb.leaderboard("trimul"))
    answer = few.get(BOARD.replace("csv", "json"))
    assert (len(answer.json()["rows"]), answer.json()["truncated"], answer.json()["total"]) == (3, True, whole)
    assert answer.headers["kbdash-truncated"] == "at 3 rows"
    assert few.get(BOARD).headers["kbdash-truncated"] == "at 3 rows"


def test_a_long_csv_is_sent_in_parts_with_the_same_rows(
    links: TestClient, kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = "/api/submissions.csv?problem=nvfp4_gemm&passed=all&page_size=1000"
    whole = links.get(link)
    assert "ETag" in whole.headers
    monkeypatch.setattr(answers, "MOST_AT_ONCE", 500)
    parted = client(lambda: kb)
    monkeypatch.setattr(tables.csv_parts, "__defaults__", (300,))
    with parted.stream("GET", link, headers={"Accept-Encoding": "identity"}) as streamed:
        parts = list(streamed.iter_raw())
    assert len(parts) == 4
    assert b"".join(parts) == whole.content
    for name in ("Content-Type", "Content-Disposition", "Kbdash-Rows", "Kbdash-Total", "Link"):
        assert streamed.headers[name] == whole.headers[name]
    tag = streamed.headers["ETag"]
    assert tag.startswith("W/"), "its bytes are known only once they are sent"
    assert client(lambda: kb).get(link, headers={"If-None-Match": tag}).status_code == 304
    assert parted.get(link.replace("gemm", "gemv"), headers={"If-None-Match": tag}).status_code == 200
    assert parted.get(link, headers={"Accept-Encoding": "gzip"}).content == whole.content
    assert parted.head(link).content == b""


@pytest.mark.parametrize(("who", "bounds"), [("a", Bounds(per_client=1)), (None, Bounds(in_all=1))])
def test_who_asks_too_much_at_once_is_told_to_wait(kb: KernelBot, who: str | None, bounds: Bounds) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow() -> KernelBot:
        entered.set()
        leave.wait(30)
        return kb

    busy = client(slow, bounds, who)
    first = threading.Thread(target=busy.get, args=(BOARD,))
    first.start()
    assert entered.wait(30)
    refused = busy.get(BOARD)
    leave.set()
    first.join()
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert busy.get(BOARD).status_code == 200


def test_an_answer_that_takes_too_long_is_left_alone_and_counts_until_it_ends(kb: KernelBot) -> None:
    leave = threading.Event()

    def stuck() -> KernelBot:
        leave.wait(30)
        return kb

    slow = client(stuck, Bounds(seconds=0.2, in_all=1))
    assert (slow.get(BOARD).status_code, slow.get(BOARD).status_code) == (503, 429)
    leave.set()
    deadline = time.monotonic() + 20
    while slow.get(BOARD).status_code == 429:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("kind", "seconds"), [(DataUnavailable, "30"), (ContentMissing, "300")])
def test_data_that_are_not_there_now_are_a_503_that_names_no_secret(kind: type[KbdashError], seconds: str) -> None:
    def gone() -> KernelBot:
        raise kind("It cannot be read from /srv/secret/place/file.", advice="Try again.")

    answer = client(gone).get(BOARD)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, seconds)
    assert "/srv/secret" not in answer.text


def test_what_nobody_foresaw_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> KernelBot:
        raise ZeroDivisionError("inner words")

    answer = client(broken).get(BOARD)
    assert (answer.status_code, answer.json()["type"]) == (500, "/api#unexpected")
    assert "inner words" not in answer.text
    assert "inner words" in caplog.text


def test_an_answer_is_made_anew_once_another_store_is_there(kb: KernelBot, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[KernelBot] = []
    answers = Answers(lambda: kb, 10)

    def ask() -> None:
        answers.memoised(("key",), lambda engine: made.append(engine) or Body(b"", "text/plain"))  # type: ignore[func-returns-value]

    ask()
    ask()
    assert len(made) == 1
    monkeypatch.setattr(kb, "content_at_hand", lambda: ("one more",))
    ask()
    assert len(made) == 2


def test_an_answer_that_lacks_a_competition_says_so_and_is_asked_for_again(hub: LoopbackHub, tmp_path: Path) -> None:
    settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, hub_seconds=30.0)
    kb = kbdash.connect(settings=settings)
    asked = client(lambda: kb)
    kb.mark_unavailable("trimul", DataUnavailable("trimul.parquet cannot be read in /home/somebody/data."))
    answer = asked.get("/api/overview.json")
    assert answer.headers["kbdash-unavailable"] == "trimul"
    assert answer.json()["unavailable"]["trimul"].endswith("cannot be read in …/data.")
    assert answer.headers["cache-control"] == "no-cache"
    kb.close()
