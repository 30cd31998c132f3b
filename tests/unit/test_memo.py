"""What all readers share: made once, never kept when it failed, bounded, and true to the very frames it was made of."""

import gc
import threading
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kbdash import charts
from kbdash.api.preview import Previews
from kbdash.cache import BYTES, Budget, SharedCache
from kbdash.code.parquet import CellReader, PageDirectories
from kbdash.errors import DataUnavailable
from kbdash.web import memo, study
from kbdash.web.memo import MOST_BYTES, memoise
from tests.forgetting import forget_answers


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    forget_answers()


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Can be taken once for each reader who has come to wait for what another is making."""
    arrived = threading.Semaphore(0)

    class Watched(Future[Any]):
        def result(self, timeout: float | None = None) -> Any:
            arrived.release()
            return super().result(timeout)

    monkeypatch.setattr("kbdash.cache.Future", Watched)
    return arrived


def room(limit: int = MOST_BYTES) -> SharedCache[str, Any]:
    """An empty cache that weighs as the shared one does."""
    return SharedCache(limit, memo._size)


def total(frame: pd.DataFrame, plus: int = 0) -> int:
    return int(frame["n"].sum()) + plus


def test_a_value_is_made_once_and_is_the_same_object() -> None:
    kept, calls = room(), []
    first = kept.get("a", lambda: calls.append(1) or [1, 2])
    assert kept.get("a", lambda: calls.append(1) or [1, 2]) is first
    assert len(calls) == 1


def test_of_many_at_once_one_makes_it(waiting: threading.Semaphore) -> None:
    kept, calls, gate = room(), [], threading.Event()

    def make() -> list[int]:
        calls.append(1)
        gate.wait(30)
        return [7]

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(kept.get, "a", make) for _ in range(8)]
        assert all(waiting.acquire(timeout=30) for _ in range(7))
        gate.set()
        assert len({id(each.result()) for each in asked}) == 1
    assert len(calls) == 1


def test_a_failure_reaches_all_who_wait_and_is_not_kept(waiting: threading.Semaphore) -> None:
    kept, calls, gate = room(), [], threading.Event()

    def fail() -> int:
        calls.append(1)
        gate.wait(30)
        raise ValueError("no")

    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(kept.get, "a", fail) for _ in range(2)]
        assert waiting.acquire(timeout=30)
        gate.set()
        for each in both:
            with pytest.raises(ValueError, match="no"):
                each.result()
    assert len(calls) == 1
    assert "a" not in kept
    assert kept.get("a", lambda: 3) == 3


def test_the_longest_unused_goes_when_all_are_too_big() -> None:
    kept = room(5_000)
    for key in "ab":
        kept.get(key, lambda: np.zeros(1_000, "uint8"))
    kept.get("a", lambda: None)
    kept.get("c", lambda: np.zeros(1_000, "uint8"))
    assert [key in kept for key in "abc"] == [True, False, True]


def test_caches_with_one_budget_drop_what_is_oldest_in_any_of_them() -> None:
    budget = Budget(30)
    pages, figures = (SharedCache[str, int](20, lambda value: value, budget) for _ in range(2))
    pages.get("a", lambda: 10)
    figures.get("b", lambda: 10)
    pages.get("c", lambda: 10)
    pages.get("a", lambda: 0)  # used again, so that b is the oldest
    figures.get("d", lambda: 5)
    assert ["a" in pages, "b" in figures, "c" in pages, "d" in figures] == [True, False, True, True]
    assert sum(budget.values()) == 25
    del pages
    gc.collect()
    assert sum(budget.values()) == 5, "what is gone counts no more"


def test_a_large_value_that_is_used_once_makes_room_for_small_ones_that_are_used_often() -> None:
    """Pages of source texts, ten megabytes each, pushed the answers of all readers out."""
    budget = Budget(100)
    pages, answers = (SharedCache[int, int](100, lambda value: value, budget) for _ in range(2))
    for number in range(40):
        answers.get(number, lambda: 1)
    for number in range(50):
        pages.get(number, lambda: 20)
        assert sum(budget.values()) <= 100
    assert (len(answers), len(pages)) == (40, 3)


def test_a_cache_takes_what_the_others_leave_and_gives_it_back() -> None:
    """So the limit is reached early, and memory is flat from then on."""
    budget = Budget(100)
    pages, answers = (SharedCache[int, int](100, lambda value: value, budget) for _ in range(2))
    for number in range(10):
        pages.get(number, lambda: 20)
    assert pages.weight == 100
    for number in range(50):
        answers.get(number, lambda: 1)
    assert (answers.weight, pages.weight) == (50, 40)


def test_all_that_is_weighed_in_bytes_has_one_budget() -> None:
    previews = Previews(lambda: pytest.fail("not asked"), lambda _: None)
    reader = CellReader(PageDirectories())
    caches = (memo.shared, study._made, reader._pages, reader._texts, previews._kept, previews._pictures)
    assert all(cache in BYTES._caches for cache in caches)
    assert BYTES.limit == 192 * 2**20


def test_a_figure_is_kept_as_one_text_and_shown_as_it_was_drawn() -> None:
    figure = charts.message("Nothing to draw.")
    kept = memoise(charts.message, "Nothing to draw.")
    assert kept is memoise(charts.message, "Nothing to draw.")
    assert kept.to_json() == figure.to_json()
    kept.to_dict()["data"].append("changed by somebody")
    assert kept.to_json() == figure.to_json(), "each run has a dictionary of its own"


def test_what_is_bigger_than_the_whole_room_is_given_but_not_kept() -> None:
    kept = room(1_500)
    kept.get("small", lambda: 1)
    assert len(kept.get("a", lambda: bytes(1_000))) == 1_000
    assert ["small" in kept, "a" in kept] == [True, False]


def test_an_interruption_is_the_makers_own(waiting: threading.Semaphore) -> None:
    """Streamlit stops a run by an exception of its own, which must not stop the runs of others."""

    class Stopped(BaseException):
        pass

    kept, started, gate = room(), threading.Event(), threading.Event()

    def stop() -> int:
        started.set()
        gate.wait(30)
        raise Stopped

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.get, "a", stop)
        assert started.wait(30)
        second = threads.submit(kept.get, "a", lambda: 5)
        assert waiting.acquire(timeout=30)
        gate.set()
        with pytest.raises(Stopped):
            first.result()
        with pytest.raises(DataUnavailable, match="interrupted"):
            second.result()
    assert kept.get("a", lambda: 5) == 5


def test_frames_are_told_apart_by_identity() -> None:
    one, twin, other = (pd.DataFrame({"n": values}) for values in ([1, 2], [1, 2], [5, 5]))
    assert [memoise(total, one), memoise(total, twin), memoise(total, other), memoise(total, one, plus=1)] == [
        3,
        3,
        10,
        4,
    ]
    assert len(memo.shared) == 4
    assert memoise(total, other) == 10
    assert len(memo.shared) == 4


def test_a_new_frame_in_an_old_ones_place_is_never_taken_for_it() -> None:
    """Python gives the address of a frame that is gone to the next one."""
    for value in range(300):
        assert memoise(total, pd.DataFrame({"n": [value]})) == value


def test_what_is_kept_does_not_keep_its_frames() -> None:
    frame = pd.DataFrame({"n": [1]})
    memoise(total, frame)
    gone = weakref.ref(frame)
    del frame
    gc.collect()
    assert gone() is None
