"""Steps of a ladder: where two of them stand, and which of them still have to be counted."""

from dataclasses import replace
from typing import Any

import pytest

from kbdash.view import LadderView
from kbdash.web import answers, share, state, table
from kbdash.web.code import compare, ladder, ladder_rows
from kbdash.web.code.changes import Change, Changes
from tests.unit import chart_frames as frames
from tests.unit.test_web_parts import ONE
from tests.unit.test_web_tabs import Written


@pytest.mark.parametrize(
    ("ids", "said", "steps"),
    [((60, 61), ["Step 2 of 3"], [0, 2]), ((61, 62), ["Step 3 of 3"], [1, 3]), ((60, 62), [], [])],
)
def test_two_steps_that_follow_each_other_lead_to_those_around_them(
    monkeypatch: pytest.MonkeyPatch, ids: tuple[int, int], said: list[str], steps: list[int]
) -> None:
    written, led = Written(), []
    monkeypatch.setattr(compare, "st", written)
    monkeypatch.setattr(written, "page_link", lambda *_, **__: None, raising=False)
    monkeypatch.setattr(state, "target", lambda path: path)
    monkeypatch.setattr(answers, "ladder", lambda *_, **__: frames.ladder(3))
    monkeypatch.setattr(compare, "_step", lambda _, place, *__: led.append(place))
    before, after = (replace(ONE, submission_id=id_, runner="NVIDIA") for id_ in ids)
    compare._ladder(before, after)
    assert (written.captions, led) == (said, steps)


def test_steps_are_counted_that_were_neither_counted_nor_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = frames.ladder(5).assign(waited=None, attempts=1)
    pairs = ladder_rows.pairs(steps)
    counted = Changes("trimul", known={pairs[2]: Change(1, 2)}, failed={pairs[4]})
    asked: list[Any] = []
    monkeypatch.setattr(ladder, "st", Written())
    for module, name in ((table, "show"), (share, "copy_links"), (share, "downloads"), (share, "data_path")):
        monkeypatch.setattr(module, name, lambda *_, **__: "")
    monkeypatch.setattr(ladder, "memoise", lambda function, *given: function(*given))
    monkeypatch.setattr(ladder_rows, "shown_rows", lambda *_: None)
    monkeypatch.setattr(ladder, "_techniques", lambda *_: ())
    monkeypatch.setattr(ladder, "_unread", lambda _, wanted: asked.append(wanted))
    monkeypatch.setattr(ladder, "_count", lambda _, missing: asked.append(missing))
    ladder._steps(LadderView("trimul", "trimul", "NVIDIA", "u1"), steps, counted)
    assert asked == [[pairs[step] for step in (5, 4, 3, 2)], [pairs[step] for step in (5, 3)]]
