"""Answers that come one after the other: each is handed on at once, whatever the others do."""

from concurrent.futures import Future

import pytest

from kbdash.web import as_completed


class Status:
    """What the page says about what is still coming."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def caption(self, text: str) -> None:
        self.said.append(text)

    def empty(self) -> None:
        self.said.append("")


def test_an_answer_is_handed_on_while_others_are_on_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_completed, "LOOK_SECONDS", 0.0)
    asked: dict[str, Future[int]] = {name: Future() for name in ("slow", "quick", "broken")}
    status = Status()
    coming = as_completed.as_completed(asked, {name: name.title() for name in asked}, status)  # type: ignore[arg-type]
    asked["quick"].set_result(1)
    assert next(coming) == "quick"
    asked["broken"].set_exception(OSError("gone"))
    assert next(coming) == "broken"
    assert status.said[0].endswith("1 of 3 competitions are here. Still coming: Slow, Broken")
    asked["slow"].set_result(2)
    assert list(coming) == ["slow"]
    assert status.said[-1] == ""


def test_a_page_whose_answers_are_known_says_nothing_about_waiting() -> None:
    known: Future[int] = Future()
    known.set_result(1)
    status = Status()
    assert list(as_completed.as_completed({"a": known}, {"a": "A"}, status)) == ["a"]  # type: ignore[arg-type]
    assert status.said == [""]


def test_titles_are_no_markdown() -> None:
    assert "**" not in as_completed.still_coming(["**x**"], 2).replace("\\*", "")
