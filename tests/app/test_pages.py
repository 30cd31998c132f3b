"""Every page and tab opens on the sample, says what it must, and draws what it should."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from kbdash.dataset import catalog
from kbdash.dataset.cards import card_of
from kbdash.view import TABS
from kbdash.web import session
from kbdash.web.escape import markdown
from tests.app.code_pages import plain
from tests.app.conftest import Open, healthy, link, opened_engine, words
from tests.app.shown import table, tables

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
    assert tables(app) or app.get("plotly_chart") or "nothing to compare" in words(app)
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
        ("distribution", "distribution-chart", "gap"),
        ("progression", "progression-chart", "previous (µs)"),
        ("progression", "bump-chart", "by_name"),
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


def test_several_runners_are_compared_and_one_is_not(sample: Open) -> None:
    several = sample("trimul", tab="hardware")
    several.toggle(key="runners-chart-twin").set_value(True).run()
    assert any("Users" in table.value for table in several.dataframe)
    assert any(toggle.key == "forest-chart-twin" for toggle in several.toggle)
    one = sample("nvfp4", problem="nvfp4_gemm", tab="hardware")
    assert not one.get("plotly_chart")


@pytest.mark.parametrize(("show", "key"), [("contested", "contested-chart"), ("timeline", "timeline-chart")])
def test_all_boards_in_one_picture(sample: Open, show: str, key: str) -> None:
    app = sample(show=show)
    assert healthy(app)
    assert len(app.get("plotly_chart")) == 1
    app.toggle(key=f"{key}-twin").set_value(True).run()
    shown = app.dataframe[-1].value
    assert shown["problem"].nunique() == sum(len(item.boards) for item in catalog.COMPETITIONS)


def test_spans_and_lanes_are_in_the_link(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_gemm", tab="progression", span="final", ranks="lanes")
    assert healthy(app)
    assert (link(app)["span"], link(app)["ranks"]) == (["final"], ["lanes"])
    app.segmented_control(key="nvfp4-span").set_value("field").run()
    assert "span" not in link(app)


def test_one_pinned_user_is_shown_among_those_who_passed(sample: Open) -> None:
    sample("nvfp4", problem="nvfp4_gemm", tab="progression")
    user = opened_engine().leaderboard("nvfp4_gemm", runner="NVIDIA")["user_id"].iloc[14]
    pinned = sample("nvfp4", problem="nvfp4_gemm", tab="progression", user=user)
    assert healthy(pinned)
    assert "Passed by" in [header.value for header in pinned.header]


def _length(values: Any) -> int:
    """Values of a trace; plotly sends arrays as base64 of fixed-size numbers or as lists."""
    if isinstance(values, dict):
        size = {"f8": 8, "i4": 4, "i2": 2, "i1": 1, "u1": 1, "f4": 4}[values["dtype"]]
        return len(values["bdata"]) * 3 // 4 // size
    return len(values or [])


def test_the_overview_names_every_board(sample: Open) -> None:
    app = sample()
    shown = [name for found in tables(app) for name in found["problem"]]
    labels = [board.label for item in catalog.COMPETITIONS for board in item.boards]
    assert sorted(name.removesuffix(" †") for name in shown) == sorted(labels)


def test_caveats_stand_where_the_number_is(sample: Open) -> None:
    assert "the Modal board" in words(sample("nvfp4", problem="nvfp4_dual_gemm"))
    assert "brittle" in words(sample("helion"))
    assert "cannot be linked to names" in words(sample("amd-mi300"))


def test_pinned_users_stay_in_the_table(sample: Open) -> None:
    app = sample("nvfp4", top="5")
    assert len(tables(app)[0]) == 5
    last = opened_engine().leaderboard("nvfp4_gemv").iloc[-1]
    app.multiselect(key="nvfp4-users").select(last["user_id"]).run()
    shown = tables(app)[0]
    assert len(shown) == 6
    assert shown["rank"].iloc[-1] == str(last["rank"])
    assert shown["more"].iloc[-1] == "Ladder Unpin"


def test_all_runners_are_ranked_by_themselves(sample: Open) -> None:
    shown = tables(sample("trimul", runner="all"))[0]
    assert (shown[shown["rank"].str.lstrip("=") == "1"]["runner"].nunique()) == shown["runner"].nunique() > 1


def test_ties_share_a_rank_and_carry_a_sign(sample: Open) -> None:
    shown = tables(sample("pmpp-v2", problem="vectoradd_v2", runner="all"))[0]
    tied = shown.assign(rank=shown["rank"].str.lstrip("=")).duplicated(["runner", "rank"], keep=False)
    assert tied.any()
    assert shown["rank"].str.startswith("=").tolist() == tied.tolist()


def test_my_own_time_gets_a_rank(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_gemm", tab="distribution")
    app.text_input(key="nvfp4-my_time").set_value("1 s").run()
    assert link(app)["mine"] == ["1s"]
    assert "faster than 0.0\u2009% of the users" in words(app)
    app.text_input(key="nvfp4-my_time").set_value("abc").run()
    assert "mine" not in link(app)
    assert "'abc' is no time" in words(app).replace("\\", "")


@pytest.mark.parametrize("tab", ["leaderboard", "distribution", "progression"])
def test_my_own_time_stands_between_its_neighbours_on_every_tab(sample: Open, tab: str) -> None:
    sample("nvfp4", problem="nvfp4_gemm")
    board = opened_engine().leaderboard("nvfp4_gemm", runner="NVIDIA")
    mine = float(board["score"].iloc[4:6].mean())
    app = sample("nvfp4", problem="nvfp4_gemm", tab=tab, mine=f"{mine!r}s")
    assert f"rank 6 of {len(board) + 1} with it" in words(app)
    labels = [plain(link_.proto.label) for link_ in app.get("page_link")]
    assert any(label.startswith(f"After 5. {board['user_name'].iloc[4]}") for label in labels)
    assert any(label.startswith(f"Before 6. {board['user_name'].iloc[5]}") for label in labels)


def test_a_time_below_the_speed_of_light_is_remarked(sample: Open) -> None:
    assert "speed of light, 3.045" in words(sample("nvfp4", problem="nvfp4_gemm", mine="1us"))
    assert "below the task" not in words(sample("nvfp4", problem="nvfp4_gemm", mine="0.03ms"))


def test_another_spelling_of_a_time_is_no_mistake(sample: Open) -> None:
    app = sample("nvfp4", mine="0.03ms")
    assert link(app)["mine"] == ["30us"]
    assert "not understood" not in words(app)


def test_every_filter_is_a_chip_that_takes_itself_off(sample: Open) -> None:
    sample("nvfp4")
    board = opened_engine().leaderboard("nvfp4_gemm")
    name, user = board["user_name"].iloc[3], board["user_id"].iloc[3]
    everything = opened_engine().submissions("nvfp4_gemm", runner="NVIDIA").total
    until = board["submitted_at"].quantile(0.5).date().isoformat()
    kept = opened_engine().submissions("nvfp4_gemm", runner="NVIDIA", until=until, flagged=False).total
    app = sample("nvfp4", problem="nvfp4_gemm", to=until, flags="hide", user=user, top="5")
    chips = {plain(button.label): button for button in app.button if str(button.key).startswith("chip-")}
    assert list(chips) == [f"pinned: {name}", f"as of {until}", "without flagged rows", "first 5 ranks"]
    assert f"{everything - kept:,} of {everything:,} submissions left out" in words(app)
    chips["without flagged rows"].click().run()
    assert "flags" not in link(app)
    app.button(key="chips-clear").click().run()
    assert link(app) == {"problem": ["nvfp4_gemm"]}
    assert not [button for button in app.button if str(button.key).startswith("chip-")]
    app = sample("nvfp4", problem="nvfp4_gemm", user=board["user_id"].iloc[:12].tolist())
    assert "4 more" in [block.proto.popover.label for block in app.get("popover")]


def test_a_board_has_a_card_with_inputs_ranking_shapes_and_links(sample: Open) -> None:
    told = words(sample("nvfp4", problem="nvfp4_gemm"))
    card = card_of("nvfp4_gemm")
    assert card is not None
    assert markdown(card.about) in told, "what the problem is"
    assert "**Inputs.**" in told
    assert "Lower is better; each user's best counts." in told
    assert "benchmark shape" in told
    assert "[Official board](https://www.gpumode.com/leaderboard/597" in told
    assert "[Reference kernel](https://github.com/gpu-mode/reference-kernels/" in told
    assert "**NVFP4**" in told


def test_a_first_visit_is_explained_where_the_words_are_true(sample: Open) -> None:
    told = "Each row is one user's best time"
    assert told in words(sample("trimul"))
    assert told not in words(sample("trimul", tab="submissions"))
    assert told not in words(sample("trimul", mine="3ms"))


def test_from_after_to_is_told(sample: Open) -> None:
    assert "is after To (2025-11-01), so no day is left" in words(sample("nvfp4", from_="2025-12-01", to="2025-11-01"))


def test_users_are_named_in_links_and_who_comes_close_is_told(sample: Open) -> None:
    sample("nvfp4")
    board = opened_engine().leaderboard("nvfp4_gemm")
    row = board[board["user_name"].str.startswith("Sample ")].iloc[2]
    app = sample("nvfp4", problem="nvfp4_gemm", find=row["user_name"], user=row["user_name"])
    assert f"is at rank {row['rank']} of" in words(app)
    assert app.multiselect(key="nvfp4-users").value == [row["user_id"]]
    for name in ("find", "user"):
        assert "Did you mean" in words(sample("nvfp4", **{name: row["user_name"][:-1] + "qq"}))
    assert row["user_name"] in plain(words(sample("user", user=row["user_name"])))
    assert "Did you mean" in words(sample("user", user=row["user_name"][:-1] + "qq"))
    ladder = sample("ladder", problem="nvfp4_gemm", user=row["user_name"])
    assert row["user_name"] in plain(words(ladder))


def test_unticked_shapes_rank_again(sample: Open) -> None:
    app = sample("amd-mi300", problem="amd-fp8-mm", tab="hardware")
    before = table(app)["score"].tolist()
    app.multiselect(key="amd-mi300-skip_shapes").set_value([0, 1]).run()
    assert link(app)["skip"] == ["0", "1"]
    assert "over 16 of 18 shapes" in words(app)
    assert table(app)["score"].tolist() != before


def test_only_charts_with_a_time_axis_offer_how_far_it_reaches(sample: Open) -> None:
    for problem, several in (("amd-fp8-mm", True), ("amd-gemm-rs", False)):
        app = sample("amd-mi300", problem=problem, tab="hardware")
        pickers = [item.key for item in app.segmented_control]
        assert ("amd-mi300-runner" in pickers, "amd-mi300-span" in pickers) == (several, several)


@pytest.mark.parametrize("problem", ["nvfp4_dual_gemm", "modal_nvfp4_dual_gemm"])
def test_the_two_dual_gemm_boards_are_paired(sample: Open, problem: str) -> None:
    app = sample("nvfp4", problem=problem, tab="hardware")
    assert "On-prem against Modal" in [header.value for header in app.header]
    assert "Rank correlation" in words(app)


def test_a_person_across_competitions(sample: Open) -> None:
    app = sample("user", find="Sample Quail")
    person = tables(app)[0].iloc[0]
    app = sample("user", user=person["id"])
    assert healthy(app)
    assert person["user"] in words(app)
    boards = tables(app)[0]
    assert boards["competition"].nunique() > 1
    assert boards["more"].eq("Ladder").sum() == boards["rank"].ne("–").sum()


def test_the_about_page_shows_the_rule_and_the_citation(sample: Open) -> None:
    code = "\n".join(block.value for block in sample("about").code)
    assert "macro ranking" in code
    assert "kernelbot2025" in code
    assert "kbdash.connect()" in code


def has_odd_looks(call: ast.Call) -> bool:
    """Whether a heading has a link to itself, or a layout is told what it does anyway."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
    if name in ("title", "header", "subheader") and call.args:  # (`str.title` has none)
        return given.get("anchor") is not False
    switches = {"container": ("horizontal", "border"), "segmented_control": ("required",)}.get(name, ())
    return any(given.get(switch, True) is not True for switch in switches)


def test_bars_are_rows_and_headings_have_no_link() -> None:
    """Read in the source: an app without a browser does not tell whether parts stand side by side."""
    trees = {str(path): ast.parse(path.read_text()) for path in Path(session.__file__).parent.rglob("*.py")}
    calls = [(name, node) for name, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [f"{name}:{call.lineno}" for name, call in calls if has_odd_looks(call)] == []
