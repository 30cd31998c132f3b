"""What pages wait for, keep and refuse, at the bound: called alone, with clocks and answers of the tests' own."""

import re
import threading
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kbdash.content.stores import ContentState
from kbdash.errors import QueryRefused
from kbdash.units import MISSING
from kbdash.web import as_completed, console, memo, user
from kbdash.web.code import ladder, source_text
from kbdash.web.content import store_panel
from kbdash.web.memo import memoise
from kbdash.web.server import launcher, stopping, worker
from tests.forgetting import forget_answers
from tests.unit import chart_frames as frames
from tests.unit.test_as_completed import Status
from tests.unit.test_web_parts import ONE

COMPOSE = Path(__file__).resolve().parents[2] / "compose.yaml"
MEGABYTE = 1 << 20


# --- waits ---------------------------------------------------------------------------------------------------------


def test_a_click_is_noticed_within_half_a_second_while_answers_are_coming(monkeypatch: pytest.MonkeyPatch) -> None:
    slow: Future[int] = Future()
    waits: list[float] = []

    def wait(_: object, seconds: float, __: object) -> None:
        waits.append(seconds)
        slow.set_result(1)

    monkeypatch.setattr(as_completed, "wait", wait)
    assert list(as_completed.as_completed({"a": slow}, {"a": "A"}, Status())) == ["a"]  # type: ignore[arg-type]
    assert len(waits) == 1
    assert 0 < waits[0] <= 0.5


def test_whoever_stops_the_server_need_not_kill_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    monkeypatch.setattr(stopping, "_wrap", lambda _, __, seconds: given.append(seconds))
    stopping.end_within()
    assert len(given) == 2
    # Readers get their seconds; then the process ends itself, before the launcher loses its patience with it.
    assert worker.STOP_SECONDS < given[0] == given[1] == stopping.STOP_SECONDS < launcher.STOP_SECONDS
    # Docker kills after ten seconds, of which the last belongs to the end itself; compose.yaml gives the launcher more.
    assert stopping.STOP_SECONDS + 1 < 10
    periods = [int(text) for text in re.findall(r"stop_grace_period: (\d+)s", COMPOSE.read_text())]
    assert max(periods) > launcher.STOP_SECONDS


def test_a_text_is_read_while_the_page_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    kb = SimpleNamespace(
        source=SimpleNamespace(version="v"), index_code=lambda _: None, text_of=lambda _: gate.wait(2.0) and "text"
    )
    monkeypatch.setattr(source_text, "engine", lambda: kb)
    monkeypatch.setattr(source_text, "st", SimpleNamespace(session_state={}))
    reading: Any = source_text.begin(ONE)
    assert not reading.done()
    gate.set()
    assert reading.result(10) == "text"
    assert source_text.begin(ONE) is reading


@pytest.mark.parametrize("is_done", [True, False])
def test_progress_is_shown_of_a_text_that_is_not_there_yet(monkeypatch: pytest.MonkeyPatch, is_done: bool) -> None:
    reading = SimpleNamespace(done=lambda: is_done, result=lambda: "text")
    told: list[object] = []
    monkeypatch.setattr(source_text, "begin", lambda _: reading)
    monkeypatch.setattr(source_text, "wait", lambda *_, **__: None)
    monkeypatch.setattr(source_text, "_wait", lambda *given: told.append(given))
    assert source_text.text_of(ONE) == "text"  # type: ignore[comparison-overlap]
    assert told == ([] if is_done else [("trimul", reading)])


# --- ladders -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "largest"), [(1, (MISSING, "")), (3, ("−10.0\u2009%", "step 2"))])
def test_the_first_step_of_a_ladder_is_no_improvement(
    monkeypatch: pytest.MonkeyPatch, steps: int, largest: tuple[str, str]
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(ladder, "strip", lambda tiles, **_: shown.extend(tiles))
    ladder._numbers(frames.ladder(steps).assign(gain=[0.9, 0.1, 0.05][:steps], attempts=1))
    assert [(tile.value, tile.note) for tile in shown if tile.label == "Largest step"] == [largest]


@pytest.mark.parametrize(("counts", "reruns"), [(0, 0), (1, 1)])
def test_a_page_runs_again_only_if_something_was_counted(
    monkeypatch: pytest.MonkeyPatch, counts: int, reruns: int
) -> None:
    counted: Any = SimpleNamespace(progress=5, moved=0)
    counted.count = lambda _: setattr(counted, "progress", 5 + counts)
    again: list[int] = []
    shown = SimpleNamespace(spinner=lambda _: nullcontext(), rerun=lambda: again.append(1))
    monkeypatch.setattr(ladder, "st", shown)
    monkeypatch.setattr(ladder, "engine", lambda: SimpleNamespace(source=SimpleNamespace(kind="sample")))
    ladder._count(counted, [])
    assert len(again) == reruns


# --- sizes ---------------------------------------------------------------------------------------------------------


class Large(bytes):
    """A file that claims a size."""

    size: int

    def __len__(self) -> int:
        return self.size


@pytest.mark.parametrize(("more", "is_given"), [(0, True), (1, False)])
def test_a_file_of_an_answer_has_at_most_the_megabytes_that_the_page_tells(more: int, is_given: bool) -> None:
    frame = pd.DataFrame({"a": [1]})
    frame.attrs["truncated"] = False
    content = Large()
    content.size = 100 * MEGABYTE + more
    kb: Any = SimpleNamespace(sql=lambda _, bounds: frame)
    with nullcontext() if is_given else pytest.raises(QueryRefused, match="larger than a file"):
        assert console.answer_file(kb, "select 1", lambda _: content) is content


def _megabytes(_: int) -> np.ndarray:
    return np.empty(10 * MEGABYTE, dtype=np.uint8)  # (nobody writes there, so it takes no memory)


def test_what_all_readers_share_stays_within_a_hundred_megabytes() -> None:
    forget_answers()
    for number in range(15):
        memoise(_megabytes, number)
    assert 5 <= len(memo.shared.values()) <= 10
    forget_answers()


def test_a_wait_is_rounded_to_minutes() -> None:
    said = [store_panel.cost(ContentState("absent", cost_bytes=size), remote=True) for size in (6.3e9, 6.29e9, 1.0)]  # type: ignore[arg-type]
    assert [re.findall(r"takes ([\w ]+),", text)[0] for text in said] == [
        "about 4 minutes", "about 3 minutes", "less than a minute",
    ]  # fmt: skip


# --- tables --------------------------------------------------------------------------------------------------------


def test_the_times_of_a_person_are_in_the_unit_of_the_shortest(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(user, "memoise", lambda *_: None)
    monkeypatch.setattr(user, "_titles", tuple)
    monkeypatch.setattr(user.table, "show", lambda _, columns, **__: shown.extend(columns))
    user._boards_table(user.UserView(), pd.DataFrame({"score": [2e-5, 3e-1]}), "u1")
    assert [column.unit.name for column in shown if column.name == "score"] == ["µs"]
