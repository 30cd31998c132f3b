"""Every page and tab opens on the sample, says what it must, and draws what it should."""

import json
from typing import Any

import pytest

from kbdash import catalog
from kbdash.view import TABS
from tests.app.conftest import Open, healthy, link, words

SLUGS = [item.slug for item in catalog.COMPETITIONS]


def figure(app: Any, place: int = 0) -> dict[str, Any]:
    """A chart as it was sent to the browser."""
    spec: dict[str, Any] = json.loads(app.get("plotly_chart")[place].proto.spec)
    return spec


@pytest.mark.parametrize("page", ["", *SLUGS, "user", "about"])
def test_every_page_opens(sample: Open, page: str) -> None:
    app = sample(page)
    assert healthy(app)
    assert len(app.title) == 1
    assert "Sample data." in words(app)
    assert "GPU Mode and the KernelBot dataset" in app.caption[-1].value


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize(
    ("slug", "problem"),
    [
        ("nvfp4", "nvfp4_dual_gemm"),
        ("amd-mi300", "amd-fp8-mm"),
        ("trimul", "trimul"),
        ("linalg", "eigh"),
    ],
)
def test_every_tab_opens(sample: Open, slug: str, problem: str, tab: str) -> None:
    app = sample(slug, problem=problem, tab=tab)
    assert healthy(app)
    assert app.dataframe or app.get("plotly_chart")
    assert link(app).get("tab", [TABS[0]]) == [tab]


def test_hidden_tabs_compute_nothing(sample: Open) -> None:
    assert not sample("nvfp4").get("plotly_chart")
    assert len(sample("nvfp4", tab="distribution").get("plotly_chart")) == 1


@pytest.mark.parametrize("tab", ["distribution", "progression", "hardware", "submissions"])
def test_charts_send_at_most_5000_points(sample: Open, tab: str) -> None:
    app = sample("nvfp4", problem="nvfp4_dual_gemm", tab=tab)
    for place in range(len(app.get("plotly_chart"))):
        points = sum(_length(trace.get("x")) for trace in figure(app, place)["data"])
        assert 0 < points <= 5000


@pytest.mark.parametrize(
    ("tab", "key", "column"),
    [
        ("distribution", "distribution-chart", "lo (µs)"),
        ("progression", "progression-chart", "best_so_far (µs)"),
        ("progression", "bump-chart", "rank"),
        ("hardware", "runners-chart", "Users"),
        ("hardware", "paired-chart", "score_a (µs)"),
        ("submissions", "status-chart", "day"),
    ],
)
def test_every_chart_has_its_table(sample: Open, tab: str, key: str, column: str) -> None:
    app = sample("nvfp4", problem="nvfp4_dual_gemm", tab=tab)
    assert not any(column in table.value for table in app.dataframe)
    app.session_state[f"{key}-twin"] = True
    app.run()
    assert any(column in table.value for table in app.dataframe)


def _length(values: Any) -> int:
    """Values of a trace; plotly sends arrays as base64 of fixed-size numbers or as lists."""
    if isinstance(values, dict):
        size = {"f8": 8, "i4": 4, "i2": 2, "i1": 1, "u1": 1, "f4": 4}[values["dtype"]]
        return len(values["bdata"]) * 3 // 4 // size
    return len(values or [])


def test_the_overview_names_every_board(sample: Open) -> None:
    app = sample()
    shown = [name for table in app.dataframe for name in table.value["problem"]]
    labels = [board.label for item in catalog.COMPETITIONS for board in item.boards]
    assert sorted(name.removesuffix(" †") for name in shown) == sorted(labels)


def test_caveats_stand_where_the_number_is(sample: Open) -> None:
    assert "the Modal board" in words(sample("nvfp4", problem="nvfp4_dual_gemm"))
    assert "brittle" in words(sample("helion"))
    assert "cannot be linked to names" in words(sample("amd-mi300"))


def test_pinned_users_stay_in_the_table(sample: Open) -> None:
    app = sample("nvfp4", top="5")
    assert len(app.dataframe[0].value) == 5
    last = app.session_state["_engine"].leaderboard("nvfp4_gemv").iloc[-1]
    app.multiselect(key="nvfp4-users").select(last["user_id"]).run()
    shown = app.dataframe[0].value
    assert len(shown) == 6
    assert shown["rank"].iloc[-1] == last["rank"]
    assert shown["more"].iloc[-1][0] == "Unpin"


def test_all_runners_are_ranked_by_themselves(sample: Open) -> None:
    shown = sample("trimul", runner="all").dataframe[0].value
    assert (shown[shown["rank"] == 1]["runner"].nunique()) == shown["runner"].nunique() > 1


def test_ties_share_a_rank_and_carry_a_sign(sample: Open) -> None:
    shown = sample("pmpp-v2", problem="vectoradd_v2", runner="all").dataframe[0].value
    tied = shown.duplicated(["runner", "rank"], keep=False)
    assert tied.any()
    assert shown["tie"].tolist() == ["=" if sign else "" for sign in tied]


def test_my_own_time_gets_a_rank(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_gemm", tab="distribution")
    app.text_input(key="nvfp4-my_time").set_value("1 s").run()
    assert link(app)["mine"] == ["1s"]
    assert "faster than 0.0\u2009% of the users" in words(app)
    app.text_input(key="nvfp4-my_time").set_value("fast").run()
    assert "mine" not in link(app)
    assert app.toast[0].value.startswith("That is no time")


def test_unticked_shapes_rank_again(sample: Open) -> None:
    app = sample("amd-mi300", problem="amd-fp8-mm", tab="hardware")
    before = app.dataframe[-1].value["time"].tolist()
    app.multiselect(key="amd-mi300-skip_shapes").set_value([0, 1]).run()
    assert link(app)["skip"] == ["0", "1"]
    assert "over 16 of 18 shapes" in words(app)
    assert app.dataframe[-1].value["time"].tolist() != before


def test_the_two_dual_gemm_boards_are_paired(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_dual_gemm", tab="hardware")
    assert "Rank correlation" in words(app)


def test_a_person_across_competitions(sample: Open) -> None:
    app = sample("user", find="Sample Quail")
    person = app.dataframe[0].value.iloc[0]
    app = sample("user", user=person["id"])
    assert healthy(app)
    assert person["user"] in words(app)
    boards = app.dataframe[0].value
    assert boards["competition"].nunique() > 1
    assert boards["ladder"].eq("Ladder").sum() == boards["rank"].notna().sum()


def test_the_about_page_shows_the_rule_and_the_citation(sample: Open) -> None:
    code = "\n".join(block.value for block in sample("about").code)
    assert "macro ranking" in code
    assert "kernelbot2025" in code
    assert "kbdash.connect()" in code
