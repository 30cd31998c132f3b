"""The page of one submission: facts, code, neighbours; and every way in which a link can miss."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from kbdash.code.reader import Indexing
from kbdash.dataset.config import DATASET
from kbdash.dataset.sample import trap_code
from kbdash.engine import KernelBot
from kbdash.web.code import submission
from tests.app.code_pages import BOARD, RUNNER, links, on_several_runners, plain, ranked, sent, with_text
from tests.app.conftest import Open, healthy, link, open_app, words
from tests.app.shown import table
from tests.hub import LoopbackHub

CODE = "kbdash_code"


def test_facts_and_code(sample: Open, kb: KernelBot) -> None:
    row = ranked(kb, 2)
    app = sample("submission", id=str(row["submission_id"]), runner=RUNNER)
    assert healthy(app)
    said = plain(words(app))
    assert app.title[0].value == f"Submission {row['submission_id']}"
    for fact in (row["user_name"], BOARD, "B200 (on-prem)", "2 of 65", "with this submission", "UTC"):
        assert fact in said
    data = sent(app, CODE)
    assert data is not None
    assert data["text"] == kb.code(int(row["submission_id"]), RUNNER)
    assert data["line"] is None
    assert "read from disk" in said or "cached" in said


def test_lines_and_search_come_from_the_link(sample: Open, kb: KernelBot) -> None:
    app = sample("submission", id=str(ranked(kb, 1)["submission_id"]), line="20-10", find="const")
    data = sent(app, CODE)
    assert data is not None
    assert (data["line"], data["find"]) == ([10, 20], "const")
    assert link(app)["line"] == ["10-20"]


def test_previous_and_next_walk_the_leaderboard(sample: Open, kb: KernelBot) -> None:
    app = sample("submission", id=str(ranked(kb, 2)["submission_id"]), runner=RUNNER, line="3", find="x")
    app.button(key="submission-next").click().run()
    assert link(app) == {"id": [str(ranked(kb, 3)["submission_id"])], "runner": [RUNNER], "find": ["x"]}
    for _ in range(2):
        app.button(key="submission-previous").click().run()
        assert healthy(app)
    assert link(app)["id"] == [str(ranked(kb, 1)["submission_id"])]
    assert "No previous" in words(app)


def test_the_list_can_be_changed_and_is_kept_in_the_link(sample: Open, kb: KernelBot) -> None:
    row = ranked(kb, 2)
    app = sample("submission", id=str(row["submission_id"]), runner=RUNNER)
    app.segmented_control(key="submission-walk").set_value("bests").run()
    assert healthy(app)
    assert link(app)["list"] == ["bests"]
    steps = kb.ladder(BOARD, row["user_id"], runner=RUNNER)
    app.button(key="submission-previous").click().run()
    assert link(app)["id"] == [str(steps["submission_id"].iloc[-2])]
    assert link(app)["list"] == ["bests"]


def test_what_is_not_on_the_board_is_walked_among_its_users_own(sample: Open, kb: KernelBot) -> None:
    attempts = kb.progression(BOARD, users=[ranked(kb, 2)["user_id"]], runner=RUNNER)
    other = attempts[~attempts["is_best"]].iloc[0]
    app = sample("submission", id=str(other["submission_id"]))
    assert healthy(app)
    assert app.segmented_control(key="submission-walk").value == "user"
    assert f"of {len(attempts)}" in plain(words(app))


def test_it_leads_to_the_diff_with_the_best_before_and_to_the_ladder(sample: Open, kb: KernelBot) -> None:
    row = ranked(kb, 2)
    steps = kb.ladder(BOARD, row["user_id"], runner=RUNNER)
    found = links(sample("submission", id=str(row["submission_id"]), runner=RUNNER))
    page, query = found["Diff with previous best"]
    assert page == "compare"
    assert query == {
        "a": [f"{steps['submission_id'].iloc[-2]}@{RUNNER}@nvfp4"],
        "b": [f"{row['submission_id']}@{RUNNER}@nvfp4"],
    }
    assert found["Ladder"] == (
        "ladder",
        {"competition": ["nvfp4"], "problem": [BOARD], "runner": [RUNNER], "user": [row["user_id"]]},
    )
    assert found["Diff with rank 1"][1]["b"] == [f"{ranked(kb, 1)['submission_id']}@{RUNNER}@nvfp4"]


def test_a_first_time_has_no_best_before(sample: Open, kb: KernelBot) -> None:
    steps = kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)
    app = sample("submission", id=str(steps["submission_id"].iloc[0]))
    assert "Diff with previous best" not in links(app)
    assert "the first ranked time" in plain(words(app))


def test_an_id_on_several_runners_asks_which(sample: Open, kb: KernelBot) -> None:
    id_, runners = on_several_runners(kb)
    app = sample("submission", id=id_)
    assert healthy(app)
    assert "has several runs" in plain(words(app))
    assert sent(app, CODE) is None
    choices = [button for button in app.button if str(button.key).startswith("submission-choice-")]
    assert len(choices) == len(runners)
    choices[0].click().run()
    assert healthy(app)
    assert sent(app, CODE) is not None
    assert link(app)["runner"][0] in runners


@pytest.mark.parametrize("wrong", [{"runner": "NOWHERE"}, {"competition": "nothing"}])
def test_an_id_elsewhere_is_offered_where_it_is(sample: Open, kb: KernelBot, wrong: dict[str, str]) -> None:
    app = sample("submission", id=str(ranked(kb, 1)["submission_id"]), **wrong)
    assert healthy(app)
    assert "It is here" in plain(words(app))
    app.button(key="submission-choice-0").click().run()
    assert sent(app, CODE) is not None


def test_an_unknown_id_says_so(sample: Open) -> None:
    app = sample("submission", id="1")
    assert not app.exception
    assert "There is no submission 1 in this dataset." in plain(words(app))
    assert sent(app, CODE) is None


def test_without_an_id_the_page_asks_for_one(sample: Open, kb: KernelBot) -> None:
    app = sample("submission")
    assert healthy(app)
    id_ = str(ranked(kb, 1)["submission_id"])
    app.text_input(key="submission-number").set_value(f" {id_} ").run()
    assert link(app)["id"] == [id_]
    assert sent(app, CODE) is not None


@pytest.mark.parametrize(
    "junk",
    [
        {"id": "x"},
        {"id": "-5"},
        {"id": "99999999999999999999999"},
        {"id": ["1", "2"]},
        {"line": "a-b"},
        {"line": "0"},
        {"find": "x" * 5000},
        {"list": "everything"},
        {"from": "yesterday", "to": "2026-13-45"},
        {"runner": "<b>", "competition": "../.."},
        {"what": "ever"},
    ],
)
def test_junk_in_the_link_never_breaks_the_page(sample: Open, kb: KernelBot, junk: dict[str, str]) -> None:
    app = sample("submission", **{"id": str(ranked(kb, 1)["submission_id"]), **junk})
    assert not app.exception
    assert "Something went wrong" not in words(app)


@pytest.mark.parametrize("note", ["holds no source text", "is empty"])
def test_no_code_is_said_and_nothing_is_shown(sample: Open, kb: KernelBot, note: str) -> None:
    app = sample("submission", id=with_text(kb, "", note), runner=RUNNER)
    assert healthy(app)
    assert note in words(app)
    assert sent(app, CODE) is None


def test_a_submission_without_any_run_opens(sample: Open, kb: KernelBot) -> None:
    failed = kb.sql("select submission_id from submissions where runner is null and problem = 'nvfp4_gemm' limit 1")
    app = sample("submission", id=str(failed["submission_id"].iloc[0]))
    assert healthy(app)
    assert "no runner" in plain(words(app))
    assert sent(app, CODE) is not None


def test_the_best_is_not_behind_itself(sample: Open, kb: KernelBot) -> None:
    first, second = kb.leaderboard("nvfp4_gemm")["submission_id"].iloc[:2]
    assert "this is the best" in plain(words(sample("submission", id=str(first))))
    assert "× its time" in plain(words(sample("submission", id=str(second))))


def test_flags_stand_with_their_reason(sample: Open, kb: KernelBot) -> None:
    board = kb.leaderboard("amd-mixed-mla")
    row = board[board["flags"] != ""].iloc[0]
    app = sample("submission", id=str(row["submission_id"]), runner=row["runner"])
    assert "**Flagged** as " in words(app)
    assert row["flags"] in plain(words(app))


def test_the_same_code_elsewhere_is_listed(sample: Open, kb: KernelBot) -> None:
    rows = kb.sql(
        "select submission_id, runner, user_name from submissions where runner is not null and code_id = ("
        "select code_id from submissions where problem = 'matmul_v2' group by 1 having count(distinct user_id) > 2 "
        "order by 1 limit 1) order by submission_id"
    )
    app = sample("submission", id=str(rows["submission_id"].iloc[0]), runner=rows["runner"].iloc[0])
    assert healthy(app)
    shown = table(app, "same-table")
    ids = {int(parse_qs(urlsplit(link).query)["id"][0]) for link in shown["word links"]}
    assert set(rows["submission_id"].iloc[1:]) <= ids
    assert rows["submission_id"].iloc[0] not in ids
    assert set(rows["user_name"].iloc[1:]) <= set(shown["user"])


def test_hostile_code_goes_to_the_browser_as_data_only(sample: Open, kb: KernelBot) -> None:
    app = sample("submission", id=with_text(kb, trap_code.HTML), runner=RUNNER)
    data = sent(app, CODE)
    assert data is not None
    assert data["text"] == trap_code.HTML
    assert "<script>" not in words(app)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("10-20", (10, 20)), ("20-10", (10, 20)), ("7", (7, 7)), ("", None), ("x", None), ("None", None)],
)
def test_lines_told_by_the_browser_are_read_like_a_link(text: str, lines: tuple[int, int] | None) -> None:
    assert submission.lines_in(text) == lines


@pytest.fixture
def strict(environment: pytest.MonkeyPatch, hub: LoopbackHub, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """The app over a Hub of the test's own, with nothing known about its files yet."""
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)
    environment.setenv("KBDASH_CACHE", str(tmp_path_factory.mktemp("cache")))
    return open_app


def test_while_a_file_cannot_be_read_no_other_submission_is_taken_for_the_one_asked_for(
    strict: Open, hub: LoopbackHub, kb: KernelBot
) -> None:
    hub.faults.fail(404, "*trimul_submissions.parquet")
    app = strict("submission", id="1")
    assert "Submission 1 cannot be looked up now." in plain(words(app))
    app = strict("submission", id=str(ranked(kb, 2)["submission_id"]), runner=RUNNER)
    assert healthy(app)
    assert "may be another in trimul, which cannot be read now" in plain(words(app))
    assert sent(app, CODE) is None
    app.button(key="submission-choice-0").click().run()
    assert sent(app, CODE) is not None
    assert link(app)["competition"] == ["nvfp4"]


def test_a_failing_hub_leaves_the_facts_and_heals(strict: Open, hub: LoopbackHub, kb: KernelBot) -> None:
    row = ranked(kb, 2)
    hub.faults.cut_after(200_000, "/cdn/*")
    app = strict("submission", id=str(row["submission_id"]), runner=RUNNER, competition="nvfp4")
    assert not app.exception
    assert plain(row["user_name"]) in plain(words(app))
    assert ":material/error:" in words(app)
    assert sent(app, CODE) is None
    hub.faults.clear()
    app.run()
    assert healthy(app)
    data = sent(app, CODE)
    assert data is not None
    assert data["text"] == kb.code(int(row["submission_id"]), RUNNER)
    assert "fetched for this view" in words(app)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (Indexing(1024, 4096), "1,024 of 4,096 rows"),
        (Indexing(reason="The Hub answered 503."), "The Hub answered 503."),
        (Indexing(4096, 4096), None),
    ],
)
def test_progress_of_the_index_is_shown_beside_the_text(
    environment: pytest.MonkeyPatch, sample_folder: Path, kb: KernelBot, state: Indexing, said: str | None
) -> None:
    environment.setenv("KBDASH_SOURCE", str(sample_folder))
    environment.setattr(KernelBot, "index_code", lambda self, competition: state)
    app = open_app("submission", id=str(ranked(kb, 1)["submission_id"]), runner=RUNNER)
    assert healthy(app)
    assert sent(app, CODE) is not None
    shown = plain(words(app)) + " ".join(bar.proto.text for bar in app.get("progress"))
    assert said in shown if said else "index of texts" not in shown
    assert len(app.get("progress")) == (said is not None and state.reason is None)


def test_a_text_that_is_at_hand_costs_nothing(strict: Open, hub: LoopbackHub, kb: KernelBot) -> None:
    first, second = (str(ranked(kb, place)["submission_id"]) for place in (1, 2))
    assert "fetched for this view" in words(strict("submission", id=first, runner=RUNNER))
    app = strict("submission", id=second, runner=RUNNER)
    assert "cached" in words(app)
