"""What all readers share: made once, never kept when it failed, bounded, and true to the very frames it was made of."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kbdash.errors import DataUnavailable
from kbdash.shared import SharedCache
from kbdash.ui import memo
from kbdash.ui.memo import MOST_BYTES, made


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    memo.shared.clear()


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


def test_of_many_at_once_one_makes_it() -> None:
    kept, calls, gate = room(), [], threading.Event()

    def make() -> list[int]:
        calls.append(1)
        gate.wait(5)
        return [7]

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(kept.get, "a", make) for _ in range(8)]
        gate.set()
        assert len({id(each.result()) for each in asked}) == 1
    assert len(calls) == 1


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    kept, started, gate = room(), threading.Event(), threading.Event()

    def fail() -> int:
        started.set()
        gate.wait(5)
        raise ValueError("no")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.get, "a", fail)
        started.wait(5)
        second = threads.submit(kept.get, "a", fail)
        gate.set()
        for each in (first, second):
            with pytest.raises(ValueError, match="no"):
                each.result()
    assert "a" not in kept
    assert kept.get("a", lambda: 3) == 3


def test_the_longest_unused_goes_when_all_are_too_big() -> None:
    kept = room(2_500)
    for key in "ab":
        kept.get(key, lambda: np.zeros(1_000, "uint8"))
    kept.get("a", lambda: None)
    kept.get("c", lambda: np.zeros(1_000, "uint8"))
    assert [key in kept for key in "abc"] == [True, False, True]


def test_what_is_bigger_than_the_whole_room_is_given_but_not_kept() -> None:
    kept = room(100)
    kept.get("small", lambda: 1)
    assert len(kept.get("a", lambda: bytes(1_000))) == 1_000
    assert ["small" in kept, "a" in kept] == [True, False]


def test_an_interruption_is_the_makers_own() -> None:
    """Streamlit stops a run by an exception of its own, which must not stop the runs of others."""

    class Stopped(BaseException):
        pass

    kept, started, gate = room(), threading.Event(), threading.Event()

    def stop() -> int:
        started.set()
        gate.wait(5)
        raise Stopped

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.get, "a", stop)
        started.wait(5)
        second = threads.submit(kept.get, "a", lambda: 5)
        time.sleep(0.1)
        gate.set()
        with pytest.raises(Stopped):
            first.result()
        with pytest.raises(DataUnavailable, match="interrupted"):
            second.result()
    assert kept.get("a", lambda: 5) == 5


def test_frames_are_told_apart_by_identity() -> None:
    one, twin, other = (pd.DataFrame({"n": values}) for values in ([1, 2], [1, 2], [5, 5]))
    assert [made(total, one), made(total, twin), made(total, other), made(total, one, plus=1)] == [3, 3, 10, 4]
    assert len(memo.shared) == 4
    assert made(total, other) == 10
    assert len(memo.shared) == 4


def test_a_new_frame_in_an_old_ones_place_is_never_taken_for_it() -> None:
    """Python gives the address of a frame that is gone to the next one."""
    for value in range(300):
        assert made(total, pd.DataFrame({"n": [value]})) == value


def test_what_is_kept_does_not_keep_its_frames() -> None:
    frame = pd.DataFrame({"n": [1]})
    made(total, frame)
    gone = weakref.ref(frame)
    del frame
    gc.collect()
    assert gone() is None
