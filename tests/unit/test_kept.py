"""Rows that are kept in memory: when, what it costs, and what happens when they cannot be."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.errors import CorruptData
from kbdash.views import LINKABLE, NOTHING
from tests.hub import LoopbackHub
from tests.unit.tables import write_flat

NVFP4 = "nvidia_nvfp4_submissions.parquet"
ROW = {"submission_id": 1, "leaderboard_id": 9000, "problem_name": "fft", "user_id": "7", "score": 1e-3,
       "passed": True, "mode": "leaderboard", "runner": "GB300", "code": "x"}  # fmt: skip


@pytest.fixture
def remote(sample_folder: Path, tmp_path: Path) -> Iterator[tuple[KernelBot, LoopbackHub]]:
    """An engine over the sample on a Hub."""
    with LoopbackHub(sample_folder) as hub:
        engine = kbdash.connect(settings=Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path))
        yield engine, hub
        engine.close()


def kept(engine: KernelBot) -> set[str]:
    return set(
        engine._database._run("select table_name from duckdb_tables() where database_name = 'kept'", {}).iloc[:, 0]
    )


def test_from_the_third_question_on_a_file_is_not_asked_again(remote: tuple[KernelBot, LoopbackHub]) -> None:
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


def test_kept_rows_give_the_same_answers(kb: KernelBot, sample_folder: Path, tmp_path: Path) -> None:
    fresh = kbdash.connect(settings=Settings(source=str(sample_folder), cache=tmp_path))
    for problem in ("nvfp4_gemm", "vectoradd_v2", "amd-fp8-mm"):
        first = fresh.leaderboard(problem)
        for ask in (fresh.summary, fresh.records, fresh.distribution, fresh.status_over_time):
            ask(problem)
        assert fresh.leaderboard(problem).equals(first)
        assert kb.leaderboard(problem).equals(first)
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


@pytest.mark.parametrize("name", [NOTHING, LINKABLE, "ladder", "about"])
def test_a_file_cannot_take_a_name_of_ours(tmp_path: Path, name: str) -> None:
    write_flat([ROW], tmp_path / f"{name}.parquet")
    engine = kbdash.connect(settings=Settings(source=str(tmp_path), cache=tmp_path / "cache"))
    assert [competition.slug for competition in engine.competitions] == [f"{name}-file"]
    assert len(engine.leaderboard("fft")) == 1
    assert engine.leaderboard("fft", until="2000-01-01").empty
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
