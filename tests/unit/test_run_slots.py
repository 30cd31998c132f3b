"""Pages wait for their turn, and are told when it does not come."""

import threading

import pytest

from kbdash.errors import QueryTimeout
from kbdash.web import run_slots
from kbdash.web.run_slots import run_slot


def test_a_turn_inside_a_turn_is_free_and_all_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_slots, "_free", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run_slots, "PATIENCE_SECONDS", 0.1)
    with run_slot(), run_slot():
        pass
    with pytest.raises(ValueError, match="inside"), run_slot():
        raise ValueError("inside")
    with run_slot():
        pass


def test_who_waits_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_slots, "_free", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run_slots, "PATIENCE_SECONDS", 0.1)
    said: list[str] = []

    def other() -> None:
        try:
            with run_slot():
                said.append("got in")
        except QueryTimeout as error:
            said.append(error.advice)

    with run_slot():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert said == ["Try again in a moment."]
