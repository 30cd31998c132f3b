"""One source for many readers: opened once however many ask, and what was replaced is closed."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from kbdash.errors import DataUnavailable
from kbdash.web import engines
from kbdash.web.engines import Engines


@dataclass
class Source:
    """As much of a source as the engines look at."""

    version: str
    notice: str | None = None


class Engine:
    """Counts how often the source is opened, and knows whether it was closed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Shop:
    """Stands for `kbdash.connect`: hands out engines, or fails."""

    def __init__(self) -> None:
        self.opened: list[Engine] = []
        self.source = Source("one")
        self.failure: DataUnavailable | None = None
        self.tries = 0

    def connect(self) -> Engine:
        self.tries += 1
        time.sleep(0.05)
        if self.failure:
            raise self.failure
        self.opened.append(Engine(self.source))
        return self.opened[-1]


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = Shop()
    monkeypatch.setattr("kbdash.connect", shop.connect)
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.5)
    monkeypatch.setattr(engines, "SWEEP_SECONDS", 3600.0)
    return shop


def test_many_readers_share_one_engine(shop: Shop) -> None:
    all_ = Engines()
    with ThreadPoolExecutor(8) as readers:
        found = list(readers.map(lambda _: all_.get(None), range(40)))
    assert shop.tries == 1
    assert len({opened.number for opened in found}) == 1


def test_forty_presses_open_the_source_once_per_interval(shop: Shop) -> None:
    all_ = Engines()
    number = all_.get(None).number
    begin = time.monotonic()
    with ThreadPoolExecutor(40) as readers:
        found = list(readers.map(lambda _: all_.get(number, begin), range(40)))
    assert shop.tries == 2
    assert {opened.number for opened in found} != {number}
    assert time.monotonic() - begin > 0.4  # a first attempt was made just before


def test_three_presses_leave_one_engine_open(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)
    monkeypatch.setattr(engines, "LAST_ANSWER_SECONDS", 0.0)
    all_ = Engines()
    number = all_.get(None).number
    for _ in range(3):
        number = all_.get(number, time.monotonic()).number
    time.sleep(0.1)
    all_.close_unused()
    assert [engine.closed for engine in shop.opened] == [True, True, True, False]
    assert all_.get(number).kb is shop.opened[-1]


def test_a_reader_of_an_older_revision_keeps_it_while_reading_and_no_longer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)
    all_ = Engines()
    old = all_.get(None)
    shop.source = Source("two")
    new = all_.get(old.number, time.monotonic())
    assert all_.get(old.number) is old
    all_.close_unused()
    assert not shop.opened[0].closed
    monkeypatch.setattr(engines, "UNUSED_SECONDS", -1.0)
    all_.close_unused()
    assert shop.opened[0].closed
    assert all_.get(old.number) is new


def test_what_was_replaced_is_looked_at_again_until_nobody_needs_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    monkeypatch.setattr(engines, "_later", lambda seconds, function: looked.append((seconds, function)))
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)
    all_ = Engines()
    old = all_.get(None)
    assert looked == []
    shop.source = Source("two")
    all_.get(old.number, time.monotonic())
    for _ in range(2):  # it is still in use, so there is a next time
        [(seconds, look)] = looked
        looked.clear()
        assert seconds == engines.SWEEP_SECONDS
        look()
    monkeypatch.setattr(engines, "UNUSED_SECONDS", -1.0)
    looked.pop()[1]()
    assert shop.opened[0].closed
    assert looked == []


def test_of_many_revisions_the_last_used_few_stay_open(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)
    monkeypatch.setattr(engines, "LAST_ANSWER_SECONDS", 0.0)
    all_ = Engines()
    first = all_.get(None)
    for revision in ("two", "three", "four", "five"):
        shop.source = Source(revision)
        all_.get(first.number, time.monotonic())
        assert all_.get(first.number) is first, "whoever reads it goes on"
    assert 1 + engines.MOST_REPLACED == 3
    end = time.monotonic() + 10
    while sum(engine.closed for engine in shop.opened) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert [engine.closed for engine in shop.opened] == [False, True, True, False, False]


def test_readers_of_the_same_data_move_to_the_engine_that_was_opened_again(shop: Shop) -> None:
    all_ = Engines()
    old = all_.get(None)
    new = all_.get(old.number, time.monotonic())
    assert all_.get(old.number) is new


def test_a_failure_is_shared_by_all_who_wait_and_soon_tried_again(shop: Shop) -> None:
    all_ = Engines()
    shop.failure = DataUnavailable("The Hub is down.")
    with ThreadPoolExecutor(20) as readers:
        failed = [readers.submit(all_.get, None) for _ in range(20)]
        assert all(isinstance(future.exception(), DataUnavailable) for future in failed)
    assert shop.tries == 1
    shop.failure = None
    assert all_.get(None, time.monotonic()).kb is shop.opened[0]


def test_real_data_are_not_given_up_for_a_failure_or_a_stand_in(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)
    all_ = Engines()
    real = all_.get(None)
    shop.failure = DataUnavailable("The Hub is down.")
    with pytest.raises(DataUnavailable):
        all_.get(real.number, time.monotonic())
    assert all_.get(real.number) is real
    shop.failure, shop.source = None, Source("sample", notice="The Hub is down.")
    assert all_.get(real.number, time.monotonic()) is real
    assert shop.opened[-1].closed


def test_a_stand_in_is_replaced_for_new_readers(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "REOPEN_SECONDS", 0.0)
    all_ = Engines()
    shop.source = Source("sample", notice="The Hub is down.")
    sample = all_.get(None)
    assert all_.get(None) is sample
    monkeypatch.setattr(engines, "STAND_IN_SECONDS", 0.0)
    shop.source = Source("one")
    assert all_.get(None) is not sample
