"""Agents: the same answers as tools, over stdio and over HTTP, for the SDK's client and for somebody else's.

The SDK is imported by the tests: every process of a run collects them, and few run one.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from kbdash.api.agents_answers import LONGEST_LINE, MOST_LINES, _lines
from kbdash.engine import KernelBot
from tests import inspector
from tests.api.asked import BOARD
from tests.e2e.serving import ROOT, inherited

if TYPE_CHECKING:
    from mcp import Client


def names() -> set[str]:
    """What the tools are called."""
    from kbdash.api.agents import TOOLS

    return {*TOOLS, "submission", "diff", "sql"}


def talk(target: Any, about: Callable[[Client], Awaitable[Any]]) -> Any:
    from mcp import Client

    async def conversation() -> Any:
        async with Client(target) as client:
            return await about(client)

    return asyncio.run(conversation())


def call(target: Any, tool: str, **given: Any) -> Any:
    async def ask(client: Client) -> Any:
        answer = await client.call_tool(tool, given)
        assert not answer.is_error, answer.content
        assert json.loads(answer.content[0].text) == answer.structured_content
        return answer.structured_content

    return talk(target, ask)


@pytest.fixture(scope="module")
def here(kb: KernelBot, store: None) -> Any:
    from kbdash.api.agents import agents_server

    return agents_server(lambda: kb)


def test_a_dashboard_starts_without_what_only_agents_need() -> None:
    program = "import sys, app; print([name for name in ('mcp', 'mcp_types') if name in sys.modules])"
    started = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert started.stdout.strip() == "[]"


def test_http_and_stdio_have_the_same_tools_and_say_the_licence(server: str, sample_cache: Path) -> None:
    from mcp import StdioServerParameters

    async def tools(client: Client) -> Any:
        assert "training" in client.instructions
        assert "never\ninstructions" in client.instructions
        return {tool.name: (tool.input_schema, tool.output_schema) for tool in (await client.list_tools()).tools}

    environ = inherited() | {"KBDASH_CACHE": str(sample_cache)}
    words = ["-m", "kbdash", "mcp", "--source", "sample"]
    stdio = StdioServerParameters(command=sys.executable, args=words, env=environ, cwd=ROOT)
    over_http = talk(f"{server}/mcp", tools)
    assert over_http == talk(stdio, tools)
    assert set(over_http) == names()
    assert all(schema and answer for schema, answer in over_http.values())


def test_a_tool_gives_the_rows_of_the_library_and_says_what_it_left_out(server: str, kb: KernelBot) -> None:
    board = kb.leaderboard(BOARD)
    told = call(f"{server}/mcp", "leaderboard", problem=BOARD, rows=3)
    assert [row["submission_id"] for row in told["rows"]] == board["submission_id"].tolist()[:3]
    assert [row["score"] for row in told["rows"]] == board["score"].tolist()[:3]
    assert told["total"] == len(board)
    assert told["left_out"].startswith(f"{len(board) - 3} rows")
    assert told["source"]["commit"] == kb.source.commit
    assert "strangers" in told["untrusted"]


def test_every_question_is_answered(here: Any, kb: KernelBot) -> None:
    from kbdash.api.agents import TOOLS

    best = kb.leaderboard(BOARD).iloc[0]
    given: dict[str, Any] = {"boards": {}, "search": {"pattern": "import", "problem": BOARD},
                             "ladder": {"problem": BOARD, "user": best["user_id"], "runner": best["runner"]},
                             "relatives": {"submission_id": int(best["submission_id"]), "runner": best["runner"],
                                           "least": 0.0}}  # fmt: skip
    for name, question in TOOLS.items():
        told = call(here, name, **given.get(name, {"problem": BOARD}))
        assert 0 < len(told["rows"]) <= 20, name
        assert [column["name"] for column in told["columns"]] == [column.name for column in question.columns]


def test_texts_come_by_lines(here: Any, kb: KernelBot) -> None:
    first, second = kb.leaderboard(BOARD, runner="A100").head(2)["submission_id"]
    told = call(here, "submission", submission=f"{first}@A100", first_line=3, lines=2)
    text = kb.code(int(first), "A100")
    assert told["lines"] == text.split("\n")[2:4]
    assert told["left_out"] == f"lines 1-2, lines 5-{told['total_lines']}"
    assert told["facts"]["problem"] == BOARD
    patch = call(here, "diff", before=f"{first}@A100", after=f"{second}@A100")
    assert any(line.startswith("@@ ") for line in patch["lines"])


@pytest.mark.parametrize(
    ("text", "first", "count", "shown", "left_out"),
    [("a\nb\n", 1, 9, ["a", "b"], ""), ("", 1, 9, [], ""), ("a\nb", 5, 2, [], "lines 1-2"),
     ("a\r\x0bb\u2028c", 1, 1, ["a\r\x0bb\u2028c"], ""),
     ("x" * 900, 1, 1, ["x" * (LONGEST_LINE - 1) + "…"], "the ends of long lines")],
)  # fmt: skip
def test_what_is_left_out_is_named(
    kb: KernelBot, text: str, first: int, count: int, shown: list[str], left_out: str
) -> None:
    told = _lines(text, first, count, kb.source)
    assert (told["lines"], told["left_out"]) == (shown, left_out)


def test_a_long_text_is_bounded(kb: KernelBot) -> None:
    told = _lines("\n".join("y" * 390 for _ in range(1000)), 1, MOST_LINES, kb.source)
    assert sum(map(len, told["lines"])) <= 40_000
    assert told["left_out"] == f"lines {len(told['lines']) + 1}-1000"


def test_sql_reads_only_and_mistakes_are_told(here: Any) -> None:
    counted = call(here, "sql", statement="select count(*) as n from submissions")
    assert counted["rows"][0]["n"] > 0
    assert call(here, "sql", statement="select * from submissions", rows=2)["total"] is None

    async def wrong(client: Client) -> list[str]:
        asked = (("sql", {"statement": "drop view submissions"}), ("leaderboard", {"problem": "trimull"}),
                 ("submission", {"submission": "x"}), ("leaderboard", {"problem": BOARD, "rows": 10**6}))  # fmt: skip
        answers = [await client.call_tool(name, given) for name, given in asked]
        assert all(answer.is_error for answer in answers)
        return [answer.content[0].text for answer in answers]

    refused, unknown, no_ref, too_many = talk(here, wrong)
    assert "Traceback" not in refused
    assert "Did you mean trimul?" in unknown
    assert "id@runner" in no_ref
    assert "less than or equal to 200" in too_many


def test_cards_schema_and_prompt(here: Any, kb: KernelBot) -> None:
    async def read(client: Client) -> Any:
        texts = [(await client.read_resource(f"kbdash://{path}")).contents[0].text
                 for path in ("boards", f"board/{BOARD}", "schema")]  # fmt: skip
        prompt = await client.get_prompt("learn_from_the_winners", {"problem": BOARD})
        return *map(json.loads, texts), prompt.messages[0].content.text

    cards, card, schema, prompt = talk(here, read)
    assert card in cards
    assert len(cards) == len(kb.problems()[["competition", "problem"]].drop_duplicates())
    assert {"submission_id", "score", "runner"} <= schema["columns"].keys()
    assert BOARD in prompt


def test_only_known_hosts_are_answered(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbdash.api.agents import allowed_hosts

    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream", "Host": "elsewhere.example"}
    assert httpx2.post(f"{server}/mcp", json=asked, headers=headers).status_code == 421
    monkeypatch.setenv("SPACE_HOST", "me-kbdash.hf.space")
    monkeypatch.setenv("KBDASH_HOSTS", "boards.example, other.example")
    known = allowed_hosts()
    assert {"me-kbdash.hf.space", "boards.example", "other.example:*"} <= set(known.allowed_hosts)
    assert "https://me-kbdash.hf.space" in known.allowed_origins


def test_the_inspector_lists_and_calls_tools(server: str) -> None:
    def inspect(*words: str) -> Any:
        command = [*inspector.command(), f"{server}/mcp", "--transport", "http", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=inspector.environ(), check=True)
        return json.loads(done.stdout)

    assert {tool["name"] for tool in inspect("--method", "tools/list")["tools"]} == names()
    words = ("--method", "tools/call", "--tool-name", "leaderboard", "--tool-arg", f"problem={BOARD}")
    assert inspect(*words)["structuredContent"]["rows"][0]["rank"] == 1
