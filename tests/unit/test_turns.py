"""Pages wait for their turn, and are told when it does not come."""

import threading

import pytest

from kbdash.errors import QueryTimeout
from kbdash.web import turns
from kbdash.web.turns import turn


def test_a_turn_inside_a_turn_is_free_and_all_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_free", threading.BoundedSemaphore(1))
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.1)
    with turn(), turn():
        pass
    with pytest.raises(ValueError, match="inside"), turn():
        raise ValueError("inside")
    with turn():
        pass


def test_who_waits_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_free", threading.BoundedSemaphore(1))
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.1)
    said: list[str] = []

    def other() -> None:
        try:
            with turn():
                said.append("got in")
        except QueryTimeout as error:
            said.append(error.advice)

    with turn():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert said == ["Try again in a moment."]
