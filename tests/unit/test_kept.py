"""Rows that are kept in memory: when, what it costs, and what happens when they cannot be."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.database import materialising
from kbdash.database.competition_views import ALL_LINKABLE, EMPTY
from kbdash.database.failures import explained
from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.errors import CorruptData, DataUnavailable
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.unit.tables import FLAT, LEGACY, NVFP4, TRIMUL, write_flat

ROW = {"submission_id": 1, "leaderboard_id": 9000, "problem_name": "fft", "user_id": "7", "score": 1e-3,
       "passed": True, "mode": "leaderboard", "runner": "GB300", "code": "x"}  # fmt: skip


@pytest.fixture
def remote(sample_folder: Path, tmp_path: Path) -> Iterator[tuple[KernelBot, LoopbackHub]]:
    """An engine over two files of the sample on a Hub."""
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", NVFP4, TRIMUL)) as hub:
        engine = kbdash.connect(settings=Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path))
        yield engine, hub
        engine.close()


def kept(engine: KernelBot) -> set[str]:
    """Competitions with a copy of their rows, once nothing is being copied."""
    assert engine._database._materialiser.wait(60.0)
    tables = engine._database._asker.run("select table_name from duckdb_tables() where database_name = 'materialised'")
    return {name.partition(" of ")[2].rpartition(" ")[0] for name in tables["table_name"]}


def test_after_the_third_question_a_file_is_not_asked_again(remote: tuple[KernelBot, LoopbackHub]) -> None:
    engine, hub = remote
    engine.leaderboard("nvfp4_gemm")
    engine.summary("nvfp4_gemm")
    assert "nvfp4" not in kept(engine)
    engine.records("nvfp4_gemm")
    assert "nvfp4" in kept(engine)
    hub.reset()
    found = engine.submissions("nvfp4_dual_gemm", text="a", sort="file_name")
    engine.status_over_time("nvfp4_dual_gemm")
    engine.distribution("nvfp4_group_gemm")
    assert found.total
    assert hub.counts[NVFP4].requests == 0


def test_a_copy_that_fails_is_no_failure_of_a_question(
    remote: tuple[KernelBot, LoopbackHub], kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The columns of these questions are here already, so nobody who asks them needs the Hub; later it is copied."""
    engine, hub = remote
    for ask in (engine.leaderboard, engine.summary):
        ask("nvfp4_gemm")
    hub.faults.fail(503, f"*{NVFP4}")
    monkeypatch.setattr("kbdash.dataset.http.retry.PAUSES_S", (0.0, 0.0, 0.0))  # as many attempts, at once
    monkeypatch.setattr(materialising, "RETRY_SECONDS", 0.0)
    assert engine.leaderboard("nvfp4_gemm").equals(kb.leaderboard("nvfp4_gemm"))
    assert engine.ecdf("nvfp4_gemm").equals(kb.ecdf("nvfp4_gemm"))
    assert kept(engine) == set()
    assert engine.summary("nvfp4_gemm").equals(kb.summary("nvfp4_gemm"))
    assert kept(engine) == set()
    hub.faults.clear()
    engine.summary("nvfp4_gemm")
    assert kept(engine) == {"nvfp4"}


def test_rows_that_cannot_be_kept_are_read_where_they_lie(tmp_path: Path) -> None:
    many = range(150_000)
    columns = {name: pa.array([value] * len(many), FLAT.field(name).type) for name, value in ROW.items()}
    columns |= {name: pa.nulls(len(many), FLAT.field(name).type) for name in set(FLAT.names) - set(ROW)}
    columns["submission_id"] = pa.array(many)
    columns["file_name"] = pa.array([f"{number * 7919:040x}" for number in many], pa.large_string())
    columns["score"] = pa.array([1e-3 + number for number in many])
    pq.write_table(pa.table(columns, schema=FLAT), tmp_path / "spring_submissions.parquet")
    settings = Settings(source=str(tmp_path), cache=tmp_path / "cache", memory_limit="40MB")
    engine = kbdash.connect(settings=settings)
    for _ in range(3):
        for ask in (engine.leaderboard, engine.summary, engine.distribution, engine.ecdf):
            assert len(ask("fft")) > 0
    assert kept(engine) == set()
    assert engine.summary("fft")["rows"].tolist() == [150_000]
    engine.close()


def test_copies_are_dropped_once_they_exceed_their_bound(tmp_path: Path) -> None:
    write_flat([ROW | {"submission_id": number} for number in range(50)], tmp_path / "spring_submissions.parquet")
    engine = kbdash.connect(settings=Settings(source=str(tmp_path), cache=tmp_path / "cache", query_seconds=120.0))
    engine._database._materialiser._share = 0
    for ask in (engine.leaderboard, engine.summary, engine.distribution, engine.ecdf):
        assert len(ask("fft")) > 0
    assert kept(engine) == set()
    assert engine.summary("fft")["rows"].tolist() == [50]
    engine.close()


def test_many_rows_are_kept_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialising, "_SLICE_ROWS", 100)
    write_flat(
        [ROW | {"submission_id": number, "score": 1e-3 + number} for number in range(250)],
        tmp_path / "spring_submissions.parquet",
    )
    engine = kbdash.connect(settings=Settings(source=str(tmp_path), cache=tmp_path / "cache"))
    everything = "from submissions order by file_row"
    before = engine.sql(everything)
    for ask in (engine.leaderboard, engine.summary, engine.distribution):
        ask("fft")
    assert kept(engine) == {"spring"}
    assert engine.sql(everything).equals(before)
    assert len(before) == 250
    engine.close()


def test_kept_rows_give_the_same_answers(kb: KernelBot, sample_folder: Path, tmp_path: Path) -> None:
    folder = part_of(sample_folder, tmp_path / "dataset", NVFP4, LEGACY, "pmpp_v2_submissions.parquet")
    fresh = kbdash.connect(settings=Settings(source=str(folder), cache=tmp_path))
    for problem in ("nvfp4_gemm", "vectoradd_v2", "amd-fp8-mm"):
        first = fresh.leaderboard(problem)
        for ask in (fresh.summary, fresh.records, fresh.distribution, fresh.status_over_time):
            ask(problem)
        kept(fresh)
        assert fresh.leaderboard(problem).equals(first)
        assert kb.leaderboard(problem).equals(first)
    assert {"nvfp4", "pmpp-v2", "amd-mi300"} <= kept(fresh)
    fresh.close()


def test_a_damaged_column_does_not_spoil_the_others(tmp_path: Path) -> None:
    path = tmp_path / "spring_submissions.parquet"
    write_flat([ROW | {"submission_id": number, "file_name": f"{number}.py"} for number in range(500)], path)
    column = next(
        chunk for chunk in (pq.ParquetFile(path).metadata.row_group(0).column(i) for i in range(99))
        if chunk.path_in_schema == "file_name"
    )  # fmt: skip
    begin = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[begin : begin + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
    engine = kbdash.connect(settings=Settings(source=str(tmp_path), cache=tmp_path / "cache"))
    for _ in range(2):
        assert len(engine.leaderboard("fft")) == 1
        assert engine.summary("fft")["rows"].tolist() == [500]
        assert len(engine.records("fft")) == 1
    with pytest.raises(CorruptData):
        engine.submissions("fft", text="1.py")
    engine.close()


def test_a_file_cannot_take_a_name_of_ours(tmp_path: Path) -> None:
    names = (EMPTY, ALL_LINKABLE, "ladder", "about", "mcp", "media")
    for name in names:
        write_flat([ROW | {"problem_name": f"fft of {name}"}], tmp_path / f"{name}.parquet")
    engine = kbdash.connect(settings=Settings(source=str(tmp_path), cache=tmp_path / "cache"))
    assert {competition.slug for competition in engine.competitions} == {f"{name}-file" for name in names}
    for name in names:
        assert len(engine.leaderboard(f"fft of {name}", competition=f"{name}-file")) == 1, name
        assert engine.leaderboard(f"fft of {name}", until="2000-01-01").empty, name
    engine.close()


def test_the_same_code_is_found_although_one_file_fails(remote: tuple[KernelBot, LoopbackHub], kb: KernelBot) -> None:
    engine, hub = remote
    here, there = (kb.submission(int(kb.leaderboard(name)["submission_id"].iloc[0]), competition=slug)
                   for name, slug in (("trimul", "trimul"), ("nvfp4_gemm", "nvfp4")))  # fmt: skip
    # The id of a text of that file, or its footer would already tell that the text cannot be there.
    one = replace(here, code_id=there.code_id)
    expected = kb.same_code_elsewhere(one)
    assert "nvfp4" in set(expected["competition"])
    hub.faults.fail(404, f"*{NVFP4}")
    found = engine.same_code_elsewhere(one)
    assert found.equals(expected[expected["competition"] != "nvfp4"].reset_index(drop=True))
    assert set(engine.unavailable) == {"nvfp4"}


def test_a_question_that_lacks_memory_waits_for_the_copy_and_sets_no_file_aside(tmp_path: Path) -> None:
    rows = [ROW | {"submission_id": number, "user_id": f"{number * 7919:040x}"} for number in range(3_000)]
    write_flat(rows, tmp_path / "spring_submissions.parquet")
    settings = Settings(source=str(tmp_path), cache=tmp_path / "cache", memory_limit="40MB", query_seconds=120.0)
    engine = kbdash.connect(settings=settings)
    copying = engine._database._materialiser._idle
    engine.problem_names("spring")
    fill(engine._database._asker.run, 37e6)
    copying.clear()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(engine.leaderboard, "fft")
        with pytest.raises(TimeoutError):
            asked.result(1.0)
        copying.set()
        with pytest.raises(DataUnavailable, match="needs more memory"):
            asked.result()
    assert engine.unavailable == {}
    engine.close()


def test_a_lack_of_memory_never_sticks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is not to blame: it is neither set aside nor opened again, and once there is memory all is as before."""
    write_flat([ROW | {"submission_id": number} for number in range(5)], tmp_path / "spring_submissions.parquet")
    engine = kbdash.connect(settings=Settings(source=str(tmp_path), cache=tmp_path / "cache", query_seconds=120.0))
    before, opened = engine.summary("fft"), engine._database._attachments.generation("spring")

    def lacking(*_: object, **__: object) -> pd.DataFrame:
        raise explained(duckdb.OutOfMemoryException("could not allocate block"))

    with monkeypatch.context() as patch:
        patch.setattr(engine._database._asker, "run", lacking)
        for _ in range(3):
            with pytest.raises(DataUnavailable, match="needs more memory"):
                engine.summary("fft")
    assert engine.unavailable == {}
    assert engine._database._attachments.generation("spring") == opened
    assert engine.summary("fft").equals(before)
    engine.close()


def fill(run: Callable[[str], pd.DataFrame], most: float) -> None:
    """Take that many bytes of the memory that DuckDB may have."""
    run("create table ballast (x double)")
    while run("select sum(memory_usage_bytes) from duckdb_memory()").iloc[0, 0] < most:
        run("insert into ballast select random() from range(50_000)")
