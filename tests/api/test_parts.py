"""The parts that answers to programs are made of, asked directly: bounds, headers, words, pictures."""

import asyncio
import gzip
import io
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

from kbdash.api import address, command, failures, openapi, page, tables, terminal
from kbdash.api.agents_answers import LONGEST_LINE, _lines, _short, rows_of
from kbdash.api.agents_http import AgentsOverHttp
from kbdash.api.badge import MOST_CHARACTERS, _clean, badge
from kbdash.api.command import _parameter
from kbdash.api.failures import Busy
from kbdash.api.feed import _sentences, feed
from kbdash.api.gate import Bounds, Gate
from kbdash.api.options import plain_option, word_option
from kbdash.api.preview import picture, serving, summary
from kbdash.api.preview.summary import Line, Preview
from kbdash.api.responses import Body, respond
from kbdash.api.routes import routes
from kbdash.api.terminal import Output
from kbdash.charts.palette import LIGHT
from kbdash.database.questions import EVERY_QUESTION, QUESTIONS
from kbdash.database.questions.kinds import Column, Parameter
from kbdash.engine import KernelBot
from kbdash.errors import QueryRefused, UnknownUser
from kbdash.view import CompareView, LadderView, Ref

ATOM = "{http://www.w3.org/2005/Atom}"


def request(path: str = "/", query: str = "", method: str = "GET", **headers: str) -> Request:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": named,
             "scheme": "http", "server": ("h", 80)}  # fmt: skip
    return Request(scope)


# --- agents --------------------------------------------------------------------------------------------------------


def test_what_names_a_submission_to_an_agent_is_short() -> None:
    from kbdash.api.agents import Named, _ref

    named = TypeAdapter(Named)
    assert named.validate_python("x" * 200)
    with pytest.raises(ValidationError):
        named.validate_python("x" * 201)
    with pytest.raises(QueryRefused, match=r"'x{60}' names no submission"):
        _ref("x" * 100)


def test_what_an_agent_may_leave_out_may_be_null() -> None:
    from kbdash.api.agents import _argument

    for optional in (Parameter("since", "day", "a day", None), Parameter("users", "texts", "some", ())):
        assert TypeAdapter(_argument(optional).annotation).validate_python(None) is None
    with pytest.raises(ValidationError):
        TypeAdapter(_argument(Parameter("least", "number", "a share", 0.5)).annotation).validate_python(None)


def test_only_what_is_shown_counts_as_cut(kb: KernelBot) -> None:
    assert _lines("x" * 900 + "\nshort", 2, 1, kb.source)["left_out"] == "lines 1-1"
    assert _short("x" * LONGEST_LINE) == "x" * LONGEST_LINE
    assert len(_short("x" * (LONGEST_LINE + 1))) == LONGEST_LINE


def test_nothing_is_said_to_be_left_out_of_all_rows(kb: KernelBot) -> None:
    frame, columns = pd.DataFrame({"n": [1, 2]}), [Column("n", "whole", "a number")]
    assert rows_of(frame, columns, kb.source, 2, None).left_out == ""
    assert rows_of(frame, columns, kb.source, 1, None).left_out.startswith("1 rows")


def test_agents_over_http_need_no_session_and_share_one_server(kb: KernelBot) -> None:
    agents = AgentsOverHttp(lambda: kb)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with agents.running():
            yield

    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream"}
    app = Starlette(routes=agents.routes(), lifespan=lifespan)
    with TestClient(app, base_url="http://localhost:8501") as client:
        first = client.post("/mcp", json=asked, headers=headers)
        assert (first.status_code, first.headers["content-type"]) == (200, "application/json"), first.text
        assert len(first.json()["result"]["tools"]) > 5
        started = agents._app
        assert client.post("/mcp", json=asked, headers=headers).status_code == 200
        assert agents._app is started


# --- links ---------------------------------------------------------------------------------------------------------


def test_a_browser_saves_a_table_and_shows_json(kb: KernelBot) -> None:
    client = TestClient(Starlette(routes=routes(lambda: kb, lambda _: None)))
    told = {form: client.head(f"/api/problems.{form}").headers["content-disposition"] for form in ("csv", "json")}
    assert (told["csv"].partition(";")[0], told["json"].partition(";")[0]) == ("attachment", "inline")
    preflight = {"Origin": "https://a.example", "Access-Control-Request-Method": "GET"}
    assert client.options("/api/problems.csv", headers=preflight).headers["access-control-max-age"] == "86400"


@pytest.mark.parametrize("id_", ["one", "1" * 19, "٣", "-1"])
def test_an_id_that_is_no_number_names_no_submission(kb: KernelBot, id_: str) -> None:
    answer = TestClient(Starlette(routes=routes(lambda: kb, lambda _: None))).get(f"/api/submission/{id_}/code")
    assert (answer.status_code, answer.json()["advice"]) == (404, "Ids are numbers.")


def test_a_failure_says_when_to_try_again_and_what_is_allowed() -> None:
    assert failures.answer(Busy("x", advice="")).headers["retry-after"] == "2"
    assert "allow" not in failures.answer(Busy("x", advice="")).headers
    assert failures.answer(HTTPException(405)).headers["allow"] == "GET, HEAD"
    unknown = failures.answer(UnknownUser("x", advice=""))
    assert (unknown.status_code, unknown.headers.get("retry-after")) == (404, None)


def test_who_refuses_gzip_gets_none_and_parts_are_for_get_alone() -> None:
    body = Body(b"x" * 5000, "text/plain")
    takes = {"gzip;q=0": False, "gzip; q=0.0": False, "gzip;q=0.1": True, "*": True, "br": False}
    for header, packed in takes.items():
        assert ("content-encoding" in respond(request(accept_encoding=header), body).headers) is packed, header
    assert respond(request(range="bytes=0-3"), body).body == b"xxxx"
    assert respond(request(method="HEAD", range="bytes=0-3"), body).status_code == 200
    assert gzip.decompress(body.packed or b"") == body.content


def test_a_link_holds_what_was_said_and_no_more() -> None:
    words = {"only": {"passed": True}, "all": {"passed": None}}
    option = word_option("passed", "which", words, "only")
    assert (option.read(()), option.read(("all",))) == ({"passed": True}, {"passed": None})
    assert (option.write({}), option.write({"passed": None})) == ((), ("all",))
    assert word_option("passed", "which", words, "only", "all").write({}) == ("all",)
    runner = plain_option(Parameter("runner", "text", "a machine", None))
    assert (runner.write({"runner": None}), runner.write({}), runner.write({"runner": "A100"})) == ((), (), ("A100",))
    assert plain_option(Parameter("users", "texts", "some", ())).write({"users": []}) == ()


def test_the_description_names_what_is_needed_an_example_and_no_failure_of_ours() -> None:
    told = openapi.description()["paths"]["/api/leaderboard.{format}"]["get"]
    named = {parameter["name"]: parameter for parameter in told["parameters"]}
    assert named["format"]["required"] is True
    assert named["problem"]["example"] == dict(QUESTIONS["leaderboard"].example)["problem"]
    assert "example" not in named["top"]
    assert "404" in told["responses"]
    assert "500" not in told["responses"]


def test_the_page_has_an_example_where_one_can_be_followed() -> None:
    for question in EVERY_QUESTION.values():
        needs = any(option.required for option in address.options(question))
        assert ("Example:" in page._question(question)) is (bool(question.example) or not needs), question.name
    assert any(not one.example and any(o.required for o in address.options(one)) for one in EVERY_QUESTION.values())
    assert '<tr id="a"><td>1</td></tr>' in page._table(("n",), [("1",)], ("a",))
    assert "<tr><td>1</td></tr>" in page._table(("n",), [("1",)])


def test_a_client_that_has_gone_is_forgotten_and_each_has_as_many_as_allowed() -> None:
    gate = Gate(Bounds(in_all=9, per_client=2), lambda _: None)
    for _ in range(2):
        gate._enter("a")
    with pytest.raises(Busy):
        gate._enter("a")
    for client in ("b", None, None, None):
        gate._enter(client)
    for client in ("a", "a", "b", None, None, None):
        gate._leave(client)
    assert not gate._running
    assert asyncio.run(gate.do("a", lambda: 5)) == 5


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        ("texts", [["a", None], None], [["a", None], None]),
        ("numbers", [[1.0], None], [[1.0], None]),
        ("time", [pd.Timestamp("2025-12-21", tz="UTC"), None], ["2025-12-21T00:00:00.000000Z", None]),
        ("whole", [3, None], [3, None]),
    ],
)
def test_what_is_missing_is_null_in_every_kind_of_column(kind: Any, values: list[Any], told: list[Any]) -> None:
    column = Column("x", kind, "anything")
    made = tables.table(pd.DataFrame({"x": pd.Series(values, dtype=object)}), [column], sample=False)
    assert [row["x"] for row in tables.rows(made)] == told


# --- the command ---------------------------------------------------------------------------------------------------


def test_an_option_is_named_and_told_as_commands_do() -> None:
    short, long = (plain_option(Parameter(name, "text", "what to look for", None)) for name in ("pattern", "page_size"))
    assert (_parameter(short).opts, _parameter(long).opts) == (["-q"], ["--page-size"])
    told = _parameter(long)
    assert isinstance(told, click.Option)
    assert told.help == "What to look for."


def test_numbers_stand_right_words_and_ids_left(tmp_path: Any) -> None:
    columns = [Column("n", "whole", "a number"), Column("id", "whole", "an id", "id"), Column("w", "text", "a word")]
    frame = pd.DataFrame({"n": [1, 100], "id": [2, 200], "w": ["x", "x" * 61]})
    Output(file=tmp_path / "shown.txt")._table(frame, columns)
    lines = (tmp_path / "shown.txt").read_text().splitlines()
    assert lines[1].split("x")[0] == "  1  2    "
    assert lines[2].endswith(" " + "x" * 59 + "…")
    assert terminal._cell("x" * 60, columns[2]) == "x" * 60


def test_a_file_is_a_table_for_people_or_what_its_name_ends_with(kb: KernelBot, tmp_path: Path) -> None:
    found, question = kb.problems("trimul"), QUESTIONS["problems"]
    for name in ("a.csv", "a.txt"):
        Output(file=tmp_path / name).answer(found, question, kb.source, len(found))
    assert (tmp_path / "a.csv").read_text().startswith("competition,")
    assert (tmp_path / "a.txt").read_text().startswith("competition  ")


def test_the_code_of_a_command_is_that_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    for told, code in ((3, 3), (None, 0)):
        monkeypatch.setattr(command.program, "main", lambda *_, told=told, **__: told)
        assert command.run(()) == code


# --- pictures and feeds --------------------------------------------------------------------------------------------


def test_a_badge_tells_the_rank_among_those_of_its_machine(kb: KernelBot) -> None:
    board = kb.leaderboard("trimul", runner="A100")
    body = badge(kb, "trimul", str(board["user_id"].iloc[0]), {"theme": "light", "runner": "A100"})
    assert f"#1 of {len(board)}," in body.content.decode()
    everywhere = badge(kb, "trimul", str(board["user_id"].iloc[0]), {"theme": "light"}).content.decode()
    assert f"#1 of {len(kb.leaderboard('trimul'))}," not in everywhere
    assert (_clean("x" * MOST_CHARACTERS), len(_clean("x" * 99))) == ("x" * MOST_CHARACTERS, MOST_CHARACTERS)


def test_a_feed_is_newest_first_and_says_whose_records_and_which_are_flagged(kb: KernelBot) -> None:
    made = ET.fromstring(feed(kb, {"problem": "trimul"}, "http://h", "http://h/f").content)
    moments = [entry.findtext(f"{ATOM}updated") or "" for entry in made.findall(f"{ATOM}entry")]
    assert moments == sorted(moments, reverse=True)
    assert len(set(moments)) > 1
    assert made.findtext(f"{ATOM}title") == "Records of trimul"
    everything = ET.fromstring(feed(kb, {}, "http://h", "http://h/f").content)
    assert everything.findtext(f"{ATOM}title") == "Records of all boards"
    client = TestClient(Starlette(routes=routes(lambda: kb, lambda _: None)), base_url="http://h")
    for link in ("/api/records.atom?problem=trimul", "/api/records.atom"):
        served = ET.fromstring(client.get(link).content)
        assert [one.get("href") for one in served.findall(f"{ATOM}link[@rel='self']")] == [f"http://h{link}"]


def test_a_record_tells_what_it_gained_and_its_flags() -> None:
    row: dict[str, object] = {"score": 1e-5, "previous": None, "gain": None, "flags": "odd"}
    assert list(_sentences(row)) == ["10.00\u2009µs, the first time on this board.", "Flagged: odd."]
    assert len(list(_sentences(row | {"flags": ""}))) == 1


def accent(image: Image.Image) -> int:
    """How many pixels right of the margin have the colour of a bar."""
    colour = tuple(int(LIGHT.accent[at : at + 2], 16) for at in (1, 3, 5))
    found = image.crop((60, 0, *picture.SIZE)).getcolors(1 << 20) or []
    return sum(count for count, pixel in found if pixel == colour)


def test_a_picture_has_a_bar_for_each_share_and_words_within_its_margins() -> None:
    def drawn(*lines: Line, sentence: str = "sentence", title: str = "Head: rest") -> Image.Image:
        made = picture.picture_of(Preview(title, sentence, lines), sample=False)
        return Image.open(io.BytesIO(made)).convert("RGB")

    assert accent(drawn(Line("a", "1", None))) == 0
    assert 0 < accent(drawn(Line("a", "1", 0.5))) < accent(drawn(Line("a", "1", 1.0)))
    assert drawn().tobytes() == drawn(sentence="other").tobytes(), "the rest of the title is under its head"
    assert drawn(title="Head").tobytes() != drawn(title="Head", sentence="other").tobytes()
    wide = drawn(title="W" * 200).crop((0, 50, *picture.SIZE)).crop((20, 0, 1180, 60)).convert("L")
    left, _, right, _ = wide.point(lambda value: 255 if value < 200 else 0).getbbox()
    assert (left + 20 >= picture.MARGIN - 2, right + 20 > picture.SIZE[0] - 2 * picture.MARGIN) == (True, True)
    assert right + 20 <= picture.SIZE[0] - picture.MARGIN + 2


@pytest.mark.parametrize(("status", "kind", "changed"), [(200, "text/html; x", True), (404, "text/html", False),
                                                         (200, "text/css", False)])  # fmt: skip
def test_only_a_page_that_is_there_gets_a_preview(status: int, kind: str, changed: bool) -> None:
    start = {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]}
    assert serving._is_html(start) is changed


def test_addresses_are_those_that_the_world_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPACE_HOST", raising=False)
    plain = serving._addresses(request("/trimul", host="h.example"), "trimul")
    assert plain == {"page": "http://h.example/trimul", "image": "http://h.example/preview/trimul.png"}
    monkeypatch.setenv("SPACE_HOST", "me.hf.space")
    there = serving._addresses(request("/trimul", "problem=trimul&runner=A100", host="h.example"), "trimul")
    assert there["page"] == "https://me.hf.space/trimul?problem=trimul&runner=A100"


def test_a_preview_shows_the_runner_of_the_page(kb: KernelBot) -> None:
    shown = [summary._runner(kb, "trimul", "trimul", asked) for asked in ("H100", "A100", "no machine", None)]
    assert shown[:2] == ["H100", "A100"]
    assert shown[2] == shown[3] is not None


def test_bars_of_a_comparison_are_parts_of_the_longer_time(kb: KernelBot) -> None:
    first, second = kb.leaderboard("trimul", runner="A100").iloc[[0, 5]].to_dict("records")
    a, b = (Ref(int(row["submission_id"]), "A100", "trimul") for row in (first, second))
    made = summary._compare(kb, CompareView(a=a, b=b))
    assert [line.share for line in made.lines] == [pytest.approx(first["score"] / second["score"]), 1.0]
    failed = kb.sql(
        "select submission_id, runner from submissions where competition = 'trimul' and score is null "
        "and runner is not null order by submission_id limit 1"
    )
    if len(failed):
        none = Ref(int(failed["submission_id"].iloc[0]), str(failed["runner"].iloc[0]), "trimul")
        assert [line.share for line in summary._compare(kb, CompareView(a=none, b=b)).lines] == [0.0, 1.0]


def test_a_ladder_is_named_by_its_user(kb: KernelBot) -> None:
    best = kb.leaderboard("trimul", runner="A100").iloc[0]
    view = LadderView(user=str(best["user_id"]), problem="trimul", runner="A100", competition="trimul")
    assert summary._ladder(kb, view).title.startswith(f"{best['user_name']} on trimul: ")
