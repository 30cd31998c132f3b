"""Numbers and words that readers rely on: exit codes, defaults and bounds of links, what the environment says."""

import io
import math
import runpy
import sys
import threading
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from kbdash import errors
from kbdash.__main__ import program
from kbdash.code.reader import CodeReader
from kbdash.code.study import packed
from kbdash.database.competition_views import planned
from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.questions.kinds import REQUIRED
from kbdash.dataset.config import Settings
from kbdash.dataset.hub import _reason
from kbdash.dataset.source import open_source
from kbdash.engine import KernelBot

# --- the command line ----------------------------------------------------------------------------------------------


def test_every_error_has_its_exit_code() -> None:
    codes = {name: kind.exit_code for name, kind in vars(errors).items() if hasattr(kind, "exit_code")}
    not_found = ("UnknownProblem", "UnknownSubmission", "UnknownUser")
    unavailable = (
        "DataUnavailable", "CorruptData", "ContentChanged", "UnsafeFile", "UnsupportedFormat", "QueryTimeout",
    )  # fmt: skip
    bad_input = ("KbdashError", "AmbiguousSubmission", "QueryRefused")
    assert codes == dict.fromkeys(not_found, 1) | dict.fromkeys(bad_input, 2) | dict.fromkeys(unavailable, 3)


@pytest.mark.parametrize(("workers", "served"), [("1", ("127.0.0.1", 8600)), ("2", ("127.0.0.1", 8600, 2))])
def test_one_worker_needs_no_proxy(monkeypatch: pytest.MonkeyPatch, workers: str, served: tuple[object, ...]) -> None:
    asked: list[tuple[object, ...]] = []
    server = ModuleType("kbdash.web.server")
    server.launcher = ModuleType("launcher")  # type: ignore[attr-defined]
    server.launcher.serve = lambda *given: asked.append(given)  # type: ignore[attr-defined]
    server.worker = ModuleType("worker")  # type: ignore[attr-defined]
    server.worker.run = lambda *given: asked.append(given)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kbdash.web.server", server)
    told = CliRunner().invoke(program, ["serve", "--port", "8600", "--workers", workers], catch_exceptions=False)
    assert told.exit_code == 0
    assert asked == [served]


def test_the_package_is_a_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["kbdash", "--help"])
    monkeypatch.delitem(sys.modules, "kbdash.__main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("kbdash", run_name="__main__")
    assert not ended.value.code
    assert "Usage: kbdash" in capsys.readouterr().out


# --- links ---------------------------------------------------------------------------------------------------------

NUMBERS = [p for question in EVERY_QUESTION.values() for p in question.parameters if p.kind in ("whole", "number")]


def test_whole_numbers_have_their_defaults_and_bounds() -> None:
    known = {(p.name, p.default, p.low, p.high) for p in NUMBERS if p.kind == "whole" and p.default is not REQUIRED}
    assert known == {
        ("bins", 60, 1, 400),
        ("limit", 20, 0, 1000),
        ("limit", 50, 0, 1000),
        ("limit", 100, 0, 100_000),
        ("limit", 4000, 0, 5000),
        ("page", 1, 1, 2**63 - 1),
        ("page_size", 50, 1, 100_000),
        ("points", 24, 1, 400),
        ("points", 400, 2, 1000),
        ("steps", 60, 2, 200),
        ("top", None, 0, 1_000_000),
        ("top", 10, 1, 20),
        ("top", 30, 1, 1000),
    }


def test_a_number_at_its_bound_is_accepted() -> None:
    for parameter in NUMBERS:
        for bound in {parameter.low, parameter.high} - {-math.inf, math.inf}:
            assert parameter.read([str(bound)]) == bound, (parameter.name, bound)


def test_the_time_of_the_example_is_one_that_beats_some_and_not_all(kb: KernelBot) -> None:
    standing: Any = kb.standing(**dict(EVERY_QUESTION["standing"].example))
    assert 0.0 < standing.faster_than < 1.0


def test_a_study_set_is_of_twenty_kernels_unless_asked_otherwise(kb: KernelBot, tmp_path: Path) -> None:
    assert len(kb.leaderboard("nvfp4_gemm", runner="NVIDIA")) > 20
    assert len(kb.dump("nvfp4_gemm", "NVIDIA", folder=tmp_path)) == 20


def test_equal_study_sets_are_equal_files(kb: KernelBot) -> None:
    """Their files have the first moment that a zip can name, whenever they are made."""
    whole = packed([], kb.source, "zip")
    moments = {entry.date_time for entry in zipfile.ZipFile(io.BytesIO(whole)).infolist()}
    assert moments == {(1980, 1, 1, 0, 0, 0)}


def test_stores_are_looked_for_only_where_a_statement_names_their_tables(
    kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = {"nvfp4": Path("store")}
    given: list[object] = []
    monkeypatch.setattr(kb._content, "folders", lambda: stores)
    monkeypatch.setattr(kb._database, "sql", lambda _text, _bounds, folders: given.append(folders))
    kb.sql("select 1")
    kb.sql("from CONTENT_LINES")
    assert given == [{}, stores]


def test_an_index_in_the_making_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    go_on = threading.Event()

    def opened(_name: str) -> None:
        go_on.wait(60)
        raise errors.DataUnavailable("It is closed.")

    source: Any = SimpleNamespace(bytes=SimpleNamespace(open=opened))
    CodeReader(source, Settings(cache=tmp_path)).index("a.parquet")
    [thread] = [thread for thread in threading.enumerate() if thread.name == "kbdash-index a.parquet"]
    go_on.set()
    assert thread.daemon


# --- where data come from ------------------------------------------------------------------------------------------


def test_the_environment_says_what_is_kept_and_where_content_comes_from() -> None:
    assert Settings.from_env({"HF_TOKEN": "hf_x"}) == Settings(token="hf_x")
    asked = Settings.from_env({"HF_TOKEN": "hf_x", "KBDASH_CACHE_MB": "3", "KBDASH_CONTENT": "off"})
    assert (asked.cache_bytes, asked.content) == (3_000_000, "off")


def test_a_file_outside_the_catalog_can_be_linked_and_has_no_shapes(tmp_path: Path) -> None:
    (tmp_path / "spring.parquet").touch()
    [item] = planned(open_source(Settings(source=str(tmp_path))))
    found = item.competition
    assert (found.linkable, found.has_shapes, found.anonymous, found.unfiltered) == (True, False, False, False)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (httpx2.ConnectError("no way to http://name:secret@hub.local"), "no way to http://hub.local"),
        (httpx2.ConnectError(""), "ConnectError"),
    ],
)
def test_an_error_of_the_client_is_told_in_its_words_or_by_its_kind(error: Exception, told: str) -> None:
    assert _reason(error) == told
