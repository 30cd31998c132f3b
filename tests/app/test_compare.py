"""Two submissions side by side: the change in time, or why there is none, and what differs in the text."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from kbdash.code import diff
from kbdash.engine import KernelBot
from kbdash.web.code import components
from tests.app.code_pages import BOARD, RUNNER, links, on_several_runners, plain, ranked, sent
from tests.app.conftest import Open, healthy, link, open_app, words

DIFF = "kbdash_diff"


def steps(kb: KernelBot) -> pd.DataFrame:
    return kb.ladder(BOARD, ranked(kb, 2)["user_id"], runner=RUNNER)


def ref(kb: KernelBot, step: int) -> str:
    return f"{steps(kb)['submission_id'].iloc[step]}@{RUNNER}@{kb.find(BOARD)[0]}"


def test_the_change_in_time_and_the_texts(sample: Open, kb: KernelBot) -> None:
    app = sample("compare", a=ref(kb, -2), b=ref(kb, -1))
    assert healthy(app)
    gain = steps(kb)["gain"].iloc[-1]
    assert app.metric[0].label == "Less time"
    assert app.metric[0].value == f"−{100 * gain:.1f}\u2009%"
    assert "faster" in app.metric[0].delta
    data = sent(app, DIFF)
    assert data is not None
    texts = [kb.code(int(id_), RUNNER) for id_ in steps(kb)["submission_id"].iloc[-2:]]
    assert [data["before"]["text"], data["after"]["text"]] == texts
    assert data["mode"] == "unified"


def test_each_side_shows_its_own_standing(sample: Open, kb: KernelBot) -> None:
    app = sample("compare", a=ref(kb, 0), b=ref(kb, -1))
    board = kb.leaderboard(BOARD, runner=RUNNER)
    others = board[board["user_id"] != ranked(kb, 2)["user_id"]]["score"].tolist()
    first = sum(score < steps(kb)["score"].iloc[0] for score in others) + 1
    assert first > 2
    assert f"would be rank {first} of {len(board)}; its user's best is at 2" in plain(words(app))
    assert f"rank 2 of {len(board)}\n" in plain(words(app)).replace("  \n", "\n")


def test_the_other_way_round_it_is_slower(sample: Open, kb: KernelBot) -> None:
    app = sample("compare", a=ref(kb, -1), b=ref(kb, -2))
    assert app.metric[0].label == "More time"
    assert app.metric[0].value.startswith("+")
    assert "slower" in app.metric[0].delta


def test_swap_and_layout_go_into_the_link(sample: Open, kb: KernelBot) -> None:
    app = sample("compare", a=ref(kb, -2), b=ref(kb, -1))
    app.button(key="compare-swap").click().run()
    assert link(app) == {"a": [ref(kb, -1)], "b": [ref(kb, -2)]}
    app.segmented_control(key="compare-mode").set_value("split").run()
    assert link(app)["mode"] == ["split"]
    data = sent(app, DIFF)
    assert data is not None
    assert data["mode"] == "split"


def test_steps_of_a_ladder_lead_to_their_neighbours(sample: Open, kb: KernelBot) -> None:
    app = sample("compare", a=ref(kb, -3), b=ref(kb, -2), mode="split")
    assert f"Step {len(steps(kb)) - 1} of {len(steps(kb))}" in words(app)
    app.button(key="compare-previous").click().run()
    assert link(app) == {"a": [ref(kb, -4)], "b": [ref(kb, -3)], "mode": ["split"]}
    for _ in range(2):
        app.button(key="compare-next").click().run()
        assert healthy(app)
    assert link(app)["b"] == [ref(kb, -1)]
    assert "No next step" in words(app)
    assert links(app)["Ladder"][0] == "ladder"


def test_different_problems_have_no_winner(sample: Open, kb: KernelBot) -> None:
    other = ranked(kb, 1, "nvfp4_dual_gemm")["submission_id"]
    app = sample("compare", a=ref(kb, -1), b=f"{other}@{RUNNER}")
    assert healthy(app)
    assert "cannot be compared by time" in words(app)
    assert "different problems" in words(app)
    assert not app.metric
    assert sent(app, DIFF) is not None


def test_different_runners_have_no_winner(sample: Open, kb: KernelBot) -> None:
    id_, runners = on_several_runners(kb)
    app = sample("compare", a=f"{id_}@{runners[0]}", b=f"{id_}@{runners[1]}")
    assert "different machines" in words(app)
    assert not app.metric
    data = sent(app, DIFF)
    assert data is not None
    assert {run[0] for run in data["runs"]} <= {"same", "fold"}


def test_a_submission_without_a_time_has_no_winner(sample: Open, kb: KernelBot) -> None:
    attempts = kb.progression(BOARD, users=[ranked(kb, 2)["user_id"]], runner=RUNNER)
    failed = attempts[attempts["score"].isna()].iloc[0]
    app = sample("compare", a=str(failed["submission_id"]), b=ref(kb, -1))
    assert healthy(app)
    assert "cannot be compared by time" in words(app)


def test_an_id_on_several_runners_asks_which(sample: Open, kb: KernelBot) -> None:
    id_, runners = on_several_runners(kb)
    app = sample("compare", a=id_, b=f"{id_}@{runners[0]}")
    assert "has several runs" in plain(words(app))
    app.button(key="compare-a-choice-1").click().run()
    assert healthy(app)
    assert link(app)["a"][0].startswith(f"{id_}@")
    assert sent(app, DIFF) is not None


def test_an_id_that_is_clear_needs_no_runner(sample: Open, kb: KernelBot) -> None:
    app = sample("compare", a=ref(kb, -2).partition("@")[0], b=ref(kb, -1).partition("@")[0])
    assert healthy(app)
    assert app.metric


@pytest.mark.parametrize(
    "junk", [{}, {"a": "x"}, {"a": "1@"}, {"a": "@H100"}, {"b": "9" * 30}, {"mode": "sideways"}, {"a": "1", "b": "2"}]
)
def test_junk_in_the_link_never_breaks_the_page(sample: Open, kb: KernelBot, junk: dict[str, str]) -> None:
    app = sample("compare", **junk)
    assert not app.exception
    assert "Something went wrong" not in words(app)


def test_both_can_be_typed(sample: Open, kb: KernelBot) -> None:
    app = sample("compare")
    app.text_input(key="compare-a").set_value(ref(kb, -2)).run()
    app.text_input(key="compare-b").set_value(ref(kb, -1)).run()
    assert healthy(app)
    assert sent(app, DIFF) is not None


def test_runs_hold_every_line_once() -> None:
    before = "".join(f"line {n}\n" for n in range(300))
    after = before.replace("line 40\n", "line forty\nand more\n").replace("line 200\n", "")
    changes = diff.compare(before, after)
    runs = components.runs(changes)
    assert sum(count for kind, *_, count in runs if kind != "added") == 300
    assert sum(count for kind, *_, count in runs if kind != "removed") == 300
    assert [kind for kind, *_ in runs if kind in ("removed", "added")] == ["removed", "added", "removed"]
    assert ("removed", 41, None, 1) in runs
    assert ("added", None, 41, 2) in runs


def test_an_id_on_one_runner_in_two_files_asks_which_and_stays_what_was_chosen(
    environment: pytest.MonkeyPatch, sample_folder: Path, tmp_path: Path
) -> None:
    """An id alone, or with its runner, does not tell them apart; every link that follows has to name the file."""
    rows = pq.read_table(sample_folder / "trimul_submissions.parquet").slice(0, 10)
    rows = rows.filter(pc.is_valid(rows["runner"])).slice(0, 1)
    code = rows.column_names.index("code")
    for name in ("one", "two"):
        text = pa.array([f"import torch  # {name}\n"], rows.schema.field(code).type)
        pq.write_table(rows.set_column(code, rows.schema.field(code), text), tmp_path / f"{name}_submissions.parquet")
    environment.setenv("KBDASH_SOURCE", str(tmp_path))
    id_, runner = rows["submission_id"][0].as_py(), rows["runner"][0].as_py()
    app = open_app("compare", a=f"{id_}@{runner}", b=f"{id_}@{runner}@two")
    for choice in ("one", "two"):
        app.query_params["a"] = f"{id_}@{runner}"
        app.run()
        assert "has several runs" in plain(words(app))
        app.button(key=f"compare-a-choice-{('one', 'two').index(choice)}").click().run()
        assert link(app) == {"a": [f"{id_}@{runner}@{choice}"], "b": [f"{id_}@{runner}@two"]}
        data = sent(app, DIFF)
        assert data is not None
        assert [data[side]["text"] for side in ("before", "after")] == [
            f"import torch  # {name}\n" for name in (choice, "two")
        ]
    app = open_app("submission", id=str(id_), runner=runner)
    assert "has several runs" in plain(words(app))
    app.button(key="submission-choice-1").click().run()
    assert link(app)["competition"] == ["two"]
    data = sent(app, "kbdash_code")
    assert data is not None
    assert data["text"] == "import torch  # two\n"
