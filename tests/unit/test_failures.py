"""What goes wrong with the Hub or with one file: the message tells it, everything else still answers, and it heals."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.database import attaching
from kbdash.dataset import catalog
from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable, KbdashError
from tests.hub import LoopbackHub
from tests.unit.tables import FLAT, LEGACY, LEGACY_PASSED, TRIMUL, write_flat

HELION = "helion_b200_nebius_submissions.parquet"
Break = Callable[[LoopbackHub], None]


@contextmanager
def connected(settings: Settings) -> Iterator[KernelBot]:
    """An engine, closed in the end."""
    engine = kbdash.connect(settings=settings)
    yield engine
    engine.close()


def unavailable(engine: KernelBot) -> dict[str, str]:
    """What cannot be read, once every file was opened or has failed."""
    engine._database.wait_until_opened(60.0)
    return engine.unavailable


def is_healed(engine: KernelBot) -> bool:
    """Whether every file can be read, as a reader finds who looks again."""
    engine.retry_unavailable()
    return engine.unavailable == {}


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it becomes true."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


@pytest.fixture
def folder(sample_folder: Path, tmp_path: Path) -> Path:
    """A small dataset that a test may change; two files are opened in a third of the time of all."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    for name in (TRIMUL, HELION):
        shutil.copy(sample_folder / name, folder)
    return folder


@pytest.fixture
def hub(folder: Path) -> Iterator[LoopbackHub]:
    """A Hub with that dataset."""
    with LoopbackHub(folder) as hub:
        yield hub


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pauses between attempts: that they are kept is looked at in test_transport."""
    monkeypatch.setattr("kbdash.dataset.http.retry.PAUSES_S", (0.05, 0.1, 0.2))


def refuse(hub: LoopbackHub) -> None:
    hub.faults.refuse = True


def expire_all(hub: LoopbackHub) -> None:
    hub.faults.expire_links()
    hub.faults.expire_links(seconds=0)


# --- the Hub does not name the files -------------------------------------------------------------------------------

NO_DATASET: Mapping[str, tuple[Break, dict[str, Any], str]] = {
    "connection refused": (refuse, {}, "cannot be reached (.*refused).*Check the network"),
    "nothing listens there": (lambda hub: None, {"endpoint": "http://127.0.0.1:1"}, "127.0.0.1:1 cannot be reached"),
    "name not found": (lambda hub: None, {"endpoint": "http://no-such-hub.invalid"}, "hub.invalid cannot be reached"),
    "no answer": (
        lambda hub: hub.faults.hang("/api/*"),
        {"hub_seconds": 0.4},
        "did not answer within 0.4 s.*Check the network",
    ),
    "401": (lambda hub: hub.faults.fail(401, "/api/*"), {}, "answered 401.*HF_TOKEN"),
    "403": (lambda hub: hub.faults.fail(403, "/api/*"), {}, "answered 403.*HF_TOKEN"),
    "gated": (lambda hub: hub.faults.fail(403, "/api/*", code="GatedRepo"), {}, "is gated.*HF_TOKEN"),
    "404 without a reason": (lambda hub: hub.faults.fail(404, "/api/*"), {}, "answered 404.*KBDASH_SOURCE"),
    "no such dataset": (lambda hub: None, {"source": "GPUMODE/nothing"}, "no dataset GPUMODE/nothing.*HF_TOKEN"),
    "no such revision": (lambda hub: None, {"source": f"{DATASET}@v9"}, "no revision v9.*KBDASH_SOURCE"),
    "a name that cannot be": (lambda hub: None, {"source": "a..b/c"}, "no dataset a..b/c"),
    "429 for long": (
        lambda hub: hub.faults.fail(429, "/api/*", retry_after=600),
        {"hub_seconds": 1.0},
        "answered 429.*Wait a little",
    ),
    "503 that stays": (
        lambda hub: hub.faults.fail(503, "/api/*"),
        {"hub_seconds": 1.0},
        "answered 503.*Wait a little",
    ),
    "a body cut short, again and again": (
        lambda hub: hub.faults.cut_after(100, "/api/*"),
        {"hub_seconds": 1.0},
        "cannot be reached.*closed connection",
    ),
    "not the Hub at all": (
        lambda hub: None,
        {"endpoint": "http://127.0.0.1:{port}/nothing"},
        "answered 404|no dataset",
    ),
}


@pytest.mark.parametrize(("fault", "changes", "words"), NO_DATASET.values(), ids=NO_DATASET)
def test_a_dataset_that_cannot_be_opened_says_why(
    hub: LoopbackHub, settings: Settings, fault: Break, changes: dict[str, Any], words: str
) -> None:
    if "endpoint" in changes:
        changes = changes | {"endpoint": changes["endpoint"].format(port=hub.endpoint.rpartition(":")[2])}
    fault(hub)
    with pytest.raises(DataUnavailable) as failure:
        kbdash.connect(settings=replace(settings, **changes))
    assert_told(f"{failure.value} {failure.value.advice}", words)


def assert_told(message: str, words: str) -> None:
    """The message holds the words, in this order, and is not a dump of internals."""
    place = 0
    for part in words.split(".*"):
        found = next((message.find(option, place) for option in part.split("|") if option in message[place:]), -1)
        assert found >= 0, f"{part!r} is not in {message!r}"
        place = found
    assert "Traceback" not in message
    assert "\n" not in message


PASSING: Mapping[str, Break] = {
    "429, asked to wait": lambda hub: hub.faults.fail(429, "/api/*", times=1, retry_after=1),
    "503 twice": lambda hub: hub.faults.fail(503, "/api/*", times=2),
    "a body cut short once": lambda hub: hub.faults.cut_after(100, "/api/*", times=1),
    "429 for a file, asked to wait": lambda hub: hub.faults.fail(429, f"*{TRIMUL}", times=5, retry_after=1),
    "503 twice for a file": lambda hub: hub.faults.fail(503, f"*{TRIMUL}", times=2),
    "a file cut short once": lambda hub: hub.faults.cut_after(100, f"/cdn/*{TRIMUL}", times=1),
    "links good for one download": lambda hub: hub.faults.expire_links(uses=1),
    "ranges not honoured": lambda hub: setattr(hub.faults, "ignore_range", True),
    "no redirects": lambda hub: setattr(hub.faults, "redirect", False),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_what_passes_is_waited_for(hub: LoopbackHub, settings: Settings, fault: Break, kb: KernelBot) -> None:
    fault(hub)
    with connected(settings) as engine:
        assert unavailable(engine) == {}
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))


# --- one file cannot be read ---------------------------------------------------------------------------------------


def with_bytes(change: Callable[[bytes], bytes]) -> Break:
    """Other bytes in place of the file's."""
    return lambda hub: hub.faults.replace(TRIMUL, change((hub.folder / TRIMUL).read_bytes()))


ONE_FILE: Mapping[str, tuple[Break, str]] = {
    "401": (lambda hub: hub.faults.fail(401, f"*{TRIMUL}"), "refused access (401).*HF_TOKEN"),
    "403": (lambda hub: hub.faults.fail(403, f"*{TRIMUL}"), "refused access (403).*HF_TOKEN"),
    "404": (lambda hub: hub.faults.fail(404, f"*{TRIMUL}"), f"no longer has {TRIMUL} (404)"),
    "429 for long": (
        lambda hub: hub.faults.fail(429, f"*{TRIMUL}", retry_after=600),
        "asks to slow down (429).*HF_TOKEN",
    ),
    "500 that stays": (lambda hub: hub.faults.fail(500, f"*{TRIMUL}"), "failed to answer (500).*Retry"),
    "503 that stays": (lambda hub: hub.faults.fail(503, f"/cdn/*{TRIMUL}"), "failed to answer (503).*Retry"),
    "link refused": (lambda hub: hub.faults.fail(403, f"/cdn/*{TRIMUL}"), "signed link.*refused (403).*Retry"),
    "cut short": (lambda hub: hub.faults.cut_after(100, f"*{TRIMUL}"), "was lost.*retry"),
    "another file": (with_bytes(lambda data: b"<html>sorry</html>" * 20), "was replaced.*Reload"),
    "nothing": (with_bytes(lambda data: b""), "was replaced.*Reload"),
    "truncated": (with_bytes(lambda data: data[:-3000]), "was replaced.*Reload"),
    "other bytes of the same size": (with_bytes(lambda data: data[::-1]), "was replaced.*Reload"),
    "corrupt on the way": (lambda hub: hub.faults.corrupt(f"/cdn/*{TRIMUL}"), "damaged"),
}


@pytest.mark.parametrize(("fault", "words"), ONE_FILE.values(), ids=ONE_FILE)
def test_one_unreadable_file_is_told_the_others_answer_and_it_heals(
    hub: LoopbackHub, settings: Settings, fault: Break, words: str, kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(hub)
    with connected(settings) as engine:
        assert set(unavailable(engine)) == {"trimul"}
        assert_told(unavailable(engine)["trimul"], f"{TRIMUL}.*{words}")
        with pytest.raises(DataUnavailable) as failure:
            engine.leaderboard("trimul")
        assert_told(str(failure.value), f"{TRIMUL}.*{words}")
        assert engine.leaderboard("fp8_quant").equals(kb.leaderboard("fp8_quant"))
        assert set(engine.overview()["competition"]) == {"helion"}
        assert "trimul" in {competition.slug for competition in engine.competitions}
        hub.faults.clear()
        assert set(engine.unavailable) == {"trimul"}, "not asked again at every turn"
        monkeypatch.setattr(attaching, "RETRY_AFTER_SECONDS", 0.0)
        assert eventually(lambda: is_healed(engine))
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))


def test_what_has_healed_is_in_the_rows_for_sql_again(
    hub: LoopbackHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.faults.fail(404, f"*{TRIMUL}")
    with connected(settings) as engine:
        assert set(unavailable(engine)) == {"trimul"}
        here = "select distinct competition from submissions"
        assert set(engine.sql(here)["competition"]) == {"helion"}
        hub.faults.clear()
        monkeypatch.setattr(attaching, "RETRY_AFTER_SECONDS", 0.0)
        assert eventually(lambda: set(engine.sql(here)["competition"]) == {"helion", "trimul"})


BROKEN: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "no parquet": (lambda data: b"<html>sorry</html>" * 20, "damaged.*does not end like a parquet file"),
    "nothing": (lambda data: b"", "damaged.*does not end like a parquet file"),
    "truncated": (lambda data: data[:-3000], "damaged.*does not end like a parquet file"),
    "a footer of noise": (lambda data: data[:-3000] + bytes(2992) + data[-8:], "damaged.*parquet header"),
}


@pytest.mark.parametrize(("change", "words"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_was_published_broken_is_told(
    folder: Path, tmp_path: Path, change: Callable[[bytes], bytes], words: str
) -> None:
    (folder / TRIMUL).write_bytes(change((folder / TRIMUL).read_bytes()))
    with LoopbackHub(folder) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, hub_seconds=30.0)
        with connected(settings) as engine:
            assert_told(unavailable(engine)["trimul"], f"{TRIMUL}.*{words}")
            assert not engine.leaderboard("fp8_quant").empty


def test_a_silent_file_does_not_hold_up_the_start(
    hub: LoopbackHub, settings: Settings, kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.faults.hang(f"*{TRIMUL}")
    with connected(replace(settings, hub_seconds=4.5)) as engine:
        assert_told(unavailable(engine)["trimul"], f"{TRIMUL} cannot be read.*did not answer in time")
        assert engine.leaderboard("fp8_quant").equals(kb.leaderboard("fp8_quant"))
        hub.faults.clear()
        monkeypatch.setattr(attaching, "RETRY_AFTER_SECONDS", 0.0)
        assert eventually(lambda: is_healed(engine))
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))


WHILE_READING: Mapping[str, tuple[Break, str]] = {
    "connection refused": (refuse, "cannot be reached.*retry"),
    "403": (lambda hub: hub.faults.fail(403, f"*{TRIMUL}"), "refused access (403).*HF_TOKEN"),
    "429 for long": (lambda hub: hub.faults.fail(429, f"*{TRIMUL}", retry_after=600), "slow down (429)"),
    "503 that stays": (lambda hub: hub.faults.fail(503, f"*{TRIMUL}"), "failed to answer (503)"),
    "cut short": (lambda hub: hub.faults.cut_after(100, f"*{TRIMUL}"), "was lost.*retry"),
    "links that expire at once": (expire_all, "signed link.*refused (403)"),
}


@pytest.mark.parametrize(("fault", "words"), WHILE_READING.values(), ids=WHILE_READING)
def test_a_failure_while_reading_is_told_and_passes(
    hub: LoopbackHub, settings: Settings, fault: Break, words: str, kb: KernelBot
) -> None:
    with connected(settings) as engine:
        engine.leaderboard("fp8_quant")
        engine._database.wait_until_opened(60.0)
        fault(hub)
        with pytest.raises(DataUnavailable) as failure:
            engine.leaderboard("trimul")
        assert_told(f"{failure.value} {failure.value.advice}", words)
        assert engine.leaderboard("fp8_quant").equals(kb.leaderboard("fp8_quant"))
        hub.faults.clear()
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))


@pytest.mark.parametrize("change", [lambda data: data[::-1], lambda data: bytes(len(data)), lambda data: b""])
def test_other_bytes_at_the_same_address_are_noticed(
    hub: LoopbackHub, settings: Settings, change: Callable[[bytes], bytes]
) -> None:
    with connected(settings) as engine:
        engine._database.wait_until_opened(60.0)
        with_bytes(change)(hub)
        with pytest.raises(DataUnavailable) as failure:
            engine.leaderboard("trimul")
        assert_told(str(failure.value), "was replaced")
        assert not engine.leaderboard("fp8_quant").empty


def test_links_that_expired_since_are_asked_for_anew(hub: LoopbackHub, settings: Settings, kb: KernelBot) -> None:
    with connected(settings) as engine:
        hub.faults.expire_links()
        assert engine.leaderboard("trimul").equals(kb.leaderboard("trimul"))


def test_a_gated_dataset_names_the_token_and_opens_with_it(sample_folder: Path, tmp_path: Path) -> None:
    with LoopbackHub(sample_folder, token="hf_member", gated=True) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path)
        with connected(settings) as engine:
            assert set(unavailable(engine)) == {competition.slug for competition in catalog.COMPETITIONS}
            assert_told(engine.unavailable["nvfp4"], "refused access (401).*HF_TOKEN")
            assert engine.overview()["rows"].sum() == 0
        with connected(replace(settings, token="hf_member")) as engine:
            assert unavailable(engine) == {}
            assert not engine.leaderboard("trimul").empty
        assert hub.counts.tokens_at_cdn == 0


# --- the sample stands in, or not ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [refuse, lambda hub: hub.faults.fail(500, "/api/*")], ids=["refused", "500"])
def test_without_a_source_an_unreachable_hub_gives_the_sample_and_says_so(
    hub: LoopbackHub, sample_cache: Path, fault: Break
) -> None:
    fault(hub)
    with connected(Settings(endpoint=hub.endpoint, cache=sample_cache, hub_seconds=1.0)) as engine:
        assert (engine.source.kind, engine.source.commit) == ("sample", None)
        assert engine.source.notice
        assert_told(engine.source.notice, hub.endpoint)
        assert not engine.leaderboard("nvfp4_gemm").empty


def test_without_a_source_the_public_dataset_is_read(hub: LoopbackHub, sample_cache: Path) -> None:
    with connected(Settings(endpoint=hub.endpoint, cache=sample_cache)) as engine:
        assert (engine.source.kind, engine.source.label, engine.source.notice) == ("hub", DATASET, None)


def test_a_named_source_is_never_replaced_by_the_sample(hub: LoopbackHub, sample_cache: Path) -> None:
    hub.faults.refuse = True
    with pytest.raises(DataUnavailable):
        kbdash.connect(settings=Settings(source=DATASET, endpoint=hub.endpoint, cache=sample_cache))


# --- the files are not what they were ------------------------------------------------------------------------------


def test_a_new_commit_is_offered_and_changes_nothing_until_then(folder: Path, tmp_path: Path) -> None:
    with LoopbackHub(folder) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, newer_every_seconds=0.0)
        with connected(settings) as engine, connected(replace(settings, newer_every_seconds=900.0)) as patient:
            before = engine.leaderboard("trimul")
            assert engine.newer() is None
            table = pq.read_table(folder / TRIMUL)
            (folder / TRIMUL).unlink()  # the Hub keeps the bytes of the commit it has
            pq.write_table(table.slice(0, 0), folder / TRIMUL)
            commit = hub.publish()
            hub.reset()
            assert patient.newer() is None
            assert hub.counts.requests == 0
            assert engine.newer() == commit
            assert engine.leaderboard("trimul").equals(before)
            assert not engine.status_over_time("trimul").empty, "columns not read before come from the old commit too"
        with connected(settings) as engine:
            assert engine.source.commit == commit
            assert engine.leaderboard("trimul").empty


def test_asking_for_a_new_commit_never_fails(hub: LoopbackHub, settings: Settings) -> None:
    with connected(replace(settings, newer_every_seconds=0.0)) as engine:
        hub.faults.refuse = True
        assert engine.newer() is None


def rows_of(path: Path) -> list[dict[str, Any]]:
    return pq.read_table(path).to_pylist()


def without(column: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.drop_columns([column])


def retyped(column: str, kind: pa.DataType, value: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        values = pa.array([value] * table.num_rows, kind)
        return table.set_column(table.schema.get_field_index(column), column, values)

    return change


UNFIT: Mapping[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "a missing column": (without("runner"), "lacks the column runner"),
    "two missing columns": (lambda table: table.drop_columns(["score", "mode"]), "lacks the columns score, mode"),
    "an id that lost its digits": (retyped("user_id", pa.float64(), 1.0), "user_id has the type DOUBLE"),
    "a score in words": (retyped("score", pa.string(), "fast"), "score has the type VARCHAR"),
    "a time in words": (retyped("submission_time", pa.string(), "now"), "submission_time has the type VARCHAR"),
    "a column of the type null": (retyped("user_name", pa.null(), None), "user_name has the type INTEGER"),
    "a list": (retyped("runner", pa.list_(pa.string()), ["A100"]), "runner has the type VARCHAR[]"),
}


@pytest.mark.parametrize(("change", "words"), UNFIT.values(), ids=UNFIT)
def test_a_file_of_another_shape_is_unavailable_with_the_reason(
    folder: Path, tmp_path: Path, change: Callable[[pa.Table], pa.Table], words: str
) -> None:
    pq.write_table(change(pq.read_table(folder / TRIMUL)), folder / TRIMUL)
    with connected(Settings(source=str(folder), cache=tmp_path)) as engine:
        assert_told(unavailable(engine)["trimul"], f"{TRIMUL} cannot be used.*{words}")
        with pytest.raises(DataUnavailable):
            engine.leaderboard("trimul")
        assert not engine.leaderboard("fp8_quant").empty


FIT: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "ids as small numbers": retyped("user_id", pa.int32(), 7),
    "ids as unsigned numbers": retyped("submission_id", pa.uint32(), 7),
    "a time without zone": lambda table: table.set_column(
        table.schema.get_field_index("submission_time"),
        "submission_time",
        table["submission_time"].cast(pa.timestamp("ns")),
    ),
    "short strings": retyped("user_name", pa.string(), "x"),
    "a dictionary": lambda table: table.set_column(
        table.schema.get_field_index("runner"), "runner", table["runner"].dictionary_encode()
    ),
    "more columns": lambda table: table.append_column("extra", pa.array([1] * table.num_rows)),
    "another order": lambda table: table.select(sorted(table.column_names)),
}


@pytest.mark.parametrize("change", FIT.values(), ids=FIT)
def test_a_file_of_nearly_the_same_shape_is_read(
    folder: Path, tmp_path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    pq.write_table(change(pq.read_table(folder / TRIMUL)), folder / TRIMUL)
    with connected(Settings(source=str(folder), cache=tmp_path)) as engine:
        assert unavailable(engine) == {}
        assert not engine.leaderboard("trimul").empty


NULLS: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "zero rows": lambda table: table.slice(0, 0),
    "nulls everywhere": lambda table: pa.Table.from_pylist([{}] * 5, schema=table.schema),
}


@pytest.mark.parametrize("change", NULLS.values(), ids=NULLS)
def test_a_file_without_anything_in_it_gives_empty_answers(
    folder: Path, tmp_path: Path, change: Callable[[pa.Table], pa.Table], kb: KernelBot
) -> None:
    pq.write_table(change(pq.read_table(folder / TRIMUL)), folder / TRIMUL)
    with connected(Settings(source=str(folder), cache=tmp_path)) as engine:
        board = engine.leaderboard("trimul")
        assert list(board.columns) == list(kb.leaderboard("trimul").columns)
        assert board.empty
        assert engine.records("trimul").empty
        assert engine.summary("trimul").empty
        assert engine.distribution("trimul").empty
        assert engine.submissions("trimul").total == 0
        assert engine.standing("trimul", 1.0, runner="A100").of == 0
        assert engine.rank_history("trimul", runner="A100").empty
        assert not engine.leaderboard("fp8_quant").empty


def test_only_passing_amd_runs_are_used_and_the_caveat_says_so(sample_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    shutil.copy(sample_folder / LEGACY_PASSED, folder)
    with connected(Settings(source=str(folder), cache=tmp_path)) as engine:
        [competition] = engine.competitions
        assert catalog.FAILURES_UNKNOWN in competition.caveats
        board = engine.leaderboard("amd-fp8-mm")
        assert engine.submission(int(board.loc[0, "submission_id"]), board.loc[0, "runner"]).file == LEGACY_PASSED


def test_passing_amd_runs_are_not_added_to_all_runs(kb: KernelBot) -> None:
    files = kb.sql("select distinct file from submissions where competition = 'amd-mi300'")["file"].tolist()
    assert files == [LEGACY]
    [competition] = [competition for competition in kb.competitions if competition.slug == "amd-mi300"]
    assert catalog.FAILURES_UNKNOWN not in competition.caveats


def test_an_unknown_file_that_fits_appears_and_others_are_ignored(folder: Path, tmp_path: Path) -> None:
    row = {"submission_id": 1, "leaderboard_id": 9000, "problem_name": "fft", "user_id": "7", "score": 1e-3,
           "passed": True, "mode": "leaderboard", "runner": "GB300", "code": "x"}  # fmt: skip
    write_flat([row], folder / "Spring_2027_submissions.parquet")
    write_flat([row | {"problem_name": "dct"}], folder / "trimul.parquet")
    write_flat([], folder / "empty_submissions.parquet", FLAT)
    pq.write_table(pa.table({"a": [1]}), folder / "notes.parquet")
    (folder / "broken_submissions.parquet").write_bytes(b"PAR1")
    with connected(Settings(source=str(folder), cache=tmp_path)) as engine:
        found = {competition.slug: competition for competition in engine.competitions}
        assert set(found) == {"trimul", "helion", "spring-2027", "trimul-file", "empty", "broken"}
        assert found["spring-2027"].title == "Spring 2027"
        assert_told(engine.unavailable["broken"], "broken_submissions.parquet.*damaged")
        assert engine.leaderboard("fft")["runner"].tolist() == ["GB300"]
        assert engine.leaderboard("dct", competition="trimul-file")["rank"].tolist() == [1]
        assert engine.problem_names("empty") == ()


def test_a_dataset_without_any_known_file_is_no_failure(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "notes.parquet")
    with connected(Settings(source=str(tmp_path), cache=tmp_path)) as engine:
        assert engine.competitions == ()
        for answer in (engine.overview(), engine.problems(), engine.find_users("a")):
            assert answer.empty
            assert "user_id" in answer or "problem" in answer
        with pytest.raises(KbdashError):
            engine.user("7")
        with pytest.raises(KbdashError):
            engine.submission(1)
        with pytest.raises(KbdashError):
            engine.leaderboard("trimul")
