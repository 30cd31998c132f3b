"""Stores, their checks and the questions over them, each asked alone: without a source, a database or KernelGuard."""

import io
import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from kbdash.code.parquet import ByteSource
from kbdash.content import stores
from kbdash.content.building.build import Build
from kbdash.content.building.jobs import Opened
from kbdash.content.building.progress import ContentStopped, Progress, WorkFolder
from kbdash.content.building.verify import check_store
from kbdash.content.findings.origins import line_facts, origins
from kbdash.content.insight import Insight
from kbdash.content.questions import Library, OpenStore, Where, pattern_of
from kbdash.content.store.finished import Store, find_store
from kbdash.content.store.layout import (
    FORMAT,
    MANIFEST,
    RULES,
    SCHEMAS,
    Manifest,
    folder_name,
    has_tables,
    table_path,
    why_unused,
)
from kbdash.content.store.location import StoreLocation
from kbdash.content.store.text_rows import TextRows
from kbdash.content.stores import Stores
from kbdash.content.techniques.facets import TextFacets
from kbdash.content.verdicts.examiner import Examiner, Verdict
from kbdash.dataset.config import Settings
from kbdash.dataset.model import DataFile
from kbdash.errors import CorruptData, DataUnavailable, UnknownProblem
from tests.content.files import Made, MemoryFile, Sent

TRITON = b"import triton\n@triton.jit\ndef f(x):\n    tl.dot(x, x)\n"


# --- what a store holds --------------------------------------------------------------------------------------------


def test_a_manifest_of_another_format_is_none(tmp_path: Path) -> None:
    manifest = Manifest("made.parquet", "v", 1, "made", 2, 3, 4, 5, 6, {})
    manifest.write(tmp_path)
    assert Manifest.read(tmp_path) == manifest
    replace(manifest, format=FORMAT + 1).write(tmp_path)
    assert Manifest.read(tmp_path) is None


def test_a_manifest_that_lacks_something_or_holds_something_else_is_none(tmp_path: Path) -> None:
    Manifest("made.parquet", "v", 1, "made", 2, 3, 4, 5, 6, {}).write(tmp_path)
    facts = json.loads((tmp_path / MANIFEST).read_text())
    without = {name: facts[name] for name in facts if name != "schemas"}
    for other in (without, facts | {"rules": None}, facts | {"rows": "2"}, facts | {"lines": None}, [facts]):
        (tmp_path / MANIFEST).write_text(json.dumps(other))
        assert Manifest.read(tmp_path) is None
    (tmp_path / MANIFEST).write_text("[" * 100_000)
    assert Manifest.read(tmp_path) is None


def test_a_store_fits_if_it_is_of_this_file_and_made_as_stores_are_made_today() -> None:
    file = DataFile("made.parquet", "memory", 9, "v")
    manifest = Manifest("made.parquet", "v", 1, "made", 2, 3, 4, 5, 6, RULES | {"techniques": "any"})
    assert manifest.fits(file)
    for other in (
        {"rules": RULES | {"program": "0"}}, {"rules": {}}, {"schemas": "other"}, {"format": FORMAT + 1},
        {"version": "w"}, {"file": "other.parquet"},
    ):  # fmt: skip
        assert not replace(manifest, **other).fits(file)  # type: ignore[arg-type]


ONE_MORE = SCHEMAS["families"].append(pa.field("members", pa.int32()))
OTHER_TYPE = SCHEMAS["families"].set(2, pa.field("similarity", pa.float32()))


@pytest.mark.parametrize(
    ("table", "name", "now"),
    [(RULES, "program", "0"), (SCHEMAS, "families", ONE_MORE), (SCHEMAS, "families", OTHER_TYPE)],
    ids=["rules", "column", "type"],
)
def test_a_store_made_by_other_rules_or_with_other_columns_is_not_used_and_said(
    table: dict[str, Any], name: str, now: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made([Sent(1, b"a")])
    store, file = made.store(tmp_path), made.order(tmp_path).file
    shelf = Shelf(tmp_path)
    shelf._files = {"made": file}
    with monkeypatch.context() as patch:
        patch.setitem(table, name, now)
        assert find_store(tmp_path, file) is None
        assert "made by other rules, or has other columns" in shelf.state("made").note
        assert "another version" in why_unused(tmp_path, replace(file, version="next"))
        assert why_unused(tmp_path, replace(file, name="other.parquet")) == ""
        store.folder.rename(tmp_path / folder_name(file))  # its name is not believed
        assert find_store(tmp_path, file) is None
        (tmp_path / folder_name(file)).rename(store.folder)
    assert find_store(tmp_path, file) is not None


def test_a_store_made_by_other_rules_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made([Sent(1, b"a")])
    old = made.store(tmp_path)
    monkeypatch.setitem(RULES, "program", "0")
    new = made.store(tmp_path)
    assert (old.manifest.rules["program"], new.manifest.rules["program"]) == ("1", "0")


def test_a_store_that_was_finished_and_is_gone_is_none(tmp_path: Path) -> None:
    made = Made([Sent(1, b"a")])
    shutil.rmtree(made.store(tmp_path).folder)
    shelf = Shelf(tmp_path)
    shelf._files = {"made": made.order(tmp_path).file}
    state = shelf.state("made")
    assert (state.state, state.share, state.bytes) == ("absent", 0.0, 0)


def checked(store: Store, file: ByteSource, **wrong: Any) -> int:
    return check_store(Store(store.folder, replace(store.manifest, **wrong)), file)


def test_a_store_holds_what_its_manifest_says(tmp_path: Path) -> None:
    made = Made([Sent(1, b"a\nb"), Sent(2, b"c"), Sent(3, b"c")])
    store, file = made.store(tmp_path), made.order(tmp_path).bytes
    assert has_tables(store.folder)
    lost = table_path(store.folder, "families")
    lost.rename(tmp_path / "kept")
    assert not has_tables(store.folder)
    (tmp_path / "kept").rename(lost)
    assert checked(store, file) == 2
    for wrong in ({"rows": 4}, {"texts": 1}, {"lines": 4}):
        with pytest.raises(CorruptData, match="does not hold what its manifest says"):
            checked(store, file, **wrong)


def test_the_first_row_of_a_short_file_is_compared_whatever_the_version(tmp_path: Path) -> None:
    store = Made([Sent(1, b"as built"), Sent(2, b"same")]).store(tmp_path)
    other = MemoryFile(Made([Sent(1, b"another"), Sent(2, b"same")]).data(), "other")
    for version in "abcdefgh":
        with pytest.raises(CorruptData, match="Row 0 of"):
            checked(store, other, version=version)


def test_of_submissions_with_one_id_and_time_the_first_user_is_the_origin(tmp_path: Path) -> None:
    """The texts stand the other way round: those of the first problem come first."""
    made = Made([Sent(7, b"value = compute(1)\nx", "zoe", "a"), Sent(7, b"value = compute(1)\ny", "ann", "b")])
    place = made.place(tmp_path)
    assert place.store.text_of_row.tolist() == [0, 1]
    found = origins(place.store, place.held, 0, "ann")
    assert (found["first_user_id"][0], bool(found["own"][0])) == ("ann", True)
    assert place.store.table("origins").column("first_user_id").to_pylist()[0] == "ann"


def test_a_line_that_no_row_holds_has_no_first_row(tmp_path: Path) -> None:
    made = Made([Sent(1, b"known_line = compute(1)"), Sent(2, b"unknown_line = compute(2)", "bob", at=1)])
    store = made.store(tmp_path)
    held = TextRows(made.ask("made").iloc[:1], store.text_of_row, store.manifest.texts)
    row, users, telling = line_facts(store, held, np.arange(2, dtype=np.int32))
    assert (row.tolist(), users.tolist(), telling.tolist()) == ([0, -1], [1, 0], [True, False])


def test_a_build_stops_when_it_is_told_to_or_somebody_asks(tmp_path: Path) -> None:
    build = Build(Made([Sent(1, b"a")]).order(tmp_path))
    with build.work.locked():
        build.check()
        build.work.ask_to_stop()
        with pytest.raises(ContentStopped):
            build.check()
    with build.work.locked():
        build.check()
    build.stop.set()
    with pytest.raises(ContentStopped):
        build.check()


# --- the stores of a source ----------------------------------------------------------------------------------------


class Shelf(Stores):
    """The stores of two files that nobody opened."""

    def __init__(self, root: Path) -> None:
        self._source: Any = None
        self._settings: Any = None
        self._location: Any = SimpleNamespace(kind="cache", root=root, download=lambda _: None)
        self._files = {slug: DataFile(f"{slug}.parquet", "memory", 9, "v") for slug in ("one", "two")}
        self._cache_root = root
        self.there: Store | None = None

    def store(self, competition: str) -> Store | None:
        return self.there

    def _now(self, file: DataFile) -> DataFile:
        return file

    def work(self, slug: str) -> WorkFolder:
        return WorkFolder(self._cache_root, stores.folder_name(self._files[slug]))


def test_a_store_is_built_unless_it_is_there_or_on_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(stores, "start_build", lambda _source, _settings, slugs: started.append(slugs))
    shelf = Shelf(tmp_path)
    shelf.build("one")
    assert started == [["one"]]
    with shelf.work("one").locked():
        shelf.build("one")
    shelf.there = Store(tmp_path, Manifest("one.parquet", "v", 1, "one", 2, 3, 4, 5, 6, {}))
    shelf.build("two")
    assert started == [["one"]]


def test_the_rate_of_builds_is_nothing_before_the_first(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert shelf._build_rate(shelf._files.values()) == 0.0
    work = shelf.work("two")
    work.parts.mkdir(parents=True)
    work.note(Progress(bytes_done=5000, started_at=time.time() - 10), now=True)
    assert 50 < shelf._build_rate(shelf._files.values()) <= 510


def test_stores_come_from_the_cache_unless_something_is_named(tmp_path: Path) -> None:
    def location(content: str | None) -> StoreLocation:
        return StoreLocation(Settings(source="sample", cache=tmp_path, content=content), tmp_path)

    assert (location(None).kind, location("").kind, location("off").kind) == ("cache", "cache", "off")
    assert (location(str(tmp_path)).kind, location("o/n").kind) == ("folder", "hub")
    with pytest.raises(DataUnavailable, match="neither a folder nor a repository"):
        location("no repository")


def opened_source(**reasons: str | None) -> Opened:
    """A source of these competitions; a reason says why one cannot be read."""
    items = [
        SimpleNamespace(competition=SimpleNamespace(slug=slug), reason=reason, file=SimpleNamespace(name=slug))
        for slug, reason in reasons.items()
    ]
    opened = Opened.__new__(Opened)
    opened._database = SimpleNamespace(wait_until_opened=lambda: None, competitions=lambda: items)  # type: ignore[assignment]
    opened._job = lambda slug, _name, _root: slug  # type: ignore[assignment, method-assign, return-value]
    return opened


def test_what_is_built_is_what_was_named_or_all_that_can_be_read(tmp_path: Path) -> None:
    opened = opened_source(one=None, two="two is damaged.", three=None)
    assert opened.jobs([], tmp_path) == ["one", "three"]
    assert opened.jobs(["three"], tmp_path) == ["three"]
    with pytest.raises(UnknownProblem, match="no competition four"):
        opened.jobs(["one", "four"], tmp_path)
    with pytest.raises(DataUnavailable, match="two is damaged"):
        opened.jobs(["one", "two"], tmp_path)


# --- questions -----------------------------------------------------------------------------------------------------


class Questions(Library):
    """The questions over one store that was just built."""

    def __init__(self, made: Made, root: Path) -> None:
        self._place_of = made.place(root)
        self._settings = Settings(source="sample", cache=root)

    def opened(self, competition: str) -> OpenStore:
        return OpenStore(self._place_of.store, self._place_of.held)


HERE = Where(("made",))


def submission(id_: int, row: int, user: str = "ann") -> Any:
    return SimpleNamespace(competition="made", submission_id=id_, file_row=row, user_id=user, submitted_at=None)


def test_a_submission_without_a_text_uses_no_technique(tmp_path: Path) -> None:
    library = Questions(Made([Sent(1, TRITON), Sent(2, None, at=1)]), tmp_path)
    insight = Insight(library)
    assert "triton" in " ".join(insight.facets(submission(1, 0)))
    assert insight.facets(submission(2, 1)) == ()
    names = TextFacets(library._place_of.store).names
    some = insight.facets(submission(1, 0))[0]
    other = next(name for name in names if name not in insight.facets(submission(1, 0)))
    for wanted, bits in (([some], 0b10000000), ([f"!{other}"], 0b10000000), ([f"!{some}"], 0)):
        assert insight.rows_holding("made", wanted) == bytes([bits])


def test_submissions_that_hold_a_text_are_counted_and_at_least_one_is_shown(tmp_path: Path) -> None:
    library = Questions(Made([Sent(1, b"a.b = 1"), Sent(2, b"axb = 1", at=1), Sent(3, b"a.b = 2", at=2)]), tmp_path)

    def held(**options: Any) -> tuple[int, int]:
        found = library.holding(pattern_of("a.b", options), False, HERE, options)  # type: ignore[arg-type]
        return found.total, len(found.submissions)

    assert (held(), held(regex=True)) == ((2, 2), (3, 3))
    assert (held(limit=0), held(limit=1), held(limit=2)) == ((2, 1), (2, 1), (2, 2))


def test_texts_that_share_half_of_their_lines_are_relatives(tmp_path: Path) -> None:
    def text(*names: str) -> bytes:
        return "\n".join(f"value_of_{name} = compute({name})" for name in names).encode()

    rows = [("ann", text("a", "b", "c")), ("bob", text("a", "b", "c", "d")), ("cat", text("a", "x", "y", "z"))]
    made = Made([Sent(number, code, user, at=number) for number, (user, code) in enumerate(rows)])
    found = Questions(made, tmp_path).relatives(submission(0, 0))
    assert found["user_name"].tolist() == ["Bob"]


def test_times_that_nobody_knows_are_of_the_kind_of_the_others(tmp_path: Path) -> None:
    made = Made([Sent(1, b"telling_line = compute(1)")])
    store = made.store(tmp_path)
    rows = made.ask("made").assign(submitted_at=pd.Series([pd.NaT], dtype="datetime64[us, UTC]"))
    found = origins(store, TextRows(rows, store.text_of_row, store.manifest.texts), 0, "ann")
    assert str(found["first_at"].dtype).endswith("UTC]")
    assert found["first_at"].isna().all()


# --- KernelGuard ---------------------------------------------------------------------------------------------------


def test_a_text_is_judged_and_a_missing_one_is_not(tmp_path: Path) -> None:
    clean: Verdict = {"status": "clean", "rules": [], "version": "1"}
    asked: list[str] = []
    examiner: Any = SimpleNamespace(version="1", examine=lambda text: asked.append(text) or clean)
    insight = Insight(Questions(Made([Sent(1, b"x = 1"), Sent(2, None, at=1)]), tmp_path))
    insight._examiners.get("", lambda: examiner)
    assert insight.verdict(submission(2, 1))["status"] == "no text"
    for _ in range(2):
        assert insight.verdict(submission(1, 0)) == clean
    assert asked == ["x = 1"], "once, then it is kept"


@pytest.mark.parametrize(("seconds", "is_fresh", "extra"), [(5.0, True, True), (5.0, False, False), (0.5, True, False)])
def test_only_a_new_process_gets_time_to_start(
    monkeypatch: pytest.MonkeyPatch, seconds: float, is_fresh: bool, extra: bool
) -> None:
    left: list[float] = []

    def line(_pipe: object, deadline: float) -> bytes:
        left.append(deadline - time.monotonic())
        return b"[]\n"

    process: Any = SimpleNamespace(stdin=io.BytesIO(), stdout=io.BytesIO())
    examiner = Examiner(seconds)
    monkeypatch.setattr("kbdash.content.verdicts.examiner._line", line)
    monkeypatch.setattr(examiner, "_started", lambda: process)
    examiner._process = None if is_fresh else process
    assert examiner.examine("x = 1")["status"] == "clean"
    assert (left[0] > seconds + 1) is extra
