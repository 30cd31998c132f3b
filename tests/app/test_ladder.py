"""The ladder: each personal best, what it gained and changed, and what counting may cost."""

from typing import Any

import pytest

from kbdash import diff
from kbdash.config import DATASET
from kbdash.engine import KernelBot
from kbdash.ui import state
from kbdash.ui.code import changes, climb, ladder
from kbdash.view import CompareView, Ref
from tests.app.code_pages import BOARD, RUNNER, plain, ranked, sent
from tests.app.conftest import Open, healthy, link, open_app, words
from tests.hub import LoopbackHub

LADDER = "kbdash_ladder"


def open_ladder(sample: Open, kb: KernelBot, **more: str) -> Any:
    return sample("ladder", competition="nvfp4", problem=BOARD, runner=RUNNER, user=ranked(kb, 2)["user_id"], **more)


def test_each_step_with_gain_wait_attempts_and_changed_lines(sample: Open, kb: KernelBot) -> None:
    app = open_ladder(sample, kb)
    assert healthy(app)
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    data = sent(app, LADDER)
    assert data is not None
    assert len(data["points"]) == len(steps)
    assert [row["step"] for row in data["rows"]] == list(range(len(steps), len(steps) - 15, -1))
    newest = data["rows"][0]
    assert newest["gain"] == f"−{100 * steps['gain'].iloc[-1]:.1f}\u2009%"
    assert newest["attempts"] == str(steps["attempts"].iloc[-1])
    before, after = (kb.code(int(id_), RUNNER) for id_ in steps["submission_id"].iloc[-2:])
    counted = diff.compare(before, after)
    assert newest["changed"] == f"−{counted.removed} +{counted.added}"
    assert all(row["changed"] not in ("…", "–") for row in data["rows"])


def test_earlier_steps_are_one_click_away_and_in_the_link(sample: Open, kb: KernelBot) -> None:
    app = open_ladder(sample, kb)
    app.button(key="ladder-more").click().run()
    assert healthy(app)
    assert link(app)["top"] == ["30"]
    data = sent(app, LADDER)
    assert data is not None
    assert len(data["rows"]) == len(data["points"])
    first = data["rows"][-1]
    assert (first["step"], first["gain"], first["changed"], first["diff"]) == (1, "–", "–", None)


def test_days_in_the_link_limit_the_steps(sample: Open, kb: KernelBot) -> None:
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    day = steps["submitted_at"].iloc[len(steps) // 2].date().isoformat()
    app = open_ladder(sample, kb, to=day)
    data = sent(app, LADDER)
    assert data is not None
    assert 0 < len(data["points"]) < len(steps)
    assert "passed in that time" in words(open_ladder(sample, kb, to="2001-01-01"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "belongs to one user on one board"),
        ({"problem": BOARD}, "belongs to one user on one board"),
        ({"problem": "no_such_board", "user": "1"}, "There is no problem"),
        ({"problem": BOARD, "user": "<b>1</b>"}, "has no ranked time"),
        ({"problem": BOARD, "user": "1", "top": "x", "runner": "?"}, "has no ranked time"),
    ],
)
def test_what_cannot_be_shown_is_said(sample: Open, query: dict[str, str], said: str) -> None:
    app = sample("ladder", **query)
    assert not app.exception
    assert said in plain(words(app))
    assert "met an error of its own" not in words(app)


def test_without_a_runner_the_first_is_taken_and_others_are_offered(sample: Open, kb: KernelBot) -> None:
    board = kb.leaderboard("trimul")
    user = board.groupby("user_id")["runner"].nunique().idxmax()
    app = sample("ladder", problem="trimul", user=user)
    assert healthy(app)
    assert sent(app, LADDER) is not None
    options = app.segmented_control(key="ladder-runner").options
    app.segmented_control(key="ladder-runner").set_value(board[board["user_id"] == user]["runner"].iloc[-1]).run()
    assert healthy(app)
    assert len(options) > 1
    assert link(app)["runner"] == [board[board["user_id"] == user]["runner"].iloc[-1]]


def test_the_ladder_of_an_anonymous_user_works_too(sample: Open, kb: KernelBot) -> None:
    user = kb.leaderboard("amd-fp8-mm")["user_id"].iloc[0]
    app = sample("ladder", problem="amd-fp8-mm", user=user)
    assert healthy(app)
    assert sent(app, LADDER) is not None


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []
    monkeypatch.setattr(state, "go", lambda path, view: seen.append((path, view)))
    return seen


def test_a_step_opens_its_diff_or_its_code(kb: KernelBot, went: list[Any]) -> None:
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    ids = [int(id_) for id_ in steps["submission_id"]]
    for told in ("diff:3", "code:3", "diff:1", "diff:999", "nonsense", "diff:-1"):
        ladder.open_step(told, steps=steps, competition="nvfp4")
    paths = [path for path, _ in went]
    assert paths == ["compare", "submission", "submission"]
    assert went[0][1] == CompareView(Ref(ids[1], RUNNER), Ref(ids[2], RUNNER))
    assert [view.id for _, view in went[1:]] == [ids[2], ids[0]]
    assert went[1][1].walk == "bests"


def test_places_in_the_chart_lie_inside_it(kb: KernelBot) -> None:
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    for some in (steps, steps.head(1)):
        data = climb.data(some, some, {}, "nvfp4", lambda path, view: path)
        places = [value for point in data["points"] for value in (point["x"], point["y"])]
        assert all(0 <= place <= 1 for place in places)
        assert all(0 <= tick["y"] <= 1 for tick in data["ticks"])
        heights = [point["y"] for point in data["points"]]
        assert heights == sorted(heights)


def test_counting_on_the_hub_stops_at_its_budget_and_asks(
    environment: pytest.MonkeyPatch, hub: LoopbackHub, kb: KernelBot
) -> None:
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)
    environment.setattr(changes, "BUDGET_BYTES", 1)
    app = open_ladder(open_app, kb)
    assert healthy(app)
    assert "Counting changed lines" in words(app)
    assert "fetched for this view" in words(app)
    data = sent(app, LADDER)
    assert data is not None
    waiting = [row for row in data["rows"] if row["changed"] == "…"]
    assert waiting
    for _ in range(10):
        if not any(button.key == "ladder-count" for button in app.button):
            break
        app.button(key="ladder-count").click().run()
        assert healthy(app)
    data = sent(app, LADDER)
    assert data is not None
    assert not [row for row in data["rows"] if row["changed"] == "…"]


def test_a_text_that_cannot_be_read_leaves_a_gap(
    environment: pytest.MonkeyPatch, hub: LoopbackHub, kb: KernelBot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)
    environment.setenv("KBDASH_CACHE", str(tmp_path_factory.mktemp("cache")))
    hub.faults.cut_after(200_000, "/cdn/*")
    app = open_ladder(open_app, kb)
    assert healthy(app)
    data = sent(app, LADDER)
    assert data is not None
    assert {row["changed"] for row in data["rows"]} == {"–"}
