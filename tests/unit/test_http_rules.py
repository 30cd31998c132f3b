"""Single rules of what is fetched and kept, each without a server: waits, ranges in memory and on disk, closing."""

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import accumulate
from pathlib import Path
from threading import Lock

import httpx2
import pytest

from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.http import HttpBytes, HttpClient, Remote, SourceFiles, address_of
from kbdash.dataset.http.failures import TransientError, asked_wait_s
from kbdash.dataset.http.files import local_file
from kbdash.dataset.http.filesystem import SourceFileSystem
from kbdash.dataset.http.loop import submit, wait
from kbdash.dataset.http.plan import _bridged, tail_span
from kbdash.dataset.http.readahead import HeldRanges, ReadAhead
from kbdash.dataset.http.retry import with_retries
from kbdash.dataset.http.store import RangeStore
from kbdash.dataset.source import open_source
from kbdash.deadline import acquired, all_but, reading
from kbdash.errors import DataUnavailable
from tests.hub import LoopbackHub

MEGABYTE = 1 << 20


def waits(asked: Sequence[float | None]) -> list[float]:
    """How long is waited for a server that asks for these waits, one after the other, and then answers."""
    slept: list[float] = []
    failures = [TransientError(DataUnavailable("busy"), seconds) for seconds in asked]

    async def attempt() -> str:
        if failures:
            raise failures.pop(0)
        return "answer"

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    assert asyncio.run(with_retries(attempt, math.inf, sleep)) == "answer"
    return slept


def test_a_wait_that_a_server_asks_for_counts_as_no_attempt_of_ours() -> None:
    assert waits([1.0] * 6) == [1.0] * 6
    assert waits([0.5, None, 1.0, None]) == [0.5, 1.0, 1.0, 3.0]


def test_fifteen_seconds_of_waiting_are_allowed_and_no_more() -> None:
    assert waits([15.0]) == [15.0]
    assert waits([7.5, 7.5]) == [7.5, 7.5]
    with pytest.raises(DataUnavailable, match="busy"):
        waits([7.5, 7.6])


@pytest.mark.parametrize(("seconds", "least", "most"), [(90, 80.0, 90.0), (-90, 0.0, 0.0)])
def test_a_wait_may_be_asked_for_by_its_end(seconds: int, least: float, most: float) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
    asked = asked_wait_s(httpx2.Response(503, headers={"retry-after": until}))
    assert asked is not None
    assert least <= asked <= most


def test_what_comes_after_gets_its_seconds_and_at_most_half() -> None:
    with reading(1000.0):
        assert 850.0 < all_but(100.0) <= 900.0
        assert 450.0 < all_but(900.0) <= 500.0
    assert all_but(100.0) == math.inf


def test_a_lock_is_waited_for_until_the_deadline() -> None:
    lock = Lock()
    with acquired(lock), reading(0.0), pytest.raises(DataUnavailable, match="did not arrive in time"), acquired(lock):
        pass
    with acquired(lock):
        assert lock.locked()
    assert not lock.locked()


def test_an_answer_about_the_dataset_is_read_to_its_bound_and_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.parquet").write_bytes(b"0123456789")
    with LoopbackHub(tmp_path) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, hub_seconds=30.0)
        open_source(settings).close()
        monkeypatch.setattr("kbdash.dataset.hub._MOST_BYTES", 100)
        with pytest.raises(DataUnavailable, match="cannot be understood"):
            open_source(settings)


# --- ranges --------------------------------------------------------------------------------------------------------


def test_a_range_in_memory_that_is_used_stays() -> None:
    ranges = HeldRanges(30)
    for start in (0, 10, 20):
        ranges.put("a", (start, start + 10), bytes(10))
    assert ranges.get("a", (0, 10)) is not None
    ranges.put("a", (30, 40), bytes(10))
    assert ranges.get("a", (0, 10)) is not None
    assert ranges.get("a", (10, 20)) is None


def test_a_range_too_large_for_the_disk_drives_out_no_other(tmp_path: Path) -> None:
    store = RangeStore(tmp_path, 1000)
    store.put("a", (0, 500), bytes(500))
    store.put("a", (500, 3000), bytes(2500))
    assert store.get("a", (0, 500)) == bytes(500)


def test_a_disk_that_keeps_nothing_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    store = RangeStore(tmp_path / "file", 1000)
    with caplog.at_level(logging.WARNING):
        for start in range(3):
            store.put("a", (start, start + 4), b"abcd")
    assert [record.message.partition(" in ")[0] for record in caplog.records] == ["Fetched ranges are not kept"]


@pytest.fixture
def ahead(tmp_path: Path) -> ReadAhead:
    """A file of 100 bytes that is on the disk already, at a server that cannot be asked; memory keeps ten bytes."""
    client = HttpClient()
    client.close()
    store = RangeStore(tmp_path, 1000)
    store.put("content", tail_span(100), bytes(range(100)))
    file = HttpBytes("http://127.0.0.1:9/file.parquet", size=100, version="1", client=client)
    return ReadAhead(file, "content", HeldRanges(10), store)


def test_what_is_on_the_disk_needs_no_room_in_memory(ahead: ReadAhead) -> None:
    assert ahead.read_ahead(40, 20) == bytes(range(40, 60))
    assert ahead.requests == 0


def test_a_fetch_that_was_forgotten_does_not_end_the_one_in_its_place(ahead: ReadAhead) -> None:
    old, new = Future[bytes](), Future[bytes]()
    ahead._fetching[0, 4] = new
    ahead._landed((0, 4), old)
    assert ahead._fetching == {(0, 4): new}
    ahead._landed((0, 4), new)
    assert ahead._fetching == {}


def test_gaps_between_columns_are_bridged_while_that_wastes_little() -> None:
    def bridged(*gaps: int) -> list[tuple[int, int]]:
        """Columns of a megabyte with these gaps between them, as they are fetched."""
        starts = accumulate((gap + MEGABYTE for gap in gaps), initial=0)
        return list(_bridged([(start, start + MEGABYTE) for start in starts], []))

    assert bridged(16 << 10) == [(0, 2 * MEGABYTE + (16 << 10))]
    assert len(bridged(100_000, 100_000)) == 1
    assert len(bridged(100_000, 300_000)) == 2
    assert len(bridged(MEGABYTE, MEGABYTE)) == 3


def test_a_fresh_link_may_lead_to_a_host_with_other_tags(tmp_path: Path) -> None:
    """The Hub vouches for what is behind it; each storage host computes the ETag in its own way."""
    (tmp_path / "a.parquet").write_bytes(b"0123456789")
    client = HttpClient()
    with LoopbackHub(tmp_path) as hub:
        source = HttpBytes(hub.url("a.parquet"), size=10, version=hub.commit, client=client)
        assert source.read(0, 4) == b"0123"
        assert source._link is not None
        source._link.etag, source._link.good_until = "of-another-host", 0.0
        assert source.read(4, 4) == b"4567"
    client.close()


# --- closing -------------------------------------------------------------------------------------------------------


class Connections(httpx2.AsyncBaseTransport):
    """Knows whether they were closed."""

    closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise NotImplementedError

    async def aclose(self) -> None:
        self.closed = True


def test_a_closed_source_closes_its_connections(tmp_path: Path) -> None:
    connections = Connections()
    client = HttpClient(connections)
    files = SourceFiles({}, Remote(client, None, tmp_path, 0))
    wait(submit(client.opened()), time.monotonic() + 60.0)
    assert not connections.closed
    files.close()
    assert connections.closed


def test_all_readers_of_a_file_share_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    file = local_file(tmp_path / "a.parquet")
    files = SourceFiles({file.name: file})
    assert files.open(file.name) is files.open(file.name)


def test_duckdb_is_told_why_a_file_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    file = local_file(tmp_path / "a.parquet")
    files = SourceFiles({file.name: file})
    files.close()
    with reading(60.0) as asked, pytest.raises(DataUnavailable) as failure:
        SourceFileSystem(files).open(address_of(file))
    assert asked.failure is failure.value


def test_a_range_that_cannot_be_put_in_its_place_leaves_nothing_behind(tmp_path: Path) -> None:
    store = RangeStore(tmp_path, 1000)
    place = store._path("content", (0, 4))
    place.mkdir(parents=True)
    store.put("content", (0, 4), b"data")
    assert list(place.parent.iterdir()) == [place]
