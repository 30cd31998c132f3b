"""The engine with stores at hand: texts, questions, and the sample that prepares itself."""

import gc
import itertools
import os
import shutil
import signal
import statistics
import subprocess
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kbdash
from kbdash.content import command
from kbdash.content.building import background
from kbdash.content.building.build import Build
from kbdash.content.building.jobs import Opened
from kbdash.content.building.progress import ContentStopped
from kbdash.content.search.patterns import BadPattern
from kbdash.content.store.finished import Store, find_store
from kbdash.content.store.layout import RULES
from kbdash.content.store.text_rows import Filters
from kbdash.content.stores import ContentMissing
from kbdash.content.techniques import facets_of
from kbdash.content.techniques.facets import TextFacets
from kbdash.content.verdicts.examiner import Verdict
from kbdash.content.verdicts.kept import FILE, KeptVerdicts
from kbdash.database.console.content import CONTENT
from kbdash.dataset.catalog import IMPOSSIBLE_SECONDS
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.source import open_source
from kbdash.engine import KernelBot
from kbdash.errors import CorruptData, DataUnavailable, KbdashError, QueryRefused, UnknownProblem, UnknownUser
from tests.content.test_noise import plain
from tests.hub import LoopbackHub

SLUG = "trimul"


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of the sample, a flat and a legacy one."""
    home = tmp_path_factory.mktemp("dataset")
    for name in ("trimul_submissions.parquet", "submissions.parquet"):
        shutil.copy(sample_folder / name, home)
    return home


@pytest.fixture(scope="module")
def quiet_hub(folder: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(folder) as hub:
        yield hub


@pytest.fixture(scope="module")
def options(quiet_hub: LoopbackHub, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings with a cache in which both stores are built."""
    cache = tmp_path_factory.mktemp("cache")
    settings = Settings(source=DATASET, endpoint=quiet_hub.endpoint, cache=cache, hub_seconds=60.0, query_seconds=120.0)
    opened = Opened(open_source(settings), settings)
    for order in opened.jobs([], cache / "content"):
        Build(order).run()
    opened.close()
    return settings


@pytest.fixture(scope="module")
def kb(options: Settings) -> Iterator[KernelBot]:
    engine = kbdash.connect(settings=options)
    yield engine
    engine.close()


def test_the_state_of_a_store(kb: KernelBot) -> None:
    state = kb.content(SLUG)
    assert (state.state, state.rows) == ("built", 952)
    assert min(state.texts, state.lines, state.bytes) > 0


def test_a_store_that_has_no_room_any_more_is_freed_with_all_that_was_made_of_it(options: Settings) -> None:
    engine = kbdash.connect(settings=options)
    library = engine._content
    one, other = (library.opened(slug) for slug in (SLUG, "amd-mi300"))
    assert library.opened(SLUG).held is one.held
    library._stores.limit = max(each.store.memory_bytes for each in (one, other))
    engine.search("import", competition=SLUG)
    kept = (one.held, one.held.choose(Filters()), one.store, library._place(SLUG, one, False).scanner)
    one_was = [weakref.ref(each) for each in kept]
    assert library.opened("amd-mi300").held is other.held  # used last
    gc.collect()
    gc.disable()  # megabytes that only wait for it add up with every store that is opened again
    try:
        library._stores.get("another", lambda: other.store)
        del one, kept
        assert [was() for was in one_was] == [None] * 4
    finally:
        gc.enable()
    engine.close()


def test_a_question_about_all_competitions_opens_each_store_once(options: Settings) -> None:
    engine = kbdash.connect(settings=options)
    engine.search("import")
    opened = {slug: engine._content.opened(slug).held for slug in engine._content.at_hand()}
    assert len(opened) > 1
    engine.search("return")
    assert all(engine._content.opened(slug).held is held for slug, held in opened.items())
    engine.close()


def test_readers_sql_reads_the_tables_of_a_store_in_place_and_no_other_file(kb: KernelBot, options: Settings) -> None:
    with pytest.raises(QueryRefused, match="content_verdicts"):  # nobody has asked KernelGuard yet
        kb.sql("from content_verdicts")
    best = int(kb.leaderboard(SLUG)["submission_id"].iloc[0])
    said = kb.verdict(best, competition=SLUG)
    assert kb.sql("select distinct status from content_verdicts")["status"].tolist() == [said["status"]]
    kinds = {(table.name, column.name): column.kind for table in CONTENT for column in table.columns}
    shown = ", ".join(f'lower(typeof({table}.{name})) as "{table}.{name}"' for table, name in kinds)
    rows = ", ".join(f"(from {table.name} limit 1) as {table.name}" for table in CONTENT)
    [found] = kb.sql(f"select {shown} from {rows}").to_dict("records")
    assert found == {f"{table}.{name}": kind for (table, name), kind in kinds.items()}
    counts = kb.sql("select competition, count(*) as n from content_lines where line like '%import%' group by all")
    store = kb._content.store(SLUG)
    assert store is not None
    wanted = sum(b"import" in line for line in store.lines.to_pylist())
    assert dict(zip(counts["competition"], counts["n"], strict=True))[SLUG] == wanted > 0
    held = kb.sql(
        "select count(*) as n from content_rows join submissions using (competition, file_row, submission_id)"
    )
    assert held["n"][0] > 900
    with pytest.raises(QueryRefused):
        kb.sql("select * from content_rows, read_text('/etc/passwd')")
    with kb._database.question():
        console, (snapshot, _) = kb._database._console, kb._database._snapshot(with_shapes=False)
    for other in ("/etc/passwd", str(store.folder.parent / "other.parquet"), f"{store.folder}/../x"):
        with pytest.raises(QueryRefused, match="disabled"):  # even past the guard
            console.ask(f"select * from read_text('{other}')", snapshot, stores={SLUG: store.folder})


def test_a_submission_without_a_text_has_no_verdict(kb: KernelBot) -> None:
    [one] = kb.sql("select competition, submission_id from content_rows where text_id is null limit 1").itertuples()
    said = kb.verdict(one.submission_id, competition=one.competition)
    assert (said["status"], said["rules"]) == ("no text", [])


def test_source_texts_need_no_request_with_a_store(kb: KernelBot, quiet_hub: LoopbackHub, tmp_path: Path) -> None:
    board = kb.leaderboard("trimul", runner="B200")
    ids = [int(each) for each in board["submission_id"][:10]]
    submissions = [kb.submission(each, "B200") for each in ids]
    before = quiet_hub.counts.requests
    texts = [kb.text_of(each).text for each in submissions]
    assert quiet_hub.counts.requests == before
    without = kbdash.connect(settings=replace(kb._settings, content="off", cache=tmp_path))
    assert [without.code(each, "B200") for each in ids] == texts
    without.close()


def test_a_store_that_is_damaged_is_not_believed(options: Settings, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(options.cache / "content", cache / "content")
    engine = kbdash.connect(settings=replace(options, cache=cache))
    row = kb_row(engine)
    expected = engine.code(row, "B200")
    store = engine._content.store(SLUG)
    assert isinstance(store, Store)
    path = store.folder / "runs.parquet"
    runs = pq.read_table(path)
    pq.write_table(runs.slice(1, runs.num_rows - 1), path)
    engine.close()
    again = kbdash.connect(settings=replace(options, cache=cache))
    assert again.code(row, "B200") == expected
    again.close()


def test_stores_can_be_opened_before_anybody_asks(kb: KernelBot, options: Settings, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(options.cache / "content", cache / "content")
    engine = kbdash.connect(settings=replace(options, cache=cache))
    engine.open_content()
    for thread in threading.enumerate():
        if thread.name == "kbdash-content-open":
            thread.join(60)
    for table in cache.glob("content/*/*.parquet"):
        table.unlink()  # whatever a search needs is in memory now
    pd.testing.assert_frame_equal(engine.search("tl.load"), kb.search("tl.load"))
    engine.close()


def kb_row(engine: KernelBot) -> int:
    return int(engine.leaderboard("trimul", runner="B200")["submission_id"][0])


def test_a_store_of_another_version_is_ignored_and_said(options: Settings, folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "newer"
    shutil.copytree(folder, home)
    table = pq.read_table(home / "trimul_submissions.parquet")
    pq.write_table(table.slice(0, 100), home / "trimul_submissions.parquet")
    with LoopbackHub(home) as hub:
        engine = kbdash.connect(settings=replace(options, endpoint=hub.endpoint))
        state = engine.content(SLUG)
        assert state.state == "absent"
        assert "another version" in state.note
        assert state.rate > 0  # that of the builds of the other files
        assert engine.content("amd-mi300").state == "built"  # its file did not change
        engine.close()


def test_readers_sql_has_the_columns_of_today(options: Settings, tmp_path: Path) -> None:
    """Verdicts are a table of their own making: it is written again, and the store is not built again."""
    cache = tmp_path / "cache"
    shutil.copytree(options.cache / "content", cache / "content")
    engine = kbdash.connect(settings=replace(options, cache=cache))
    store = engine._content.store(SLUG)
    assert isinstance(store, Store)
    (store.folder / FILE).unlink(missing_ok=True)
    verdict: Verdict = {"status": "clean", "rules": [], "version": "1"}
    KeptVerdicts(store.folder).keep(store.texts.column("sha256")[3].as_py(), verdict)
    path = store.folder / "verdicts.parquet"
    pq.write_table(pa.table({"text_id": pa.array([3], pa.int32())}), path)
    found = engine.sql(f"select text_id, status, lines from content_verdicts where competition = '{SLUG}'")
    assert found[["text_id", "status"]].to_numpy().tolist() == [[3, "clean"]]
    written = path.stat().st_mtime_ns
    engine.sql("select count(*) from content_verdicts")
    assert path.stat().st_mtime_ns == written
    engine.close()


def test_the_status_of_a_store_made_by_other_rules_says_why(
    sample_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, environ = ["status", SLUG, "--source", "sample"], {"KBDASH_CACHE": str(sample_cache)}
    monkeypatch.setitem(RULES, "program", "0")
    assert command.main(words, environ=environ) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{SLUG}: no store; ")
    assert "made by other rules" in line


def test_search_with_the_filters_of_the_engine(kb: KernelBot) -> None:
    found = kb.search("torch", problem="trimul", runner="B200", passed=True, limit=5)
    assert len(found) == 5
    assert found.attrs["total"] >= 5
    best = found.iloc[0]
    code = kb.code(int(best["best_submission_id"]), "B200", SLUG).split("\n")
    assert code[best["line_no"] - 1].strip() == best["line"]
    board = kb.leaderboard("trimul", runner="B200").set_index("submission_id")
    assert board.loc[best["best_submission_id"], "rank"] == best["best_rank"]
    name = board["user_name"].iloc[0]
    assert (kb.search("torch", problem="trimul", user=name)["users"] == 1).all()
    assert kb.search("torch", problem="trimul", until="1999-01-01").empty
    with pytest.raises(QueryRefused):
        kb.search("torch", problem="trimul", until="yesterday")


def test_a_user_means_the_same_in_every_question(kb: KernelBot) -> None:
    first = kb.leaderboard("trimul").iloc[0]
    own = kb.search("torch", problem="trimul", user=first["user_id"])
    for said in (first["user_name"].upper(), int(first["user_id"])):
        pd.testing.assert_frame_equal(kb.search("torch", problem="trimul", user=said), own)
        assert len(kb.steps("trimul", user=said)) == len(kb.steps("trimul", user=first["user_id"]))
    for ask in (lambda: kb.search("torch", user="no such name"), lambda: kb.techniques("trimul", user="no such name")):
        with pytest.raises(UnknownUser):
            ask()


def test_of_several_errors_the_pattern_comes_first_then_the_problem_the_store_and_the_user(
    kb: KernelBot, options: Settings
) -> None:
    without = kbdash.connect(settings=replace(options, content="off"))
    nobody = {"user": "no such name"}
    for ask in (kb.search, kb.holding):
        with pytest.raises(BadPattern):
            ask(" ", problem="no such problem", **nobody)  # type: ignore[operator]
        with pytest.raises(UnknownProblem, match="no problem"):
            ask("torch", problem="no such problem", **nobody)  # type: ignore[operator]
    for engine in (kb, without):
        with pytest.raises(UnknownProblem, match="no competition nowhere"):
            engine.steps(competition="nowhere", user="no such name")
    for board in (without.steps, without.techniques, without.adoption):
        with pytest.raises(UnknownProblem, match="no problem"):
            board("no such problem", **nobody)  # type: ignore[operator]
        with pytest.raises(ContentMissing, match="no content store of trimul"):
            board("trimul", **nobody)  # type: ignore[operator]
    without.close()


@pytest.mark.parametrize(
    "said", [{"limit": "5"}, {"since": 5}, {"facets": "triton"}, {"passed": "yes"}, {"case": None}], ids=str
)
def test_values_that_mean_nothing_are_refused(kb: KernelBot, said: dict[str, Any]) -> None:
    with pytest.raises(QueryRefused, match=next(iter(said))):
        kb.search("torch", **said)


def test_a_limit_means_as_many_rows_as_there_may_be(kb: KernelBot) -> None:
    for ask in (partial(kb.search, "torch", problem="trimul"), partial(kb.steps, "trimul")):
        assert [len(ask(limit=limit)) for limit in (-1, 0, 3)] == [0, 0, 3]
        assert len(ask(limit=10**9)) == len(ask(limit=100_000)) > 3
    with_limit = partial(kb.holding, "torch", problem="trimul")
    assert [len(with_limit(limit=limit).submissions) for limit in (-1, 3)] == [1, 3]


def test_a_keyword_that_no_question_has_is_an_error(kb: KernelBot) -> None:
    for ask in (partial(kb.search, "torch"), partial(kb.leaderboard, "trimul"), partial(kb.techniques, "trimul")):
        with pytest.raises(TypeError, match="runer"):
            ask(runer="B200")  # type: ignore[operator]


def test_search_over_all_competitions(kb: KernelBot) -> None:
    found = kb.search("import torch")
    assert set(found.attrs["searched"]) == {SLUG, "amd-mi300"}
    everywhere = found[found["line"] == "import torch"].iloc[0]
    alone = [kb.search("import torch", competition=slug).set_index("line") for slug in (SLUG, "amd-mi300")]
    assert everywhere["users"] == sum(each.loc["import torch", "users"] for each in alone)


def test_steps_are_those_of_the_ladders(kb: KernelBot) -> None:
    steps = kb.steps("trimul", "B200", least_gain=0.0, limit=100_000)
    people = kb.leaderboard("trimul", runner="B200")
    user = people.iloc[0]
    ladder = kb.ladder("trimul", user["user_id"], runner="B200")
    mine = steps[steps["user_name"] == user["user_name"]].sort_values("after", ascending=False)
    assert mine["after_id"].tolist() == ladder["submission_id"].tolist()[1:]
    assert mine["gain"].tolist() == pytest.approx(ladder["gain"].tolist()[1:])
    assert steps["gain"].is_monotonic_decreasing


def test_origins_and_relatives_of_legacy_submissions(kb: KernelBot) -> None:
    sent = int(kb.leaderboard("amd-fp8-mm")["submission_id"][0])
    origins = kb.origins(sent, competition="amd-mi300")
    assert origins["line"].tolist() == kb.code(sent, competition="amd-mi300").split("\n")
    relatives = kb.relatives(sent, competition="amd-mi300", least=0.0)
    assert relatives["user_name"].is_unique
    assert relatives["similarity"].between(0, 1).all()


def test_the_content_of_the_sample_builds_itself(
    sample_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is built, here a flat file and the legacy one; what is there already stays as it is."""
    cache = tmp_path / "cache"
    shutil.copytree(sample_cache, cache, ignore=shutil.ignore_patterns("pages"))
    for missing in (*cache.glob("content/trimul_*"), *cache.glob("content/submissions-*")):
        shutil.rmtree(missing)
    before = written(cache)
    started: list[subprocess.Popen[bytes]] = []

    class Remembered(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            started.append(self)

    monkeypatch.setattr(background.subprocess, "Popen", Remembered)
    engine = kbdash.connect(settings=Settings(source="sample", cache=cache))
    engine.prepare_content()
    [process] = started
    until = time.monotonic() + 240
    while time.monotonic() < until and any(engine.content(slug).state != "built" for slug in engine.readable()):
        time.sleep(0.2)
    running = process.poll() is None  # the stores are there while KernelGuard is still asked about their texts
    process.terminate()
    assert process.wait(60) == 130
    assert running
    assert [engine.content(slug).state for slug in engine.readable()] == ["built"] * 7
    after = written(cache)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 2
    assert len(engine.search("tl.load"))
    engine.close()


def test_a_build_that_is_stopped_between_two_stores_says_so(
    sample_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only while a store is made, but whatever the command does at the moment."""
    shutil.copytree(sample_cache, tmp_path / "cache", ignore=shutil.ignore_patterns("pages"))
    monkeypatch.setattr(command, "keep_directories", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    words = ["build", "helion", "trimul", "--source", "sample"]
    assert command.main(words, environ={"KBDASH_CACHE": str(tmp_path / "cache")}) == ContentStopped.exit_code


def written(cache: Path) -> dict[str, int]:
    """When each store was written."""
    return {path.parent.name: path.stat().st_mtime_ns for path in cache.glob("content/*/manifest.json")}


def test_building_can_be_switched_off(sample_cache: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(sample_cache, cache, ignore=shutil.ignore_patterns("content", "pages"))
    engine = kbdash.connect(settings=Settings(source="sample", cache=cache, content_build=False))
    engine.prepare_content()
    with pytest.raises(KbdashError, match="switched off"):
        engine.build_content(SLUG)
    assert find_store(cache / "content", engine.source.files["trimul_submissions.parquet"]) is None
    engine.close()


@pytest.fixture(scope="module")
def found(folder: Path) -> pd.DataFrame:
    """Rows of the flat file with the techniques of each, found text by text."""
    rows = pq.read_table(folder / "trimul_submissions.parquet").to_pandas()
    facets = {code: facets_of(code) for code in rows["code"].dropna().unique()}
    return rows.assign(facets=[facets.get(code) for code in rows["code"]])


def holding(found: pd.DataFrame, *facets: str) -> pd.DataFrame:
    """Those whose text holds these techniques."""
    wanted = [
        held is not None and all((name.strip("!") in held) is not name.startswith("!") for name in facets)
        for held in found["facets"]
    ]
    return found[wanted]


@pytest.mark.parametrize("facets", [("triton",), ("!triton",), ("triton", "!autotune"), ("torch_only",)])
@pytest.mark.parametrize("kept_in_memory", [False, True])
def test_techniques_narrow_boards(
    kb: KernelBot, found: pd.DataFrame, facets: tuple[str, ...], kept_in_memory: bool
) -> None:
    if kept_in_memory:
        for ask in (kb.summary, kb.records, kb.ecdf, kb.same_code):
            ask("trimul")
        assert kb._database._materialiser.wait(60)
    rows = holding(found, *facets)
    sent = kb.submissions("trimul", facets=facets, page_size=500)
    assert 0 < sent.total == len(rows) < 952
    assert set(sent.rows["submission_id"]) <= set(rows["submission_id"])
    passing = rows[(rows["mode"] == "leaderboard") & rows["passed"].eq(True) & (rows["score"] >= 1e-7)]
    bests = passing.groupby(["runner", "user_id"])["score"].min().sort_values()
    board = kb.leaderboard("trimul", facets=facets)
    assert board.set_index(["runner", "user_id"])["score"].sort_values().to_dict() == bests.to_dict()
    assert (board.groupby("runner")["rank"].min() == 1).all()
    spread = kb.distribution("trimul", facets=facets)
    assert (spread["users"].sum(), spread["rows"].sum()) == (len(bests), len(passing))
    assert kb.ecdf("trimul", facets=facets)["runner"].nunique() == passing["runner"].nunique()


def test_techniques_narrow_boards_of_runs(kb: KernelBot) -> None:
    board = kb.leaderboard("amd-fp8-mm", facets=("triton",))
    without = kb.leaderboard("amd-fp8-mm", facets=("!triton",))
    for rows, holds in ((board, True), (without, False)):
        assert {("triton" in kb.facets(int(each), competition="amd-mi300")) for each in rows["submission_id"]} == {
            holds
        }
    assert set(board["user_id"]) | set(without["user_id"]) == set(kb.leaderboard("amd-fp8-mm")["user_id"])


def test_a_technique_that_nobody_knows_is_refused_with_the_list(kb: KernelBot) -> None:
    with pytest.raises(QueryRefused, match="tritonn") as refused:
        kb.leaderboard("trimul", facets=("tritonn",))
    assert "tcgen05" in refused.value.advice


def test_without_a_store_a_technique_says_what_is_missing(options: Settings) -> None:
    engine = kbdash.connect(settings=replace(options, content="off"))
    with pytest.raises(ContentMissing, match="no content store of trimul: KBDASH_CONTENT is off"):
        engine.leaderboard("trimul", facets=("triton",))
    with pytest.raises(ContentMissing, match="no content store: KBDASH_CONTENT is off"):
        engine.search("triton")
    assert len(engine.leaderboard("trimul"))
    engine.close()


def test_the_noise_of_a_file_with_every_run_counts_runs_and_tells_the_spread_per_shape(
    kb: KernelBot, folder: Path
) -> None:
    board = kb.board("amd-fp8-mm")
    store = kb._content.store("amd-mi300")
    assert store is not None
    program = store.texts.column("program").to_numpy()[store.text_of_row]
    runs = [(row, ("MI325" if "MI325" in str(row["run_system_info"]) else "MI300", int(program[n]),
                   str(row["user_id"]), row["run_score"]))
            for n, row in enumerate(pq.read_table(folder / "submissions.parquet").to_pylist())
            if row["leaderboard_id"] == board.id and row["run_mode"] == "leaderboard" and row["run_passed"]
            and (row["run_score"] or 0) >= IMPOSSIBLE_SECONDS]  # fmt: skip
    runs.sort(key=lambda run: (run[0]["submission_time"], run[0]["submission_id"]))
    answer = kb.noise(board.name)
    sigma, programs, pairs, _ = plain([run for _, run in runs])
    assert (answer["programs"], answer["pairs"], answer["sigma"]) == (programs, pairs, pytest.approx(sigma))
    sent = {(row["submission_id"], run[0]): run for row, run in runs}
    assert len(sent) < len(runs)
    assert answer["rerolls"]["count"].sum() == sum(plain(list(sent.values()))[3].values())
    spreads: dict[int, list[float]] = {}
    for result, shape in itertools.product((row["run_result"] for row, _ in runs), range(len(answer["shapes"]))):
        if std := result[f"benchmark.{shape}.std"]:
            spreads.setdefault(shape, []).append(float(std) / float(result[f"benchmark.{shape}.mean"]))
    shapes = answer["shapes"].set_index("shape")
    assert dict(shapes["ranked_runs"]) == {shape: len(each) for shape, each in spreads.items()}
    assert dict(shapes["std"]) == pytest.approx({shape: statistics.median(each) for shape, each in spreads.items()})
    assert kb.noise("trimul")["shapes"].empty


def test_a_store_of_a_file_that_was_replaced_meanwhile_is_not_used(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "dataset")
    settings = Settings(source=str(tmp_path / "dataset"), cache=tmp_path / "cache", query_seconds=120.0)
    opened = Opened(open_source(settings), settings)
    for order in opened.jobs([SLUG], tmp_path / "cache" / "content"):
        Build(order).run()
    opened.close()
    engine = kbdash.connect(settings=settings)
    counted = "select count(*) n from submissions s join content_rows r using (competition, file_row)"
    assert engine.sql(counted)["n"][0] > 0
    held = engine.leaderboard("trimul", facets=("load_inline",))
    assert len(held) > 0
    file, other = tmp_path / "dataset" / "trimul_submissions.parquet", tmp_path / "other"
    pq.write_table(pq.read_table(file).take(list(reversed(range(pq.read_metadata(file).num_rows)))), other)
    other.replace(file)
    assert engine.content(SLUG).state == "absent"
    assert "another version" in engine.content(SLUG).note
    assert engine.content_at_hand() == ()
    for ask in (
        partial(engine.leaderboard, "trimul", facets=("load_inline",)),
        partial(engine.search, "def", competition=SLUG),
        partial(engine.origins, int(held["submission_id"][0])),
    ):
        with pytest.raises(ContentMissing):
            ask()
    with pytest.raises(QueryRefused):  # there are no tables of stores now
        engine.sql(counted)
    engine.close()


def test_a_damaged_table_of_techniques_is_made_again(options: Settings) -> None:
    engine = kbdash.connect(settings=options)
    store = engine._content.store(SLUG)
    assert store is not None
    path = store.folder / "facets.parquet"
    whole = path.read_bytes()
    for damaged in (b"", whole[:500]):
        path.write_bytes(damaged)
        assert TextFacets(store).names
        assert pq.read_table(path).equals(pq.read_table(pa.BufferReader(whole)))
    engine.close()


def test_the_last_day_there_is_ends_nothing(options: Settings) -> None:
    engine = kbdash.connect(settings=options)
    found = [engine.search("def", competition=SLUG, until=until) for until in (None, "9999-12-31")]
    assert found[0].equals(found[1])
    engine.close()


def test_of_several_stores_a_damaged_one_is_left_out_and_named(options: Settings, tmp_path: Path) -> None:
    shutil.copytree(options.cache, tmp_path / "cache")
    whole = kbdash.connect(settings=options)
    engine = kbdash.connect(settings=replace(options, cache=tmp_path / "cache"))
    store = engine._content.store(SLUG)
    assert store is not None
    with (store.folder / "runs.parquet").open("r+b") as file:
        file.truncate(300)
    [other] = [slug for slug in engine.content_at_hand() if slug != SLUG]
    found = engine.search("def")
    assert list(found.attrs["unavailable"]) == [SLUG]
    assert "build it again" in found.attrs["unavailable"][SLUG]
    assert found.equals(whole.search("def", competition=other))
    held = engine.holding("def")
    assert (list(held.unavailable), held.total) == ([SLUG], whole.holding("def", competition=other).total)
    steps = engine.steps()
    assert list(steps.attrs["unavailable"]) == [SLUG]
    assert steps.equals(whole.steps(competition=other))
    with pytest.raises(CorruptData, match="runs"):
        engine.search("def", competition=SLUG)

    asked = []

    def silent(slug: str) -> pd.DataFrame:
        asked.append(slug)
        raise DataUnavailable("It did not answer in time.", advice="Retry.")

    late = kbdash.connect(settings=options)
    late._content._ask = silent
    with pytest.raises(DataUnavailable, match="in time"):
        late.search("def")
    assert len(asked) == 1
    for each in (whole, engine, late):
        each.close()
