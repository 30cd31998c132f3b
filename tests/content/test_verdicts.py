"""KernelGuard in a process of its own: deadlines, evidence with lines, and what is kept."""

import importlib.metadata
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kbdash.content.building.progress import ContentStopped
from kbdash.content.store.layout import RULES, SCHEMAS, stores_of
from kbdash.content.verdicts.batch import judge, texts_to_judge
from kbdash.content.verdicts.examiner import Examiner, KernelGuardMissing, Verdict, evidence_lines, shortened
from kbdash.content.verdicts.kept import FILE, KeptVerdicts
from kbdash.content.verdicts.named import named_in_rules
from kbdash.content.verdicts.table import inherit_verdicts, renew_verdicts
from kbdash.errors import DataUnavailable
from tests.content.files import Made, Sent

CLEAN = "import torch\n\n\ndef custom_kernel(data):\n    return data[0] + data[1]\n"
PATCHED = CLEAN + "\n\ntorch.cuda.synchronize = lambda *a: None\n"


@pytest.fixture(scope="module")
def examiner() -> Iterator[Examiner]:
    asked = Examiner(seconds=60)
    yield asked
    asked.close()


def test_a_clean_text_and_one_that_matches(examiner: Examiner) -> None:
    assert examiner.examine(CLEAN) == {"status": "clean", "rules": [], "version": "0.3.2"}
    verdict = examiner.examine(PATCHED)
    assert verdict["status"] == "matched"
    timer = next(rule for rule in verdict["rules"] if "torch.cuda.synchronize" in rule["evidence"])
    assert timer["rule"] == "TIMER_MONKEYPATCH"
    assert timer["severity"] == "critical"
    assert timer["lines"] == [8]


def test_the_words_never_call_anybody_a_cheater(examiner: Examiner) -> None:
    assert "cheat" not in json.dumps(examiner.examine(PATCHED)).lower()


def test_time_over_is_a_result_and_the_next_text_gets_a_new_process(examiner: Examiner) -> None:
    stuck = Examiner(seconds=0.3, command=("timeit", "-n1", "-r1", "-s", "import time", "time.sleep(600)"))
    began = time.monotonic()
    assert stuck.examine(CLEAN) == {"status": "timed out", "rules": [], "version": "0.3.2"}
    assert stuck.examine(CLEAN)["status"] == "timed out"
    assert time.monotonic() - began < 20
    assert examiner.examine(CLEAN)["status"] == "clean"


def test_a_process_that_dies_is_an_error_and_not_a_result() -> None:
    dying = Examiner(seconds=60, command=("timeit", "-n1", "-r1", "import os; os._exit(3)"))
    with pytest.raises(DataUnavailable, match="ended"):
        dying.examine(CLEAN)


def test_long_words_are_cut_before_anybody_looks(examiner: Examiner) -> None:
    text = f'{CLEAN}\nBLOB = "{"QUJD" * 25_000}"\n'
    assert len(shortened(text)) < len(CLEAN) + 100
    assert shortened("x " + "a" * 512) == "x " + "a" * 512
    began = time.monotonic()
    assert examiner.examine(text)["status"] in ("clean", "matched")
    assert time.monotonic() - began < 30


def test_lines_are_those_that_hold_the_names_of_the_evidence() -> None:
    text = "a = 1\ntime.perf_counter = f\nb\nx = time.perf_counter()"
    assert evidence_lines(text, "host timing function patched: time.perf_counter") == [2, 4]
    assert evidence_lines(text, "nothing of that kind") == []
    assert evidence_lines("the_name\n" * 50, "the_name patched") == []


def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(KernelGuardMissing, match="not installed"):
        Examiner()


def test_verdicts_are_kept_by_text_and_version_and_survive_a_torn_line(tmp_path: Path) -> None:
    matched: Verdict = {"status": "matched", "rules": [], "version": "1"}
    slow: Verdict = {"status": "timed out", "rules": [], "version": "1"}
    KeptVerdicts(tmp_path).keep(b"\x01" * 32, matched)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'[1]\n{"sha256": ["x"], "version": "1"}\n')  # not ours
        file.write(b'{"sha256": "02')  # killed in the middle
    KeptVerdicts(tmp_path).keep(b"\x03" * 32, slow)
    kept = KeptVerdicts(tmp_path)
    assert kept.get(b"\x01" * 32, "1") == matched
    assert kept.get(b"\x03" * 32, "1") == slow
    assert kept.get(b"\x01" * 32, "2") is None
    assert kept.get(b"\x02" * 32, "1") is None


def test_a_verdict_is_kept_in_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    clean: Verdict = {"status": "clean", "rules": [], "version": "1"}
    KeptVerdicts(tmp_path).keep(b"\x01" * 32, clean)
    assert KeptVerdicts(tmp_path).get(b"\x01" * 32, "1") == clean


def test_submissions_that_the_rules_name() -> None:
    assert named_in_rules("nvfp4", 108465)
    assert named_in_rules("amd-1-1m", 521414)
    assert not named_in_rules("nvfp4", 521414)
    assert not named_in_rules("elsewhere", 108465)


def test_bests_first_and_nothing_is_asked_twice(tmp_path: Path, examiner: Examiner) -> None:
    made = Made(
        [
            Sent(1, CLEAN.encode(), score=2.0),
            Sent(2, PATCHED.encode(), score=1.0),
            Sent(3, b"import torch", user="bob", score=3.0),
            Sent(4, b"x = 1", user="bob", passed=False, score=None),
            Sent(5, None, user="cat"),
        ]
    )
    store, rows = made.store(tmp_path), made.ask("made")
    codes = {which: [store.text(text) for text in texts_to_judge(store, rows, which)] for which in ("best", "all")}  # type: ignore[arg-type]
    assert codes == {
        "best": [PATCHED.encode(), b"import torch"],
        "all": [PATCHED.encode(), CLEAN.encode(), b"import torch"],
    }
    assert judge(store, rows, "none", examiner) == 0
    assert judge(store, rows, "best", examiner) == 2
    assert judge(store, rows, "best", examiner) == 0
    assert judge(store, rows, "all", examiner) == 1
    digest = store.texts.column("sha256")[int(store.text_of_row[1])].as_py()
    kept = KeptVerdicts(store.folder).get(digest, "0.3.2")
    assert kept is not None
    assert kept["status"] == "matched"
    table = pq.read_table(store.folder / "verdicts.parquet")
    assert table.schema.equals(SCHEMAS["verdicts"])
    found = table.to_pylist()
    assert {store.text(row["text_id"]): row["status"] for row in found} == {
        PATCHED.encode(): "matched",
        CLEAN.encode(): "clean",
        b"import torch": "clean",
    }
    rules = [{name: row[name] for name in ("rule", "severity", "evidence", "lines")} for row in found if row["rule"]]
    assert rules == kept["rules"]
    assert len(found) == len(rules) + 2  # a text without a match has one row without a rule


def test_the_table_has_what_was_known_when_it_was_stopped(tmp_path: Path, examiner: Examiner) -> None:
    made = Made([Sent(1, CLEAN.encode(), score=1.0), Sent(2, b"import torch", user="bob", score=3.0)])
    store = made.store(tmp_path)
    calls = iter([None, ContentStopped("Stopped.")])

    def check() -> None:
        if stopped := next(calls):
            raise stopped

    with pytest.raises(ContentStopped):
        judge(store, made.ask("made"), "best", examiner, check)
    table = pq.read_table(store.folder / "verdicts.parquet")
    assert [store.text(text) for text in table.column("text_id").to_pylist()] == [CLEAN.encode()]
    assert judge(store, made.ask("made"), "best", examiner) == 1
    assert pq.read_metadata(store.folder / "verdicts.parquet").num_rows == 2


def test_a_new_store_of_a_file_begins_with_the_verdicts_of_the_one_before(
    tmp_path: Path, examiner: Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made([Sent(1, CLEAN.encode(), score=1.0), Sent(2, b"import torch", user="bob", score=3.0)])
    old = made.store(tmp_path)
    assert judge(old, made.ask("made"), "best", examiner) == 2
    monkeypatch.setitem(RULES, "program", "0")
    new, file = made.store(tmp_path), made.order(tmp_path).file
    assert sorted(stores_of(tmp_path, file)) == sorted([old.folder, new.folder])
    assert stores_of(tmp_path, replace(file, name="other.parquet")) == []
    inherit_verdicts(new, stores_of(tmp_path, file))
    assert pq.read_metadata(new.folder / "verdicts.parquet").num_rows == 2
    assert judge(new, made.ask("made"), "best", examiner) == 0


def test_verdicts_of_a_store_are_not_replaced_by_those_of_another(tmp_path: Path) -> None:
    made = Made([Sent(1, CLEAN.encode())])
    store, other = made.store(tmp_path / "one"), made.store(tmp_path / "two")
    clean: Verdict = {"status": "clean", "rules": [], "version": "1"}
    for folder, digest in ((store.folder, b"\x01" * 32), (other.folder, b"\x02" * 32)):
        KeptVerdicts(folder).keep(digest, clean)
    inherit_verdicts(store, [store.folder, other.folder])
    assert [digest for digest, _ in KeptVerdicts(store.folder)] == [b"\x01" * 32]


def test_a_table_that_cannot_be_read_is_written_again(tmp_path: Path, examiner: Examiner) -> None:
    made = Made([Sent(1, CLEAN.encode(), score=1.0)])
    store = made.store(tmp_path)
    judge(store, made.ask("made"), "best", examiner)
    table = store.folder / "verdicts.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:-9])
    renew_verdicts(store)
    assert pq.read_table(table).to_pylist()[0]["status"] == "clean"
