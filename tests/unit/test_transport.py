"""DuckDB over our own filesystem: what it asks of the Hub, what it may read, and what happens on a bad day."""

import asyncio
import os
import shutil
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Barrier, Event, Lock, Thread
from urllib.parse import urlsplit

import duckdb
import httpx2
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as st

import kbdash
from kbdash.database.duck import fresh_connection, lock
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.http import EarlyLink, address_of, reading
from kbdash.dataset.http.filesystem import SourceFileSystem
from kbdash.dataset.http.plan import WINDOW_BYTES, Plan, footer_span, plan_of, tail_span
from kbdash.dataset.http.readahead import HeldRanges, ReadAhead
from kbdash.dataset.http.store import RangeStore
from kbdash.dataset.source import Source, open_source
from kbdash.engine import KernelBot
from kbdash.errors import ContentChanged, DataUnavailable
from tests.hub import LoopbackHub
from tests.unit.tables import TRIMUL
from tests.unit.waking import Waking

NVFP4 = "nvidia_nvfp4_submissions.parquet"
USED = {
    "submission_id", "leaderboard_id", "problem_name", "user_id", "user_name", "submission_time", "score", "passed",
    "mode", "runner",
}  # fmt: skip
PROJECT = Path(__file__).parents[2]


def open_connection(source: Source, settings: Settings) -> duckdb.DuckDBPyConnection:
    """A connection that can read the source and nothing else."""
    connection = fresh_connection()
    lock(connection, source, settings)
    return connection


@pytest.fixture
def nvfp4_hub(sample_folder: Path, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A Hub whose dataset is the largest file of the sample alone."""
    (tmp_path / "dataset").mkdir()
    shutil.copy(sample_folder / NVFP4, tmp_path / "dataset")
    with LoopbackHub(tmp_path / "dataset") as hub:
        yield hub


def settings_of(hub: LoopbackHub, cache: Path, **more: object) -> Settings:
    return replace(Settings(source=DATASET, endpoint=hub.endpoint, cache=cache, hub_seconds=30.0), **more)


def asked(source: Source, statement: str, seconds: float = 20.0) -> list[tuple[object, ...]]:
    """Rows of a statement; a failure to read is raised as what it is."""
    with open_connection(source, Settings()) as connection, reading(seconds) as read:
        try:
            return connection.cursor().execute(statement).fetchall()
        except duckdb.Error as error:
            raise read.failure or error from error


def sum_of(source: Source, name: str, column: str = "score") -> float:
    return float(asked(source, f"select sum({column}) from read_parquet('{address_of(source.files[name])}')")[0][0])


# --- what it costs -------------------------------------------------------------------------------------------------


def test_a_first_leaderboard_costs_few_requests_and_few_bytes(
    nvfp4_hub: LoopbackHub, tmp_path: Path, kb: KernelBot
) -> None:
    engine = kbdash.connect(settings=settings_of(nvfp4_hub, tmp_path / "cache"))
    assert engine.leaderboard("nvfp4_gemm").equals(kb.leaderboard("nvfp4_gemm"))
    count = nvfp4_hub.counts[NVFP4]
    metadata = pq.read_metadata(nvfp4_hub.folder / NVFP4)
    group = metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    needed = sum(column.total_compressed_size for column in columns if column.path_in_schema in USED)
    assert nvfp4_hub.counts.requests <= 8
    assert (count.redirects, count.heads, count.errors) == (1, 0, 0)
    first, size = tail_span((nvfp4_hub.folder / NVFP4).stat().st_size)
    assert count.bytes <= 1.2 * (needed + size - first)
    assert all(here[1] < there[0] for here, there in pairwise(sorted(count.ranges))), "no byte comes twice"
    nvfp4_hub.reset()
    engine.leaderboard("nvfp4_gemm", until="2025-12-01")
    assert nvfp4_hub.counts.requests == 0
    engine.close()


def test_links_are_asked_for_beside_the_commit_and_once(hub: LoopbackHub, settings: Settings, kb: KernelBot) -> None:
    engine = kbdash.connect(settings=settings)
    assert engine.overview().equals(kb.overview())
    asked_for = Counter(entry.file for entry in hub.counts.log if "/resolve/" in entry.path)
    early = {entry.file for entry in hub.counts.log if "/resolve/main/" in entry.path}
    engine.close()
    assert set(asked_for.values()) == {1}
    assert len(early) == 3
    assert NVFP4 in early


def test_a_link_into_another_commit_is_not_used() -> None:
    answer: Future[httpx2.Response] = Future()
    answer.set_result(httpx2.Response(302, headers={"x-repo-commit": "a" * 40, "location": "https://cdn/x"}))
    failed: Future[httpx2.Response] = Future()
    failed.set_exception(httpx2.ConnectError("gone"))
    assert asyncio.run(EarlyLink(answer, "a" * 40).reply()) is answer.result()
    assert asyncio.run(EarlyLink(answer, "b" * 40).reply()) is None
    assert asyncio.run(EarlyLink(failed, "a" * 40).reply()) is None


def test_a_second_start_asks_for_the_commit_and_nothing_else(
    hub: LoopbackHub, settings: Settings, kb: KernelBot
) -> None:
    for start in ("first", "second"):
        engine = kbdash.connect(settings=settings)
        assert engine.overview().equals(kb.overview())
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))
        assert (engine.bytes_moved() == 0) == (start == "second")
        engine.close()
        if start == "first":
            hub.reset()
    assert [exchange.area for exchange in hub.counts.log] == ["api"]


def test_the_page_reader_and_duckdb_share_one_link(hub: LoopbackHub, settings: Settings) -> None:
    engine = kbdash.connect(settings=settings)
    best = engine.leaderboard("trimul").iloc[0]
    assert engine.code(int(best["submission_id"]), best["runner"])
    assert hub.counts[TRIMUL].redirects == 1
    engine.close()


def test_the_row_groups_of_a_file_are_fetched_at_once(tmp_path: Path) -> None:
    """One round trip for all of them: twelve in a row would take longer than the test allows."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    noise = np.random.default_rng(0)
    ids = list(range(1200))
    table = pa.table({"submission_id": ids, "code": [noise.bytes(1000) for _ in ids], "score": noise.random(1200)})
    pq.write_table(table, folder / "many.parquet", row_group_size=100)
    with LoopbackHub(folder) as hub:
        source = open_source(settings_of(hub, tmp_path / "cache"))
        hub.faults.latency = 0.5
        begin = time.monotonic()
        assert sum_of(source, "many.parquet", "submission_id") == sum(ids)
        assert time.monotonic() - begin < 0.5 * 12
        assert hub.counts["many.parquet"].gets >= 12
        assert hub.counts["many.parquet"].bytes < 0.2 * source.files["many.parquet"].size
        source.close()


def test_readers_of_one_file_share_its_requests(nvfp4_hub: LoopbackHub, tmp_path: Path) -> None:
    source = open_source(settings_of(nvfp4_hub, tmp_path / "cache"))
    file = source.bytes.open(NVFP4)
    start = Barrier(8)

    def read(_: int) -> bytes:
        start.wait()
        return file.read_ahead(4, 100)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(read, range(8)))) == 1
    ranges = nvfp4_hub.counts[NVFP4].ranges
    assert len(ranges) == len(set(ranges)) <= 4
    source.close()


# --- deadlines and failures ----------------------------------------------------------------------------------------


def test_questions_end_in_time_and_others_are_answered(hub: LoopbackHub, settings: Settings, kb: KernelBot) -> None:
    """Three files stall at once, each in its own way."""
    limit = 5.0
    engine = kbdash.connect(settings=replace(settings, query_seconds=limit))
    engine._database.wait_until_opened(60.0)
    hub.faults.silent_after(100, f"/cdn/*{TRIMUL}")
    hub.faults.trickle(f"/cdn/*{NVFP4}")
    hub.faults.hang("/cdn/*linalg_submissions.parquet")
    stalled = ("trimul", "nvfp4_gemm", "eigh")
    with ThreadPoolExecutor(3) as pool, Waking() as waking:
        begin = time.monotonic()
        waiting = [pool.submit(engine.leaderboard, problem) for problem in stalled]
        assert engine.leaderboard("fp8_quant").equals(kb.leaderboard("fp8_quant"))
        assert not any(question.done() for question in waiting)
        for question in waiting:
            with pytest.raises(DataUnavailable, match="did not answer in time"):
                question.result()
        assert time.monotonic() - begin <= waking.end_of(limit)
    hub.faults.clear()
    for problem in stalled:
        assert engine.leaderboard(problem).equals(kb.leaderboard(problem))
    engine.close()


def test_the_reason_of_a_failure_survives_duckdb(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    hub.faults.fail(403, f"*/resolve/*{TRIMUL}")
    with pytest.raises(DataUnavailable, match=r"refused access \(403\)") as failure:
        sum_of(source, TRIMUL)
    assert "HF_TOKEN" in failure.value.advice
    source.close()


def test_damaged_ranges_are_asked_for_anew_once_they_are_forgotten(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    scores = pq.read_table(hub.folder / TRIMUL, columns=["score"])["score"]
    right = pytest.approx(pc.sum(scores).as_py(), nan_ok=True)
    with open_connection(source, Settings()) as connection:
        total = f"select sum(score) from read_parquet('{address_of(source.files[TRIMUL])}')"
        connection.execute(f"describe {total}")
        hub.faults.corrupt(f"/cdn/*{TRIMUL}", times=2)
        for _ in range(2):
            with pytest.raises(duckdb.Error):
                connection.execute(total)
        source.bytes.forget(TRIMUL)
        hub.faults.clear()
        assert connection.execute(total).fetchall()[0][0] == right
    source.close()
    again = open_source(settings)
    assert sum_of(again, TRIMUL) == right, "nothing damaged is left on disk"
    again.close()


class WatchedLock:
    """A lock that tells when somebody wants it, and whether it was held then."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self.wanted = Event()
        self.was_held = False

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.was_held = True
            self.wanted.set()
            self._lock.acquire()
        self.wanted.set()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_a_range_that_is_being_kept_is_forgotten_too(
    hub: LoopbackHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a damaged one came to the disk after all others had been deleted."""
    put, begun, released = RangeStore.put, Event(), Event()

    def slowly(self: RangeStore, content: str, span: tuple[int, int], data: bytes) -> None:
        begun.set()
        assert released.wait(60)
        put(self, content, span, data)

    monkeypatch.setattr(RangeStore, "put", slowly)
    source = open_source(settings)
    file = source.bytes.open(TRIMUL)
    assert isinstance(file, ReadAhead)
    file.read_ahead(file.size - 4, 4)  # of all ranges only the last
    assert begun.wait(60)
    file._storing = storing = WatchedLock(file._storing)  # type: ignore[assignment]
    with ThreadPoolExecutor(1) as pool:
        forgetting = pool.submit(source.bytes.forget, TRIMUL)
        assert storing.wanted.wait(60)
        assert storing.was_held, "a range is just being written"
        released.set()
        forgetting.result()
    assert [path for path in settings.cache.rglob("*") if path.is_file()] == []
    source.close()


def test_content_replaced_between_two_questions_is_refused(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    with open_connection(source, Settings()) as connection:
        file = f"read_parquet('{address_of(source.files[TRIMUL])}')"
        connection.execute(f"describe from {file}")
        hub.faults.replace(TRIMUL, (hub.folder / TRIMUL).read_bytes()[::-1])
        with reading(20.0) as read, pytest.raises(duckdb.Error):
            connection.execute(f"select sum(score) from {file}")
        assert isinstance(read.failure, ContentChanged)
    source.close()


def test_a_local_file_that_changes_is_refused(sample_folder: Path, tmp_path: Path) -> None:
    shutil.copy(sample_folder / TRIMUL, tmp_path)
    source = open_source(Settings(source=str(tmp_path)))
    assert sum_of(source, TRIMUL) > 0
    os.utime(tmp_path / TRIMUL, ns=(1, 1))
    with pytest.raises(ContentChanged, match="was changed"):
        sum_of(source, TRIMUL)
    source.close()


def test_a_local_file_that_changes_between_its_listing_and_its_opening_is_refused(tmp_path: Path) -> None:
    (tmp_path / TRIMUL).write_bytes(b"as it was listed")
    source = open_source(Settings(source=str(tmp_path)))
    (tmp_path / TRIMUL).write_bytes(b"as it is now, longer than before")
    with pytest.raises(ContentChanged, match="since it was listed"):
        source.bytes.open(TRIMUL)
    source.close()


def test_a_closed_source_says_so(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    file = source.bytes.open(TRIMUL)
    file.read(0, 4)
    source.close()
    for attempt in (lambda: file.read(200, 4), lambda: source.bytes.open(TRIMUL)):
        with pytest.raises(DataUnavailable, match="This source was closed") as failure:
            attempt()
        assert "network" not in failure.value.advice


# --- names and what may be read ------------------------------------------------------------------------------------

ODD_NAMES = ("a[1].parquet", "b*.parquet", "c?.parquet", "d#1.parquet", "e%20f.parquet", "g h.parquet", "i'j.parquet")


@pytest.mark.parametrize("kind", ["hub", "folder"])
def test_names_are_taken_literally(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    for number, name in enumerate((*ODD_NAMES, "a1.parquet", "bb.parquet", "cc.parquet")):
        pq.write_table(pa.table({"submission_id": list(range(number + 1))}), folder / name)
    with LoopbackHub(folder) as hub:
        chosen = settings_of(hub, tmp_path / "cache")
        source = open_source(chosen if kind == "hub" else replace(chosen, source=str(folder)))
        assert set(ODD_NAMES) < set(source.files)
        for number, name in enumerate(ODD_NAMES):
            address = address_of(source.files[name]).replace("'", "''")
            assert asked(source, f"select count(*) from read_parquet('{address}')") == [(number + 1,)], name
        source.close()


def test_nothing_but_the_files_themselves_can_be_opened(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    files = SourceFileSystem(source.bytes)
    address = address_of(source.files[TRIMUL])
    for other in (f"{address}?x=1", f"{address}/../{TRIMUL}", f"{hub.endpoint}/api/whoami-v2", "file:///etc/passwd"):
        assert (files.glob(other), files.isfile(other), files.exists(other)) == ([], False, False)
        for attempt in (files.open, files.size, files.modified):
            with pytest.raises(FileNotFoundError):
                attempt(other)
    for mode in ("wb", "ab", "r+b", "xb"):
        with pytest.raises(PermissionError):
            files.open(address, mode)
    for refused in (files.ls, files.rm, files.mv, files.mkdir, files.touch, files.find, files.info):
        with pytest.raises(PermissionError):
            refused(address)
    hub.reset()
    with open_connection(source, Settings()) as connection:
        for statement in (
            f"copy (select 1 as a) to '{address}'",
            f"from read_parquet('{source.prefix}*.parquet')",
            f"from read_text('{hub.endpoint}/api/whoami-v2')",
            f"from read_parquet('{hub.folder / TRIMUL}')",
            f"from read_parquet('file://{hub.folder / TRIMUL}')",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(statement)
    # Links of the files are asked for ahead, beside this; nothing else may have been asked.
    assert [(seen.method, seen.path) for seen in hub.counts.log if seen.method != "HEAD"] == []
    source.close()


# --- proxies -------------------------------------------------------------------------------------------------------

PROXIES = (
    "htp://someone:hush@proxy:1", "http://someone:hush@127.0.0.1:1", "http://someone:hush@:port", "socks9://x",
    "socks5://someone:hush@127.0.0.1:1",
)  # fmt: skip


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_broken_proxy_is_told_without_its_password_and_spares_local_sources(
    monkeypatch: pytest.MonkeyPatch, sample_cache: Path, proxy: str
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.lower(), proxy)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    engine = kbdash.connect("sample", settings=Settings(cache=sample_cache))
    assert not engine.leaderboard("trimul").empty
    engine.close()
    with pytest.raises(DataUnavailable) as failure:
        open_source(Settings(source=DATASET, endpoint="http://hub.invalid", cache=sample_cache))
    assert "hush" not in f"{failure.value} {failure.value.advice}"


def test_certificates_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setattr("kbdash.dataset.http.client._tls", httpx2.create_ssl_context)
    with pytest.raises(DataUnavailable) as failure:
        open_source(Settings(source=DATASET, endpoint="http://hub.invalid", cache=tmp_path))
    assert "SSL_CERT_FILE" in failure.value.advice


class _Proxy(BaseHTTPRequestHandler):
    """Forwards requests of whoever knows the password; hub.test is the Hub of the test."""

    known = "Basic " + b64encode(b"someone:h@sh").decode()

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if self.headers["Proxy-Authorization"] != self.known:
            self.send_error(407)
            return
        host = self.server.hub if address.netloc == "hub.test" else address.netloc  # type: ignore[attr-defined]
        target = HTTPConnection(host)
        target.request(self.command, f"{address.path}?{address.query}", headers={**self.headers, "Host": host})
        answer = target.getresponse()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.read())
        target.close()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def proxy_to(hub: LoopbackHub) -> Iterator[str]:
    """Host and port of a proxy in front of the Hub."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Proxy) as server:
        server.hub = urlsplit(hub.endpoint).netloc  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("proxy", "endpoint", "no_proxy", "is_read"),
    [
        ("http://someone:h%40sh@{}", "http://hub.test", "", True),
        ("http://someone:wrong@{}", "http://hub.test", "", False),
        ("http://127.0.0.1:1", None, "localhost,127.0.0.1", True),
        ("http://127.0.0.1:1", None, "", False),
    ],
    ids=["password", "wrong password", "left out", "dead"],
)
def test_the_proxy_of_the_environment_is_used_with_its_password_unless_a_host_is_left_out(
    monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub, tmp_path: Path,
    proxy: str, endpoint: str | None, no_proxy: str, is_read: bool,
) -> None:  # fmt: skip
    with proxy_to(hub) as host:
        for name, value in (("HTTP_PROXY", proxy.format(host)), ("NO_PROXY", no_proxy), ("ALL_PROXY", "")):
            monkeypatch.setenv(name, value)
            monkeypatch.setenv(name.lower(), value)
        settings = replace(settings_of(hub, tmp_path), endpoint=endpoint or hub.endpoint, hub_seconds=10.0)
        if is_read:
            source = open_source(settings)
            assert sum_of(source, TRIMUL) > 0
            source.close()
        else:
            with pytest.raises(DataUnavailable) as failure:
                open_source(settings)
            assert "wrong" not in f"{failure.value} {failure.value.advice}"


# --- ranges on disk ------------------------------------------------------------------------------------------------


def test_ranges_on_disk_come_back_whole_or_not_at_all(tmp_path: Path) -> None:
    store = RangeStore(tmp_path / "ranges", 1000)
    store.put("a", (10, 14), b"abcd")
    assert RangeStore(tmp_path / "ranges", 1000).get("a", (10, 14)) == b"abcd"
    assert store.get("a", (10, 15)) is None
    assert store.get("b", (10, 14)) is None
    [path] = (tmp_path / "ranges").glob("*/*")
    for damage in (lambda data: data[:-1], lambda data: data[:-1] + b"x", lambda data: b"", lambda data: data + b"e"):
        store.put("a", (10, 14), b"abcd")
        path.write_bytes(damage(path.read_bytes()))
        assert store.get("a", (10, 14)) is None
        assert not path.exists()
    store.put("a", (10, 14), b"abcd")
    store.forget("a")
    assert store.get("a", (10, 14)) is None


def test_ranges_on_disk_are_bounded_and_the_longest_unused_go_first(tmp_path: Path) -> None:
    store = RangeStore(tmp_path, 1000)
    for number in range(20):
        store.put(f"file {number}", (0, 100), bytes([number]) * 100)
        if number % 5 == 4:
            assert store.get("file 0", (0, 100)) is not None, "what is used stays"
        time.sleep(0.002)
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 1000
    assert store.get("file 19", (0, 100)) == bytes([19]) * 100
    assert store.get("file 1", (0, 100)) is None
    store.put("large", (0, 2000), bytes(2000))
    assert store.get("large", (0, 2000)) is None


def test_a_folder_that_cannot_be_written_is_no_failure(
    hub: LoopbackHub, tmp_path: Path, kb: KernelBot, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    engine = kbdash.connect(settings=settings_of(hub, tmp_path / "cache"))
    assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))
    engine.close()
    assert sum("are not kept" in record.message for record in caplog.records) <= 1


def test_ranges_in_memory_are_bounded() -> None:
    held = HeldRanges(100)
    for number in range(10):
        held.put("a", (number, number + 30), bytes(30))
    assert [number for number in range(10) if held.get("a", (number, number + 30)) is not None] == [7, 8, 9]
    held.put("a", (9, 39), bytes(30))
    assert held.get("a", (7, 37)) is not None
    held.forget("a")
    assert held.get("a", (9, 39)) is None


# --- the plan ------------------------------------------------------------------------------------------------------


def test_duckdb_reads_the_end_of_a_file_as_planned(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    for name, file in source.files.items():
        asked(source, f"describe from read_parquet('{address_of(file)}')")
        (start, middle), (after, last) = sorted(hub.counts[name].ranges[:2])
        assert (start, last + 1) == tail_span(file.size), name
        assert after == middle + 1, name
    source.close()


def test_the_source_text_is_never_fetched_ahead(sample_folder: Path) -> None:
    for path in sample_folder.glob("*.parquet"):
        data = path.read_bytes()
        footer = footer_span(data, len(data))
        assert footer is not None
        plan = plan_of(data[footer[0] :], footer[0])
        metadata = pq.read_metadata(path)
        assert all(here[1] <= there[0] for here, there in pairwise(plan.spans))
        wanted, planned = 0, sum(end - start for start, end in plan.spans)
        for row_group in range(metadata.num_row_groups):
            for index in range(metadata.num_columns):
                column = metadata.row_group(row_group).column(index)
                start = column.dictionary_page_offset or column.data_page_offset
                end = start + column.total_compressed_size
                if column.path_in_schema != "code":
                    wanted += end - start
                    covered = [span for span in plan.spans if span[0] <= start and end <= span[1]]
                    assert len(covered) == 1, (path.name, column.path_in_schema)
        assert planned <= 1.2 * wanted + (16 << 10) * len(plan.spans) * 4


@tuned(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 10_000))
def test_a_footer_of_noise_gives_no_plan(noise: bytes, end: int) -> None:
    assert plan_of(noise + len(noise).to_bytes(4, "little") + b"PAR1", end) == Plan()


def test_a_window_is_bounded() -> None:
    size = WINDOW_BYTES // 3
    spans = tuple((number * size, number * size + size) for number in range(10))
    plan = Plan(spans, ("first",) * 10)
    assert list(plan.together(spans[2])) == list(spans[2:5])
    assert list(plan.touching(size - 1, size + 1)) == list(spans[:2])
    assert list(plan.touching(0, 1)) == [spans[0]]


def test_every_cursor_sees_the_settings(sample_folder: Path) -> None:
    source = open_source(Settings(source=str(sample_folder)))
    with open_connection(source, Settings(memory_limit="123MB")) as connection:
        row = connection.cursor().execute(
            "select current_setting('TimeZone'), current_setting('threads'), current_setting('parquet_metadata_cache')"
        )
        assert row.fetchone() == ("UTC", 1, True)
    source.close()
