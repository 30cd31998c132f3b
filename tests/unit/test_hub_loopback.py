"""The Hub on loopback, asked by the real huggingface_hub and the real DuckDB."""

import hashlib
import io
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import duckdb_extension_httpfs
import httpx2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, hf_hub_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.hub import LoopbackHub
from tests.hub.blobs import IN_MEMORY_BYTES

REPO = "GPUMODE/kernelbot-data"
DATA = "scores.parquet"
ROWS = 2_000
PROJECT = Path(__file__).parents[2]


def parquet(factor: float = 1.0) -> bytes:
    """A file of the dataset's kind: a narrow column beside one that holds nearly all the bytes."""
    noise = np.random.default_rng(0)
    table = pa.table(
        {
            "code": [noise.bytes(200).hex() for _ in range(ROWS)],
            "score": [factor * row for row in range(ROWS)],
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


PARQUET = parquet()
TOTAL = float(sum(range(ROWS)))


@pytest.fixture(scope="module", autouse=True)
def one_context() -> Iterator[None]:
    """One for all clients: reading the certificates takes 20 ms, and nobody here speaks TLS."""
    context = httpx2.create_ssl_context()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx2._transports.default.create_ssl_context", lambda *_, **__: context)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    (folder / "old").mkdir(parents=True)
    (folder / DATA).write_bytes(PARQUET)
    (folder / "old" / "a b.parquet").write_bytes(b"not parquet")
    (folder / "README.md").write_text("# Scores\n")
    return folder


@pytest.fixture
def hub(folder: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(folder) as hub:
        yield hub


def api_of(hub: LoopbackHub, token: str | None = None) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token=token or False)


def download(hub: LoopbackHub, name: str, cache: Path, token: str | None = None, **more: object) -> bytes:
    path = hf_hub_download(
        REPO, name, repo_type="dataset", endpoint=hub.endpoint, cache_dir=cache, token=token or False, **more
    )
    return Path(path).read_bytes()


def duck(hub: LoopbackHub, token: str | None = None) -> duckdb.DuckDBPyConnection:
    package = Path(duckdb_extension_httpfs.__file__).parent
    connection = duckdb.connect()
    connection.execute(f"load '{next(package.rglob('httpfs.duckdb_extension'))}'")
    connection.execute("set http_retry_wait_ms = 1")
    if token:
        connection.execute(f"create secret (type http, bearer_token '{token}', scope '{hub.endpoint}')")
    return connection


def total(hub: LoopbackHub, token: str | None = None) -> float:
    with duck(hub, token) as connection:
        row = connection.execute(f"select sum(score) from '{hub.url(DATA)}'").fetchone()
    assert row is not None
    return float(row[0])


def get(hub: LoopbackHub, name: str = DATA, **headers: str) -> httpx2.Response:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx2.get(hub.url(name), headers=named, follow_redirects=True)


def link(hub: LoopbackHub, name: str = DATA) -> str:
    return httpx2.get(hub.url(name)).headers["location"]


def receive(address: str, into: bytearray) -> None:
    """Take what comes, as it comes."""
    with httpx2.stream("GET", address, timeout=30) as answer:
        for part in answer.iter_raw():
            into.extend(part)


class TestReading:
    def test_info_names_the_commit_the_licence_and_the_sizes(self, hub: LoopbackHub) -> None:
        info = api_of(hub).dataset_info(REPO, files_metadata=True)
        files = {sibling.rfilename: sibling for sibling in info.siblings or ()}
        assert info.sha == hub.commit
        assert re.fullmatch("[0-9a-f]{40}", hub.commit)
        assert info.tags == ["license:other"]
        assert info.card_data is not None
        assert info.card_data["license"] == "other"
        assert sorted(files) == ["README.md", "old/a b.parquet", DATA]
        assert files[DATA].size == len(PARQUET)
        assert files[DATA].lfs is not None
        assert files[DATA].lfs.sha256 == hashlib.sha256(PARQUET).hexdigest()
        assert files["README.md"].lfs is None

    def test_info_without_metadata_has_no_sizes(self, hub: LoopbackHub) -> None:
        siblings = api_of(hub).dataset_info(REPO).siblings or ()
        assert {sibling.size for sibling in siblings} == {None}

    @pytest.mark.parametrize("revision", ["main", None, "commit", "short"])
    def test_a_revision_is_a_branch_or_a_commit(self, hub: LoopbackHub, revision: str | None) -> None:
        asked = {"commit": hub.commit, "short": hub.commit[:8]}.get(revision or "", revision)
        assert api_of(hub).dataset_info(REPO, revision=asked).sha == hub.commit

    def test_expand_gives_the_wanted_fields_only(self, hub: LoopbackHub) -> None:
        info = api_of(hub).dataset_info(REPO, expand=["sha"])
        assert (info.sha, info.siblings) == (hub.commit, None)

    def test_tree_lists_files_and_folders(self, hub: LoopbackHub) -> None:
        api = api_of(hub)
        flat = [item.path for item in api.list_repo_tree(REPO, repo_type="dataset")]
        deep = [item.path for item in api.list_repo_tree(REPO, repo_type="dataset", recursive=True)]
        inside = [item.path for item in api.list_repo_tree(REPO, "old", repo_type="dataset")]
        assert flat == ["README.md", "old", DATA]
        assert deep == ["README.md", "old", "old/a b.parquet", DATA]
        assert inside == ["old/a b.parquet"]
        assert api.list_repo_files(REPO, repo_type="dataset") == ["README.md", "old/a b.parquet", DATA]

    def test_paths_and_refs(self, hub: LoopbackHub) -> None:
        api = api_of(hub)
        found = api.get_paths_info(REPO, [DATA, "missing"], repo_type="dataset")
        refs = api.list_repo_refs(REPO, repo_type="dataset")
        assert [(file.path, file.size) for file in found] == [(DATA, len(PARQUET))]
        assert [branch.target_commit for branch in refs.branches] == [hub.commit]

    @pytest.mark.parametrize("name", [DATA, "README.md", "old/a b.parquet"])
    def test_download_gives_the_bytes(self, hub: LoopbackHub, folder: Path, tmp_path: Path, name: str) -> None:
        assert download(hub, name, tmp_path / "cache") == (folder / name).read_bytes()

    def test_a_cached_download_sends_no_content_again(self, hub: LoopbackHub, tmp_path: Path) -> None:
        download(hub, DATA, tmp_path / "cache")
        hub.reset()
        download(hub, DATA, tmp_path / "cache")
        assert (hub.counts[DATA].gets, hub.counts.bytes) == (0, 0)

    @pytest.mark.parametrize(
        ("problem", "ask"),
        [
            (RepositoryNotFoundError, lambda api: api.dataset_info("GPUMODE/other")),
            (RepositoryNotFoundError, lambda api: api.model_info(REPO)),
            (RevisionNotFoundError, lambda api: api.dataset_info(REPO, revision="f" * 40)),
            (RevisionNotFoundError, lambda api: api.dataset_info(REPO, revision="v2")),
            (RevisionNotFoundError, lambda api: api.dataset_info(REPO, revision="\u2713\r\nX: y")),
            (EntryNotFoundError, lambda api: list(api.list_repo_tree(REPO, "gone", repo_type="dataset"))),
            (EntryNotFoundError, lambda api: api.hf_hub_download(REPO, "gone", repo_type="dataset")),
            (RepositoryNotFoundError, lambda api: api.hf_hub_download(REPO, DATA)),
        ],
    )
    def test_what_is_not_there_raises_the_clients_own_errors(
        self, hub: LoopbackHub, problem: type[Exception], ask: Callable[[HfApi], object]
    ) -> None:
        with pytest.raises(problem):
            ask(api_of(hub))

    def test_duckdb_reads_ranges_of_the_columns_it_needs(self, hub: LoopbackHub) -> None:
        assert total(hub) == TOTAL
        count = hub.counts[DATA]
        code = pq.ParquetFile(io.BytesIO(PARQUET)).metadata.row_group(0).column(0)
        start = code.dictionary_page_offset or code.data_page_offset
        end = start + code.total_compressed_size
        assert count.bytes == sum(last - first + 1 for first, last in count.ranges)
        assert count.bytes < len(PARQUET) / 10
        # The footer is read as the last 16 KB, whatever is there; no other range touches the wide column.
        assert not [ends for ends in count.ranges[1:] if ends[0] < end and ends[1] >= start]
        assert (count.heads, count.gets, count.redirects, count.errors) == (1, len(count.ranges), 1 + count.gets, 0)


class TestContent:
    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ("bytes=0-9", PARQUET[:10]),
            ("bytes=7-7", PARQUET[7:8]),
            (f"bytes={len(PARQUET) - 3}-", PARQUET[-3:]),
            ("bytes=-8", PARQUET[-8:]),
            ("bytes=100-999999999", PARQUET[100:]),
            ("bytes=-999999999", PARQUET),
        ],
    )
    def test_a_range_is_answered_with_that_part(self, hub: LoopbackHub, asked: str, expected: bytes) -> None:
        answer = get(hub, Range=asked)
        assert (answer.status_code, answer.content) == (206, expected)
        first, last = hub.counts[DATA].ranges[0]
        assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(PARQUET)}"
        assert PARQUET[first : last + 1] == expected

    @pytest.mark.parametrize("asked", ["bytes=9-2", "bytes=-", "lines=1-2", "bytes=0-1,4-5"])
    def test_a_range_that_means_nothing_is_ignored(self, hub: LoopbackHub, asked: str) -> None:
        assert (get(hub, Range=asked).status_code, hub.counts[DATA].bytes) == (200, len(PARQUET))

    @pytest.mark.parametrize("asked", [f"bytes={len(PARQUET)}-", "bytes=-0"])
    def test_a_range_outside_of_the_file_is_refused(self, hub: LoopbackHub, asked: str) -> None:
        answer = get(hub, Range=asked)
        assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{len(PARQUET)}")

    def test_conditions_on_the_etag(self, hub: LoopbackHub) -> None:
        etag = get(hub).headers["etag"]
        assert get(hub, If_None_Match=etag).status_code == 304
        assert get(hub, If_Range=etag, Range="bytes=0-3").content == PARQUET[:4]
        assert get(hub, If_Range='"other"', Range="bytes=0-3").content == PARQUET

    def test_head_has_the_length_and_no_body(self, hub: LoopbackHub) -> None:
        answer = httpx2.head(hub.url(DATA), follow_redirects=True)
        assert (answer.headers["content-length"], hub.counts.bytes) == (str(len(PARQUET)), 0)

    def test_the_redirect_carries_what_the_client_needs(self, hub: LoopbackHub) -> None:
        answer = httpx2.head(hub.url(DATA, "main"))
        assert answer.status_code == 302
        assert answer.headers["x-repo-commit"] == hub.commit
        assert answer.headers["x-linked-size"] == str(len(PARQUET))
        assert answer.headers["x-linked-etag"] == f'"{hashlib.sha256(PARQUET).hexdigest()}"'

    def test_a_link_is_good_for_one_path_and_nothing_else(self, hub: LoopbackHub) -> None:
        good = link(hub)
        assert httpx2.get(good).content == PARQUET
        for bad in (good.replace("scores", "README"), good[:-1] + "x", good.replace("expires=1", "expires=2")):
            assert (bad != good, httpx2.get(bad).status_code) == (True, 403)

    def test_a_large_file_is_sent_from_disk(self, folder: Path, tmp_path: Path) -> None:
        data = np.random.default_rng(1).bytes(IN_MEMORY_BYTES + 12_345)
        (folder / "large.bin").write_bytes(data)
        with LoopbackHub(folder) as hub:
            (folder / "large.bin").unlink()
            assert download(hub, "large.bin", tmp_path / "cache") == data
            assert get(hub, "large.bin", Range="bytes=8000000-8600000").content == data[8_000_000:8_600_001]

    def test_many_readers_at_once_get_their_own_bytes(self, hub: LoopbackHub) -> None:
        starts = range(0, 160 * 1000, 1000)
        with httpx2.Client(follow_redirects=True) as client, ThreadPoolExecutor(8) as pool:

            def part(start: int) -> bytes:
                return client.get(hub.url(DATA), headers={"Range": f"bytes={start}-{start + 999}"}).content

            parts = list(pool.map(part, starts))
        assert parts == [PARQUET[start : start + 1000] for start in starts]
        assert (hub.counts[DATA].gets, hub.counts[DATA].bytes) == (160, 160 * 1000)
        assert sorted(hub.counts[DATA].ranges) == [(start, start + 999) for start in starts]


class TestCommits:
    def test_publishing_moves_main_and_leaves_older_commits_alone(
        self, hub: LoopbackHub, folder: Path, tmp_path: Path
    ) -> None:
        before = hub.commit
        (folder / DATA).write_bytes(parquet(2.0))
        (folder / "README.md").unlink()
        after = hub.publish()
        assert (hub.commit, api_of(hub).dataset_info(REPO).sha) == (after, after)
        assert before != after
        assert download(hub, DATA, tmp_path / "cache", revision=before) == PARQUET
        assert download(hub, DATA, tmp_path / "cache", revision="main") == parquet(2.0)
        assert download(hub, "README.md", tmp_path / "cache", revision=before) == b"# Scores\n"
        with pytest.raises(EntryNotFoundError):
            download(hub, "README.md", tmp_path / "cache", revision=after)

    def test_the_same_files_are_the_same_commit(self, hub: LoopbackHub, folder: Path) -> None:
        assert hub.publish() == hub.commit
        with LoopbackHub(folder) as other:
            assert other.commit == hub.commit


class TestAccess:
    def test_a_private_dataset_exists_for_its_members_only(self, folder: Path, tmp_path: Path) -> None:
        with LoopbackHub(folder, token="hf_member", private=True) as hub:
            hub.accounts.add("hf_outsider", "mallory")
            for token, status in ((None, 401), ("hf_outsider", 404)):
                with pytest.raises(RepositoryNotFoundError) as caught:
                    api_of(hub, token).dataset_info(REPO)
                assert caught.value.response.status_code == status
            assert api_of(hub, "hf_member").dataset_info(REPO).private
            assert download(hub, DATA, tmp_path / "cache", "hf_member") == PARQUET

    def test_a_token_that_is_not_known_is_refused(self, folder: Path) -> None:
        with LoopbackHub(folder, token="hf_member") as hub, pytest.raises(HfHubHTTPError) as caught:
            api_of(hub, "hf_wrong").dataset_info(REPO)
        assert caught.value.response.status_code == 401
        assert "Invalid credentials" in str(caught.value)

    def test_duckdb_reads_a_private_dataset_with_a_secret(self, folder: Path) -> None:
        with LoopbackHub(folder, token="hf_member", private=True) as hub:
            assert total(hub, "hf_member") == TOTAL
            hub.reset()
            with pytest.raises(duckdb.HTTPException):
                total(hub)
            # DuckDB reports a 401 as "HTTP 0": what the Hub said is in its log.
            assert {exchange.status for exchange in hub.counts.log} == {401}

    def test_no_client_takes_its_token_to_the_signed_link(self, folder: Path, tmp_path: Path) -> None:
        with LoopbackHub(folder, token="hf_member", private=True) as hub:
            download(hub, DATA, tmp_path / "cache", "hf_member")
            total(hub, "hf_member")
            visits = [exchange for exchange in hub.counts.log if exchange.area == "cdn"]
            assert len(visits) > 2
            assert hub.counts.tokens_at_cdn == 0

    def test_a_token_at_the_signed_link_is_noticed(self, hub: LoopbackHub) -> None:
        httpx2.get(link(hub), headers={"Authorization": "Bearer hf_leaked"})
        assert hub.counts.tokens_at_cdn == 1

    def test_a_gated_dataset_is_listed_for_all_and_read_by_some(self, folder: Path, tmp_path: Path) -> None:
        with LoopbackHub(folder, token="hf_member", gated=True) as hub:
            hub.accounts.add("hf_outsider", "mallory")
            assert api_of(hub).dataset_info(REPO).gated == "auto"
            for token, status in ((None, 401), ("hf_outsider", 403)):
                with pytest.raises(GatedRepoError) as caught:
                    download(hub, DATA, tmp_path / "cache", token)
                assert caught.value.response.status_code == status
            assert download(hub, DATA, tmp_path / "cache", "hf_member") == PARQUET


class TestFaults:
    def test_latency_is_longer_than_an_impatient_client_waits(self, hub: LoopbackHub) -> None:
        hub.faults.latency = 60
        with pytest.raises(httpx2.ReadTimeout):
            api_of(hub).dataset_info(REPO, timeout=0.1)
        hub.faults.clear()
        assert api_of(hub).dataset_info(REPO).sha == hub.commit

    def test_a_hub_that_refuses_comes_back_on_its_port(self, hub: LoopbackHub) -> None:
        endpoint = hub.endpoint
        with httpx2.Client() as client:
            client.get(hub.url("README.md"))
            hub.faults.refuse = True
            with pytest.raises(httpx2.ConnectError):
                client.get(hub.url("README.md"))
            with pytest.raises(httpx2.ConnectError):
                api_of(hub).dataset_info(REPO)
            with pytest.raises(duckdb.IOException):
                total(hub)
            hub.faults.refuse = False
            assert client.get(hub.url("README.md")).status_code == 200
        assert hub.endpoint == endpoint
        assert total(hub) == TOTAL

    def test_a_body_cut_short_once_is_fetched_again(self, hub: LoopbackHub) -> None:
        hub.faults.cut_after(1000, "/cdn/*", times=1)
        assert total(hub) == TOTAL
        # The cut answer and the whole one were both counted, the first with the bytes that left.
        assert 1000 in [exchange.bytes for exchange in hub.counts.log]

    def test_a_download_cut_short_is_taken_up_again(self, hub: LoopbackHub, tmp_path: Path) -> None:
        hub.faults.cut_after(70_000, "/cdn/*", times=1)
        assert download(hub, DATA, tmp_path / "cache") == PARQUET
        assert (hub.counts[DATA].gets, hub.counts[DATA].bytes) == (2, 70_000 + len(PARQUET))

    def test_bodies_always_cut_short_are_an_error(self, hub: LoopbackHub) -> None:
        hub.faults.cut_after(100, "/cdn/*")
        with pytest.raises(duckdb.Error, match="partial file"):
            total(hub)
        hub.faults.clear()
        assert total(hub) == TOTAL

    def test_the_api_can_be_cut_short_too(self, hub: LoopbackHub) -> None:
        hub.faults.cut_after(10, "/api/*")
        with pytest.raises(httpx2.RemoteProtocolError):
            api_of(hub).dataset_info(REPO)

    @pytest.mark.parametrize("status", [429, 503])
    def test_some_failures_then_success(self, hub: LoopbackHub, status: int) -> None:
        hub.faults.fail(status, "/cdn/*", times=2)
        assert total(hub) == TOTAL
        assert hub.counts[DATA].errors == 2

    @pytest.mark.parametrize("status", [401, 403, 404, 416, 429, 500, 502, 503])
    def test_a_status_for_some_paths(self, hub: LoopbackHub, status: int) -> None:
        hub.faults.fail(status, "/api/*")
        with pytest.raises(HfHubHTTPError) as caught:
            api_of(hub).dataset_info(REPO)
        assert caught.value.response.status_code == status
        assert total(hub) == TOTAL
        hub.faults.clear()
        assert api_of(hub).dataset_info(REPO).sha == hub.commit

    def test_a_glob_may_name_one_file(self, hub: LoopbackHub) -> None:
        hub.faults.fail(500, "*scores.parquet")
        assert [get(hub, name).status_code for name in (DATA, "old/a b.parquet")] == [500, 200]

    def test_a_failure_says_when_to_come_back(self, hub: LoopbackHub) -> None:
        hub.faults.fail(429, "/api/*", retry_after=7)
        with pytest.raises(HfHubHTTPError, match="Retry after 7 seconds") as caught:
            api_of(hub).dataset_info(REPO)
        assert caught.value.response.headers["retry-after"] == "7"

    def test_a_failure_may_carry_the_hubs_own_code(self, hub: LoopbackHub) -> None:
        hub.faults.fail(403, "/api/*", code="GatedRepo")
        with pytest.raises(GatedRepoError):
            api_of(hub).dataset_info(REPO)

    def test_links_made_so_far_expire(self, hub: LoopbackHub) -> None:
        old = link(hub)
        hub.faults.expire_links()
        assert (httpx2.get(old).status_code, httpx2.get(link(hub)).status_code) == (403, 200)

    def test_links_expire_by_time(self, hub: LoopbackHub, tmp_path: Path) -> None:
        hub.faults.expire_links(seconds=0)
        with pytest.raises(HfHubHTTPError, match="403"):
            download(hub, DATA, tmp_path / "cache")
        with pytest.raises(duckdb.HTTPException):
            total(hub)
        hub.faults.clear()
        assert total(hub) == TOTAL

    def test_links_expire_by_use_and_duckdb_asks_for_new_ones(self, hub: LoopbackHub) -> None:
        hub.faults.expire_links(uses=1)
        once = link(hub)
        answers = [httpx2.head(once), httpx2.get(once), httpx2.get(once)]
        assert [answer.status_code for answer in answers] == [200, 200, 403]
        assert total(hub) == TOTAL

    def test_ranges_can_be_ignored(self, hub: LoopbackHub) -> None:
        hub.faults.ignore_range = True
        answer = get(hub, Range="bytes=0-9")
        assert (answer.status_code, answer.content) == (200, PARQUET)
        hub.reset()
        assert total(hub) == TOTAL
        assert hub.counts[DATA].bytes == hub.counts[DATA].gets * len(PARQUET) > 0

    def test_without_redirect_the_content_is_where_it_was_asked(self, hub: LoopbackHub, tmp_path: Path) -> None:
        hub.faults.redirect = False
        assert total(hub) == TOTAL
        assert download(hub, DATA, tmp_path / "cache") == PARQUET
        assert hub.counts[DATA].redirects == 0
        assert {exchange.area for exchange in hub.counts.log} == {"resolve"}

    def test_a_file_can_be_replaced_under_its_url(self, hub: LoopbackHub) -> None:
        before = get(hub).headers["etag"]
        hub.faults.replace(DATA, parquet(3.0))
        assert get(hub).headers["etag"] != before
        assert total(hub) == 3 * TOTAL
        hub.faults.clear()
        assert get(hub).headers["etag"] == before

    def test_a_replaced_file_may_be_listed_as_such(self, hub: LoopbackHub) -> None:
        hub.faults.replace(DATA, b"short", listed=True)
        files = {file.rfilename: file for file in api_of(hub).dataset_info(REPO, files_metadata=True).siblings or ()}
        assert (files[DATA].size, files[DATA].lfs.sha256) == (5, hashlib.sha256(b"short").hexdigest())
        hub.faults.clear()
        files = {file.rfilename: file for file in api_of(hub).dataset_info(REPO, files_metadata=True).siblings or ()}
        assert files[DATA].size == len(PARQUET)

    def test_a_body_falls_silent_or_trickles_until_cleared(self, hub: LoopbackHub) -> None:
        for switch_on in (
            lambda: hub.faults.silent_after(100, "/cdn/*"),
            lambda: hub.faults.trickle("/cdn/*", byte_every=0.2),
        ):
            switch_on()
            got = bytearray()
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(receive, link(hub), got)
                end = time.monotonic() + 60
                while len(got) < 2 and time.monotonic() < end:
                    time.sleep(0.01)
                assert not waiting.done()
                hub.faults.clear()
                with pytest.raises(httpx2.RemoteProtocolError):
                    waiting.result()
            assert 2 <= len(got) <= 100
            assert PARQUET.startswith(bytes(got))
        assert get(hub).content == PARQUET

    def test_content_is_corrupt_once(self, hub: LoopbackHub) -> None:
        hub.faults.corrupt("/cdn/*", times=1)
        spoiled, whole = get(hub), get(hub)
        assert spoiled.content == bytes(len(PARQUET))
        assert (spoiled.headers["etag"], whole.content) == (whole.headers["etag"], PARQUET)

    def test_a_rate_limit_is_told_as_the_hub_tells_it(self, hub: LoopbackHub) -> None:
        hub.faults.fail(429, "*/resolve/*", rate_limit=3)
        headers = get(hub).headers
        assert headers["ratelimit"] == '"resolvers";r=0;t=3'
        assert "retry-after" not in headers

    def test_a_new_connection_may_take_longer(self, hub: LoopbackHub) -> None:
        hub.faults.connection_latency = 1.0
        with httpx2.Client() as client:
            times = []
            for _ in range(2):
                begin = time.monotonic()
                client.get(hub.url("README.md"))
                times.append(time.monotonic() - begin)
        assert times[0] >= 1.0 > times[1]

    def test_a_hub_that_hangs_answers_nobody_until_cleared(self, hub: LoopbackHub) -> None:
        hub.faults.hang("/api/*")
        with pytest.raises(httpx2.ReadTimeout):
            api_of(hub).dataset_info(REPO, timeout=0.1)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(api_of(hub).dataset_info, REPO)
            assert total(hub) == TOTAL
            hub.faults.clear()
            with pytest.raises(httpx2.RemoteProtocolError):
                waiting.result()
        assert api_of(hub).dataset_info(REPO).sha == hub.commit


class TestLifeAndCounts:
    def test_no_thread_is_left_even_of_those_that_hang_or_idle(self, folder: Path) -> None:
        before = set(threading.enumerate())
        with httpx2.Client() as client, LoopbackHub(folder) as hub:
            client.get(hub.url("README.md"))
            hub.faults.hang("/api/*")
            with pytest.raises(httpx2.ReadTimeout):
                api_of(hub).dataset_info(REPO, timeout=0.1)
            assert len(threading.enumerate()) > len(before)
        assert set(threading.enumerate()) <= before

    def test_a_hub_that_stopped_refuses(self, folder: Path) -> None:
        with LoopbackHub(folder) as hub:
            endpoint = hub.endpoint
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(endpoint)

    def test_counts_are_kept_by_file_and_set_to_zero(self, hub: LoopbackHub) -> None:
        get(hub)
        get(hub, "README.md")
        get(hub, "gone")
        api_of(hub).dataset_info(REPO)
        counts = hub.counts
        assert sorted(counts.files) == ["README.md", "gone", DATA]
        assert (counts[DATA].gets, counts[DATA].redirects, counts[DATA].bytes) == (1, 1, len(PARQUET))
        assert (counts["README.md"].requests, counts["README.md"].bytes) == (1, 9)
        assert (counts["gone"].errors, counts["gone"].requests) == (1, 1)
        assert counts.requests == 5
        assert counts.bytes == sum(exchange.bytes for exchange in counts.log) > len(PARQUET) + 9
        hub.reset()
        assert (counts.requests, counts.bytes, counts.files, counts[DATA].requests) == (0, 0, {}, 0)

    def test_the_log_tells_clients_apart(self, hub: LoopbackHub) -> None:
        api_of(hub).dataset_info(REPO)
        total(hub)
        agents = {exchange.area: exchange.agent for exchange in hub.counts.log}
        assert "hf_hub" in agents["api"]
        assert "duckdb" in agents["cdn"]

    def test_the_command_line_serves_until_it_is_told_to_stop(self, folder: Path) -> None:
        command = [sys.executable, "-m", "tests.hub", str(folder), "--latency", "1"]
        with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            endpoint = process.stdout.readline().strip().removeprefix("HF_ENDPOINT=")
            try:
                info = HfApi(endpoint=endpoint, token=False).dataset_info(REPO)
            finally:
                process.send_signal(signal.SIGTERM)
            goodbye = process.stdout.read()
        assert (len(info.siblings or ()), process.returncode) == (3, 0)
        assert goodbye.startswith("1 requests, ")


README = "---\ntitle: Kernels\nsdk: docker\napp_port: 8501\n---\n# Kernels\n"


@pytest.fixture
def spaces_hub(folder: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(folder, token="hf_write") as hub:
        hub.accounts.add("hf_read", "tester", "read")
        yield hub


@pytest.fixture
def app(tmp_path: Path) -> Path:
    app = tmp_path / "app"
    (app / "pages").mkdir(parents=True)
    (app / "README.md").write_text(README)
    (app / "app.py").write_text("print('hello')\n")
    (app / "pages" / "one.py").write_bytes(b"")
    (app / "icon.png").write_bytes(bytes(range(256)))
    return app


def create(hub: LoopbackHub, name: str = "tester/kernels", token: str | None = "hf_write", **more: object) -> str:
    wish = {"repo_type": "space", "space_sdk": "docker", "exist_ok": True, **more}
    return str(api_of(hub, token).create_repo(name, **wish))


class TestSpaces:
    def test_whoami_tells_user_and_role(self, spaces_hub: LoopbackHub) -> None:
        roles = {}
        for token in ("hf_write", "hf_read"):
            me = api_of(spaces_hub, token).whoami()
            roles[token] = (me["name"], me["auth"]["accessToken"]["role"])
        assert roles == {"hf_write": ("tester", "write"), "hf_read": ("tester", "read")}
        with pytest.raises(HfHubHTTPError, match="Invalid user token"):
            api_of(spaces_hub, "hf_wrong").whoami()

    def test_a_space_is_created_once(self, spaces_hub: LoopbackHub) -> None:
        url = create(spaces_hub)
        assert url == f"{spaces_hub.endpoint}/spaces/tester/kernels"
        assert create(spaces_hub) == url
        with pytest.raises(HfHubHTTPError) as caught:
            create(spaces_hub, exist_ok=False)
        assert caught.value.response.status_code == 409
        assert list(spaces_hub.spaces) == ["tester/kernels"]
        assert api_of(spaces_hub).space_info("tester/kernels").sdk == "docker"

    @pytest.mark.parametrize(
        ("name", "token", "status"),
        [("tester/kernels", None, 401), ("tester/kernels", "hf_read", 403), ("someone/kernels", "hf_write", 403)],
    )
    def test_who_may_not_create_is_told_so(
        self, spaces_hub: LoopbackHub, name: str, token: str | None, status: int
    ) -> None:
        with pytest.raises(HfHubHTTPError) as caught:
            create(spaces_hub, name, token)
        assert caught.value.response.status_code == status
        assert not spaces_hub.spaces

    def test_a_member_creates_under_the_organisation(self, spaces_hub: LoopbackHub) -> None:
        create(spaces_hub, "GPUMODE/kernels")
        assert list(spaces_hub.spaces) == ["GPUMODE/kernels"]

    def test_a_free_plan_allows_no_docker_space(self, spaces_hub: LoopbackHub) -> None:
        spaces_hub.plan = "free"
        with pytest.raises(HfHubHTTPError, match="PRO subscription") as caught:
            create(spaces_hub)
        assert caught.value.response.status_code == 402
        create(spaces_hub, space_sdk="static")
        assert spaces_hub.spaces["tester/kernels"].sdk == "static"

    def test_a_folder_is_uploaded(self, spaces_hub: LoopbackHub, app: Path, tmp_path: Path) -> None:
        create(spaces_hub)
        api = api_of(spaces_hub, "hf_write")
        done = api.upload_folder(repo_id="tester/kernels", folder_path=app, repo_type="space", commit_message="Ship")
        space = spaces_hub.spaces["tester/kernels"]
        assert space.files == {
            path.relative_to(app).as_posix(): path.read_bytes() for path in app.rglob("*") if path.is_file()
        }
        assert space.messages == ["Ship"]
        assert done.oid == api.space_info("tester/kernels").sha
        fetched = api.hf_hub_download("tester/kernels", "app.py", repo_type="space", cache_dir=tmp_path / "cache")
        assert Path(fetched).read_bytes() == (app / "app.py").read_bytes()

    def test_uploading_the_same_again_makes_no_commit(self, spaces_hub: LoopbackHub, app: Path) -> None:
        create(spaces_hub)
        api = api_of(spaces_hub, "hf_write")
        for _ in range(2):
            api.upload_folder(repo_id="tester/kernels", folder_path=app, repo_type="space", commit_message="Ship")
        assert spaces_hub.spaces["tester/kernels"].messages == ["Ship"]

    def test_files_are_deleted_and_folders_too(self, spaces_hub: LoopbackHub) -> None:
        create(spaces_hub)
        api = api_of(spaces_hub, "hf_write")
        names = ("a.py", "b.py", "old/c.py", "old/d/e.py", "older.py")
        adding = [CommitOperationAdd(name, name.encode()) for name in names]
        first = api.create_commit("tester/kernels", adding, commit_message="One", repo_type="space")
        deleting = [CommitOperationDelete("a.py"), CommitOperationDelete("old/")]
        api.create_commit("tester/kernels", deleting, commit_message="Two", repo_type="space", parent_commit=first.oid)
        assert spaces_hub.spaces["tester/kernels"].files == {"b.py": b"b.py", "older.py": b"older.py"}
        with pytest.raises(HfHubHTTPError) as caught:
            api.create_commit(
                "tester/kernels",
                [CommitOperationDelete("b.py")],
                commit_message="Three",
                repo_type="space",
                parent_commit=first.oid,
            )
        assert caught.value.response.status_code == 412

    def test_a_reader_may_not_upload(self, spaces_hub: LoopbackHub) -> None:
        create(spaces_hub)
        adding = [CommitOperationAdd("a.py", b"1")]
        with pytest.raises(HfHubHTTPError) as caught:
            api_of(spaces_hub, "hf_read").create_commit(
                "tester/kernels", adding, commit_message="No", repo_type="space"
            )
        assert caught.value.response.status_code == 403
        assert spaces_hub.spaces["tester/kernels"].files == {}

    @pytest.mark.parametrize(
        ("front", "complaint"),
        [
            ("sdk: streamlit", '"sdk" must be one of'),
            ("title: x", '"sdk" is required'),
            ("sdk: docker\ncolorFrom: mauve", '"colorFrom" must be one of'),
            (f"sdk: docker\nshort_description: {'x' * 61}", "short_description"),
            ("sdk: docker\napp_port: web", '"app_port"'),
            ("sdk: [", "not valid"),
            ("- sdk", "not an object"),
        ],
    )
    def test_front_matter_is_checked(self, spaces_hub: LoopbackHub, front: str, complaint: str) -> None:
        create(spaces_hub)
        adding = [CommitOperationAdd("README.md", f"---\n{front}\n---\n".encode())]
        with pytest.raises(ValueError, match=complaint):
            api_of(spaces_hub, "hf_write").create_commit(
                "tester/kernels", adding, commit_message="No", repo_type="space"
            )

    def test_variables_and_secrets(self, spaces_hub: LoopbackHub) -> None:
        create(spaces_hub, space_variables=[{"key": "FIRST", "value": "1"}])
        api = api_of(spaces_hub, "hf_write")
        api.add_space_variable("tester/kernels", "KBDASH_SOURCE", "sample")
        api.add_space_secret("tester/kernels", "HF_TOKEN", "hf_x")
        space = spaces_hub.spaces["tester/kernels"]
        assert space.variables == {"FIRST": "1", "KBDASH_SOURCE": "sample"}
        assert space.secrets == {"HF_TOKEN": "hf_x"}
        left = api.delete_space_variable("tester/kernels", "FIRST")
        assert {key: variable.value for key, variable in left.items()} == {"KBDASH_SOURCE": "sample"}
        assert api.get_space_variables("tester/kernels").keys() == left.keys()
        assert api.get_space_runtime("tester/kernels").stage == "BUILDING"
