"""Messages tell no secrets, and readers nothing about the machine."""

import asyncio
import logging
import time
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from kbdash.api import failures
from kbdash.api.agents import _Work
from kbdash.api.gate import Bounds, Gate
from kbdash.content.search.patterns import BadPattern
from kbdash.database.plain_sql import _address
from kbdash.errors import DataUnavailable
from kbdash.scrub import for_readers, has_user_info, without_secrets, without_user_info
from kbdash.web import escape, logs

PROXY = {"HTTP_PROXY": "http://user:p%40ss/w@rd@proxy.local:3128", "all_proxy": "socks5://me:sesame@127.0.0.1:1080"}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Failed to parse http_proxy http://user:pass@proxy:1 into a host", "http://…@proxy:1"),
        ("https://user:p@ss@host/x failed", "https://…@host/x failed"),
        ("sent hf_abcdefghijklmnop along", "sent … along"),
        ("Authorization: Bearer hf_abcdefghijklmnop", "Authorization: Bearer …"),
        ("header 'authorization': 'Bearer abcdefgh12345'", "Bearer …"),
        ("ghp_abcdefghijklmnop1234 and AKIAABCDEFGHIJKLMNOP", "… and …"),
        ("GET https://cdn/x?X-Amz-Signature=abc123&a=b", "https://cdn/x?X-Amz-Signature=…&a=b"),
    ],
)
def test_credentials_tokens_and_signatures_go(said: str, left: str) -> None:
    assert left in without_secrets(said, {})


@pytest.mark.parametrize(
    "token",
    [
        "api_org_abcdefgh", "gho_abcdefgh", "ghu_abcdefgh", "ghs_abcdefgh", "ghr_abcdefgh", "github_pat_abcdefgh",
        "glpat-abcdefgh", "xoxa-abcdefgh", "xoxb-abcdefgh", "xoxp-abcdefgh", "xoxr-abcdefgh", "xoxs-abcdefgh",
        "sk-abcdefgh", "pypi-abcdefgh", "npm_abcdefgh", "ASIAABCDEFGHIJKL", "eyJhbGciOiJI.eyJzdWIi.c2ln",
    ],
)  # fmt: skip
def test_a_token_goes_whoever_gives_it_out(token: str) -> None:
    assert without_secrets(f"sent {token} along", {}) == "sent … along"


@pytest.mark.parametrize("scheme", ["Basic", "token", "BASIC"])
def test_a_header_that_authorises_goes(scheme: str) -> None:
    assert without_secrets(f"Authorization: {scheme} dXNlcjpwYXNz=", {}) == f"Authorization: {scheme} …"


@pytest.mark.parametrize(
    "name", ["X-Amz-Credential", "Signature", "Policy", "Key-Pair-Id", "token", "access_token", "sig"]
)
def test_what_signs_an_address_goes(name: str) -> None:
    assert without_secrets(f"GET https://cdn/x?a=b&{name}=abc123&c=d", {}) == f"GET https://cdn/x?a=b&{name}=…&c=d"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
def test_a_proxy_tells_no_password_by_whatever_name_it_is_set(name: str) -> None:
    assert without_secrets("could not use sesame", {name: "http://me:sesame@proxy:1"}) == "could not use …"


def test_the_secrets_of_the_environment_go_however_they_are_quoted() -> None:
    said = "could not use p@ss/w@rd nor p%40ss/w@rd, sesame or tok-en"
    left = without_secrets(said, {**PROXY, "HF_TOKEN": "tok-en"})
    assert left == "could not use … nor …, … or …"


@pytest.mark.parametrize(("token", "left"), [("abcd", "so … it is"), ("abc", "so abc it is")])
def test_a_token_too_short_to_be_one_is_a_word(token: str, left: str) -> None:
    assert without_secrets(f"so {token} it is", {"HUGGING_FACE_HUB_TOKEN": f" {token} "}) == left


@pytest.mark.parametrize(
    ("said", "proxy", "left"),
    [
        ("neither me:abc nor abc", "http://me:abc@proxy:1", "neither … nor …"),
        ("neither me:ab nor ab", "http://me:ab@proxy:1", "neither … nor ab"),
        ("proxy:1 is down", "http://proxy:1", "proxy:1 is down"),
    ],
)
def test_a_password_goes_with_its_user_and_alone_unless_it_is_part_of_any_word(
    said: str, proxy: str, left: str
) -> None:
    assert without_secrets(said, {"HTTPS_PROXY": proxy}) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("There is no folder /home/somebody/data/kernels.", "There is no folder …/kernels."),
        ('IO Error: Cannot open file "/tmp/kb/x.parquet": no', 'IO Error: Cannot open file "…/x.parquet": no'),
        ("~/secret/place is not writable", "…/place is not writable"),
        (r"C:\Users\me\kbdash\x.parquet is gone", "…/x.parquet is gone"),
    ],
)
def test_readers_are_told_no_paths(said: str, left: str) -> None:
    assert for_readers(said, {}) == left


@pytest.mark.parametrize(
    "said",
    [
        "https://huggingface.co/datasets/GPUMODE/kernelbot-data/commit/abc answered 503.",
        "GPUMODE/kernelbot-data is gated. Set HF_TOKEN to a token that may read it.",
        "Look at /about, or use KBDASH_SOURCE=sample and/or a folder.",
        "nvidia_nvfp4_submissions.parquet cannot be read: it stalled after 3 s (1/2 tries).",
        "Basic questions need no token at all",
    ],
)
def test_everything_else_stays(said: str) -> None:
    assert for_readers(said, {}) == said


def test_an_address_can_be_linked_without_its_password() -> None:
    assert without_user_info("https://user:p@ss@hub.local/x") == "https://hub.local/x"
    assert without_user_info("https://hub.local/a@b") == "https://hub.local/a@b"


@pytest.mark.parametrize(
    ("address", "has"),
    [
        ("https://user@hub.local", True), ("https://hub.local/a@b", False),
        ("http://user@[::1", True), ("http://[::1", False),
    ],
)  # fmt: skip
def test_an_address_that_nobody_can_read_has_user_info_if_it_looks_so(address: str, has: bool) -> None:
    assert has_user_info(address) == has


def test_a_message_keeps_its_first_four_thousand_characters() -> None:
    assert without_secrets("x" * 4000, {}) == "x" * 4000
    assert without_secrets("x" * 4001, {}) == "x" * 4000 + "…"


def test_a_long_message_is_cut_and_costs_no_time() -> None:
    begin = time.thread_time()
    for text in ("://" * 400_000, "/a" * 400_000, "@:" * 400_000, "bearer " * 100_000, "x" * 10**6):
        assert len(for_readers(text, PROXY)) < 20_000
    assert time.thread_time() - begin < 1


def test_errors_and_pages_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    error = DataUnavailable("http://user:sesame@proxy failed", advice="Bearer hf_abcdefghijklmnop")
    assert "sesame" not in str(error)
    assert "hf_" not in error.advice
    assert "somebody" not in escape.message("/home/somebody/data/x")


def test_data_links_and_agents_are_told_no_paths() -> None:
    path, advice = "no folder /home/somebody/data/x", "Look into /home/somebody/data/y"
    told = bytes(failures.answer(BadPattern(path, advice=advice)).body)
    assert b"somebody" not in told
    assert [b"no folder" in told, told.count(b"Look into")] == [True, 2]

    def failing() -> Any:
        raise DataUnavailable(path, advice=advice)

    with pytest.raises(ToolError, match="no folder …/x Look into …/y"):
        asyncio.run(_Work(failing, Gate(Bounds(), lambda _: None)).run(lambda kb: kb))


def test_sql_to_take_away_names_no_password() -> None:
    file: Any = SimpleNamespace(file=SimpleNamespace(location="https://user:sesame@hub.local/x", name="x"))
    assert _address(file) == "'https://hub.local/x'"


def test_the_log_is_scrubbed_down_to_its_tracebacks() -> None:
    error = ValueError("http://user:sesame@proxy")
    record = logging.LogRecord("kbdash", 40, "f", 1, "hf_%s", ("abcdefghijkl",), (ValueError, error, None))
    line = logs.Scrubbed(logging.Formatter()).format(record)
    assert "ValueError" in line
    assert "sesame" not in line
    assert "abcdefghijkl" not in line
