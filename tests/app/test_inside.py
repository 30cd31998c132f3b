"""What is inside texts, on the pages: techniques and narrowing by them, origins, relatives, rules, steps, trust."""

import json
from dataclasses import replace
from typing import Any

import pandas as pd

from kbdash.content.verdicts.examiner import Verdict
from kbdash.engine import KernelBot
from kbdash.units import MICROSECONDS
from kbdash.view import CompetitionView, Ref
from kbdash.web.content import lineage, steps, store_panel, text_panels, trust, trust_frames
from kbdash.web.tabs import techniques
from tests.app.code_pages import BOARD, RUNNER, plain, ranked, rows_by_data_link, sent
from tests.app.conftest import Open, healthy, link, opened_engine, words
from tests.app.test_search import by_caption


def test_techniques_of_a_board_with_links_that_narrow_every_tab(sample: Open) -> None:
    app = sample("nvfp4", problem=BOARD, tab="techniques")
    assert healthy(app)
    found = opened_engine().techniques(BOARD, RUNNER, competition="nvfp4")
    shown = by_caption(app)[f"Techniques on {BOARD}"]
    assert shown["facet"]["texts"] == found["facet"].tolist()
    assert rows_by_data_link(app, opened_engine()).equals(found)
    only, without = (address for _, address in shown["narrow"]["choices"][0])
    assert only == f"/nvfp4?problem={BOARD}&facet={found['facet'].iloc[0]}"
    assert without == f"/nvfp4?problem={BOARD}&facet=%21{found['facet'].iloc[0]}"
    assert "no proof that it runs" in words(app)
    assert len(app.get("plotly_chart")) == 2


def test_a_technique_in_the_link_narrows_the_board_and_is_a_chip(sample: Open) -> None:
    app = sample("nvfp4", problem=BOARD, facet=["tcgen05", "!pdl"])
    assert healthy(app)
    kb = opened_engine()
    asked: dict[str, Any] = {"runner": RUNNER, "competition": "nvfp4", "facets": ("tcgen05", "!pdl")}
    board = kb.leaderboard(BOARD, **asked)
    assert 0 < len(board) < len(kb.leaderboard(BOARD, runner=RUNNER))
    assert f"**{len(board)}** users" in plain(words(app)) or f"{len(board)} users" in plain(words(app))
    assert [plain(button.label) for button in app.button if str(button.key).startswith("chip-")][:2] == [
        "with tcgen05",
        "without pdl",
    ]
    holders = set(board["user_id"])
    assert set(kb.records(BOARD, **asked)["user_id"]) <= holders
    assert set(kb.personal_bests(BOARD, **asked)["user_id"]) == holders
    assert int(kb.summary(BOARD, **asked)["users"].sum()) == len(holders)
    app.button(key="chip-1").click().run()
    assert link(app)["facet"] == ["tcgen05"]


def test_narrowing_again_replaces_the_opposite() -> None:
    view = CompetitionView(facets=("tma", "!triton"), tab="techniques", page=3)
    assert techniques.narrowed(view, "triton") == CompetitionView(facets=("tma", "triton"))
    assert techniques.columns(MICROSECONDS)[0].name == "facet"


def test_origins_are_in_the_margin_in_words_and_in_a_list(sample: Open, kb: KernelBot) -> None:
    best = ranked(kb, 4)
    app = sample("submission", id=str(best["submission_id"]), runner=RUNNER, show="origins")
    assert healthy(app)
    found = opened_engine().origins(int(best["submission_id"]), RUNNER, "nvfp4")
    data = sent(app, "kbdash_code")
    assert data is not None
    assert len(data["origins"]["kinds"]) == len(found)
    assert data["origins"]["kinds"].count("trivial") == int(found["own"].isna().sum())
    assert "telling lines" in words(app)
    assert rows_by_data_link(app, opened_engine()).equals(found)
    listed = by_caption(app)["Submissions these lines come from"]
    assert all(address.startswith("/submission?id=") for address in listed["open"]["links"])


def test_kinds_of_lines_and_their_summary() -> None:
    frame = pd.DataFrame(
        {
            "line_no": [1, 2, 3, 4],
            "line": ["import x", "a = 1", "b\rc", "d = 4"],
            "first_submission_id": pd.array([None, 7, 5, 9], dtype="Int64"),
            "first_user_id": [None, "1", "2", "1"],
            "first_user_name": [None, "me", "**you**", "me"],
            "first_at": pd.to_datetime([None, "2025-01-02", "2025-01-01", "2025-01-03"], utc=True),
            "users": [9, 1, 2, 1],
            "own": pd.array([None, True, False, True], dtype="boolean"),
        }
    )
    assert lineage.kinds_of(frame, 9) == ["trivial", "own", "other", "new"]
    made = lineage.lineage(frame, 9, "nvfp4")
    assert made.kinds == ("trivial", "own", "other", "other", "new"), "the viewer ends a line at a lone return too"
    assert made.links[made.places[2]] == "/submission?id=5&competition=nvfp4"
    assert lineage.summary(frame, 9) == (
        "33.3\u2009% of the 3 telling lines are the user's own earlier ones, 33.3\u2009% were first sent by "
        "**you**, 33.3\u2009% are new here."
    )
    assert lineage.sources(frame, 9, "nvfp4")["lines"].tolist() == [1, 1]


def test_techniques_are_chips_that_jump_to_their_line(sample: Open, kb: KernelBot) -> None:
    best = ranked(kb, 4)
    app = sample("submission", id=str(best["submission_id"]), runner=RUNNER)
    names = opened_engine().facets(int(best["submission_id"]), RUNNER, "nvfp4")
    assert [button.label for button in app.button if str(button.key).startswith("technique-")] == list(names)
    app.button(key=f"technique-{names[0]}").click().run()
    assert "line" in link(app)


def test_relatives_lead_from_the_earlier_text_to_the_later(sample: Open, kb: KernelBot) -> None:
    best = ranked(kb, 1)
    app = sample("submission", id=str(best["submission_id"]), runner=RUNNER, show="relatives")
    assert healthy(app)
    found = opened_engine().relatives(int(best["submission_id"]), RUNNER, "nvfp4")
    shown = by_caption(app)["The closest texts of other users"]
    assert len(shown["user"]["texts"]) == len(found)
    assert rows_by_data_link(app, opened_engine()).equals(found)
    rows = text_panels.relative_rows(found, Ref(1, "X", "nvfp4"))
    here_first = [dict(choices)["Diff"].startswith("/compare?a=1%40X") for choices in rows["open"]]
    assert here_first == [not each for each in found["earlier"]]


def test_rules_that_match_are_said_without_judgement(sample: Open, kb: KernelBot) -> None:
    below_floor = kb.leaderboard("nvfp4_group_gemm", runner=RUNNER).iloc[0]
    app = sample("submission", id=str(below_floor["submission_id"]), runner=RUNNER, show="rules")
    assert healthy(app)
    assert "2 rules of KernelGuard" in plain(words(app))
    assert "KernelGuard rule **POINTER_REPLAY** matches (critical)." in words(app).replace("\\", "")
    assert rows_by_data_link(app, opened_engine())["rule"].tolist() == ["LAST_CALL_REPLAY", "POINTER_REPLAY"]
    app.button(key="rule-1-9").click().run()
    data = sent(app, "kbdash_code")
    assert data is not None
    assert "data_ptr()" in data["text"].split("\n")[int(link(app)["line"][0]) - 1]
    assert "cheat" not in words(app).lower()
    assert "no text" in text_panels.verdict_words(Verdict(status="no text", rules=[], version="1"))
    assert "no finding" in text_panels.verdict_words(Verdict(status="timed out", rules=[], version="1"))


def test_steps_with_techniques_and_an_export_that_names_its_terms(sample: Open) -> None:
    app = sample("steps", problem="nvfp4_gemm", facet="autotune", gain="20")
    assert healthy(app)
    kb = opened_engine()
    found = kb.steps("nvfp4_gemm", gained="autotune", least_gain=0.2, limit=50)
    shown = by_caption(app)["The largest steps"]
    assert shown["changed"]["texts"] == [str(count) for count in found["changed_lines"]]
    assert all("+autotune" in text for text in shown["techniques"]["texts"])
    assert shown["user"]["links"][0] == f"/user?user={found.attrs['places'][0][1]}"
    assert "restricts its use for training" in words(app)
    assert rows_by_data_link(app, kb).equals(found)
    places = tuple(found.attrs["places"])
    facets = ((("triton",),) * len(found), (("triton", "autotune"),) * len(found))
    [first, *_] = [json.loads(line) for line in steps.jsonl(kb, found, places, facets).splitlines()]
    assert first["after"]["code"] == kb.code(int(found["after_id"].iloc[0]), found["runner"].iloc[0], "nvfp4")
    assert first["techniques_gained"] == ["autotune"]
    assert {"licence", "citation", "source"} <= set(first)


def test_trust_lists_flagged_results_with_both_ranks_and_noise(sample: Open) -> None:
    app = sample("trust")
    assert healthy(app)
    kb = opened_engine()
    shown = by_caption(app)["Flagged results"]
    flagged = kb.leaderboard("nvfp4_group_gemm")
    expected = int((flagged["flags"] != "").sum())
    assert shown["problem"]["texts"].count("nvfp4_group_gemm") == expected
    pages = dict(zip(shown["problem"]["texts"], shown["user"]["links"], strict=True))
    assert pages["nvfp4_group_gemm"].startswith("/user?user=")
    assert [pages[name] for name in pages if name.startswith("amd-fp8")] in ([], [""]), "nobody there has a page"
    assert rows_by_data_link(app, kb).equals(kb.flags())
    boards = by_caption(app)["Boards"]
    at = boards["problem"]["texts"].index("nvfp4_gemm")
    sigma = kb.noise("nvfp4_gemm", RUNNER)["sigma"]
    assert boards["sigma"]["texts"][at] == f"{100 * (sigma or 0):.2f}"
    assert "lucky by design" in words(app)


def test_trust_of_one_board_has_every_ranking_side_by_side(sample: Open) -> None:
    app = sample("trust", problem="nvfp4_group_gemm", runner=RUNNER)
    assert healthy(app)
    shown = by_caption(app)["The first ranks of nvfp4_group_gemm"]
    assert shown["rank"]["texts"][:2] == ["1", "2"]
    assert shown["without"]["texts"][:2] == ["–", "1"]
    assert all(page.startswith("/user?user=") for page in shown["user"]["links"])


def test_ranks_closer_than_the_noise_and_ranks_without() -> None:
    board = pd.DataFrame(
        {
            "runner": "A",
            "user_id": ["1", "2", "3"],
            "rank": [1, 2, 3],
            "score": [1.0, 1.01, 1.5],
            "ratio": [1.0, 1.01, 1.5],
            "gap": [None, 0.01, 0.49],
            "submission_id": [1, 2, 3],
            "flags": ["odd", "", ""],
        }
    )
    assert trust_frames.close_ranks(board, {"A": 0.02}) == [False, True, False]
    assert trust_frames.close_ranks(board, {}) == [False] * 3
    tied = board.assign(score=1.0, gap=[None, None, None])
    assert trust_frames.close_ranks(tied, {"A": 0.02}) == [False] * 3, "nobody is above those who share the first rank"
    clean = board[1:].assign(rank=[1, 2])
    both = trust_frames.both_ranks(board, clean)
    assert both["rank_without"].astype(object).where(both["rank_without"].notna(), None).tolist() == [None, 1, 2]
    assert trust_frames.board_row(both, "A") == {"flagged_10": 1, "moved_10": 3, "flagged_100": 1, "moved_100": 3}
    left = trust_frames.unmatched_ranks(board, frozenset({(2, "A")}))["rank_unmatched"]
    assert left.astype(object).where(left.notna(), None).tolist() == [1, None, 2]
    assert trust.WHAT


def test_the_cost_and_progress_of_a_store_in_words() -> None:
    absent = store_panel.ContentState("absent", cost_bytes=2_244_000_000)
    first = store_panel.cost(absent, remote=True).replace("\u2009", " ")
    assert first.startswith(
        "Building it reads 2.2 GB from the Hub once and takes about a minute, assuming 30.0 MB per second."
    )
    slow = store_panel.cost(replace(absent, rate=2_000_000), remote=True).replace("\u2009", " ")
    assert "about 19 minutes, at the 2.0 MB per second of earlier builds here." in slow
    building = store_panel.ContentState("building", 0.25, texts=1200, bytes=5 * 10**8, cost_bytes=2 * 10**9, rate=5e6)
    assert plain(store_panel.progress_text(building)).replace("\u2009", " ") == (
        "Building: 500.0 MB of 2.0 GB, 1,200 texts, about 5 minutes left."
    )


def test_the_leaderboard_marks_ranks_closer_than_the_noise(sample: Open) -> None:
    app = sample("nvfp4", problem=BOARD)
    assert healthy(app)
    kb = opened_engine()
    sigma = kb.noise(BOARD, RUNNER)["sigma"]
    board = kb.leaderboard(BOARD, runner=RUNNER)
    assert sigma
    expected = ["~" if close else "" for close in trust_frames.close_ranks(board, {RUNNER: sigma})]
    shown = by_caption(app)[f"Leaderboard of {BOARD}"]["near"]["texts"]
    assert 0 < expected.count("~") < len(expected)
    assert shown == expected[: len(shown)]
