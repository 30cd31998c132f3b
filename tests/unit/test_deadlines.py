"""The clock on the wall: a question ends in time whatever the Hub does, and nobody waits for another's file."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.cache import SharedCache
from kbdash.database import attaching, workers
from kbdash.database.connection import Database
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.model import DataFile
from kbdash.dataset.source import open_source
from kbdash.deadline import acquired, current, reading
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable, KbdashError, UnknownProblem
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.unit.tables import LEGACY, NVFP4, TRIMUL
from tests.unit.waking import Waking

FILES = (NVFP4, TRIMUL, LEGACY)
LIMIT = 3.0
Break = Callable[[LoopbackHub], None]
SLOW: Mapping[str, Break] = {
    "silent": lambda hub: hub.faults.hang(f"*{NVFP4}"),
    "silent in the middle": lambda hub: hub.faults.silent_after(100, f"/cdn/*{NVFP4}"),
    "trickling": lambda hub: hub.faults.trickle(f"/cdn/*{NVFP4}", byte_every=0.01),
}


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of three competitions."""
    return part_of(sample_folder, tmp_path_factory.mktemp("dataset"), *FILES)


@pytest.fixture
def hub(folder: Path) -> Iterator[LoopbackHub]:
    """A Hub with that dataset."""
    with LoopbackHub(folder) as hub:
        yield hub


@pytest.fixture
def engine(settings: Settings) -> Iterator[KernelBot]:
    """An engine with a short limit and every file open."""
    engine = kbdash.connect(settings=replace(settings, query_seconds=LIMIT))
    engine._database.wait_until_opened(60.0)
    yield engine
    engine.close()


def failed_after(ask: Callable[[], object]) -> float:
    """Seconds until the question failed, with the name of the file that is to blame."""
    start = time.monotonic()
    with pytest.raises(DataUnavailable, match=NVFP4):
        ask()
    return time.monotonic() - start


@pytest.mark.parametrize("fault", SLOW.values(), ids=SLOW)
def test_a_file_that_stalls_while_answering(engine: KernelBot, hub: LoopbackHub, kb: KernelBot, fault: Break) -> None:
    """Its own questions end in time, also those that wait for each other, and it heals."""
    fault(hub)
    with ThreadPoolExecutor(4) as pool, Waking() as waking:
        asked = [
            pool.submit(failed_after, lambda: engine.leaderboard("nvfp4_gemm")),
            pool.submit(failed_after, lambda: engine.leaderboard("nvfp4_dual_gemm")),
            pool.submit(failed_after, lambda: engine.summary("nvfp4_gemm")),
        ]
        assert max(question.result() for question in asked) <= waking.end_of(LIMIT)
    hub.faults.clear()
    assert engine.leaderboard("nvfp4_gemm").equals(kb.leaderboard("nvfp4_gemm"))


def test_a_stalled_question_holds_up_no_other(settings: Settings, hub: LoopbackHub, kb: KernelBot) -> None:
    """Neither one about the same file whose columns are here already, nor one about another competition."""
    engine = kbdash.connect(settings=replace(settings, query_seconds=60.0))
    engine._database.wait_until_opened(60.0)
    known = engine.leaderboard("nvfp4_gemm")
    hub.counts.reset()
    hub.faults.hang(f"*{NVFP4}")
    with ThreadPoolExecutor(1) as pool:
        stalled = pool.submit(engine.submissions, "nvfp4_gemm", text="a")
        while not hub.counts[NVFP4].requests:
            time.sleep(0.01)
        assert engine.leaderboard("nvfp4_gemm").equals(known)
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))
        assert not stalled.done(), "both answers came while it waits"
        hub.faults.clear()
        assert stalled.result().total == kb.submissions("nvfp4_gemm", text="a").total
    engine.close()


def test_who_waits_gets_the_failure_of_who_asked(engine: KernelBot, hub: LoopbackHub) -> None:
    """The second asks when most of the first one's time is over, and does not begin anew."""
    hub.faults.hang(f"*{NVFP4}")
    with ThreadPoolExecutor(2) as pool, Waking() as waking:
        first = pool.submit(failed_after, lambda: engine.leaderboard("nvfp4_gemm"))
        time.sleep(LIMIT * 0.7)
        second = pool.submit(failed_after, lambda: engine.leaderboard("nvfp4_dual_gemm"))
        assert first.result() <= waking.end_of(LIMIT)
        assert second.result() < LIMIT * 0.7


def test_everything_that_belongs_to_a_question_has_one_deadline(engine: KernelBot, hub: LoopbackHub) -> None:
    """A name is looked for in all files at once, code takes several reads, SQL a snapshot and then its own run."""
    first = engine.leaderboard("trimul").iloc[0]
    submission = engine.submission(int(first["submission_id"]), str(first["runner"]), "trimul")
    hub.faults.hang("*.parquet")

    def seconds(ask: Callable[[], object]) -> float:
        start = time.monotonic()
        with suppress(KbdashError):
            ask()
        return time.monotonic() - start

    asked = {
        "find": lambda: engine.find("no such board"),
        "code": lambda: engine.text_of(submission),
        "sql": lambda: engine.sql("from submissions"),
        "user": lambda: engine.user("nobody"),
    }
    with ThreadPoolExecutor(len(asked)) as pool, Waking() as waking:
        took = dict(zip(asked, pool.map(seconds, asked.values()), strict=True))
    assert {name: took[name] for name in took if took[name] > waking.end_of(LIMIT)} == {}


def test_whoever_works_for_a_question_has_its_deadline() -> None:
    """Also in other threads, and nobody waits longer than that for a lock or for what another one makes."""
    many = 3 * workers.AT_ONCE
    begin = threading.Barrier(many)  # all at once: a silent file holds up no other one
    with reading(60.0) as mine:
        flights = workers.in_parallel([lambda: (begin.wait(30), current()) for _ in range(many)])
    assert {flight.result()[1].expires for flight in flights} == {mine.expires}
    cache: SharedCache[str, int] = SharedCache(1, lambda _: 1)
    busy, over = threading.Lock(), threading.Event()

    def make() -> int:
        with acquired(busy):
            begun.set()
            over.wait(30)
        return 1

    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(cache.get, "key", make)
        assert begun.wait(30)
        with reading(0.05):
            for wait in (lambda: cache.get("key", lambda: 2), lambda: acquired(busy).__enter__()):
                with pytest.raises(DataUnavailable, match="another reader is fetching did not arrive in time"):
                    wait()
        over.set()
        assert made.result() == 1


def test_the_start_waits_for_no_file(hub: LoopbackHub, settings: Settings, kb: KernelBot) -> None:
    hub.faults.hang(f"*{NVFP4}")
    engine = kbdash.connect(settings=replace(settings, hub_seconds=LIMIT))
    assert engine.unavailable == {}, "not known yet"
    assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))
    [nvfp4] = [item for item in engine._database.competitions() if item.competition.slug == "nvfp4"]
    assert not nvfp4.opened, "the other one answered while this was being opened"
    with Waking() as waking:
        assert failed_after(lambda: engine.leaderboard("nvfp4_gemm")) <= waking.end_of(LIMIT)
    assert set(engine.unavailable) == {"nvfp4"}
    engine.close()


def test_a_busy_machine_is_not_taken_for_a_silent_hub(settings: Settings) -> None:
    """Opening may take longer than a server may be silent, as long as the bytes come: nothing is left out."""
    hurried = replace(settings, hub_seconds=1.0)

    def look_slowly(_: DataFile) -> None:
        time.sleep(1.5 * hurried.hub_seconds)

    source = open_source(settings)
    database = Database(source, hurried, look_slowly)
    database.wait_until_opened()
    assert {item.competition.slug: item.reason for item in database.competitions() if item.reason} == {}
    assert len(database.competitions()) == len(FILES)
    database.close()
    source.close()


def test_looking_at_what_is_there_asks_nobody(hub: LoopbackHub, settings: Settings) -> None:
    hub.faults.hang("*.parquet")
    engine = kbdash.connect(settings=replace(settings, hub_seconds=LIMIT))
    start = time.monotonic()
    for _ in range(100):
        assert len(engine.competitions) == len(FILES)
        assert len(engine.readable()) == len(FILES)
    assert time.monotonic() - start < LIMIT / 2
    engine.close()


def test_a_property_sends_no_request(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed file is retried by the next question, not by whoever looks at what there is."""
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path))
    engine._database.wait_until_opened(60.0)
    attachments, opened = engine._database._attachments, []
    monkeypatch.setattr(attaching, "RETRY_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(attachments, "_flight", lambda entry, **_: opened.append(entry.item.competition.slug))
    engine.mark_unavailable("trimul", DataUnavailable("It failed."))
    assert list(engine.unavailable) == ["trimul"]
    assert len(engine.competitions) == len(FILES)
    assert opened == []
    engine.retry_unavailable()
    with pytest.raises(DataUnavailable, match="It failed"):
        engine.leaderboard("trimul")
    assert opened[:2] == ["trimul", "trimul"], "asked for, and by a question"
    engine.close()


def test_explaining_an_error_asks_no_other_file(engine: KernelBot, hub: LoopbackHub) -> None:
    hub.counts.reset()
    with pytest.raises(UnknownProblem, match="no problem nvfp4_gem in trimul") as failure:
        engine.find("nvfp4_gem", "trimul")
    assert "nvfp4_gemm" in failure.value.advice
    assert set(hub.counts.files) <= {TRIMUL}


def test_after_close_it_says_so(engine: KernelBot) -> None:
    engine.leaderboard("trimul")
    engine.close()
    for ask in (lambda: engine.leaderboard("trimul"), lambda: engine.sql("select 1"), lambda: engine.summary("trimul")):
        with pytest.raises(DataUnavailable, match="was closed"):
            ask()


def test_corrupt_bytes_are_fetched_anew_within_the_question(engine: KernelBot, hub: LoopbackHub, kb: KernelBot) -> None:
    hub.faults.corrupt(f"/cdn/*{TRIMUL}", times=1)
    assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))
    assert "trimul" not in engine.unavailable


def test_a_file_that_is_corrupt_once_while_it_is_opened_is_not_set_aside(sample_folder: Path, tmp_path: Path) -> None:
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", TRIMUL)) as hub:
        hub.faults.corrupt(f"/cdn/*{TRIMUL}", times=2)  # both halves of the end
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path / "cache", hub_seconds=30.0)
        engine = kbdash.connect(settings=settings)
        assert len(engine.frame("problem_names", competition="trimul")) == 1
        assert engine.unavailable == {}
        engine.close()


def test_corrupt_bytes_that_stay_are_told_and_heal(
    engine: KernelBot, hub: LoopbackHub, kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.faults.corrupt(f"/cdn/*{TRIMUL}")
    for _ in range(2):
        with pytest.raises(DataUnavailable, match=TRIMUL):
            engine.leaderboard("trimul")
    assert engine.leaderboard("nvfp4_gemm").equals(kb.leaderboard("nvfp4_gemm"))
    hub.faults.clear()
    monkeypatch.setattr(attaching, "RETRY_AFTER_SECONDS", 0.0)
    end = time.monotonic() + 30
    while engine.unavailable and time.monotonic() < end:
        engine.retry_unavailable()
        time.sleep(0.05)
    assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))


def test_a_file_changed_in_its_folder_is_opened_again(sample_folder: Path, tmp_path: Path) -> None:
    """Also when its rows were copied already, and whichever question comes first."""
    table = pq.read_table(sample_folder / TRIMUL)
    pq.write_table(table, tmp_path / TRIMUL)
    engine = kbdash.connect(tmp_path, settings=Settings(cache=tmp_path / "cache"))
    for rows in (len(table), 300, 200):
        pq.write_table(table.slice(len(table) - rows), tmp_path / "new")
        (tmp_path / "new").replace(tmp_path / TRIMUL)
        assert engine.sql("select count(*) as n from submissions")["n"].tolist() == [rows]
        for ask in (engine.summary, engine.leaderboard, engine.ecdf, engine.records):
            ask("trimul")
        assert engine._database._materialiser.wait(30.0)
        assert engine.submissions("trimul").total == rows
        assert engine.sql("select count(*) as n from submissions")["n"].tolist() == [rows]
    (tmp_path / TRIMUL).unlink()
    with pytest.raises(DataUnavailable, match="no longer there"):
        engine.leaderboard("trimul")
    engine.close()


def test_questions_go_on_while_files_are_opened_and_rows_copied(sample_folder: Path, tmp_path: Path) -> None:
    """Many threads, all questions for the first time: nothing is iterated while it grows, nothing deadlocks."""
    engine = kbdash.connect(sample_folder, settings=Settings(cache=tmp_path, query_seconds=120.0))
    boards = ("trimul", "fp8_quant", "nvfp4_gemm", "amd-fp8-mm", "vectoradd_v2")
    begin = threading.Barrier(10)

    def ask(number: int) -> int:
        begin.wait()
        problem = boards[number % len(boards)]
        return sum(
            len(question(problem)) for question in (engine.leaderboard, engine.summary, engine.records, engine.ecdf)
        )

    with ThreadPoolExecutor(10) as pool:
        counts = list(pool.map(ask, range(10)))
    assert counts[:5] == counts[5:]
    engine.close()


def test_the_process_ends_in_order_while_files_are_read_and_rows_copied(hub: LoopbackHub, tmp_path: Path) -> None:
    """A thread that came back from DuckDB after the end of Python would abort the process."""
    hub.faults.hang(f"*{NVFP4}")
    script = (
        "import sys, threading, time, kbdash; from pathlib import Path; from kbdash.dataset.config import Settings\n"
        "kb = kbdash.connect(settings=Settings(source=sys.argv[1], endpoint=sys.argv[2], cache=Path(sys.argv[3])))\n"
        "slow = 'select count(*) from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 3'\n"
        "threading.Thread(target=kb._database._asker.run, args=(slow,), daemon=True).start()\n"
        "kb.leaderboard('trimul'); time.sleep(0.5); print('the end')"
    )
    begin = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-c", script, DATASET, hub.endpoint, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "the end\n"), run.stderr
    assert time.monotonic() - begin < 60


def test_the_process_ends_in_order_when_a_setting_is_refused(sample_cache: Path) -> None:
    """The connection is still made ready then, in a thread of its own."""
    run = subprocess.run(
        [sys.executable, "-m", "kbdash", "top", "trimul"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "KBDASH_SOURCE": "sample",
             "KBDASH_CACHE": str(sample_cache), "KBDASH_CONTENT": "/no/such/folder"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (3, ""), run.stderr
    assert run.stderr.splitlines()[0].startswith("KBDASH_CONTENT is /no/such/folder, which is neither")
    assert len(run.stderr.splitlines()) == 1


ZONED = """
import sys, kbdash
from pathlib import Path
from kbdash.api.tables import csv, json_bytes, rows, table
from kbdash.csv import csv_text
from kbdash.database.questions.boards import LEADERBOARD
from kbdash.dataset.config import Settings
kb = kbdash.connect(sys.argv[1], settings=Settings(cache=Path(sys.argv[2])))
for problem in ("trimul", "amd-fp8-mm"):
    days = sorted({str(at)[:10] for at in kb.leaderboard(problem)["submitted_at"]})
    for day in days[len(days) // 3 :: max(1, len(days) // 3)][:2]:
        for board in (kb.leaderboard(problem, until=day), kb.leaderboard(problem, since=day)):
            print(problem, day, csv_text(board))
    exported = table(kb.leaderboard(problem), LEADERBOARD.columns, sample=True)
    print(csv(exported).decode(), json_bytes(rows(exported)).decode(), csv_text(kb.status_over_time(problem)))
print(csv_text(kb.sql("select current_setting('TimeZone') as zone, max(submitted_at) as last from submissions")))
"""


def test_answers_and_exports_are_the_same_in_every_time_zone(folder: Path, tmp_path: Path) -> None:
    """Side by side, each process with the clock of its own place: one where days begin before UTC, one after it."""
    part_of(folder, tmp_path / "dataset", TRIMUL, LEGACY)
    command = [sys.executable, "-c", ZONED, str(tmp_path / "dataset")]
    running = [
        subprocess.Popen(
            [*command, str(tmp_path / zone)],
            env={**os.environ, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE, text=True,
        )
        for zone in ("Asia/Tokyo", "America/Los_Angeles")
    ]  # fmt: skip
    east, west = [process.communicate(timeout=300)[0] for process in running]
    assert len(east.splitlines()) > 50
    assert "UTC,20" in east
    assert east == west
