"""Controls and boxes in scripts of a few lines: what can be chosen, and what stands in a frame or in a row."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kbdash.view import CompetitionView
from kbdash.web import filters, layout, study
from tests.unit.test_web_shown import said


def _controls(scene) -> None:  # (these are scripts of their own, without the names of this file)
    from kbdash.web import filters

    filters._runner(scene)
    filters._more(scene)


@pytest.mark.parametrize(("runners", "options"), [(1, []), (2, ["T4", "A100", "All runners"])])
def test_the_shortest_list_and_one_of_two_runners_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch, runners: int, options: list[str]
) -> None:
    monkeypatch.setattr(filters, "_pins", lambda _: None)
    scene: Any = SimpleNamespace(view=CompetitionView(top=5), runners=("T4", "A100")[:runners], runner="T4")
    app = said(_controls, scene)
    assert [option for control in app.segmented_control for option in control.options] == options
    assert app.number_input[0].value == 5


def _banner(kb) -> None:
    from kbdash.web import layout

    layout.banner(kb)


def test_a_newer_revision_is_offered_in_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout.session, "newer", lambda: "0123456789")
    source = SimpleNamespace(kind="hub", endpoint="https://hub.example", dataset="o/n")
    app = said(_banner, SimpleNamespace(source=source))
    assert "newer-banner" in [block.key for block in app.get("flex_container")]
    assert [button.label for button in app.button] == ["Load the newer revision"]


def _offer() -> None:
    from kbdash.web import study

    study._offer("leaderboard", {"competition": "trimul"}, "stem", "key")


def test_a_study_set_has_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame({"submission_id": [5, 6], "runner": ["A100", "T4"]})
    monkeypatch.setattr(study, "engine", lambda: SimpleNamespace(source=SimpleNamespace(version="v")))
    monkeypatch.setattr(study, "rows_of", lambda *_: rows)
    monkeypatch.setattr(study, "cost_text", lambda *_: "nothing to fetch")
    app = said(_offer)
    assert [control.value for control in app.segmented_control] == ["zip"]
    assert [button.label for button in app.button] == ["Prepare 2 texts"]
