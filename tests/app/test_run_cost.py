"""What one run of a page does for a reader: how much is drawn, and what is looked up."""

import pytest
from streamlit.testing.v1 import AppTest

from kbdash.web import engines
from tests.app.conftest import Open


def drawn(app: AppTest) -> int:
    """Elements and boxes of a page; each costs a run about a third of a millisecond."""
    return sum(1 for _ in app._tree)


@pytest.mark.parametrize(
    ("tab", "most"), [("leaderboard", 60), ("distribution", 60), ("progression", 85), ("submissions", 68)]
)
def test_a_board_is_drawn_with_few_elements(sample: Open, tab: str, most: int) -> None:
    assert drawn(sample("nvfp4", tab=tab)) <= most


def test_a_run_looks_its_engine_up_once(sample: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app, asked = sample("nvfp4", tab="progression"), []
    look_up = engines.Engines.get
    monkeypatch.setattr(engines.Engines, "get", lambda self, *which: asked.append(1) or look_up(self, *which))
    app.run()
    assert len(asked) == 1
