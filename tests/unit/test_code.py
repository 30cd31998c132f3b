"""Source texts: decoded, checked against their row, out of few bytes, and never somebody else's."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbdash
from kbdash.code import reader as reader_module
from kbdash.code.reader import (
    MOST_SHOWN,
    MOST_SHOWN_LINES,
    RETRY_SECONDS,
    CodeReader,
    SourceText,
    decoded,
    shown,
)
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Submission
from kbdash.dataset.sample import trap_code
from kbdash.dataset.source import open_source
from kbdash.engine import KernelBot
from kbdash.errors import AmbiguousSubmission, CorruptData, DataUnavailable, UnknownSubmission
from tests.hub import LoopbackHub

NVFP4 = "nvidia_nvfp4_submissions.parquet"
NO_TEXT = "The dataset holds no source text for this submission."
WAIT_SECONDS = 30


@pytest.mark.parametrize(
    ("cell", "text", "note"),
    [
        (b"import torch\n", "import torch\n", None),
        ("π = 3 # 核 🐺\n".encode(), "π = 3 # 核 🐺\n", None),
        (b"a\r\nb\n", "a\r\nb\n", None),
        (None, "", NO_TEXT),
        (b"", "", "The source text of this submission is empty."),
        (b"caf\xe9", "caf\ufffd", "Not valid UTF-8: 1 bad sequences are shown as \ufffd."),
        ("a \ufffd b".encode(), "a \ufffd b", None),
        (b"a\0b", "a\u2400b", "NUL bytes are shown as \u2400."),
        (b"\\x" + b"import a".hex().encode(), "import a", "Stored as hexadecimal digits, shown decoded."),
        (b"\\xyz is not hex", "\\xyz is not hex", None),
        (b"\\x4", "\\x4", None),
        ("# \u202eevil".encode(), "# \u202eevil", "turn the reading direction"),
        (b"# \x1b[31mred", "# \x1b[31mred", "control characters"),
        (b"a\x0cb\tc", "a\x0cb\tc", None),
    ],
)
def test_what_is_stored_becomes_text(cell: bytes | None, text: str, note: str | None) -> None:
    found = decoded(cell)
    assert found.text == text
    assert len(found.notes) == (note is not None)
    assert note is None or note in found.notes[0]


def test_a_column_of_numbers_is_no_source_text() -> None:
    with pytest.raises(CorruptData):
        decoded(12)


@given(st.binary(max_size=200))
def test_any_bytes_become_a_text_that_can_be_written(raw: bytes) -> None:
    found = decoded(raw)
    assert "\0" not in found.text
    found.text.encode("utf-8")
    assert bool(found.notes) or found.text.encode() == raw


def test_facts_of_a_text() -> None:
    text = "import torch\nA = '''\n__global__ void k();\n'''\r\n"
    found = decoded(text.encode(), cost_bytes=7)
    assert (found.lines, found.size_bytes, found.language, found.cost_bytes) == (4, len(text), "python", 7)
    assert found.techniques == ("CUDA", "PyTorch")
    assert found.embedded == ((2, 4),)


def submission(file: str, row: int, id_: int) -> Submission:
    facts: dict[str, Any] = dict.fromkeys(Submission.__dataclass_fields__)
    return Submission(**{**facts, "file": file, "file_row": row, "submission_id": id_, "competition": "any"})


def as_text(cell: str | bytes | None) -> str:
    """What pyarrow read, as a reader should see it."""
    raw = cell.encode() if isinstance(cell, str) else cell or b""
    if raw.startswith(b"\\x"):
        raw = bytes.fromhex(raw[2:].decode())
    return raw.decode("utf-8", "replace").replace("\0", "\u2400")


def test_every_text_of_the_sample_is_what_pyarrow_reads(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for facts in ("source_lines", "outer_language", "techniques", "embedded_cpp"):  # two in five texts are there twice
        monkeypatch.setattr(reader_module, facts, cache(getattr(reader_module, facts)))
    settings = Settings(source=str(sample_folder), cache=tmp_path)
    reader, compared = CodeReader(open_source(settings), settings), 0
    for path in sorted(sample_folder.glob("*.parquet")):
        if "code" not in pq.read_schema(path).names:
            continue
        table = pq.read_table(path, columns=["submission_id", "code"])
        pairs = zip(table["submission_id"].to_pylist(), table["code"].to_pylist(), strict=True)
        for row, (id_, cell) in enumerate(pairs):
            found = reader.read(submission(path.name, row, id_))
            assert found.text == as_text(cell), (path.name, row)
            compared += 1
    reader.close()
    assert compared > 10_000


@pytest.mark.parametrize("slug", ["nvfp4", "amd-mi300", "amd-1-1m", "trimul", "helion", "pmpp-v2", "linalg"])
def test_a_submission_gets_the_text_of_its_own_row(kb: KernelBot, sample_folder: Path, slug: str) -> None:
    """Across competitions, through the whole engine: the row that carries the id carries the text."""
    read = cache(lambda file: pq.read_table(sample_folder / file, columns=["submission_id", "code"]))
    for id_, runner in some_submissions(kb, slug):
        one = kb.submission(id_, runner, slug)
        table = read(one.file)
        rows = table.filter(pq.filters_to_expression([("submission_id", "==", id_)]))
        texts = {as_text(cell) for cell in rows["code"].to_pylist()}
        assert table["submission_id"][one.file_row].as_py() == id_
        assert kb.text_of(one).text in texts


def some_submissions(kb: KernelBot, slug: str) -> list[tuple[int, str | None]]:
    problem = kb.problem_names(slug)[-1]
    page = kb.submissions(problem, competition=slug, page_size=12, sort="submission_id")
    return [
        (int(row.submission_id), None if pd.isna(row.runner) else str(row.runner)) for row in page.rows.itertuples()
    ]


def test_the_traps_of_the_sample_keep_their_texts(kb: KernelBot) -> None:
    texts = {
        kb.source_text(int(row.submission_id), str(row.runner)).text
        for row in kb.leaderboard("nvfp4_dual_gemm", runner="NVIDIA").head(40).itertuples()
    }
    for trap in (
        "HTML",
        "MARKDOWN",
        "PROMPT",
        "CRLF",
        "MIXED_LINE_ENDS",
        "LONG_LINE",
        "UNICODE",
        "CONTROL",
        "ONE_LINE",
    ):
        assert getattr(trap_code, trap) in texts, trap
    assert "" in texts


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (trap_code.LEGACY_LATIN_1, "Not valid UTF-8"),
        (trap_code.LEGACY_BINARY, "Not valid UTF-8"),
        (trap_code.LEGACY_HEX_TEXT, "Stored as hexadecimal"),
    ],
)
def test_the_odd_bytes_of_the_legacy_files_are_shown_with_a_note(
    kb: KernelBot, sample_folder: Path, raw: bytes, note: str
) -> None:
    table = pq.read_table(sample_folder / "submissions.parquet", columns=["submission_id", "code"])
    row = table["code"].to_pylist().index(raw)
    found = kb.source_text(table["submission_id"][row].as_py(), competition="amd-mi300")
    assert found.text
    assert note in found.notes[0]


def test_a_row_of_somebody_else_is_refused(kb: KernelBot) -> None:
    row = kb.leaderboard("nvfp4_gemm").iloc[0]
    one = kb.submission(int(row["submission_id"]), row["runner"])
    assert kb.text_of(one).text
    for wrong in (one.file_row + 1, one.file_row - 1, 10**9, -1):
        with pytest.raises(DataUnavailable):
            kb.text_of(replace(one, file_row=wrong))
    with pytest.raises(CorruptData, match="is not submission"):
        kb.text_of(replace(one, submission_id=one.submission_id + 1))


def test_the_row_of_the_file_itself_must_carry_the_id(tmp_path: Path) -> None:
    """The page reader looks: nobody else is asked, and a file without ids gives no text."""
    codes = pa.array(["first", "second"], pa.large_string())
    pq.write_table(pa.table({"submission_id": [1, 2], "code": codes}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"other": [1, 2], "code": codes}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"submission_id": ["1", "2"], "code": codes}), tmp_path / "c.parquet")
    pq.write_table(pa.table({"submission_id": pa.array([None, 2], pa.int64()), "code": codes}), tmp_path / "d.parquet")
    settings = Settings(source=str(tmp_path), cache=tmp_path / "cache")
    reader = CodeReader(open_source(settings), settings)
    assert reader.read(submission("a.parquet", 1, 2)).text == "second"
    assert reader.read(submission("d.parquet", 1, 2)).text == "second"
    for file, row, id_ in (("a.parquet", 0, 2), ("b.parquet", 1, 2), ("c.parquet", 1, 2), ("d.parquet", 0, 1)):
        with pytest.raises(DataUnavailable):
            reader.read(submission(file, row, id_))
    reader.close()


def test_code_asks_which_runner(kb: KernelBot) -> None:
    several = kb.sql("select submission_id from submissions group by 1 having count(distinct runner) > 1 limit 1")
    id_ = int(several["submission_id"].iloc[0])
    with pytest.raises(AmbiguousSubmission) as asked:
        kb.code(id_)
    assert kb.code(id_, asked.value.runners[0])
    with pytest.raises(UnknownSubmission):
        kb.code(1)


def test_an_id_that_a_file_holds_twice_on_one_runner_is_the_row_that_ranks(sample_folder: Path, tmp_path: Path) -> None:
    table = pq.read_table(sample_folder / "trimul_submissions.parquet")
    ranked = table.filter(pq.filters_to_expression([("passed", "=", True)])).slice(0, 1)
    twice = [("slow", 0.9), ("fast", 0.1), ("failed", None)]
    rows = [
        ranked.set_column(ranked.schema.get_field_index("code"), "code", pa.array([code], pa.large_string()))
        .set_column(ranked.schema.get_field_index("score"), "score", pa.array([score], pa.float64()))
        .set_column(ranked.schema.get_field_index("passed"), "passed", pa.array([score is not None]))
        for code, score in twice
    ]
    folder = tmp_path / "files"
    folder.mkdir()
    pq.write_table(pa.concat_tables(rows), folder / "trimul_submissions.parquet")
    kb = kbdash.connect(folder, Settings(cache=tmp_path / "cache"))
    try:
        id_ = ranked["submission_id"][0].as_py()
        assert kb.code(id_) == kb.code(id_, ranked["runner"][0].as_py()) == "fast"
    finally:
        kb.close()


def test_a_neighbour_costs_nothing(settings: Settings, hub: LoopbackHub) -> None:
    kb = kbdash.connect(settings=settings)
    try:
        ids = kb.leaderboard("nvfp4_gemm", runner="NVIDIA")["submission_id"].head(5).tolist()
        hub.reset()
        costs = [kb.source_text(int(id_), "NVIDIA").cost_bytes for id_ in ids]
        assert costs[0] > 0
        assert costs[1:] == [0, 0, 0, 0]
        assert hub.counts[NVFP4].bytes >= costs[0]
        before = hub.counts[NVFP4].bytes
        assert kb.source_text(int(ids[0]), "NVIDIA").cost_bytes == 0
        assert hub.counts[NVFP4].bytes == before
    finally:
        kb.close()


def test_several_texts_come_in_the_order_of_the_file(kb: KernelBot) -> None:
    board = kb.leaderboard("nvfp4_gemm", runner="NVIDIA").iloc[::-1].head(6)
    wanted = [kb.submission(int(id_), "NVIDIA") for id_ in board["submission_id"]]
    found = list(kb.texts_of([*wanted, wanted[0]]))
    assert [one for one, _ in found] == sorted(wanted, key=lambda one: one.file_row)
    assert all(text == replace(kb.text_of(one), cost_bytes=text.cost_bytes) for one, text in found)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("x" * 3_000_000, 1), ("ab\n" * 1_000_000, MOST_SHOWN_LINES), ("é" * 99 + "\r\n", 1)],
)
def test_a_page_shows_the_beginning_of_a_very_long_text_and_says_so(text: str, lines: int) -> None:
    whole = decoded(text.encode())
    part = shown(whole)
    assert text.replace("\r\n", "\n").startswith(part.text.replace("\r\n", "\n"))
    assert len(part.text) <= MOST_SHOWN
    assert part.text.count("\n") <= MOST_SHOWN_LINES
    assert (part.size_bytes, part.lines) == (whole.size_bytes, whole.lines)
    is_long = len(text) > 1000
    assert (part == whole) != is_long
    assert [note for note in part.notes if f"the first {lines:,} of" in note] == list(part.notes)[: int(is_long)]


def test_what_is_marked_lies_inside_what_is_shown() -> None:
    cpp = 'import torch\nA = """\n__global__\n"""\n'
    text = cpp + "x = 1\n" * MOST_SHOWN_LINES + 'B = """\n__global__\n"""\n'
    assert len(decoded(text.encode()).embedded) == 2
    assert shown(decoded(text.encode())).embedded == ((2, 4),)


def eventually(check: Callable[[], bool]) -> bool:
    pause = threading.Event()
    return any(check() or pause.wait(0.02) for _ in range(WAIT_SECONDS * 50))


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reader(settings: Settings, clock: Clock) -> Iterator[CodeReader]:
    made = CodeReader(open_source(settings), settings, clock=clock)
    yield made
    made.close()


def test_the_index_is_built_in_the_background(reader: CodeReader) -> None:
    assert not reader.index(NVFP4).complete
    assert eventually(lambda: reader.index(NVFP4).complete)
    state = reader.index(NVFP4)
    assert state.known == state.rows > 1000
    assert state.reason is None


def test_a_failing_index_says_so_waits_and_heals(reader: CodeReader, hub: LoopbackHub, clock: Clock) -> None:
    hub.faults.fail(404, f"*{NVFP4}")
    reader.index(NVFP4)
    assert eventually(lambda: reader.index(NVFP4).reason is not None)
    hub.faults.clear()
    hub.reset()
    assert reader.index(NVFP4).reason is not None
    assert hub.counts[NVFP4].requests == 0
    clock.now = RETRY_SECONDS
    assert eventually(lambda: reader.index(NVFP4).complete)


def test_a_file_outside_the_dataset_is_an_error(reader: CodeReader) -> None:
    with pytest.raises(DataUnavailable):
        reader.read(submission("nowhere.parquet", 0, 0))
    assert eventually(lambda: reader.index("nowhere.parquet").reason is not None)


def test_many_readers_of_one_page_fetch_it_once(reader: CodeReader, hub: LoopbackHub, sample_folder: Path) -> None:
    ids = pq.read_table(sample_folder / NVFP4, columns=["submission_id"])["submission_id"]
    wanted = submission(NVFP4, 40, ids[40].as_py())
    assert eventually(lambda: reader.index(NVFP4).complete)
    hub.reset()
    found: list[SourceText] = []
    threads = [threading.Thread(target=lambda: found.append(reader.read(wanted))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.text for one in found}) == 1
    assert len(found) == 20
    assert sum(one.cost_bytes > 0 for one in found) == 1
    page_and_dictionary = hub.counts[NVFP4].ranges
    assert len(page_and_dictionary) == 2
