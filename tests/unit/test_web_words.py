"""Words, rows and links of persons, searches and the program itself, called alone."""

import io
import logging
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from kbdash.content.stores import ContentState
from kbdash.units import MINUS, MISSING
from kbdash.view import SearchView
from kbdash.web import layout, logs, program_folder, share, tables, user
from kbdash.web.content import hits, lineage, store_panel, technique_changes, text_panels, trust_frames
from kbdash.web.server import stopping


def test_a_person_in_numbers() -> None:
    boards = pd.DataFrame(
        {"problem": ["x", "y"], "runner": ["A100", None], "rank": pd.array([2, None], dtype="Int64"),
         "submissions": [5, 1], "passed": [4, 0]}
    )  # fmt: skip
    told = user.numbers(boards)
    assert (told[0].value, told[0].after) == ("2", "on x, A100")
    assert told[-1].after == "never ran"
    assert user.numbers(boards.tail(1))[0].after == ""
    assert len(user.numbers(boards.head(1))) == len(told) - 1


def test_a_row_without_code_has_no_name_in_a_comparison() -> None:
    row = {"submission_id": 5, "runner": "A100", "competition": "trimul"}
    assert (user._ref(row), user._ref(row | {"submission_id": None})) == ("5@A100@trimul", "")
    frame = pd.DataFrame({"submission_id": pd.array([5, None], dtype="Int64"), "runner": ["A100", None]})
    assert tables.refs(frame, "trimul") == ["5@A100@trimul", ""]


# --- search, steps, trust ------------------------------------------------------------------------------------------


def test_a_search_as_sql() -> None:
    assert "contains(try(decode(line)), 'a')" in hits.sql_text(SearchView(q="a"))
    assert "contains(lower(try(decode(line))), lower('a'))" in hits.sql_text(SearchView(q="a", any_case=True))
    assert "regexp_matches(try(decode(line)), 'a')" in hits.sql_text(SearchView(q="a", regex=True))
    assert "'a', 'i')" in hits.sql_text(SearchView(q="a", regex=True, any_case=True))


def test_a_long_line_is_cut_around_its_first_hit() -> None:
    line = "x" * 500 + "wanted" + "y" * 500
    told = hits.pieces(line, "wanted")
    assert told[0] == ("…", False)
    assert ("wanted", True) in told
    assert sum(len(text) for text, _ in told) <= hits.LONGEST + 2


def test_techniques_are_at_the_lines_that_the_viewer_counts() -> None:
    code = "import triton\rimport triton.language as tl\n\n@triton.jit\ndef f(x):\n    tl.load(x)\n"
    found = dict(lineage.technique_lines(code))
    assert found["triton"] in (1, 2, 4)
    plain = dict(lineage.technique_lines("x = 1\n@triton.jit\ndef f(x):\n    pass"))
    assert plain["triton"] == 2


def test_what_a_build_takes_in_words() -> None:
    told = store_panel.cost(ContentState("absent", cost_bytes=5_400_000_000), remote=True).replace("\u2009", " ")
    assert "5.4 GB from the Hub once and takes about 3 minutes, assuming 30.0 MB per second" in told
    here = store_panel.cost(ContentState("absent", 0.5, texts=9, cost_bytes=5_400_000_000, rate=1e6), remote=False)
    assert "2.7 GB from disk once and takes about 45 minutes, at the 1.0 MB per second of earlier builds here" in (
        here.replace("\u2009", " ")
    )


def test_techniques_that_came_and_went() -> None:
    assert technique_changes.changed(("a", "b"), ("b", "c")) == (["c"], ["a"])
    assert technique_changes.changed(None, ("a",)) == technique_changes.changed(("a",), None) == ([], [])
    assert technique_changes.change_words(("a", "b"), ("b", "c")) == f"+c {MINUS}a"
    assert technique_changes.change_words(None, ("a",)) == technique_changes.change_words(("a",), None) == MISSING


@pytest.mark.parametrize(
    ("status", "rules", "words"),
    [("timed out", 0, "did not come to an end"), ("no text", 0, "There is no text"), ("clean", 0, "No rule of"),
     ("matched", 1, "1 rule of KernelGuard 1 matches."), ("matched", 2, "2 rules of KernelGuard 1 match.")],
)  # fmt: skip
def test_a_verdict_in_words(status: str, rules: int, words: str) -> None:
    assert words in text_panels.verdict_words({"status": status, "rules": [None] * rules, "version": "1"})  # type: ignore[typeddict-item,list-item]


def test_flags_move_those_behind_them_and_those_who_have_no_other_rank() -> None:
    both = pd.DataFrame(
        {"runner": "A100", "rank": [1, 2, 3, 101], "flags": ["odd", "", "", ""],
         "rank_without": pd.array([None, 1, 3, 100], dtype="Int64")}
    )  # fmt: skip
    assert trust_frames.board_row(both, "A100") == {
        "flagged_10": 1, "moved_10": 2, "flagged_100": 1, "moved_100": 2,
    }  # fmt: skip
    found = pd.DataFrame({"moved_100": [0, 1, 0, 0], "flagged_100": [0, 0, 1, 0], "sigma": [None, None, None, 0.1]})
    assert len(trust_frames.telling_boards(found)) == 3


# --- the program ---------------------------------------------------------------------------------------------------


def test_a_file_holds_the_columns_and_no_index() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 6])
    assert pq.read_table(io.BytesIO(share.parquet(frame))).column_names == ["a"]


@pytest.mark.parametrize(
    ("shown", "page", "space", "address"),
    [
        ("http://h:1/trimul", "trimul", None, "http://h:1/trimul"),
        ("http://h:1/base/trimul/", "trimul", None, "http://h:1/base/trimul"),
        ("http://h:1/base/", "", None, "http://h:1/base/"),
        (None, "trimul", None, "/trimul"),
        ("http://h:1/x", "trimul", "me.hf.space", "https://me.hf.space/trimul"),
    ],
)
def test_the_public_address_of_a_page(shown: str | None, page: str, space: str | None, address: str) -> None:
    assert share.base_url(shown, page, space) == address


def test_a_commit_links_to_where_it_was_read() -> None:
    source: Any = SimpleNamespace(endpoint="https://user:word@hub.example", dataset="o/n")
    assert layout._commit("0123456789", source) == "[0123456](https://hub.example/datasets/o/n/commit/0123456789)"


def test_the_program_is_beside_the_package_and_relative_folders_stay_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (program_folder.PROGRAM / "app.py").is_file()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KBDASH_CACHE", "cache")
    monkeypatch.setenv("KBDASH_SOURCE", "owner/name")
    monkeypatch.setenv("KBDASH_CONTENT", "data")
    program_folder.enter()
    assert Path.cwd() == program_folder.PROGRAM
    assert (os.environ["KBDASH_CACHE"], os.environ["KBDASH_CONTENT"]) == (
        str(tmp_path / "cache"),
        str(tmp_path / "data"),
    )
    assert os.environ["KBDASH_SOURCE"] == "owner/name"
    monkeypatch.delenv("KBDASH_CACHE")
    program_folder.enter()
    assert "KBDASH_CACHE" not in os.environ


def test_a_logger_has_one_handler_whose_own_format_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    own = logging.getLogger("kbdash")
    given = logging.StreamHandler()
    given.setFormatter(logging.Formatter("said: %(message)s"))
    record = logging.LogRecord("kbdash", logging.INFO, "", 1, "hello\nyou", None, None)
    monkeypatch.setattr(own, "handlers", [given])
    monkeypatch.setattr(own, "propagate", own.propagate)
    logs.install()
    logs.install()
    assert own.handlers == [given]
    assert given.format(record) == "said: hello\nyou"
    monkeypatch.setattr(own, "handlers", [])
    logs.install()
    assert own.handlers[0].format(record) == "hello\nyou"


def test_a_signal_is_handed_on_and_the_process_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Any] = []

    def timer(*given: Any) -> SimpleNamespace:
        ended.append(given)
        return SimpleNamespace(start=lambda: None)

    monkeypatch.setattr(stopping.threading, "Timer", timer)
    before, told = signal.getsignal(signal.SIGUSR1), []
    try:
        for own in (lambda number, _: told.append(number), signal.SIG_DFL):
            stopping._wrap(signal.SIGUSR1, own, 3.0)
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert told == [signal.SIGUSR1]
    assert ended == [(3.0, os._exit, [0])] * 2
