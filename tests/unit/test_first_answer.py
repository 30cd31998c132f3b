"""Nothing on the way to a first answer waits for what it does not need."""

import time
from dataclasses import replace
from threading import Event

import duckdb
import pytest

import kbdash
from kbdash import engine as engine_module
from kbdash.database.attaching import Attachments
from kbdash.database.rules import prepared_connection
from kbdash.dataset.config import Settings
from kbdash.dataset.sample.boards import NVFP4
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable, QueryTimeout
from tests.hub import LoopbackHub
from tests.unit.test_failures import eventually

HUNG_SECONDS = 60.0


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> Event:
    """DuckDB is not ready before this is set."""
    event = Event()

    def slowly() -> duckdb.DuckDBPyConnection:
        assert event.wait(HUNG_SECONDS)
        return prepared_connection()

    monkeypatch.setattr(engine_module, "prepared_connection", slowly)
    return event


def test_a_file_is_fetched_while_duckdb_is_made_ready(settings: Settings, hub: LoopbackHub, ready: Event) -> None:
    engine = kbdash.connect(settings=settings)
    engine._database._attachments.open_all_after(0.0)
    assert eventually(lambda: len(hub.counts[NVFP4].ranges) == 2), "both halves of its end"
    ready.set()
    assert len(engine.leaderboard("nvfp4_gemm")) > 0
    engine.close()


def test_a_question_ends_in_time_although_duckdb_is_not_ready(settings: Settings, ready: Event) -> None:
    engine = kbdash.connect(settings=replace(settings, query_seconds=1.0))
    begin = time.monotonic()
    with pytest.raises(DataUnavailable, match="did not arrive in time"):
        engine.leaderboard("nvfp4_gemm")
    with engine.question(), pytest.raises(QueryTimeout):
        engine._database._asker.run("select 1")
    assert time.monotonic() - begin < HUNG_SECONDS / 2
    ready.set()
    engine.close()


def test_columns_find_connections_open(
    settings: Settings, hub: LoopbackHub, kb: KernelBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new one costs two more round trips, which the answer would wait for."""
    ranges_before: list[int] = []

    def opened() -> float:
        ranges_before.append(len(hub.counts[NVFP4].ranges))
        return 0.0

    monkeypatch.setattr(hub._server, "_greeting_seconds", opened)
    monkeypatch.setattr(Attachments, "open_all_after", lambda *_: None)
    engine = kbdash.connect(settings=settings)
    assert engine.leaderboard("nvfp4_gemm").equals(kb.leaderboard("nvfp4_gemm"))
    assert len(hub.counts[NVFP4].ranges) == 4, "two halves of its end, two spans of columns"
    assert max(ranges_before) < 2, "none was opened after the end had come"
    engine.close()
