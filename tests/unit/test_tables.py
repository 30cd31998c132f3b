"""Frames shaped for the eye: digits, units, steps, rows that can be opened."""

import pandas as pd
import pytest

from kbdash.dataset.catalog import AMD_MI300
from kbdash.units import MICROSECONDS, MILLISECONDS
from kbdash.web import cells, competition, overview, tables, user
from kbdash.web.content import trust_frames
from kbdash.web.content.technique_changes import change_words, changed
from kbdash.web.tabs import own_row, progression, ranking, submissions
from kbdash.web.tabs.hardware import shape_rows


@pytest.mark.parametrize(
    ("seconds", "digits"), [(9.954e-6, 3), (31.2e-6, 2), (554e-6, 1), (5e-7, 3), (None, 3), (float("nan"), 3)]
)
def test_four_significant_digits_at_the_best_time(seconds: float | None, digits: int) -> None:
    assert tables.places(MICROSECONDS, seconds) == digits


def test_readable_tables_name_their_unit_and_keep_utc() -> None:
    frame = pd.DataFrame(
        {
            "runner": ["NVIDIA", None],
            "score": [0.0015, None],
            "submitted_at": pd.to_datetime(["2026-02-21T07:30Z", None], format="ISO8601"),
        }
    )
    shown = tables.readable(frame, MILLISECONDS)
    assert shown["runner"].tolist() == ["B200 (on-prem)", "–"]
    assert shown["score (ms)"].iloc[0] == 1.5
    assert shown["submitted_at"].iloc[0] == pd.Timestamp("2026-02-21 07:30")
    assert frame["score"].iloc[0] == 0.0015


def test_links_name_the_runner_and_survive_missing_values() -> None:
    frame = pd.DataFrame({"submission_id": [7.0, None], "runner": ["H100", None]})
    assert tables.code_addresses(frame, "trimul", walk="user") == [
        "/submission?id=7&runner=H100&competition=trimul&list=user", "",
    ]  # fmt: skip
    assert tables.refs(frame, "trimul") == ["7@H100@trimul", ""]
    assert tables.user_addresses(["7", None, "8"]) == ["/user?user=7", "", "/user?user=8"]
    assert tables.user_addresses(["7"], anonymous=True) == [""]


def ranking_of(scores: list[float]) -> pd.DataFrame:
    """A ranking of one runner; times under 100 ns are impossible and have no ratio."""
    count = len(scores)
    return pd.DataFrame(
        {
            "rank": range(1, count + 1), "user_name": [f"user {place}" for place in range(count)],
            "user_id": [str(place) for place in range(count)], "runner": "H100", "score": scores, "gap": 1e-6,
            "ratio": [score / 1e-6 if score > 1e-7 else None for score in scores], "submission_id": range(count),
            "submitted_at": pd.Timestamp("2026-01-01", tz="UTC"), "submissions": 1, "flags": "",
        }
    )  # fmt: skip


@pytest.mark.parametrize(("mine", "rank", "place"), [(5e-7, "1", 0), (2e-6, "=2", 2), (2.5e-6, "3", 2), (9e-6, "4", 3)])
def test_a_time_of_ones_own_stands_between_its_neighbours(mine: float, rank: str, place: int) -> None:
    ranked = ranking_of([1e-6, 2e-6, 3e-6, 5e-8])
    shown = own_row.with_mine(ranked, ranked, mine)
    own = shown.iloc[place]
    assert pd.isna(own["user_id"])
    assert (own["score"], own["ratio"]) == (mine, pytest.approx(mine / 1e-6))
    assert shown["user_id"].dropna().tolist() == ranked["user_id"].tolist()
    assert ranking.ranks(shown)[place] == rank


def test_a_time_of_ones_own_takes_nothing_from_the_leader() -> None:
    ranked = ranking_of([1e-6, 2e-6]).assign(tries=7, language="cuda", flags="impossible")
    own = own_row.with_mine(ranked, ranked, 3e-6).iloc[2].to_dict()
    known = {"rank": 3, "runner": "H100", "score": 3e-6, "ratio": pytest.approx(3.0), "gap": pytest.approx(1e-6)}
    filled = {name: value for name, value in own.items() if pd.notna(value)}
    assert filled == {**known, "flags": ""}
    assert set(own) == set(ranked.columns)


@pytest.mark.parametrize(
    ("order", "place"),
    [("score", 3), ("-score", 1), ("-rank", 1), ("gap", 0), ("-gap", 4), ("user_name", 4), ("-submissions", 4)],
)
def test_in_another_order_a_time_of_ones_own_stands_where_its_value_does(order: str, place: int) -> None:
    ranked = ranking_of([1e-6, 2e-6, 3e-6, 5e-8])
    asked = ranked.sort_values(order.removeprefix("-"), ascending=not order.startswith("-"), kind="stable")
    shown = own_row.with_mine(asked, ranked, 2.9e-6, order)
    assert shown["user_id"].isna().tolist().index(True) == place


def test_what_never_ran_is_one_line_per_board() -> None:
    boards = pd.DataFrame(
        {
            "competition": "c", "problem": ["a", "a", "a", "b"], "runner": ["H100", "L4", None, None],
            "submissions": [3, 2, 4, 5],
        }
    )  # fmt: skip
    lines = user.one_line_per_board(boards)
    assert list(zip(lines["problem"], lines["never"].fillna(0), strict=True)) == [("a", 4), ("a", 0), ("b", 5)]
    assert lines["submissions"].fillna(0).tolist() == [3, 2, 0]


def test_the_head_of_a_user_counts_every_runner_and_what_never_ran() -> None:
    boards = pd.DataFrame(
        {
            "problem": ["a", "a", "a", "b"], "runner": ["H100", "L4", None, "L4"], "rank": [2, 1, None, 1],
            "submissions": [71, 40, 4, 7], "passed": [30, 9, 0, 5],
        }
    )  # fmt: skip
    said = {figure.after or figure.before: figure.value for figure in user.numbers(boards)}
    assert (said["submissions"], said["passed"], said["never ran"], said["first places"]) == ("122", "44", "4", "2")


def test_a_list_of_submissions_says_the_mode_of_each() -> None:
    rows = pd.DataFrame(
        {
            "user_id": ["1", "2"], "user_name": ["a", "b"], "score": [1e-6, None], "flags": "", "submission_id": [1, 2],
            "submitted_at": pd.to_datetime(["2026-01-01", "2026-01-02"], utc=True), "status": ["succeeded", "failed"],
            "mode": ["leaderboard", "test"], "runner": "L4", "file_name": "a.py",
        }
    )  # fmt: skip
    columns = submissions.columns_of(MICROSECONDS, 1e-6)
    shown = cells.table(submissions.shown_rows(rows, "nvfp4", anonymous=False), columns, caption="")
    heads = {column["head"]: column["texts"] for column in shown["columns"]}
    assert heads["Mode"] == ["leaderboard", "test"]
    assert heads["Status"] == ["succeeded", "failed"]


def test_a_rank_over_shapes_stands_beside_the_rank_on_the_same_runner() -> None:
    """A user can be on the board with two runners."""
    board = {"user_id": ["7", "7", "8"], "user_name": "", "runner": ["MI300", "MI250", "MI300"]}
    official = pd.DataFrame(board | {"rank": [1, 9, 2]})
    shapes = pd.DataFrame(board | {"rank": [2, 1, 1], "score": [2e-3, 1e-3, 1e-3], "submission_id": [1, 2, 3]})
    assert shape_rows(shapes, official, "amd-mi300", anonymous=True)["official"].tolist() == [1, 9, 2]


def test_a_small_gain_is_not_written_as_none_and_a_short_reign_not_as_no_days() -> None:
    records = pd.DataFrame(
        {
            "submission_id": [1, 2], "runner": "H100", "user_id": "7", "user_name": "ann", "score": [2e-6, 1.9992e-6],
            "submitted_at": pd.Timestamp("2026-01-02", tz="UTC"), "flags": "", "gain": [0.2, 0.0004],
            "held_days": [20 / 1440, 3.5], "until_at": [pd.Timestamp("2026-01-03", tz="UTC"), pd.NaT],
        }
    )  # fmt: skip
    assert (progression.gain_places(records), progression.gain_places(records[:1])) == (2, 1)
    shown = progression.record_rows(records, "trimul", anonymous=False)
    assert [held.replace("\u2009", " ") for held in shown["held"]] == ["20 min", "3 d 12 h"]


def test_caveats_below_a_table_are_those_of_the_problems_in_it() -> None:
    care = overview.care_of(AMD_MI300, ("amd-fp8-mm", "amd-mla-decode"))
    assert "Only one of the two shapes" in care
    assert "identity" not in care
    assert "all2all" not in care


def test_boards_without_flags_and_without_noise_are_left_out() -> None:
    boards = pd.DataFrame(
        {"problem": ["a", "b", "c"], "moved_100": [0, 0, 3], "flagged_100": [0, 0, 1], "sigma": [None, 0.1, None]}
    )
    assert trust_frames.telling_boards(boards)["problem"].tolist() == ["b", "c"]


def test_a_flagged_record_is_marked_at_the_time_on_the_overview_and_in_the_head() -> None:
    reason = "under the heuristic bound"
    leaders = pd.DataFrame(
        {"score": [1e-6, 2e-6], "user_name": ["ann", "bob"], "user_id": ["1", "2"], "flags": [reason, ""]}
    )
    best = competition.best_figure(1e-6, MICROSECONDS, leaders)
    assert (best.flags, best.after) == (reason, "ann")
    columns = {column.name: column for column in overview.columns_of(MICROSECONDS)}
    assert columns["best"].mark == "flags"
    assert {column.mark for column in ranking.columns_of(MICROSECONDS, 1e-6, several=False)} == {"", "flags"}


def test_a_step_from_or_to_a_missing_text_says_nothing_about_techniques() -> None:
    assert change_words(("triton", "tma"), ("tma", "fp8")) == "+fp8 \N{MINUS SIGN}triton"
    assert change_words((), ()) == ""
    assert [change_words(None, ("tma",)), change_words(("tma",), None)] == ["–", "–"]
    assert changed(None, ("tma",)) == ([], [])
