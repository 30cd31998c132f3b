"""The ladder: each personal best, what it gained and changed, and what counting may cost."""

from typing import Any

import pytest

from kbdash.code import diff
from kbdash.dataset.config import DATASET
from kbdash.engine import KernelBot
from kbdash.view import CompareView, Ref, SubmissionView, href
from kbdash.web.code import changes
from tests.app.code_pages import BOARD, RUNNER, plain, ranked
from tests.app.conftest import Open, healthy, link, open_app, words
from tests.app.shown import numbers, table
from tests.hub import LoopbackHub


def open_ladder(sample: Open, kb: KernelBot, **more: str) -> Any:
    return sample("ladder", competition="nvfp4", problem=BOARD, runner=RUNNER, user=ranked(kb, 2)["user_id"], **more)


def test_each_step_with_gain_wait_attempts_and_changed_lines(sample: Open, kb: KernelBot) -> None:
    app = open_ladder(sample, kb)
    assert healthy(app)
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    shown = table(app)
    assert numbers(shown["step"]) == list(range(len(steps), len(steps) - 15, -1))
    newest = shown.iloc[0]
    assert numbers(shown["gain"])[0] == pytest.approx(-100 * steps["gain"].iloc[-1], abs=0.06)
    assert newest["attempts"] == str(steps["attempts"].iloc[-1])
    assert newest["rank"] == "2"
    before, after = (kb.code(int(id_), RUNNER) for id_ in steps["submission_id"].iloc[-2:])
    counted = diff.compare(before, after)
    assert newest["changed"] == f"−{counted.removed} +{counted.added}"
    assert not set(shown["changed"]) & {"…", "–"}


def test_earlier_steps_are_one_click_away_and_in_the_link(sample: Open, kb: KernelBot) -> None:
    app = open_ladder(sample, kb)
    app.button(key="ladder-more").click().run()
    assert healthy(app)
    assert link(app)["top"] == ["30"]
    first = table(app).iloc[-1]
    assert (first["step"], first["changed"], first["changes"], first["gain"]) == ("1", "–", "", "–")


def test_days_in_the_link_limit_the_steps(sample: Open, kb: KernelBot) -> None:
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    day = steps["submitted_at"].iloc[len(steps) // 2].date().isoformat()
    app = open_ladder(sample, kb, to=day)
    assert numbers(table(app)["step"])[0] < len(steps)
    assert "passed in that period" in words(open_ladder(sample, kb, to="2001-01-01"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "belongs to one user on one board"),
        ({"problem": BOARD}, "belongs to one user on one board"),
        ({"problem": "no_such_board", "user": "1"}, "There is no problem"),
        ({"problem": BOARD, "user": "<b>1</b>"}, "Nobody has the id or name"),
        ({"problem": BOARD, "user": "1", "top": "x", "runner": "?"}, "has no ranked time"),
    ],
)
def test_what_cannot_be_shown_is_said(sample: Open, query: dict[str, str], said: str) -> None:
    app = sample("ladder", **query)
    assert not app.exception
    assert said in plain(words(app))
    assert "Something went wrong" not in words(app)


def test_without_a_runner_the_first_is_taken_and_others_are_offered(sample: Open, kb: KernelBot) -> None:
    board = kb.leaderboard("trimul")
    user = board.groupby("user_id")["runner"].nunique().idxmax()
    app = sample("ladder", problem="trimul", user=user)
    assert healthy(app)
    assert len(table(app))
    assert len(app.get("plotly_chart")) == 1
    options = app.segmented_control(key="ladder-runner").options
    app.segmented_control(key="ladder-runner").set_value(board[board["user_id"] == user]["runner"].iloc[-1]).run()
    assert healthy(app)
    assert len(options) > 1
    assert link(app)["runner"] == [board[board["user_id"] == user]["runner"].iloc[-1]]


def test_the_ladder_of_an_anonymous_user_works_too(sample: Open, kb: KernelBot) -> None:
    user = kb.leaderboard("amd-fp8-mm")["user_id"].iloc[0]
    app = sample("ladder", problem="amd-fp8-mm", user=user)
    assert healthy(app)
    assert len(table(app))
    assert len(app.get("plotly_chart")) == 1


def test_a_step_leads_to_its_diff_and_to_its_code(sample: Open, kb: KernelBot) -> None:
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    ids = [int(id_) for id_ in steps["submission_id"]]
    newest = table(open_ladder(sample, kb)).iloc[0]
    assert newest["changes links"] == href("compare", CompareView(Ref(ids[-2], RUNNER), Ref(ids[-1], RUNNER)))
    code = SubmissionView(id=ids[-1], runner=RUNNER, competition="nvfp4", walk="bests")
    assert newest["word links"] == href("submission", code)


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
    assert "…" in table(app)["changed"].tolist()
    for _ in range(10):
        if not any(button.key == "ladder-count" for button in app.button):
            break
        app.button(key="ladder-count").click().run()
        assert healthy(app)
    assert "…" not in table(app)["changed"].tolist()


def test_a_text_that_cannot_be_read_leaves_a_gap_until_it_can(
    environment: pytest.MonkeyPatch, hub: LoopbackHub, kb: KernelBot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)
    environment.setenv("KBDASH_CACHE", str(tmp_path_factory.mktemp("cache")))
    hub.faults.cut_after(200_000, "/cdn/*")
    app = open_ladder(open_app, kb)
    assert healthy(app)
    assert "changed" not in table(app), "a column without a value takes no room"
    hub.faults.clear()
    app.button(key="ladder-retry").click().run()
    assert healthy(app)
    assert "–" not in set(table(app)["changed"]), "what failed once is counted when it can be read"
