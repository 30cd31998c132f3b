"""Byte ranges over HTTP: what a cell costs at the Hub, and what happens when the Hub has a bad day."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest

from kbdash.code.parquet import ByteSource, CellReader, LocalBytes, PageDirectories
from kbdash.dataset.http import HttpBytes, HttpClient, Remote, SourceFiles, reading, remote
from kbdash.dataset.model import DataFile
from kbdash.errors import ContentChanged, CorruptData, DataUnavailable
from tests.hub import LoopbackHub
from tests.unit.parquet_samples import Layout, fresh_reader, numbered_texts

NAME = "nvidia_nvfp4_submissions.parquet"
TEXTS = numbered_texts(600, lambda row: 4000 + row % 11)
DATA = Layout(codec="none", group_rows=300, batch_rows=50, page_bytes=1).write(TEXTS, pa.large_string())
TOKEN = "hf_of_a_member"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LoopbackHub]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / NAME).write_bytes(DATA)
    with LoopbackHub(tmp_path / "files", token=TOKEN) as hub:
        yield hub


@pytest.fixture
def client() -> Iterator[HttpClient]:
    client = HttpClient()
    yield client
    client.close()


class Clock:
    """Takes the place of waiting, and remembers for how long."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source(hub: LoopbackHub, client: HttpClient, clock: Clock) -> HttpBytes:
    return HttpBytes(hub.url(NAME), size=len(DATA), version=hub.commit, client=client, sleep=clock.sleep)


def known_directory(hub: LoopbackHub, source: ByteSource) -> CellReader:
    """A reader that has the whole directory; the Hub's counts start at zero then."""
    reader = fresh_reader()
    reader.directories.build(source, "code")
    hub.reset()
    return reader


def test_cell_costs_one_page_and_its_neighbour_nothing(hub: LoopbackHub, source: HttpBytes) -> None:
    reader = known_directory(hub, source)
    page = reader.directories.build(source, "code").groups[1].pages[2]
    assert reader.read(source, "code", 410) == TEXTS[410].encode()
    count = hub.counts[NAME]
    assert count.ranges == ((page.offset, page.offset + page.total - 1),)
    assert (count.gets, count.redirects, count.bytes) == (1, 0, page.total)
    assert reader.read(source, "code", 411) == TEXTS[411].encode()
    assert hub.counts.requests == 1


def test_twenty_readers_of_a_page_cost_one_request(hub: LoopbackHub, source: HttpBytes) -> None:
    reader = known_directory(hub, source)
    start = Barrier(20)

    def read(row: int) -> object:
        start.wait()
        return reader.read(source, "code", row)

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(read, range(100, 120))) == [text.encode() for text in TEXTS[100:120]]
    assert hub.counts.requests == 1


def test_cold_reader_asks_for_link_footer_headers_and_page(hub: LoopbackHub, source: HttpBytes) -> None:
    assert fresh_reader().read(source, "code", 349) == TEXTS[349].encode()
    assert hub.counts[NAME].redirects == 1
    assert hub.counts[NAME].gets == 3
    assert hub.counts.bytes == source.bytes_read
    assert hub.counts.requests == source.requests


def test_directory_on_disk_spares_everything_but_the_page(
    hub: LoopbackHub, source: HttpBytes, client: HttpClient, tmp_path: Path
) -> None:
    PageDirectories(tmp_path).build(source, "code")
    again = HttpBytes(hub.url(NAME), size=len(DATA), version=hub.commit, client=client)
    hub.reset()
    assert CellReader(PageDirectories(tmp_path)).read(again, "code", 5) == TEXTS[5].encode()
    assert (hub.counts[NAME].redirects, hub.counts[NAME].gets) == (1, 1)


def test_signed_link_and_connection_are_used_again(
    hub: LoopbackHub, source: HttpBytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[Any] = []
    monkeypatch.setattr(hub._server, "_greeting_seconds", lambda: connections.append(1) or 0.0)
    for offset in range(0, 4000, 200):
        assert source.read(offset, 100) == DATA[offset : offset + 100]
    assert hub.counts[NAME].redirects == 1
    assert hub.counts[NAME].gets == 20
    assert len(connections) == 2  # one to the Hub, one to where the link leads


def test_token_opens_a_gated_dataset_and_never_leaves_the_hub(tmp_path: Path, client: HttpClient) -> None:
    (tmp_path / NAME).write_bytes(DATA)
    with LoopbackHub(tmp_path, token=TOKEN, gated=True) as hub:
        options = {"size": len(DATA), "version": hub.commit, "client": client}
        assert HttpBytes(hub.url(NAME), token=TOKEN, **options).read(4, 50) == DATA[4:54]
        assert hub.counts.tokens_at_cdn == 0
        with pytest.raises(DataUnavailable, match="refused access") as refused:
            HttpBytes(hub.url(NAME), **options).read(4, 50)
        assert "HF_TOKEN" in refused.value.advice


def test_hub_that_serves_files_itself_is_asked_directly(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.redirect = False
    assert source.read(10, 20) == DATA[10:30]
    assert source.read(30, 20) == DATA[30:50]
    assert (hub.counts[NAME].heads, hub.counts[NAME].gets) == (1, 2)


def test_expired_link_is_asked_for_anew(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    assert source.read(0, 10) == DATA[:10]
    hub.faults.expire_links()
    assert source.read(10, 10) == DATA[10:20]
    assert hub.counts[NAME].redirects == 2
    assert clock.waits == []


def test_links_that_expire_under_many_readers(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.expire_links(uses=3)
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda at: _read_patiently(source, at), range(0, 2000, 100)))
    assert b"".join(parts) == DATA[:2000]


def _read_patiently(source: HttpBytes, at: int) -> bytes:
    """A range; a fresh link that others wore out in the meantime is a fair error, so ask again."""
    for _ in range(50):
        try:
            return source.read(at, 100)
        except DataUnavailable:
            continue
    raise AssertionError("no fresh link ever worked")


def test_link_that_is_refused_for_good(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.fail(403, "/cdn/*")
    with pytest.raises(DataUnavailable, match="even a fresh one"):
        source.read(0, 10)
    assert hub.counts[NAME].redirects == 3  # the shared link, a fresh one, one of its own


@pytest.mark.parametrize(
    ("status", "words", "advice"),
    [
        (401, "refused access", "HF_TOKEN"),
        (403, "refused access", "HF_TOKEN"),
        (404, "no longer has nvidia", "HF_TOKEN"),
        (410, "no longer has nvidia", "newest revision"),
        (418, "answered 418", "try again"),
    ],
)
def test_refusals_are_told_at_once(
    hub: LoopbackHub, source: HttpBytes, clock: Clock, status: int, words: str, advice: str
) -> None:
    hub.faults.fail(status, "*/resolve/*")
    with pytest.raises(DataUnavailable, match=words) as refused:
        source.read(0, 10)
    assert advice in refused.value.advice
    assert hub.counts.requests == 1
    assert clock.waits == []


@pytest.mark.parametrize("path", ["*/resolve/*", "/cdn/*"])
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_passing_failures_are_waited_out(
    hub: LoopbackHub, source: HttpBytes, clock: Clock, status: int, path: str
) -> None:
    hub.faults.fail(status, path, times=3)
    assert source.read(100, 50) == DATA[100:150]
    assert clock.waits == [0.2, 1.0, 3.0]


def test_lasting_failure_ends_after_four_attempts(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    hub.faults.fail(503, "/cdn/*")
    with pytest.raises(DataUnavailable, match="503"):
        source.read(0, 10)
    assert hub.counts[NAME].errors == 4
    assert len(clock.waits) == 3


def test_hub_says_how_long_to_wait(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    hub.faults.fail(429, "/cdn/*", times=2, retry_after=7)
    assert source.read(0, 10) == DATA[:10]
    assert clock.waits == [7.0, 7.0]


def test_wait_that_is_too_long_is_told_instead(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    hub.faults.fail(429, "/cdn/*", retry_after=3600)
    with pytest.raises(DataUnavailable, match="slow down") as busy:
        source.read(0, 10)
    assert "3600 seconds" in busy.value.advice
    assert clock.waits == []


def test_body_that_is_cut_is_asked_for_again(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.cut_after(1000, "/cdn/*", times=2)
    assert source.read(0, 50_000) == DATA[:50_000]


def test_body_that_is_always_cut(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.cut_after(1000, "/cdn/*")
    with pytest.raises(DataUnavailable, match="was lost while"):
        source.read(0, 50_000)
    assert source.read(0, 900) == DATA[:900]


def test_server_that_ignores_ranges_sends_small_files_only(
    hub: LoopbackHub, source: HttpBytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.faults.ignore_range = True
    assert source.read(20, 10) == DATA[20:30]
    assert source.bytes_read == len(DATA)
    monkeypatch.setattr(remote, "_SMALL_BYTES", len(DATA) - 1)
    with pytest.raises(DataUnavailable, match="ignores byte ranges"):
        source.read(0, 10)
    assert source.bytes_read == len(DATA)
    assert source.read(0, len(DATA)) == DATA  # all of it was asked for, so all of it is right


@pytest.mark.parametrize("redirect", [True, False])
@pytest.mark.parametrize("other", [DATA[::-1], DATA[:-7], DATA + b"more"])
def test_replaced_file_is_noticed(hub: LoopbackHub, source: HttpBytes, other: bytes, redirect: bool) -> None:
    hub.faults.redirect = redirect
    assert source.read(0, 10) == DATA[:10]
    hub.faults.replace(NAME, other)
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(10, 10)
    hub.faults.expire_links()
    with pytest.raises(CorruptData, match="was replaced"):
        source.read(10, 10)


@pytest.mark.parametrize("size", [len(DATA) - 1, len(DATA) + 100])
def test_size_that_is_not_the_files(hub: LoopbackHub, client: HttpClient, size: int) -> None:
    for hub.faults.redirect in (True, False):
        with pytest.raises(CorruptData, match="was replaced"):
            HttpBytes(hub.url(NAME), size=size, version="1", client=client).read(size - 50, 50)


def test_hub_that_vanishes_and_comes_back(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    hub.faults.refuse = True
    with pytest.raises(DataUnavailable, match="cannot be reached"):
        source.read(0, 10)
    assert len(clock.waits) == 3
    hub.faults.refuse = False
    assert source.read(0, 10) == DATA[:10]


SILENCES: Mapping[str, Callable[[LoopbackHub], None]] = {
    "no answer": lambda hub: hub.faults.hang(),
    "no answer of the storage": lambda hub: hub.faults.hang("/cdn/*"),
    "silent in the middle": lambda hub: hub.faults.silent_after(100, "/cdn/*"),
    "one byte at a time": lambda hub: hub.faults.trickle("/cdn/*", byte_every=0.02),
}


@pytest.mark.parametrize("fault", SILENCES.values(), ids=SILENCES)
def test_read_ends_in_time_whatever_the_hub_does(
    hub: LoopbackHub, source: HttpBytes, fault: Callable[[LoopbackHub], None]
) -> None:
    fault(hub)
    begin = time.monotonic()
    with reading(0.6), pytest.raises(DataUnavailable, match="did not answer in time"):
        source.read(0, 5000)
    assert 0.5 < time.monotonic() - begin < 10
    hub.faults.clear()
    assert source.read(0, 5000) == DATA[:5000]


def test_earlier_deadline_holds_inside_a_later_one(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.hang()
    begin = time.monotonic()
    with reading(0.3), reading(30.0), pytest.raises(DataUnavailable, match="in time"):
        source.read(0, 10)
    assert time.monotonic() - begin < 10


def test_immediate_retry_is_not_repeated_without_end(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    hub.faults.fail(503, "/cdn/*", retry_after=0)
    with pytest.raises(DataUnavailable, match="503"):
        source.read(0, 10)
    assert hub.counts[NAME].errors == 4
    assert clock.waits == [0.2, 1.0, 3.0]


def test_rate_limit_of_the_hub_is_waited_for(hub: LoopbackHub, source: HttpBytes, clock: Clock) -> None:
    hub.faults.fail(429, "*/resolve/*", times=2, rate_limit=3)
    assert source.read(0, 10) == DATA[:10]
    assert clock.waits == [3.0, 3.0]


def test_wait_that_the_deadline_does_not_allow_is_told_at_once(hub: LoopbackHub, source: HttpBytes) -> None:
    hub.faults.fail(429, "*/resolve/*", rate_limit=30)
    begin = time.monotonic()
    with reading(20.0), pytest.raises(DataUnavailable, match="slow down") as busy:
        source.read(0, 10)
    assert time.monotonic() - begin < 10
    assert "30 seconds" in busy.value.advice


def test_content_that_is_not_that_of_the_version_is_refused_on_the_first_read(
    hub: LoopbackHub, client: HttpClient
) -> None:
    digest = hashlib.sha256(DATA).hexdigest()
    for hub.faults.redirect in (True, False):
        for version, fits in ((digest, True), ("0" * 64, False)):
            source = HttpBytes(hub.url(NAME), size=len(DATA), version=version, client=client)
            if fits:
                assert source.read(0, 4) == DATA[:4]
                continue
            with pytest.raises(ContentChanged, match="was replaced"):
                source.read(0, 4)


def test_link_is_asked_for_once_an_hour(hub: LoopbackHub, source: HttpBytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        source.read(0, 10)
    assert hub.counts[NAME].redirects == 1
    source._link.good_until = 0.0
    assert source.read(0, 10) == DATA[:10]
    assert hub.counts[NAME].redirects == 2


def test_failed_directory_is_resumed_when_the_hub_is_back(hub: LoopbackHub, source: HttpBytes, tmp_path: Path) -> None:
    directories = PageDirectories(tmp_path)
    directories.place(source, "code", 120)
    hub.faults.fail(503)
    with pytest.raises(DataUnavailable):
        directories.build(source, "code")
    hub.faults.clear()
    assert directories.build(source, "code").complete


def test_data_files_open_by_their_location(hub: LoopbackHub, client: HttpClient, tmp_path: Path) -> None:
    path = hub.folder / NAME
    version = f"{len(DATA)}-{path.stat().st_mtime_ns}"
    at_hub = DataFile(NAME, hub.url(NAME), len(DATA), hub.commit)
    remotely = SourceFiles({NAME: at_hub}, Remote(client, None, tmp_path, 1 << 20)).open(NAME)
    locally = SourceFiles({NAME: DataFile(NAME, str(path), len(DATA), version)}).open(NAME)
    assert isinstance(locally, LocalBytes)
    for source in (remotely, locally):
        assert (source.name, source.size) == (NAME, len(DATA))
        assert fresh_reader().read(source, "code", 599) == TEXTS[599].encode()
    assert (remotely.version, locally.version) == (hub.commit, version)
    with pytest.raises(ContentChanged, match="since it was listed"):
        SourceFiles({NAME: DataFile(NAME, str(path), len(DATA), "9-9")}).open(NAME)


def test_client_that_was_closed_meanwhile(source: HttpBytes, client: HttpClient, clock: Clock) -> None:
    assert source.read(0, 10) == DATA[:10]
    client.close()
    with pytest.raises(DataUnavailable, match="source was closed"):
        source.read(0, 10)
    assert clock.waits == []
