"""Files as nobody would write them on purpose, or as somebody would: one odd file is one unavailable competition.

A row of the table: what is odd, how the file is made, and what is said about it. None means that it is read, and that
every page's questions about it are answered. Whatever is found next becomes a row.
"""

import json
import math
import os
import struct
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.charts.named import CHARTS
from kbdash.database.connection import Database
from kbdash.database.opening import REFUSED_SECONDS
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.model import DataFile
from kbdash.dataset.source import open_source
from kbdash.engine import KernelBot
from kbdash.errors import CorruptData, DataUnavailable, KbdashError, UnsafeFile
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.unit.tables import FLAT, LEGACY, RUNS, TRIMUL, write_flat, write_runs

ROW = {"submission_id": 1, "leaderboard_id": 9000, "problem_name": "fft", "user_id": "7", "user_name": "ann",
       "code_id": 1, "file_name": "a.py", "status": "succeeded", "score": 1e-3, "passed": True, "mode": "leaderboard",
       "runner": "GB300", "code": "x"}  # fmt: skip
ODD = "spring.parquet"
Make = Callable[[Path], None]


@dataclass(frozen=True)
class Odd:
    """A file that is odd, and the words about it; None when it can be read."""

    make: Make
    says: str | None = None
    name: str = ODD


def flat(schema: pa.Schema = FLAT, **values: Any) -> Make:
    """Ten rows, some values of which are odd."""
    rows = [ROW | {"submission_id": number, "user_id": str(number)} | values for number in range(10)]
    return lambda path: write_flat(rows, path, schema)


def typed(columns: str | Collection[str], kind: pa.DataType, schema: pa.Schema = FLAT) -> pa.Schema:
    """The schema with another type for one column or several."""
    names = (columns,) if isinstance(columns, str) else columns
    return pa.schema([field.with_type(kind) if field.name in names else field for field in schema])


def one_time(value: int, unit: str = "us") -> Make:
    """One submission at a time that cannot be."""

    def make(path: Path) -> None:
        rows = pa.Table.from_pylist(
            [{name: (ROW | {"submission_id": number}).get(name) for name in FLAT.names} for number in range(10)],
            schema=FLAT,
        )
        times = pa.array([1_750_000_000_000_000 // (1 if unit == "us" else 1000)] * 9 + [value], pa.int64())
        column = times.cast(pa.timestamp(unit, tz="UTC"))
        pq.write_table(rows.set_column(7, "submission_time", column), path)

    return make


def legacy_without_gpu(path: Path) -> None:
    schema = RUNS.set(
        RUNS.get_field_index("run_system_info"), pa.field("run_system_info", pa.struct([("cpu", pa.string())]))
    )
    pq.write_table(pa.Table.from_pylist([{"submission_id": 1, "leaderboard_id": 399}], schema=schema), path)


def legacy_with_large_ids(path: Path) -> None:
    ids = {"leaderboard_id": 2**64 - 1, "code_id": 2**64 - 1, "user_id": 2**64 - 1}
    ran = {"submission_time": datetime(2025, 6, 1), "run_mode": "leaderboard", "run_passed": True, "run_score": 1e-3}
    rows = [ids | ran | {"submission_id": number} for number in (1, 2**64 - 1)]
    write_runs(rows, path, typed((*ids, "submission_id"), pa.uint64(), RUNS))


def big_dictionary(path: Path) -> None:
    """A dictionary page that claims 2^31 - 1 values, in the last column: what comes before stays where it is."""
    names = [name for name in FLAT.names if name != "problem_name"] + ["problem_name"]
    rows = [{name: (ROW | {"submission_id": number}).get(name) for name in names} for number in range(1000)]
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema([FLAT.field(name) for name in names])), path)
    data = path.read_bytes()
    place = pq.ParquetFile(path).metadata.row_group(0).column(len(names) - 1).dictionary_page_offset
    # In thrift's compact protocol: field 7 of the header begins, its field 1 is a number, which is 1.
    before, count, after = data[place:].partition(b"\x4c\x15\x02")
    assert count
    assert len(before) < 20
    path.write_bytes(data[:place] + before + b"\x4c\x15\xfe\xff\xff\xff\x0f" + after)


def cut_in_the_middle(path: Path) -> None:
    flat()(path)
    data = path.read_bytes()
    path.write_bytes(data[:200] + bytes(400) + data[600:])


def short_statistics(path: Path) -> None:
    """Bounds of the scores in one byte where eight belong; the footer is shorter by the others."""
    flat()(path)
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:-8].replace(b"\x08" + struct.pack("<d", ROW["score"]), b"\x01\xfc")
    assert len(footer) < len(data) - 8 - start
    path.write_bytes(data[:start] + footer + len(footer).to_bytes(4, "little") + data[-4:])


ODD_FILES: Mapping[str, Odd] = {
    "a column named file_row_number": Odd(
        flat(FLAT.append(pa.field("file_row_number", pa.int64())), file_row_number=3), "a column file_row_number"
    ),
    "legacy without gpu": Odd(legacy_without_gpu, "has no text field gpu", LEGACY),
    "ids past bigint": Odd(
        flat(typed(("code_id", "leaderboard_id"), pa.uint64()), code_id=2**64 - 1, leaderboard_id=2**64 - 1)
    ),
    "ids past bigint in a legacy file": Odd(legacy_with_large_ids, None, LEGACY),
    "submission ids past bigint": Odd(
        lambda path: write_flat(
            [ROW | {"submission_id": number} for number in (1, 2**64 - 1)], path, typed("submission_id", pa.uint64())
        )
    ),
    "no submission id": Odd(lambda path: write_flat([ROW, ROW | {"submission_id": None}], path)),
    "a decimal score": Odd(flat(typed("score", pa.decimal128(12, 6)), score=Decimal("0.001"))),
    "a wide decimal score": Odd(flat(typed("score", pa.decimal128(38, 30)), score=Decimal("0.001"))),
    "a huge score": Odd(flat(score=1e303)),
    "no time": Odd(flat()),
    "a time past year 9999": Odd(one_time(300_000_000_000_000_000)),
    "a time before Christ": Odd(one_time(-100_000_000_000_000_000)),
    "the end of time": Odd(one_time(2**63 - 1)),
    "before all time": Odd(one_time(-(2**63) + 1)),
    "milliseconds out of range": Odd(one_time(2**62, "ms"), "spring.parquet"),
    "a name of 1 MB": Odd(flat(user_name="n" * 2**20)),
    "a user id of 1 MB": Odd(flat(user_id="9" * 2**20)),
    "a problem of 1 MB": Odd(flat(problem_name="p" * 2**20)),
    "a runner of 1 MB": Odd(flat(runner="r" * 2**20)),
    "a dictionary of 2^31 values": Odd(big_dictionary, ODD),
    "statistics of one byte": Odd(short_statistics, ODD),
    "bytes missing in the middle": Odd(cut_in_the_middle, ODD),
    "no bytes": Odd(lambda path: path.write_bytes(b""), ODD),
    "a folder": Odd(lambda path: path.mkdir(), ODD),
    "a pipe": Odd(os.mkfifo, ODD),
    "a link that leads nowhere": Odd(lambda path: path.symlink_to("gone.parquet"), f"{ODD} cannot be read"),
    "a link to itself": Odd(lambda path: path.symlink_to(path.name), f"{ODD} cannot be read"),
    "letters of a pattern": Odd(flat(), None, "a[1]*?.parquet"),
    "letters of an address": Odd(flat(), None, "a#b%20c ü.parquet"),
}


@pytest.fixture
def folder(sample_folder: Path, tmp_path: Path) -> Path:
    """A dataset with a healthy file, to which an odd one is added."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / TRIMUL).write_bytes((sample_folder / TRIMUL).read_bytes())
    return folder


@pytest.fixture
def opened(folder: Path, tmp_path: Path) -> Iterator[Callable[[], KernelBot]]:
    """Opens the folder as it is then."""
    engines: list[KernelBot] = []

    def connect() -> KernelBot:
        engines.append(kbdash.connect(folder, settings=Settings(cache=tmp_path / "cache", memory_limit="200MB")))
        engines[-1]._database.wait_until_opened(60.0)
        return engines[-1]

    yield connect
    for engine in engines:
        engine.close()


def asked(engine: KernelBot, slug: str) -> dict[str, str]:
    """Every question that a page asks about a competition; what is said where one fails."""
    said = {}
    for question, order in (("overview", {"order": None}), ("problems", {}), ("problem_names", {})):
        try:
            engine.frame(question, competition=slug, **order).to_json(date_format="iso")
        except DataUnavailable as error:
            said[question] = str(error)
    try:
        for problem in engine.problem_names(slug):
            for ask in (
                engine.leaderboard,
                engine.summary,
                engine.progression,
                engine.records,
                engine.status_over_time,
            ):
                json.loads(ask(problem, competition=slug).to_json(date_format="iso"))
            assert engine.submissions(problem, competition=slug).total >= 0
    except DataUnavailable as error:
        said["pages"] = str(error)
    try:
        engine._database._asker.run(f"from submissions_of('{slug}')")  # every column, also those that no page shows
    except KbdashError as error:
        said["rows"] = str(error)
    return said


@pytest.fixture(scope="module")
def healthy(kb: KernelBot) -> pd.DataFrame:
    """The board of the file that has nothing odd."""
    return kb.leaderboard("trimul")


def name_of(what: str) -> str:
    """The file of a case among those of the others."""
    return ODD_FILES[what].name.replace(ODD, f"spring {list(ODD_FILES).index(what)}.parquet")


@pytest.fixture(scope="module")
def together(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    """kbdash over a healthy file and all odd ones, but those that have a name of their own."""
    folder = part_of(sample_folder, tmp_path_factory.mktemp("odd"), TRIMUL)
    for what, odd in ODD_FILES.items():
        if odd.name != LEGACY:
            odd.make(folder / name_of(what))
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path_factory.mktemp("cache"), memory_limit="200MB"))
    engine._database.wait_until_opened(60.0)
    yield engine
    engine.close()


def slug_of(engine: KernelBot, what: str) -> str:
    [slug] = [one.slug for one in engine.competitions if one.files[0] == name_of(what)]
    return slug


def check(engine: KernelBot, what: str, slug: str, healthy: pd.DataFrame) -> None:
    """The file is read, or told with its name; the healthy one answers as ever."""
    says, said = ODD_FILES[what].says, engine.unavailable.get(slug) or " ".join(asked(engine, slug).values())
    assert (says or "").replace(ODD, name_of(what)) in said
    assert bool(said) == (says is not None), said
    assert engine.leaderboard("trimul").equals(healthy)


@pytest.mark.parametrize("what", [what for what, odd in ODD_FILES.items() if odd.name != LEGACY])
def test_an_odd_file_is_read_or_told(what: str, together: KernelBot, healthy: pd.DataFrame) -> None:
    check(together, what, slug_of(together, what), healthy)


def test_odd_files_are_in_the_overview_if_they_can_be_read(together: KernelBot) -> None:
    read = [what for what, odd in ODD_FILES.items() if odd.name != LEGACY and odd.says is None]
    assert set(together.overview()["competition"]) == {"trimul", *(slug_of(together, what) for what in read)}


@pytest.mark.parametrize("what", [what for what, odd in ODD_FILES.items() if odd.name == LEGACY])
def test_an_odd_file_of_runs_is_read_or_told(
    what: str, folder: Path, opened: Callable[[], KernelBot], healthy: pd.DataFrame
) -> None:
    ODD_FILES[what].make(folder / LEGACY)
    engine = opened()
    check(engine, what, "amd-mi300", healthy)
    assert set(engine.overview()["competition"]) == {"trimul", *([] if ODD_FILES[what].says else ["amd-mi300"])}


def test_two_files_of_one_name_are_two_competitions(folder: Path, opened: Callable[[], KernelBot]) -> None:
    for number, name in enumerate(("foo_submissions", "foo", "FOO", "foo-file", "trimul-file")):
        write_flat([ROW | {"submission_id": number, "problem_name": name}], folder / f"{name}.parquet")
    names = {item.slug: item.files[0] for item in opened().competitions}
    assert names == {
        "trimul": TRIMUL, "foo": "FOO.parquet", "foo-file": "foo-file.parquet", "foo-file-2": "foo.parquet",
        "foo-file-3": "foo_submissions.parquet", "trimul-file": "trimul-file.parquet",
    }  # fmt: skip


def test_rows_without_an_id_and_impossible_times_are_left_out(folder: Path, opened: Callable[[], KernelBot]) -> None:
    one_time(2**63 - 1)(folder / ODD)
    write_flat([ROW, ROW | {"submission_id": None}], folder / "autumn.parquet")
    beyond = [ROW | {"submission_id": number} for number in (1, 2**63)]
    write_flat(beyond, folder / "winter.parquet", typed("submission_id", pa.uint64()))
    engine = opened()
    found = engine.sql(
        "select count(*) as n, count(submitted_at) as times from submissions where competition = 'spring'"
    )
    assert found.to_dict("records") == [{"n": 10, "times": 9}]
    for slug in ("autumn", "winter"):
        assert engine._database._asker.run(f"select submission_id from submissions_of('{slug}')")[
            "submission_id"
        ].tolist() == [1]


@pytest.mark.parametrize("kind", [pa.decimal128(12, 6), pa.decimal128(38, 30), pa.float32()])
def test_scores_of_any_type_are_the_numbers_they_say(
    kind: pa.DataType, folder: Path, opened: Callable[[], KernelBot]
) -> None:
    scores = [0.25, 0.5, 3.0]
    values: list[Any] = scores if kind == pa.float32() else [Decimal(str(score)) for score in scores]
    rows = [ROW | {"submission_id": n, "user_id": str(n), "score": score} for n, score in enumerate(values)]
    write_flat(rows, folder / ODD, typed("score", kind))
    board = opened().leaderboard("fft")["score"]
    assert (board.dtype, board.tolist()) == ("float64", scores)


@pytest.mark.filterwarnings("error:overflow")
def test_a_score_that_no_run_can_have_is_no_time_anywhere(folder: Path, opened: Callable[[], KernelBot]) -> None:
    """In the unit of the others, or as their ratio, it would overflow."""
    scores = [2e-5, 1e303, 3e-5, -1e303, 1e9]
    write_flat([ROW | {"submission_id": n, "user_id": str(n), "score": s} for n, s in enumerate(scores)], folder / ODD)
    engine = opened()
    known = [2e-5, math.inf, 3e-5, -math.inf, math.inf]
    assert engine.leaderboard("fft")["score"].tolist() == [2e-5, 3e-5]
    assert engine.submissions("fft", sort="submission_id", descending=False).rows["score"].tolist() == known
    asked = "select score from submissions where competition = 'spring' order by submission_id"
    assert engine.sql(asked)["score"].tolist() == known
    for name in CHARTS:
        engine.chart(name, "fft", users=["0"], span="all")


def test_long_texts_are_cut_and_stay_apart(folder: Path, opened: Callable[[], KernelBot]) -> None:
    ids = ["9" * 2**20 + "a", "9" * 2**20 + "b"]
    write_flat([ROW | {"submission_id": number, "user_id": one} for number, one in enumerate(ids)], folder / ODD)
    board = opened().leaderboard("fft")
    assert len(board) == 2
    assert all("…" in one and len(one) <= 500 for one in board["user_id"])


def test_a_failed_file_that_turns_out_to_be_none_of_ours_disappears(
    folder: Path, opened: Callable[[], KernelBot], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ODD).write_bytes(b"half of it")
    engine = opened()
    assert "spring" in engine.unavailable
    pq.write_table(pa.table({"notes": ["nothing of interest"]}), folder / ODD)
    monkeypatch.setattr("kbdash.database.attaching.RETRY_AFTER_SECONDS", 0.0)
    engine.frame("problem_names", competition="nothing")
    engine._database._attachments.retry_due()
    with pytest.raises(DataUnavailable):
        engine._database.frame("problem_names", competition="spring")
    assert {competition.slug for competition in engine.competitions} == {"trimul"}
    assert engine.unavailable == {}
    assert not any(entry.item.reason for entry in engine._database._attachments._entries.values()), "it is not retried"


def test_a_file_is_inspected_before_duckdb_sees_it_and_a_refusal_is_remembered(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat()(folder / ODD)
    inspected: list[str] = []

    def inspect(file: DataFile) -> None:
        inspected.append(file.name)
        if file.name == ODD:
            raise UnsafeFile(f"The footer of {file.name} is too deep.", advice="It is not opened.")

    settings = Settings(source=str(folder), cache=tmp_path)
    database = Database(open_source(settings), settings, inspect)
    database.wait_until_opened(60.0)
    monkeypatch.setattr("kbdash.database.attaching.RETRY_AFTER_SECONDS", 0.0)
    for _ in range(3):
        with pytest.raises(DataUnavailable, match="too deep"):
            database.frame("problem_names", competition="spring")
    assert sorted(inspected) == [ODD, TRIMUL]
    assert len(database.frame("problem_names", competition="trimul")) == 1
    database.close()


def test_an_error_that_nobody_foresaw_sets_aside_its_own_file(folder: Path, tmp_path: Path) -> None:
    flat()(folder / ODD)

    def inspect(file: DataFile) -> None:
        if file.name == ODD:
            raise OverflowError("date value out of range, sent hf_abcdefghijklmnop along")

    settings = Settings(source=str(folder), cache=tmp_path)
    database = Database(open_source(settings), settings, inspect)
    with pytest.raises(DataUnavailable, match=r"spring\.parquet cannot be read: date value out of range"):
        database.frame("problem_names", competition="spring")
    [reason] = [item.reason for item in database.competitions() if item.reason]
    assert reason.endswith("sent … along")
    assert len(database.frame("problem_names", competition="trimul")) == 1
    database.close()


@pytest.mark.parametrize("error", [CorruptData, UnsafeFile])
def test_a_file_damaged_on_the_way_heals_however_often_it_was_tried(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[CorruptData]
) -> None:
    flat()(folder / ODD)
    damaged = True

    def inspect(file: DataFile) -> None:
        if damaged and file.name == ODD:
            raise error(f"{file.name} has other bytes than it had.")

    monkeypatch.setattr("kbdash.database.attaching.RETRY_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("kbdash.database.opening.REFUSED_SECONDS", 0.0)
    settings = Settings(source=str(folder), cache=tmp_path)
    database = Database(open_source(settings), settings, inspect)
    for _ in range(3):
        with pytest.raises(DataUnavailable, match="other bytes"):
            database.frame("problem_names", competition="spring")
    damaged = False
    assert len(database.frame("problem_names", competition="spring")) == 1
    database.close()


def test_a_file_refused_for_damaged_bytes_heals_with_fresh_ones(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those that were kept when it was refused, which would be refused again."""
    monkeypatch.setattr("kbdash.database.attaching.RETRY_AFTER_SECONDS", 0.0)
    later = 0.0  # seconds: nobody waits until it may be inspected again
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + later)
    monkeypatch.setattr("kbdash.database.opening.time", clock)
    with LoopbackHub(part_of(sample_folder, tmp_path / "dataset", TRIMUL)) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path / "cache", hub_seconds=30.0)
        source = open_source(settings)

        def inspect(file: DataFile) -> None:
            found = source.bytes.open(file.name)
            if found.read_ahead(found.size - 4, 4) != b"PAR1":
                raise UnsafeFile(f"{file.name} is not opened.")

        hub.faults.corrupt(f"/cdn/*{TRIMUL}")
        database = Database(source, settings, inspect)
        with pytest.raises(DataUnavailable, match="is not opened"):
            database.frame("problem_names", competition="trimul")
        hub.faults.clear()
        later = REFUSED_SECONDS
        assert len(database.frame("problem_names", competition="trimul")) == 1
        database.close()
        source.close()
