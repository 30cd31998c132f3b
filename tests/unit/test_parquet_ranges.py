"""Byte sources: exact ranges or a clear error, whatever a server or a disk answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.dataset.http import HttpBytes, HttpClient, LocalBytes
from kbdash.errors import CorruptData, DataUnavailable, KbdashError

URL = "https://hub.test/datasets/a/b/resolve/0123/some%20file.parquet"
LINK = "https://cdn.test/signed?x=1"


def test_local_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"0123456789")
    source = LocalBytes(path)
    assert (source.name, source.size) == ("a.parquet", 10)
    assert source.version == f"10-{path.stat().st_mtime_ns}"
    assert source.read(3, 4) == b"3456"
    assert source.read(10, 0) == b""
    assert (source.requests, source.bytes_read) == (1, 4)


@pytest.mark.parametrize(("offset", "length"), [(-1, 2), (0, 11), (11, 1), (5, -1), (10, 1)])
def test_range_outside_the_file(tmp_path: Path, offset: int, length: int) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"0123456789")
    with pytest.raises(CorruptData, match="outside its 10 bytes"):
        LocalBytes(path).read(offset, length)


def test_local_file_that_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"0123456789")
    source = LocalBytes(path)
    path.write_bytes(b"9876543210")
    os.utime(path, ns=(1, 1))
    with pytest.raises(CorruptData, match="was changed"):
        source.read(0, 1)
    path.unlink()
    with pytest.raises(DataUnavailable, match="cannot be read"):
        source.read(0, 1)
    with pytest.raises(DataUnavailable, match="cannot be read"):
        LocalBytes(path)


Answer = Callable[[], httpx2.Response]


def source_of(*replies: Answer | Exception) -> tuple[HttpBytes, list[httpx2.Request], list[float]]:
    """A file of 100 bytes behind a server that gives these answers, the last one again and again."""
    asked: list[httpx2.Request] = []
    waits: list[float] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        given = replies[min(len(asked), len(replies)) - 1]
        if isinstance(given, Exception):
            raise given
        return given()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    client = HttpClient(httpx2.MockTransport(answer))
    return HttpBytes(URL, size=100, version="1", token="secret", client=client, sleep=sleep), asked, waits


def reply(status: int, body: bytes = b"", **headers: str | bytes) -> Answer:
    """An answer that is sent piece by piece; underscores in the names of headers are dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: httpx2.Response(status, headers=named, stream=httpx2.ByteStream(body))


def redirect(location: str = LINK, **headers: str) -> Answer:
    return reply(302, Location=location, **headers)


def partial(body: bytes = b"x" * 10, content_range: str = "bytes 20-29/100", **headers: str) -> Answer:
    return reply(206, body, Content_Range=content_range, **headers)


def test_range_behind_a_redirect() -> None:
    source, asked, _ = source_of(redirect(), partial())
    assert source.read(20, 10) == b"x" * 10
    assert source.name == "some file.parquet"
    assert [(request.method, str(request.url)) for request in asked] == [("HEAD", URL), ("GET", LINK)]
    assert asked[0].headers["authorization"] == "Bearer secret"
    assert "authorization" not in asked[1].headers
    assert asked[1].headers["range"] == "bytes=20-29"


def test_renamed_dataset_is_followed_with_the_token() -> None:
    source, asked, _ = source_of(redirect("/datasets/a/c/resolve/0123/f"), redirect(), partial())
    assert source.read(20, 10) == b"x" * 10
    assert [request.headers.get("authorization") for request in asked] == ["Bearer secret"] * 2 + [None]


WRONG_ANSWERS = {
    "no content range": partial(content_range=""),
    "another unit": partial(content_range="lines 20-29/100"),
    "other bytes": partial(content_range="bytes 21-30/100"),
    "fewer bytes": partial(content_range="bytes 20-28/100"),
    "another size": partial(content_range="bytes 20-29/99"),
    "compressed": partial(Content_Encoding="br"),
    "short body": partial(b"x" * 9),
    "long body": partial(b"x" * 11),
    "everything but the end": reply(200, b"x" * 99),
    "nothing": reply(204),
    "not satisfiable": reply(416),
    "a page of HTML": reply(200, b"<html>please log in</html>"),
}


@pytest.mark.parametrize("what", WRONG_ANSWERS)
def test_answers_that_are_not_the_range(what: str) -> None:
    source, _, _ = source_of(redirect(), WRONG_ANSWERS[what])
    with pytest.raises(DataUnavailable) as refused:
        source.read(20, 10)
    assert "some file.parquet" in str(refused.value)
    assert refused.value.advice


@pytest.mark.parametrize(
    "location",
    ["http://cdn.test/x", "ftp://cdn.test/x", "http://[bad", "file:///etc/passwd", "https://", "//", "\x00", ""],
)
def test_redirects_to_nowhere(location: str) -> None:
    source, asked, _ = source_of(redirect(location))
    with pytest.raises(DataUnavailable):
        source.read(20, 10)
    assert {request.url.host for request in asked} == {"hub.test"}


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40))
def test_any_redirect_keeps_the_token_at_the_hub(location: str) -> None:
    source, asked, _ = source_of(redirect(location))
    with pytest.raises(KbdashError):
        source.read(20, 10)
    assert all(request.url.host == "hub.test" for request in asked if "authorization" in request.headers)


def test_redirects_in_circles_end() -> None:
    source, asked, _ = source_of(redirect("/datasets/a/b/resolve/0123/again"))
    with pytest.raises(DataUnavailable, match="in a loop"):
        source.read(20, 10)
    assert len(asked) == 3


def test_size_told_by_the_redirect_is_checked() -> None:
    source, _, _ = source_of(redirect(X_Linked_Size="99"))
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(20, 10)


def test_other_tag_of_the_link_is_noticed() -> None:
    source, _, _ = source_of(redirect(), partial(ETag='"one"'), partial(ETag='W/"one"'), partial(ETag='"two"'))
    assert source.read(20, 10) == source.read(20, 10)
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(20, 10)


def test_other_tag_of_a_whole_file_is_noticed() -> None:
    """Also from a server that ignores ranges, although the new content is as long as the old."""
    source, _, _ = source_of(redirect(), reply(200, b"x" * 100, ETag='"one"'), reply(200, b"y" * 100, ETag='"two"'))
    assert source.read(20, 10) == b"x" * 10
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(20, 10)


def test_other_tag_behind_a_link_that_was_asked_for_again_is_noticed() -> None:
    """From a Hub that serves the content itself, under a tag that is no digest."""
    here, elsewhere = reply(200), redirect()
    source, _, _ = source_of(here, partial(ETag='"one"'), elsewhere, here, partial(ETag='"two"'))
    assert source.read(20, 10) == b"x" * 10
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(20, 10)


def test_new_link_may_carry_another_tag_when_the_hub_vouches_for_the_content() -> None:
    expired = reply(403)
    vouched = redirect(X_Linked_ETag='"content"')
    source, _, _ = source_of(vouched, partial(ETag='"a"'), expired, vouched, partial(ETag='"b"'))
    assert source.read(20, 10) == source.read(20, 10)
    source, _, _ = source_of(redirect(), partial(ETag='"a"'), expired, redirect(), partial(ETag='"b"'))
    source.read(20, 10)
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(20, 10)


@pytest.mark.parametrize(
    ("asked_for", "waited"),
    [
        ("3", 3.0),
        ("0", 0.2),
        ("1", 1.0),
        ("soon", 0.2),
        ("-5", 0.2),
        ("1e9", 0.2),
        ("²", 0.2),
        (format_datetime(datetime(2020, 1, 1, tzinfo=UTC)), 0.2),
    ],
)
def test_retry_after_is_understood(asked_for: str, waited: float) -> None:
    busy = reply(503, Retry_After=asked_for.encode())
    source, _, waits = source_of(redirect(), busy, partial())
    assert source.read(20, 10) == b"x" * 10
    assert waits == [waited]


@pytest.mark.parametrize("asked_for", ["16", "9" * 400, format_datetime(datetime(2999, 1, 1, tzinfo=UTC))])
def test_retry_after_is_bounded(asked_for: str) -> None:
    source, asked, waits = source_of(redirect(), reply(429, Retry_After=asked_for))
    with pytest.raises(DataUnavailable, match="slow down"):
        source.read(20, 10)
    assert (len(asked), waits) == (2, [])


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (httpx2.ConnectError("no route"), "cannot be reached"),
        (httpx2.ReadTimeout("slow"), "did not answer in time"),
        (httpx2.RemoteProtocolError("garbage"), "was lost while"),
    ],
)
def test_broken_connections_are_tried_again_and_then_told(problem: Exception, words: str) -> None:
    source, _, waits = source_of(redirect(), problem, problem, partial())
    assert source.read(20, 10) == b"x" * 10
    assert waits == [0.2, 1.0]
    source, asked, _ = source_of(problem)
    with pytest.raises(DataUnavailable, match=words):
        source.read(20, 10)
    assert len(asked) == 4
