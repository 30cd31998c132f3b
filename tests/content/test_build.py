"""Builds that are killed, stopped, started twice, or run out of disk."""

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kbdash.content.building import build as build_module
from kbdash.content.building.build import Build
from kbdash.content.building.disk import DiskFull
from kbdash.content.building.progress import ContentBusy, ContentStopped, Progress, WorkFolder
from kbdash.content.store.finished import find_store
from kbdash.content.store.layout import TABLES
from kbdash.errors import DataUnavailable
from tests.content.files import Made, MemoryFile, Sent, tables_of
from tests.content.worker import PART_BYTES, made, start

ROWS = 300
ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("KBDASH_KILLS", "20"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], float]:
    """The tables of a build that nobody disturbed, and the seconds it took in a process of its own."""
    root = tmp_path_factory.mktemp("whole")
    worker = start(ROWS, root)
    began = time.monotonic()
    assert worker.outcome(200) == ""
    seconds = time.monotonic() - began
    store = find_store(root, made(ROWS).order(root).file)
    assert store is not None
    return tables_of(store.folder), seconds


def test_a_build_that_is_killed_again_and_again_ends_in_the_same_store(
    whole: tuple[dict[str, object], float], tmp_path: Path
) -> None:
    tables, seconds = whole
    chance = random.Random(KILLS)
    order = made(ROWS).order(tmp_path, part_bytes=PART_BYTES)
    killed = 0
    while killed < KILLS:
        worker = start(ROWS, tmp_path)
        if not worker.ended(chance.uniform(0.0, seconds)):
            worker.process.kill()
            assert worker.ended(100)
            killed += 1
        if store := find_store(tmp_path, order.file):
            assert tables_of(store.folder) == tables
            shutil.rmtree(store.folder)  # it was done before its time: once more from the start
    Build(order).run()
    store = find_store(tmp_path, order.file)
    assert store is not None
    assert tables_of(store.folder) == tables
    for name in TABLES:
        assert (store.folder / f"{name}.parquet").stat().st_size > 0
    assert not (tmp_path / ".work" / store.folder.name).exists()


def test_what_was_read_before_a_stop_is_not_read_again(tmp_path: Path) -> None:
    order = made(ROWS).order(tmp_path, part_bytes=PART_BYTES)
    build = Build(order, lambda progress: build.stop.set() if progress.share > 0.5 else None)
    with pytest.raises(ContentStopped):
        build.run()
    state = build.work.progress()
    assert state is not None
    assert state.phase == "stopped"
    again = made(ROWS).order(tmp_path, part_bytes=PART_BYTES)
    seen: list[Progress] = []
    Build(again, seen.append).run()
    assert seen[0].bytes_before > 0.4 * seen[0].bytes
    assert seen[-1].phase == "done"
    size, seconds = build.work.latest_run()
    assert size == seen[-1].bytes - seen[0].bytes_before
    assert 0 < seconds < 60


def test_a_build_stops_when_somebody_asks_through_the_folder(tmp_path: Path) -> None:
    order = made(ROWS).order(tmp_path, part_bytes=PART_BYTES)
    other = WorkFolder(tmp_path, Build(order).work.finished.name)
    build = Build(order, lambda _: other.ask_to_stop())
    with pytest.raises(ContentStopped):
        build.run()
    other.ask_to_stop()  # nobody builds now, so nothing is to be stopped
    Build(order).run()
    assert find_store(tmp_path, order.file)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_terminated_process_says_that_it_was_stopped(tmp_path: Path, number: signal.Signals) -> None:
    worker = start(ROWS, tmp_path, until_stopped=True)
    assert worker.process.pid is not None
    os.kill(worker.process.pid, number)
    assert worker.outcome(100).startswith("ContentStopped ")
    assert worker.ended(100)


def test_two_builds_at_once(tmp_path: Path) -> None:
    order = made(200).order(tmp_path, part_bytes=PART_BYTES)
    entered, leave = threading.Event(), threading.Event()

    def hold(_: Progress) -> None:
        entered.set()
        leave.wait(60)

    first = threading.Thread(target=Build(order, hold).run)
    first.start()
    entered.wait(60)
    with pytest.raises(ContentBusy):
        Build(order).run()
    assert Build(order).work.busy()
    leave.set()
    first.join()
    assert find_store(tmp_path, order.file)
    assert not Build(order).work.busy()


def test_a_finished_store_is_not_built_again(tmp_path: Path) -> None:
    order = made(50).order(tmp_path)
    Build(order).run()
    source = order.bytes
    before = source.requests
    Build(order).run()
    assert source.requests == before


def test_a_store_that_lost_a_table_says_so_and_is_built_again(tmp_path: Path) -> None:
    order = made(50).order(tmp_path)
    Build(order).run()
    store = find_store(tmp_path, order.file)
    assert store is not None
    whole = tables_of(store.folder)
    (store.folder / "runs.parquet").unlink()
    with pytest.raises(DataUnavailable, match="a table is missing"):
        _ = store.size_bytes
    Build(order).run()
    assert tables_of(store.folder) == whole


def test_a_full_disk_is_named_and_leaves_no_store(tmp_path: Path) -> None:
    assert start(ROWS, tmp_path, largest_file=10_000).outcome(100).startswith("DiskFull ")
    order = made(ROWS).order(tmp_path, part_bytes=PART_BYTES)
    assert find_store(tmp_path, order.file) is None
    Build(order).run()
    assert find_store(tmp_path, order.file)


def test_too_little_room_is_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbdash.content.building.disk.needed_bytes", lambda _: 1 << 60)
    order = made(50).order(tmp_path)
    with pytest.raises(DiskFull, match="MB"):
        Build(order).run()
    assert order.bytes.bytes_read < 100_000


class Failing(MemoryFile):
    """A file that is out of reach after so many requests."""

    left = 20

    def _fetch(self, offset: int, length: int) -> bytes:
        self.left -= 1
        if self.left < 0:
            raise DataUnavailable("The Hub is down.", advice="Wait a little.")
        return super()._fetch(offset, length)


def test_a_hub_that_fails_in_the_middle_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module.ReadAhead.__init__, "__kwdefaults__", {"range_bytes": 4096, "ahead": 2})
    order = made(ROWS).order(tmp_path, part_bytes=PART_BYTES)
    data = order.bytes
    assert isinstance(data, MemoryFile)
    failing = Build(build_module.replace(order, bytes=Failing(data.data, data.version)))
    with pytest.raises(DataUnavailable, match="The Hub is down"):
        failing.run()
    state = failing.work.progress()
    assert state is not None
    assert (state.phase, "Wait a little" in state.error) == ("failed", True)
    assert state.rows_done > 0
    seen: list[Progress] = []
    Build(order, seen.append).run()
    assert seen[0].rows_done == state.rows_done


def test_another_version_of_the_file_gets_another_store(tmp_path: Path) -> None:
    one, two = Made([Sent(1, b"a")]), Made([Sent(1, b"b")])
    one.store(tmp_path), two.store(tmp_path)
    assert len(list(tmp_path.glob("made-*/manifest.json"))) == 2


BUILDER = """
import sys, time
from pathlib import Path
from kbdash.content.building import background
from kbdash.dataset.config import Settings
from kbdash.dataset.source import open_source
settings = Settings(source="sample", cache=Path(sys.argv[1]))
background.start_build(open_source(settings), settings, [])
print(background._running[-1].pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_build_ends_with_the_process_that_started_it(
    sample_cache: Path, tmp_path: Path, number: signal.Signals
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(sample_cache, cache, ignore=shutil.ignore_patterns("content", "pages"))
    starter = subprocess.Popen([sys.executable, "-c", BUILDER, cache], cwd=ROOT, stdout=subprocess.PIPE)
    assert starter.stdout is not None
    build = os.pidfd_open(int(starter.stdout.readline()))
    assert not select.select([build], [], [], 0)[0], "it runs"
    starter.send_signal(number)
    starter.communicate(timeout=60)
    assert select.select([build], [], [], 60)[0], "it ended too"
    os.close(build)
