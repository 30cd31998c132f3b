"""The parts of the content code asked alone: words, bounds, files that are empty, what is not read twice."""

import argparse
import errno
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pyarrow as pa
import pytest
from huggingface_hub.errors import HfHubHTTPError

from kbdash.content import command
from kbdash.content.building import background
from kbdash.content.building.build import COLUMN, Build
from kbdash.content.building.disk import DiskFull, full_disk_named
from kbdash.content.building.facts import LATEST, NOBODY, read_facts
from kbdash.content.building.pages import PageStream
from kbdash.content.building.parts import _pieces
from kbdash.content.building.progress import Progress, WorkFolder
from kbdash.content.building.read_ahead import ReadAhead
from kbdash.content.findings.adoption import adoption
from kbdash.content.findings.origins import origins
from kbdash.content.findings.relatives import relatives
from kbdash.content.findings.steps import steps
from kbdash.content.frames import _of_verdict
from kbdash.content.measures import trivial
from kbdash.content.measures.program import _scrambled
from kbdash.content.measures.similarity import Similarity, text_totals
from kbdash.content.measures.sizes import _number
from kbdash.content.publishing import publish
from kbdash.content.publishing.card import _front_matter, _terms, card
from kbdash.content.search.patterns import parse_pattern
from kbdash.content.search.scan import Deadline, LineScanner
from kbdash.content.store import location
from kbdash.content.store.decoded import same_but_for_space
from kbdash.content.store.layout import Manifest
from kbdash.content.store.location import Download
from kbdash.content.store.runs import unfolded
from kbdash.content.techniques.facets import TextFacets
from kbdash.content.verdicts.kept import FILE, verdict_bytes
from kbdash.dataset.config import Settings
from kbdash.dataset.model import DataFile
from kbdash.errors import CorruptData, KbdashError
from tests.content.files import Made, MemoryFile, Sent


def settings(folder: Path, **more: Any) -> Settings:
    return Settings(source="sample", cache=folder, endpoint="http://hub.example", **more)


# --- a build: its process, its words, its state --------------------------------------------------------------------


def test_a_build_that_runs_is_kept_and_one_that_ended_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as runs, subprocess.Popen(["true"]) as ended:
        ended.wait()
        monkeypatch.setattr(background, "_running", [runs, ended])
        (tmp_path / "content").touch()  # no folder can be made there
        with pytest.raises(KbdashError, match="cannot be started"):
            background.start_build(None, settings(tmp_path), [])  # type: ignore[arg-type]
        assert background._running == [runs]
        runs.kill()


def test_a_build_has_the_environment_but_no_other_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBDASH_SOURCE", "elsewhere")
    monkeypatch.setenv("HF_TOKEN", "from outside")
    found = background._environment(settings(tmp_path))
    assert "KBDASH_SOURCE" not in found
    assert (found["PATH"], found["KBDASH_CACHE"], found["HF_TOKEN"]) == (
        os.environ["PATH"],
        str(tmp_path),
        "from outside",
    )
    assert background._environment(settings(tmp_path, token="own"))["HF_TOKEN"] == "own"


@pytest.mark.parametrize("gently", [True, False])
def test_only_a_build_beside_the_server_is_nice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gently: bool) -> None:
    given: list[int] = []
    monkeypatch.setattr(os, "nice", given.append)
    command._build(argparse.Namespace(gently=gently, verdicts="none"), [], settings(tmp_path))
    assert given == [15] * gently


def test_progress_in_words() -> None:
    half = Progress(bytes=4_200_000, bytes_done=2_100_000, texts=1234, started_at=100.0)
    assert command.progress_text(half, 102.0) == "50% of 4.2 MB, 1,234 texts, 1.1 MB/s, 2 s left"
    assert half.seconds_left(102.0) == 2.0
    assert command.progress_text(replace(half, bytes_before=2_100_000), 102.0).endswith("0.0 MB/s")
    assert command.progress_text(replace(half, phase="numbering"), 102.0) == "numbering lines"


def test_the_state_is_written_at_once_only_when_the_phase_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = Build(Made([Sent(1, b"a")]).order(tmp_path))
    urgent: list[bool] = []
    monkeypatch.setattr(build.work, "note", lambda _, *, now=False: urgent.append(now))
    build._note(phase="numbering")
    build._note(rows_done=5)
    build._note(phase="numbering")
    assert urgent == [True, False, False]


def test_the_latest_run_of_a_build_is_measured_once_it_has_begun(tmp_path: Path) -> None:
    work = WorkFolder(tmp_path, "store")
    assert work.latest_run() == (0, 0.0)
    work.parts.mkdir(parents=True)
    work.note(Progress(bytes_done=500), now=True)
    assert work.latest_run() == (0, 0.0), "it waits for another"
    work.note(Progress(bytes_done=500, bytes_before=100, started_at=time.time() - 10), now=True)
    size, seconds = work.latest_run()
    assert (size, 9 < seconds < 60) == (400, True)


@pytest.mark.parametrize(
    ("error", "is_full"),
    [
        (OSError(errno.ENOSPC, "x"), True),
        (OSError("IOError: No space left on device"), True),
        (OSError(errno.EACCES, "denied"), False),
    ],
)
def test_a_full_disk_is_told_from_other_errors(tmp_path: Path, error: OSError, is_full: bool) -> None:
    with pytest.raises(DiskFull if is_full else OSError) as raised, full_disk_named(tmp_path):
        raise error
    assert isinstance(raised.value, DiskFull) is is_full


# --- publishing ----------------------------------------------------------------------------------------------------


def test_a_card_names_the_revision_the_dataset_and_the_terms() -> None:
    origin = {"dataset": "o/n", "commit": "abc", "licence": "mit"}
    manifest = Manifest("made.parquet", "v", 1, "made", 2, 3, 4, 5, 6, {}, origin)
    assert "at revision `abc`" in card([manifest])
    assert "at revision `unknown`" in card([replace(manifest, origin={"dataset": "o/n"})])
    assert "- o/n" in _front_matter("mit", "o/n")
    assert "source_datasets" not in _front_matter("mit", "a folder")
    assert "synthetic" in _terms("synthetic")
    assert "synthetic" not in _terms("mit")


def failed(status: int) -> HfHubHTTPError:
    asked = httpx2.Request("POST", "http://hub.example")
    return HfHubHTTPError("failed", response=httpx2.Response(status, request=asked))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (failed(401), "does not let this token write to o/n"),
        (failed(403), "does not let this token write to o/n"),
        (failed(412), "o/n was changed at the same time"),
        (failed(500), "answered 500; nothing was published"),
        (OSError(), "cannot be reached; nothing was published"),
    ],
)
def test_what_publishing_failed_at_is_said(tmp_path: Path, error: Exception, words: str) -> None:
    assert words in str(publish._explained(error, "o/n", settings(tmp_path)))


def test_no_store_is_nothing_to_publish() -> None:
    with pytest.raises(KbdashError, match="no finished store"):
        publish.parcel_of([])


@pytest.mark.parametrize(
    ("error", "words"),
    [(failed(404), "no content repository o/n"), (failed(500), "answered 500"), (OSError(), "broke off")],
)
def test_what_fetching_failed_at_is_said(tmp_path: Path, error: Exception, words: str) -> None:
    assert words in str(location._explained(error, "o/n", settings(tmp_path)))


def test_a_repository_is_fetched_at_its_revision_if_one_is_named(tmp_path: Path) -> None:
    file = DataFile("made.parquet", "memory", 1, "v")
    named = [Download(settings(tmp_path), name, file, tmp_path)._revision for name in ("o/n", "o/n@abc")]
    assert named == [None, "abc"]


# --- lines and texts -----------------------------------------------------------------------------------------------


def test_lines_that_differ_in_outer_space_alone_are_the_same() -> None:
    lines = pa.array([b"a", b"  a", b"b", b"a ", b"\xff"], pa.large_binary())
    assert same_but_for_space(lines).tolist() == [0, 0, 2, 0, 4]
    assert same_but_for_space(lines[:0]).tolist() == []


def test_runs_stand_for_their_lines() -> None:
    runs = np.array([5, 0], np.int32), np.array([2, 3], np.int32)
    assert unfolded(*runs).tolist() == [5, 6, 0, 1, 2]
    assert unfolded(runs[0][:0], runs[1][:0]).tolist() == []


@pytest.mark.parametrize(("line", "number"), [(b"num_warps=8, num_warps = 4", 8), (b"num_warps = n", 0), (b"x", 0)])
def test_a_line_gives_its_largest_number_or_none(line: bytes, number: int) -> None:
    assert _number(pa.array([line], pa.large_binary()), "num_warps").tolist() == [number]


def test_lines_weigh_by_how_few_hold_them_and_many_make_them_common() -> None:
    assert trivial.weights(np.array([0, 1, 3], np.int32), 3).tolist() == [2.0, 2.0, 1.0]
    assert trivial.common_from(trivial.ENOUGH_USERS - 1) == trivial.COMMON_USERS
    assert trivial.common_from(trivial.ENOUGH_USERS) == 4


def test_numbers_of_programs_are_those_that_stores_already_hold() -> None:
    """The first numbers of splitmix64 from the seed 0, as its author publishes them."""
    numbers = _scrambled(np.arange(3, dtype=np.uint64)).tolist()
    assert numbers == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize(("pattern", "part"), [("abcd.*", "abcd"), ("abc.*", None), ("ab.*cdefg", "cdefg")])
def test_a_part_of_four_letters_tells_enough(pattern: str, part: str | None) -> None:
    assert parse_pattern(pattern, regex=True).part == part


def test_a_text_is_found_without_an_expression_and_lines_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [b"some words here", *[b"line %d" % n for n in range(5000)]]
    blob, lines = b"".join(every), pa.array(every, pa.large_binary())
    parts = [None, lines.buffers()[1], pa.py_buffer(blob)]
    scanner = LineScanner(blob, pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(every), parts))
    assert scanner._blob is blob
    monkeypatch.setattr(scanner, "_match", lambda *_: pytest.fail("every line was matched"))
    for pattern in (parse_pattern("words"), parse_pattern("words.here", regex=True)):
        assert scanner.matching(pattern, Deadline(30.0)).tolist() == [0]
    assert LineScanner(b"", lines[:0]).matching(parse_pattern("words"), Deadline(30.0)).tolist() == []


@pytest.mark.parametrize("length", [1, 9, 10, 11, 25])
def test_a_range_is_read_from_the_parts_it_lies_in(length: int) -> None:
    data = bytes(range(100))
    with ReadAhead(MemoryFile(data, "v"), 80, range_bytes=10, ahead=2) as reader:
        for offset in (0, 9, 10, 50, 79, 80):
            assert reader.read(offset, min(length, 100 - offset)) == data[offset : offset + length]


# --- rows ----------------------------------------------------------------------------------------------------------


def test_rows_of_submissions_that_nobody_knows_have_no_facts() -> None:
    made = Made([Sent(7, b"a")])
    unknown = read_facts(lambda _: made.ask("made").iloc[:0], "made", np.array([7, 8]))
    assert (unknown.submission_id.tolist(), unknown.user.tolist()) == ([NOBODY] * 2, [NOBODY] * 2)
    assert (unknown.at.tolist(), unknown.users) == ([LATEST] * 2, [])
    known = read_facts(made.ask, "made", np.array([7]))
    assert (known.submission_id.tolist(), known.users) == ([7], ["ann"])
    with pytest.raises(CorruptData, match="disagree"):
        read_facts(made.ask, "made", np.array([8]))


def test_a_row_behind_the_last_is_no_submission(tmp_path: Path) -> None:
    store = Made([Sent(7, b"a")]).store(tmp_path)
    store.check_row(0, 7)
    for row, id_ in ((1, 7), (-1, 7), (0, 8)):
        with pytest.raises(CorruptData, match="is not submission"):
            store.check_row(row, id_)


def test_without_a_competition_there_is_no_step() -> None:
    assert steps([], least_gain=0.1, limit=5).empty


def test_a_verdict_is_a_row_for_each_rule_or_one_without() -> None:
    rule = {"rule": "r", "severity": "s", "evidence": "e", "lines": [3]}
    clean, matched = (
        _of_verdict({"status": status, "rules": rules, "version": "1"})  # type: ignore[typeddict-item]
        for status, rules in (("clean", []), ("matched", [rule, rule]))
    )
    assert (clean["status"].tolist(), clean["rule"].tolist(), clean["lines"].tolist()) == (["clean"], [None], [[]])
    assert (matched["rule"].tolist(), matched["lines"].tolist()) == (["r", "r"], [[3.0], [3.0]])


def test_verdicts_take_the_bytes_of_their_file(tmp_path: Path) -> None:
    assert verdict_bytes(tmp_path) == 0
    (tmp_path / FILE).write_bytes(b"12345")
    assert verdict_bytes(tmp_path) == 5


def test_rows_without_a_text_do_not_say_where_texts_come_first(tmp_path: Path) -> None:
    """Texts stand in the order of their problem, then of their user: a row that has none counts for neither."""
    rows = [Sent(1, b"later", "zoe", at=5), Sent(2, None, "ann", at=0), Sent(3, b"sooner", "bob", at=1)]
    store = Made(rows).store(tmp_path)
    assert [store.text(text) for text in range(2)] == [b"sooner", b"later"]
    assert store.text_of_row.tolist() == [1, -1, 0]


def test_origins_have_their_line_and_moments_in_utc(tmp_path: Path) -> None:
    place = Made([Sent(1, b"telling_line = 1\ntelling_line = 1\nanother = compute(2)", "ann", at=1)]).place(tmp_path)
    found = origins(place.store, place.held, 0, "ann")
    assert (found.index.tolist(), found["line_no"].tolist()) == ([0, 1, 2], [1, 2, 3])
    assert str(found["first_at"].dtype).endswith("UTC]")


def test_reading_ahead_reaches_to_the_end_of_the_last_group(tmp_path: Path) -> None:
    made = Made([Sent(number, b"text %d" % number) for number in range(3)], {"row_group_size": 1})
    stream = PageStream(made.order(tmp_path).bytes, COLUMN)
    ends = [group.end for group in stream.directory.groups]
    assert (len(ends), stream.end) == (3, max(ends))


def test_a_page_whose_texts_are_known_has_no_pieces() -> None:
    nothing = np.empty(0, np.int64)
    counts, pieces = _pieces(pa.py_buffer(b"a\nb"), nothing, nothing)
    assert (len(counts), len(pieces)) == (0, 0)
    counts, pieces = _pieces(pa.py_buffer(b"a\nb"), np.array([0]), np.array([3]))
    assert (counts.tolist(), len(pieces)) == ([2], 2)


def test_first_uses_are_rows_of_their_own(tmp_path: Path) -> None:
    code = b"import triton\n@triton.jit\ndef f(x):\n    tl.dot(x, x)\n"
    place = Made([Sent(1, code, "ann"), Sent(2, code, "bob", at=1)]).place(tmp_path)
    found = adoption(place.held, TextFacets(place.store), np.ones(len(place.held.rows), bool))
    assert found["facet"].nunique() > 1
    assert found.index.tolist() == list(range(len(found)))
    assert found.groupby("facet")["user_id"].agg(list).tolist() == [["ann", "bob"]] * found["facet"].nunique()


def test_the_first_text_of_a_family_is_wholly_like_itself(tmp_path: Path) -> None:
    body = "\n".join(f"value_{number} = compute({number})" for number in range(20))
    rows = [Sent(1, body.encode(), "ann"), Sent(2, f"{body}\nmore_of_it = 1".encode(), "bob", at=1)]
    table = Made(rows).store(tmp_path).table("families").to_pandas()
    assert table["family"].tolist() == [0, 0]
    assert table["similarity"].iloc[0] == 1.0
    assert 0.5 < table["similarity"].iloc[1] < 1.0


def test_of_a_users_texts_the_closest_is_named_and_of_equal_ones_the_first(tmp_path: Path) -> None:
    body = "\n".join(f"value_{number} = compute({number})" for number in range(20)).encode()
    near = body + b"\nmore_of_it = 1"
    sent = [(9, body, 5), (8, body, 5), (3, body, 7), (2, near, 2)]
    rows = [Sent(1, body, "ann", at=1), *(Sent(id_, text, "bob", at=day) for id_, text, day in sent)]
    place = Made(rows).place(tmp_path)
    found = relatives(place.store, place.held, int(place.store.text_of_row[0]), user_id="ann", at=None, least=0.5)
    assert (found["submission_id"].tolist(), found["kind"].tolist()) == ([8], ["exact copy"])


def test_a_text_without_a_telling_line_weighs_nothing(tmp_path: Path) -> None:
    assert Made([Sent(1, b"}\n)")]).store(tmp_path).texts.column("weight").to_pylist() == [0.0]


def test_texts_are_alike_from_the_least_similarity_on(tmp_path: Path) -> None:
    store = Made([Sent(1, b"alpha = 1\nbeta = 2"), Sent(2, b"alpha = 1\ngamma = 3", at=1)]).store(tmp_path)
    weight = np.ones(len(store.lines))
    lines = np.unique(store.line_ids(0))
    kin = Similarity(store.line_use, text_totals(store.line_use, weight, 2)[1]).shared_with(lines, weight[lines])
    assert kin.similarity(np.array([0, 1])).tolist() == [1.0, pytest.approx(1 / 3, abs=1e-6)]
    assert (kin.alike(1.0).tolist(), sorted(kin.alike(0.3).tolist())) == ([0], [0, 1])
