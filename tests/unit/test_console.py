"""What readers type runs in a process of its own: bounded in memory, time and rows, without token or files."""

import resource
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import kbdash
from kbdash.database.console import Bounds, Snapshots, snapshot
from kbdash.database.console.asking import ADDRESS_SPACE, MOST_ROWS, Console
from kbdash.dataset.config import DATASET, Settings
from kbdash.deadline import reading
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable, QueryRefused, QueryTimeout
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.unit.tables import LEGACY, TRIMUL

MEGABYTE = 1 << 20
# Computes for hours in little memory: otherwise a fast machine would run out of memory before the time is up.
ENDLESS = "select count(*) from range(1000000) a(i), range(1000000) b(j) where (i * j) % 7 = 3"


@pytest.fixture(scope="module")
def console(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    settings = Settings(cache=tmp_path_factory.mktemp("console"), query_seconds=25.0)
    engine = kbdash.connect(sample_folder, settings=settings)
    engine.sql("select 1")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small files, for tests that need an engine of their own: it opens in a third of the time of all."""
    names = (TRIMUL, "helion_b200_nebius_submissions.parquet")
    return part_of(sample_folder, tmp_path_factory.mktemp("dataset"), *names)


@pytest.fixture
def hub(folder: Path) -> Iterator[LoopbackHub]:
    """A Hub with them."""
    with LoopbackHub(folder) as hub:
        yield hub


@pytest.mark.parametrize(
    "statement",
    [
        "select list_transform(range(4000000), x -> repeat('a', 1000))",
        "select repeat('a', 2000000000)",
        "select list_aggregate(list_transform(range(1000000000), x -> x * 2), 'sum')",
        "select string_agg(repeat('x', 10000000), '') from range(100000)",
        "select strlen(repeat('a', 1200000000))",
    ],
)
def test_memory_inside_functions_is_bounded_and_not_ours(console: KernelBot, statement: str) -> None:
    before = _resident()
    # The last one would have an answer, had the operating system no limit; the first may run out of time instead.
    with pytest.raises(QueryTimeout, match="memory" if "strlen" in statement else None):
        console.sql(statement)
    assert _resident() - before < 300 * MEGABYTE
    assert console.sql("select 42 as a")["a"].tolist() == [42]


def test_what_cannot_be_interrupted_is_killed_at_the_deadline(folder: Path, tmp_path: Path) -> None:
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path, query_seconds=1.0))
    with reading(60.0):
        engine._database._snapshot(with_shapes=False)
    started = time.monotonic()
    with pytest.raises(QueryTimeout, match="too long"):
        engine.sql("select list_sum(list_transform(range(4000000), x -> length(md5(md5(md5(x::varchar))))))")
    assert time.monotonic() - started < 10
    engine.close()


def test_one_statement_can_be_given_less_time_than_the_others(console: KernelBot) -> None:
    started = time.monotonic()
    with pytest.raises(QueryTimeout, match="too long"):
        console.sql(ENDLESS, bounds=Bounds(seconds=0.7))
    assert time.monotonic() - started < 10


def test_rows_are_cut_and_that_is_told(console: KernelBot) -> None:
    cut = console.sql("from range(60000000)", rows=1234)
    assert len(cut) == 1234
    assert cut.attrs["truncated"] is True
    whole = console.sql("from range(1234)", rows=1234)
    assert len(whole) == 1234
    assert whole.attrs["truncated"] is False


def test_an_answer_of_many_bytes_is_cut(console: KernelBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbdash.database.console.asking.MOST_BYTES", 50 * MEGABYTE)
    cut = console.sql("select repeat('a', 1000) as text from range(200000)")
    assert cut.attrs["truncated"] is True
    assert 50 * MEGABYTE < cut["text"].str.len().sum() < 60 * MEGABYTE


@pytest.mark.parametrize("row", [5, 500_000])
def test_a_failing_row_is_explained_wherever_it_is(console: KernelBot, row: int) -> None:
    """Also after the first rows were written: then the error does not come from DuckDB but through Arrow."""
    with pytest.raises(QueryRefused, match="Could not convert string 'x'"):
        console.sql(f"select cast(if(i = {row}, 'x', '1') as int) as number from range(1000000) as rows(i)")


def test_memory_that_runs_out_in_the_middle_is_called_so(console: KernelBot) -> None:
    with pytest.raises(QueryTimeout, match="more memory than allowed"):
        console.sql("select repeat('a', if(i < 500000, 1, 1000000000)) as text from range(1000000) as rows(i)")


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("pivot submissions on mode in ('leaderboard', 'test') using count(*) group by competition", 7),
    ],
)
def test_pivot_is_allowed(console: KernelBot, statement: str, rows: int) -> None:
    assert len(console.sql(statement)) == rows


@pytest.mark.parametrize(
    "statement",
    [
        "pivot (from read_text('/etc/passwd')) on content using count(*)",
        "pivot (from read_csv('/etc/passwd')) on column0 using count(*)",
        "pivot (from duckdb_settings()) on name using first(value)",
        "pivot submissions on mode using count(*); drop view submissions",
        "pivot '/etc/passwd' on a using count(*)",
        "create type mood as enum ('a'); select 1",
    ],
)
def test_pivot_opens_no_door(console: KernelBot, statement: str) -> None:
    with pytest.raises(QueryRefused):
        console.sql(statement)


def test_the_process_has_neither_token_nor_proxy(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_" + "secret" * 5)
    monkeypatch.setenv("HTTPS_PROXY", "http://user:password@proxy.invalid:1")
    engine = kbdash.connect(settings=patient(hub, tmp_path))
    engine.sql("select 1")
    console = engine._database._console
    console._prepare()
    worker = console._ready
    assert worker is not None
    environment = Path(f"/proc/{worker.pid}/environ").read_text()
    assert "PATH=" in environment
    assert not [name for name in ("HF_TOKEN", "PROXY", "secret", "password") if name in environment]
    engine.close()
    assert worker.poll() is not None


@pytest.fixture
def unguarded(tmp_path: Path) -> Iterator[tuple[Console, Path]]:
    """The process alone, over a file without rows: nobody has looked at what it is asked to run."""
    path = tmp_path / "rows.duckdb"
    duckdb.connect(path).close()
    alone = Console(30.0, "123MB")
    yield alone, path
    alone.close()


def test_the_process_locks_itself(unguarded: tuple[Console, Path]) -> None:
    console, path = unguarded
    found = console.ask("select name, value from duckdb_settings()", path).table.to_pydict()
    settings = dict(zip(found["name"], found["value"], strict=True))
    locked = ("allow_persistent_secrets", "autoinstall_known_extensions", "autoload_known_extensions",
              "enable_external_access", "python_enable_replacements")  # fmt: skip
    assert {name: settings[name] for name in locked} == dict.fromkeys(locked, "false")
    assert (settings["lock_configuration"], settings["threads"], settings["temp_directory"]) == ("true", "1", "")
    assert settings["memory_limit"] == "117.3 MiB"
    for statement in ("from read_text('/etc/passwd')", f"copy (select 1) to '{path}.csv'", "set memory_limit = '9GB'"):
        with pytest.raises(QueryRefused):
            console.ask(statement, path)
    assert not Path(f"{path}.csv").exists()


def test_the_operating_system_bounds_the_process(unguarded: tuple[Console, Path]) -> None:
    """Also if the server that would end it at the deadline is gone."""
    console, path = unguarded
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))  # or there is nothing for the process to lower
    try:
        console._prepare()
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    worker = console._ready
    assert worker is not None
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(console.ask, ENDLESS, path)
        bounded = {"Max address space": ADDRESS_SPACE, "Max cpu time": 31, "Max file size": 0, "Max core file size": 0}
        limits: dict[str, int] = {}
        end = time.monotonic() + 20
        while limits != bounded and time.monotonic() < end:
            time.sleep(0.01)
            told = Path(f"/proc/{worker.pid}/limits").read_text().splitlines()
            soft = {line[:26].strip(): line[26:].split()[0] for line in told}
            limits = {name: int(soft[name]) for name in bounded if soft[name].isdigit()}
        worker.kill()
        with pytest.raises(QueryTimeout, match="too long"):
            asked.result()
    assert limits == bounded


def test_the_process_is_killed_at_the_deadline(unguarded: tuple[Console, Path]) -> None:
    """Its own limit on processor time comes later: it is for a process that nobody waits for any more."""
    console, path = unguarded
    console._prepare()
    worker = console._ready
    assert worker is not None
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with pytest.raises(QueryTimeout, match="too long"):
        console.ask(ENDLESS, path, Bounds(seconds=0.5))
    assert worker.returncode == -signal.SIGKILL
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 1.8


def test_the_third_statement_waits_for_one_of_two_and_is_told_so(unguarded: tuple[Console, Path]) -> None:
    console, path = unguarded
    for _ in range(2):
        assert console._slots.acquire(blocking=False)
    with pytest.raises(QueryTimeout, match="kept the SQL console busy"):
        console.ask("select 1", path, Bounds(seconds=0.1))
    console._slots.release()
    for _ in range(2):  # and gives its place back
        assert console.ask("select 1 as one", path).table.to_pydict() == {"one": [1]}


def test_no_caller_gets_more_rows_than_the_most(
    unguarded: tuple[Console, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, path = unguarded
    monkeypatch.setattr("kbdash.database.console.asking.MOST_ROWS", 3000)
    answer = console.ask("from range(5000)", path, Bounds(rows=MOST_ROWS))
    assert (answer.table.num_rows, answer.truncated) == (3000, True)
    monkeypatch.setattr("kbdash.database.console.asking.MOST_BYTES", 8)
    answer = console.ask("from range(5000)", path, Bounds(size=1 << 30))
    assert (answer.table.num_rows < 3000, answer.truncated) == (True, True)


def test_rows_come_from_the_snapshot_and_not_from_the_hub(hub: LoopbackHub, tmp_path: Path) -> None:
    settings = patient(hub, tmp_path)
    engine = kbdash.connect(settings=settings)
    count = "select count(*) as n from submissions"
    first = engine.sql(count)["n"][0]
    hub.reset()
    assert engine.sql(count)["n"][0] == first
    assert hub.counts.requests == 0
    engine.close()
    again = kbdash.connect(settings=settings)
    again._database.wait_until_opened()
    hub.reset()
    assert again.sql(count)["n"][0] == first
    assert hub.counts.requests == 0, "a snapshot of the same files is found again"
    again.close()


def test_every_row_is_in_the_snapshot(console: KernelBot) -> None:
    told = console.problems()
    counted = console.sql("select problem, runner, count(*) as rows from submissions group by all")
    assert told.groupby("problem")["rows"].sum().to_dict() == counted.groupby("problem")["rows"].sum().to_dict()


def test_a_cache_folder_that_cannot_be_written_is_no_hindrance(folder: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    engine = kbdash.connect(folder, settings=Settings(cache=blocked))
    assert len(engine.sql("from submissions limit 3")) == 3
    engine.close()


def test_a_full_disk_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder can be written to, but the rows do not fit."""
    write = snapshot._write

    def full(tables: dict[str, pa.Table], path: Path) -> None:
        if path.is_relative_to(tmp_path / "cache"):
            raise duckdb.IOException("Could not write file: No space left on device")
        write(tables, path)

    monkeypatch.setattr(snapshot, "_write", full)
    snapshots = Snapshots(tmp_path / "cache")
    path = snapshots.of({}, lambda _: pa.table({}))
    assert path.exists()
    assert snapshots.of({}, lambda _: pa.table({})) == path
    snapshots.close()


def test_a_missing_competition_is_named_with_the_answer(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.faults.fail(503, "*/trimul_submissions.parquet")
    engine = kbdash.connect(settings=patient(hub, tmp_path))
    answer = engine.sql("select distinct competition from submissions")
    assert set(answer["competition"]) == {"helion"}
    assert "trimul" in answer.attrs["unavailable"]
    engine.close()


def test_a_snapshot_that_is_not_written_in_time_is_told_and_there_later(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing takes as long as a busy machine needs; the reader waits no longer than for any other question."""
    may_write, write = threading.Event(), snapshot._write
    monkeypatch.setattr(snapshot, "_write", lambda *args: may_write.wait(60) and write(*args))
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path))
    engine._database.wait_until_opened(60.0)
    with reading(0.5), pytest.raises(QueryTimeout, match="not written in time"):
        engine.sql("select 1")
    may_write.set()
    assert engine.sql("select count(*) > 0 as rows from submissions")["rows"].tolist() == [True]
    engine.close()


def test_a_file_that_has_not_arrived_is_named_and_none_at_all_is_an_error(hub: LoopbackHub, tmp_path: Path) -> None:
    settings = patient(hub, tmp_path)
    hub.faults.hang("*trimul_submissions.parquet")
    engine = kbdash.connect(settings=settings)
    others = [slug for slug in engine.readable() if slug != "trimul"]
    for slug in others:
        engine.problem_names(slug)
    ready, missing = engine._database._readable(time.monotonic())
    assert [item.competition.slug for item in ready] == others == ["helion"]
    assert missing == {"trimul": "trimul_submissions.parquet did not arrive in time."}
    engine.close()
    hub.faults.hang("*.parquet")
    engine = kbdash.connect(settings=replace(settings, cache=tmp_path / "other", query_seconds=1.0))
    with pytest.raises(DataUnavailable, match="No competition can be read now") as failure:
        engine.sql("select distinct competition from submissions")
    assert "trimul_submissions.parquet" in failure.value.advice
    engine.close()


def test_several_at_once_wait_their_turn(console: KernelBot) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: console.sql(f"select {n} as n")["n"][0], range(4)))
    assert answers == list(range(4))


def patient(hub: LoopbackHub, cache: Path) -> Settings:
    """Settings for a first statement on a busy machine: it opens every file, writes the snapshot, starts a process."""
    return Settings(source=DATASET, endpoint=hub.endpoint, cache=cache, hub_seconds=60.0, query_seconds=120.0)


def _resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_an_answer_of_several_batches_is_cut_at_its_last_row_and_not_before(console: KernelBot) -> None:
    cut = console.sql("from range(100000)", rows=70_000)
    assert (len(cut), cut.attrs["truncated"]) == (70_000, True)


def test_times_per_shape_are_there_however_the_table_is_written(sample_folder: Path, tmp_path: Path) -> None:
    """They are copied only for a statement that names the table, whose name SQL takes in any case."""
    engine = kbdash.connect(part_of(sample_folder, tmp_path, LEGACY), settings=Settings(cache=tmp_path / "cache"))
    rows = [engine.sql(f"select count(*) as n from {name}")["n"][0] for name in ("SHAPES", "shapes")]
    assert rows[0] == rows[1] > 0
    engine.close()


def test_a_value_that_pandas_cannot_hold_is_refused_with_advice(console: KernelBot) -> None:
    with pytest.raises(QueryRefused) as refused:
        console.sql("select '99999-01-01'::date as day")
    assert "Cast" in refused.value.advice
