"""Comparing by choosing: a user of the board in the viewer, two users head to head."""

from typing import Any

from kbdash.web import tables
from kbdash.web.code import choose
from tests.app.conftest import Open, healthy, link, opened_engine, words


def _first_two() -> list[dict[Any, Any]]:
    return opened_engine().leaderboard("nvfp4_gemm", runner="NVIDIA").head(2).to_dict("records")


def test_the_viewer_offers_the_bests_of_all_others_and_opens_the_comparison(sample: Open) -> None:
    sample("about")
    first, second = _first_two()
    app = sample("submission", id=str(second["submission_id"]))
    picker = app.selectbox("submission-compare-with")
    assert len(picker.options) == len(opened_engine().leaderboard("nvfp4_gemm", runner="NVIDIA")) - 1
    assert picker.options[0].startswith(f"1. {first['user_name']} · ")
    picker.set_value(first["submission_id"]).run()
    assert link(app) == {
        "a": [f"{second['submission_id']}@NVIDIA@nvfp4"], "b": [f"{first['submission_id']}@NVIDIA@nvfp4"]
    }  # fmt: skip
    assert healthy(app)
    assert "Head to head" in words(app)


def test_one_user_alone_has_no_head_to_head(sample: Open) -> None:
    sample("about")
    kb = opened_engine()
    steps = kb.ladder("nvfp4_gemm", str(_first_two()[0]["user_id"]), runner="NVIDIA")["submission_id"].tolist()
    app = sample("compare", a=f"{steps[0]}@NVIDIA", b=f"{steps[-1]}@NVIDIA")
    assert healthy(app)
    assert "Head to head" not in words(app)


def test_two_users_are_chosen_on_a_board(sample: Open) -> None:
    app = sample("compare")
    first, second = _first_two()
    app.selectbox("compare-board").set_value(("nvfp4", "nvfp4_gemm", "NVIDIA")).run()
    app.selectbox("compare-user-First user").set_value(first["submission_id"]).run()
    app.selectbox("compare-user-Second user").set_value(second["submission_id"]).run()
    assert link(app)["a"] == [f"{first['submission_id']}@NVIDIA@nvfp4"]
    assert link(app)["b"] == [f"{second['submission_id']}@NVIDIA@nvfp4"]
    assert healthy(app)


def test_the_table_of_both_histories_holds_both_and_nobody_else(sample: Open) -> None:
    sample("about")
    kb = opened_engine()
    users = tuple(str(row["user_id"]) for row in _first_two())
    both = choose.of_users(tables.dated(kb.personal_bests("nvfp4_gemm", runner="NVIDIA")), users)
    expected = [kb.ladder("nvfp4_gemm", user, runner="NVIDIA") for user in users]
    assert set(both["user_id"]) == set(users)
    assert sorted(both["score"]) == sorted(score for steps in expected for score in steps["score"])
