"""The parts that pages are made of, called alone: words, rows, links, and what is missing."""

import io
import logging
import os
import signal
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from kbdash.content.stores import ContentState
from kbdash.dataset.model import Board, Caveat, Placement, Standing, Submission
from kbdash.engine import KernelBot
from kbdash.units import MICROSECONDS as US
from kbdash.units import MINUS, MISSING
from kbdash.view import CompetitionView, LadderView, Ref, SearchView
from kbdash.web import (
    answers,
    board,
    card,
    layout,
    logs,
    overview,
    own_time,
    program_folder,
    share,
    table,
    tables,
    user,
)
from kbdash.web.cells import Column
from kbdash.web.code import changes, facts, ladder_rows, neighbours, resolve, source_text, verdict
from kbdash.web.code.changes import Change, Changes
from kbdash.web.code.facts import Facts
from kbdash.web.content import hits, lineage, store_panel, technique_changes, text_panels, trust_frames
from kbdash.web.server import stopping
from kbdash.web.tabs import own_row, ranking, submissions, techniques
from tests.unit import chart_frames as frames

ONE = Submission(
    "trimul", "f.parquet", 3, 7, 5, "trimul", "u1", "Ann", None, "a.py", datetime(2025, 12, 1, tzinfo=UTC), "succeeded",
    "leaderboard", True, 2e-5, "A100", "", True, False,
)  # fmt: skip
STANDS = Placement(2, 9, 1e-5, 2e-5, True, True, 4e-5, 6, 1)


def of(score: float | None = 2e-5, **more: Any) -> Facts:
    """A submission with this time, and where it stands."""
    return Facts(replace(ONE, score=score), replace(STANDS, **more), US, False)


# --- submissions ---------------------------------------------------------------------------------------------------


def test_gaps_ratios_and_gains_of_a_submission() -> None:
    assert facts._gap(of()) == "+10.0 µs"
    assert facts._gap(of(None)) == facts._gap(of(best=None)) == facts._gap(of(1e-5)) == MISSING
    assert (facts._ratio(of()), facts._ratio(of(1e-5)), facts._ratio(of(None))) == (
        "2.00\u2009× its time", "this is the best", "",
    )  # fmt: skip
    assert facts._gain(of()) == f"{MINUS}50.0\u2009%"
    assert facts._gain(of(None)) == facts._gain(of(best_before=None)) == MISSING


@pytest.mark.parametrize(
    ("before", "after", "label"),
    [(2e-5, 1e-5, "Less time"), (1e-5, 2e-5, "More time"), (1e-5, 1e-5, "Equally fast"), (None, 1e-5, ""),
     (1e-5, None, ""), (None, None, "")],
)  # fmt: skip
def test_two_times_are_compared_if_there_are_two(before: float | None, after: float | None, label: str) -> None:
    told = verdict.verdict(of(before), of(after))
    assert (told.label, bool(told.refused)) == (label, not label)
    assert ("faster" in told.times, "slower" in told.times) == (label == "Less time", label == "More time")


def test_changed_lines_are_told_once_they_are_counted() -> None:
    steps = pd.DataFrame({"step": [1, 2, 3, 4], "submission_id": [5, 6, 7, 8], "runner": "A100"})
    before = ladder_rows.pairs(steps)
    counted = Changes("trimul", known={before[2]: Change(1, 2)}, failed={before[3]})
    assert ladder_rows.changed_texts(steps, before, counted) == [MISSING, f"{MINUS}1 +2", MISSING, "…"]


def test_a_step_is_compared_with_the_one_before_it_and_the_first_waited_for_nobody() -> None:
    steps = frames.ladder(2).assign(waited=[pd.NaT, pd.Timedelta(hours=1)], attempts=1)
    pairs = ladder_rows.pairs(steps)
    shown = ladder_rows.shown_rows(steps, ["", ""], ["", ""], tuple(pairs.items()), "trimul")
    assert shown["waited"].tolist() == [MISSING, "1\u2009h"]
    assert (shown["diff"].iloc[0], shown["changes"].tolist()) == ("", ["", "Diff"])
    compared = ladder_rows.comparison(pairs[2])
    assert (compared.a, compared.b) == (Ref(60, "NVIDIA"), Ref(61, "NVIDIA"))


def test_a_neighbour_without_an_id_cannot_be_opened() -> None:
    frame = pd.DataFrame({"submission_id": pd.array([5, None, 7], dtype="Int64"), "runner": "A100"})
    found = [neighbours._row(frame, at) for at in (-1, 0, 1, 2, 3)]
    assert [row and row["submission_id"] for row in found] == [None, 5, None, 7, None]


def test_a_run_that_is_to_be_chosen_is_named_by_its_machine() -> None:
    assert resolve._label(ONE) == "A100 · trimul · 20.00\u2009µs"
    assert resolve._label(replace(ONE, runner=None, score=None)) == f"no runner · trimul · {MISSING}"


def test_texts_are_read_until_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    refs = [Ref(number, "A100") for number in range(4)]
    text = SimpleNamespace(cost_bytes=10)
    kb: Any = SimpleNamespace(texts_of=lambda asked: ((one, text) for one in asked))
    monkeypatch.setattr(changes, "_submission", lambda ref, _: ref)
    monkeypatch.setattr(changes, "shown", lambda found: found)
    pairs = list(pairwise(refs))
    read = {budget: changes._read(kb, pairs, "trimul", budget) for budget in (15, 20, 99)}
    assert {budget: (len(texts), moved) for budget, (texts, moved) in read.items()} == {
        15: (2, 20), 20: (2, 20), 99: (4, 40),
    }  # fmt: skip
    monkeypatch.setattr(changes, "engine", lambda: kb)
    monkeypatch.setattr(Changes, "_take", lambda *_: None)
    counted = Changes("trimul")
    counted.count(pairs)
    assert counted.moved == 40


def test_a_text_that_cost_nothing_was_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "engine", lambda: SimpleNamespace(source=SimpleNamespace(kind="hub")))
    assert (source_text.cost(0), source_text.cost(1)) == ("cached", "1\u2009B fetched for this view")


# --- boards --------------------------------------------------------------------------------------------------------

BOARD = Board(5, "no_such_task", "No such task", "", ("A100",), datetime(2099, 12, 31, 23, 0, tzinfo=UTC))


def test_a_card_says_what_is_known() -> None:
    scene: Any = SimpleNamespace(board=BOARD, runners=("A100",))
    assert card.lines(scene)[0] == "**no\\_such\\_task** on A100, deadline 2099-12-31 23:00 UTC"
    assert "Reference kernel" not in "".join(card.lines(scene))
    never = replace(BOARD, deadline=datetime(2100, 1, 1, tzinfo=UTC))
    assert "deadline" not in card.lines(SimpleNamespace(board=never, runners=()))[0]  # type: ignore[arg-type]
    known: Any = SimpleNamespace(board=replace(BOARD, name="trimul"), runners=("A100",))
    assert "[Reference kernel](https://" in "".join(card.lines(known))


def test_the_rows_of_a_board_are_those_of_its_competition() -> None:
    problems = pd.DataFrame({"competition": ["a", "b", "a"], "problem": ["x", "x", "y"]})
    assert board.rows_of(problems, "a", "x").index.tolist() == [0]


def test_equal_questions_have_one_key() -> None:
    plain = answers.said_in(KernelBot.leaderboard, "trimul", runner="A100")
    assert plain == answers.said_in(KernelBot.leaderboard, problem="trimul", runner="A100", top=None)
    assert plain != answers.said_in(KernelBot.leaderboard, "trimul", runner="H100")
    with pytest.raises(AttributeError, match="no question nonsense"):
        answers.nonsense  # noqa: B018
    assert callable(answers.runner_ratios)


def test_frames_are_joined_without_empty_ones() -> None:
    empty, full = pd.DataFrame({"x": pd.Series(dtype="int64")}), pd.DataFrame({"x": [1]})
    assert overview.joined(empty, full)["x"].tolist() == [1]
    assert overview.joined(empty, empty).columns.tolist() == ["x"]


def test_a_caveat_that_boards_share_is_said_once() -> None:
    same, own = Caveat("shared", "here"), Caveat("alone", "here")
    one, two = replace(BOARD, label="A", caveats=(same,)), replace(BOARD, label="B", caveats=(same,))
    assert overview._care_of_boards([one, two]) == ["† shared"]
    assert overview._care_of_boards([one, replace(two, caveats=(own,))]) == ["† A: shared", "† B: alone"]
    assert overview._care_of_boards([one]) == ["† A: shared"]


def test_a_time_below_the_speed_of_light_is_remarked() -> None:
    assert own_time.too_fast(1e-6, 2e-6, US).startswith("1.000\u2009µs is below")
    assert own_time.too_fast(2e-6, 2e-6, US) == own_time.too_fast(1e-6, None, US) == ""


def test_a_rank_that_others_have_too_is_said_to_be_shared() -> None:
    told = own_time.standing_text(Standing(3, 9, 0.5, 1), "Here")
    assert told == "Here: rank =3 of 10 with it, faster than 50.0\u2009% of the users."
    assert "rank 3 of 10" in own_time.standing_text(Standing(3, 9, 0.5, 0), "Here")
    assert own_time.standing_text(Standing(1, 0, 0.0, 0), "Here") == "Here: nobody is ranked with these filters."


def test_a_time_of_ones_own_is_a_row_at_its_place() -> None:
    ranked = frames.ranked([1e-5, 2e-5, 3e-5])
    shown = {
        order: own_row.with_mine(ranked, ranked, 2.5e-5, order) for order in (None, "score", "-score", "user_name")
    }
    places = {order: int(frame["user_id"].isna().argmax()) for order, frame in shown.items()}
    assert places == {None: 2, "score": 2, "-score": 1, "user_name": 3}
    assert shown[None]["ratio"].tolist()[2] == pytest.approx(2.5)
    impossible = ranked.assign(ratio=np.nan)
    alone = own_row.with_mine(impossible, impossible, 1e-5)
    assert pd.isna(alone.loc[alone["user_id"].isna(), "ratio"].iloc[0])


def test_who_is_nobody_has_no_actions() -> None:
    on, view = LadderView("trimul", "trimul", "A100"), CompetitionView(users=("u1",))
    assert ranking.actions(None, on, view) == []
    assert [word for word, _ in ranking.actions("u1", on, view)] == ["Ladder", "Unpin"]
    assert [word for word, _ in ranking.actions("u2", on, view)] == ["Ladder", "Pin"]
    assert (ranking.with_pin("u1", ("u1", "u2")), ranking.with_pin("u3", ("u1",))) == (("u2",), ("u1", "u3"))


def test_rows_that_stand_out_are_the_readers_own_and_the_pinned() -> None:
    frame = frames.ranked([1e-5, 2e-5, 3e-5])
    frame.loc[2, "user_id"] = None
    trends = pd.DataFrame({"user_id": ["u0"], "runner": ["NVIDIA"], "trend": [[2e-5, 1e-5]]})
    shown = ranking.shown_rows(frame, trends, CompetitionView(users=("u1",)), "trimul", "trimul", False, None)
    assert shown["look"].tolist() == ["", "pinned", "mine"]
    assert [len(line) for line in shown["trend"]] == [2, 0, 0]


def test_submissions_are_counted_in_words() -> None:
    assert submissions.said(CompetitionView(), 5) == "5 submissions that passed."
    assert submissions.said(CompetitionView(failures=True, users=("u1",)), 1) == "1 submission of the pinned users."
    assert submissions.said(CompetitionView(), submissions.LARGEST_PAGE + 1).endswith("Files hold the first 100,000.")


def test_a_technique_narrows_the_first_page_of_the_leaderboard() -> None:
    view = techniques.narrowed(CompetitionView(tab="techniques", facets=("!tma", "wmma"), page=4), "tma")
    assert (view.facets, view.tab, view.page) == (("wmma", "tma"), "leaderboard", 1)
    ranked = pd.DataFrame({"submission_id": [None, 5.0], "rank": [1, 2]})
    assert techniques.with_ids(ranked).index.tolist() == [0]


def test_a_table_is_sorted_by_a_click_and_turned_by_the_next() -> None:
    column, late = Column("a", "A", sort="a"), Column("a", "A", sort="a", first="descending")
    assert [table.next_order(column, now) for now in ("", "a", "-a")] == ["a", "-a", "a"]
    assert [table.next_order(late, now) for now in ("", "-a", "a")] == ["-a", "a", "-a"]


def test_times_have_four_digits_at_the_reference() -> None:
    assert [tables.places(US, time) for time in (None, 0.0, 9e-6, 99e-6, 9999e-6)] == [3, 3, 3, 2, 0]
    plain, plus = (tables.time_column("a", "A", US, 99e-6, **more) for more in ({}, {"plus": True}))
    assert (plain.places, plus.places) == (2, 3)


# --- persons -------------------------------------------------------------------------------------------------------


def test_a_person_in_numbers() -> None:
    boards = pd.DataFrame(
        {"problem": ["x", "y"], "runner": ["A100", None], "rank": pd.array([2, None], dtype="Int64"),
         "submissions": [5, 1], "passed": [4, 0]}
    )  # fmt: skip
    told = user.numbers(boards)
    assert (told[0].value, told[0].after) == ("2", "on x, A100")
    assert told[-1].after == "never ran"
    assert user.numbers(boards.tail(1))[0].after == ""
    assert len(user.numbers(boards.head(1))) == len(told) - 1


def test_a_row_without_code_has_no_name_in_a_comparison() -> None:
    row = {"submission_id": 5, "runner": "A100", "competition": "trimul"}
    assert (user._ref(row), user._ref(row | {"submission_id": None})) == ("5@A100@trimul", "")
    frame = pd.DataFrame({"submission_id": pd.array([5, None], dtype="Int64"), "runner": ["A100", None]})
    assert tables.refs(frame, "trimul") == ["5@A100@trimul", ""]


# --- search, steps, trust ------------------------------------------------------------------------------------------


def test_a_search_as_sql() -> None:
    assert "contains(try(decode(line)), 'a')" in hits.sql_text(SearchView(q="a"))
    assert "contains(lower(try(decode(line))), lower('a'))" in hits.sql_text(SearchView(q="a", any_case=True))
    assert "regexp_matches(try(decode(line)), 'a')" in hits.sql_text(SearchView(q="a", regex=True))
    assert "'a', 'i')" in hits.sql_text(SearchView(q="a", regex=True, any_case=True))


def test_a_long_line_is_cut_around_its_first_hit() -> None:
    line = "x" * 500 + "wanted" + "y" * 500
    told = hits.pieces(line, "wanted")
    assert told[0] == ("…", False)
    assert ("wanted", True) in told
    assert sum(len(text) for text, _ in told) <= hits.LONGEST + 2


def test_techniques_are_at_the_lines_that_the_viewer_counts() -> None:
    code = "import triton\rimport triton.language as tl\n\n@triton.jit\ndef f(x):\n    tl.load(x)\n"
    found = dict(lineage.technique_lines(code))
    assert found["triton"] in (1, 2, 4)
    plain = dict(lineage.technique_lines("x = 1\n@triton.jit\ndef f(x):\n    pass"))
    assert plain["triton"] == 2


def test_what_a_build_takes_in_words() -> None:
    told = store_panel.cost(ContentState("absent", cost_bytes=5_400_000_000), remote=True).replace("\u2009", " ")
    assert "5.4 GB from the Hub once and takes about 3 minutes, assuming 30.0 MB per second" in told
    here = store_panel.cost(ContentState("absent", 0.5, texts=9, cost_bytes=5_400_000_000, rate=1e6), remote=False)
    assert "2.7 GB from disk once and takes about 45 minutes, at the 1.0 MB per second of earlier builds here" in (
        here.replace("\u2009", " ")
    )


def test_techniques_that_came_and_went() -> None:
    assert technique_changes.changed(("a", "b"), ("b", "c")) == (["c"], ["a"])
    assert technique_changes.changed(None, ("a",)) == technique_changes.changed(("a",), None) == ([], [])
    assert technique_changes.change_words(("a", "b"), ("b", "c")) == f"+c {MINUS}a"
    assert technique_changes.change_words(None, ("a",)) == technique_changes.change_words(("a",), None) == MISSING


@pytest.mark.parametrize(
    ("status", "rules", "words"),
    [("timed out", 0, "did not come to an end"), ("no text", 0, "There is no text"), ("clean", 0, "No rule of"),
     ("matched", 1, "1 rule of KernelGuard 1 matches."), ("matched", 2, "2 rules of KernelGuard 1 match.")],
)  # fmt: skip
def test_a_verdict_in_words(status: str, rules: int, words: str) -> None:
    assert words in text_panels.verdict_words({"status": status, "rules": [None] * rules, "version": "1"})  # type: ignore[typeddict-item,list-item]


def test_flags_move_those_behind_them_and_those_who_have_no_other_rank() -> None:
    both = pd.DataFrame(
        {"runner": "A100", "rank": [1, 2, 3, 101], "flags": ["odd", "", "", ""],
         "rank_without": pd.array([None, 1, 3, 100], dtype="Int64")}
    )  # fmt: skip
    assert trust_frames.board_row(both, "A100") == {
        "flagged_10": 1, "moved_10": 2, "flagged_100": 1, "moved_100": 2,
    }  # fmt: skip
    found = pd.DataFrame({"moved_100": [0, 1, 0, 0], "flagged_100": [0, 0, 1, 0], "sigma": [None, None, None, 0.1]})
    assert len(trust_frames.telling_boards(found)) == 3


# --- the program ---------------------------------------------------------------------------------------------------


def test_a_file_holds_the_columns_and_no_index() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 6])
    assert pq.read_table(io.BytesIO(share.parquet(frame))).column_names == ["a"]


@pytest.mark.parametrize(
    ("shown", "page", "space", "address"),
    [
        ("http://h:1/trimul", "trimul", None, "http://h:1/trimul"),
        ("http://h:1/root/trimul/", "trimul", None, "http://h:1/root/trimul"),
        ("http://h:1/root/", "", None, "http://h:1/root/"),
        (None, "trimul", None, "/trimul"),
        ("http://h:1/x", "trimul", "me.hf.space", "https://me.hf.space/trimul"),
    ],
)
def test_the_public_address_of_a_page(shown: str | None, page: str, space: str | None, address: str) -> None:
    assert share.base_url(shown, page, space) == address


def test_a_commit_links_to_where_it_was_read() -> None:
    source: Any = SimpleNamespace(endpoint="https://user:word@hub.example", dataset="o/n")
    assert layout._commit("0123456789", source) == "[0123456](https://hub.example/datasets/o/n/commit/0123456789)"


def test_the_program_is_beside_the_package_and_relative_folders_stay_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (program_folder.PROGRAM / "app.py").is_file()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KBDASH_CACHE", "cache")
    monkeypatch.setenv("KBDASH_SOURCE", "owner/name")
    monkeypatch.setenv("KBDASH_CONTENT", "data")
    program_folder.enter()
    assert Path.cwd() == program_folder.PROGRAM
    assert (os.environ["KBDASH_CACHE"], os.environ["KBDASH_CONTENT"]) == (
        str(tmp_path / "cache"),
        str(tmp_path / "data"),
    )
    assert os.environ["KBDASH_SOURCE"] == "owner/name"
    monkeypatch.delenv("KBDASH_CACHE")
    program_folder.enter()
    assert "KBDASH_CACHE" not in os.environ


def test_a_logger_has_one_handler_whose_own_format_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    own = logging.getLogger("kbdash")
    given = logging.StreamHandler()
    given.setFormatter(logging.Formatter("said: %(message)s"))
    record = logging.LogRecord("kbdash", logging.INFO, "", 1, "hello\nyou", None, None)
    monkeypatch.setattr(own, "handlers", [given])
    monkeypatch.setattr(own, "propagate", own.propagate)
    logs.install()
    logs.install()
    assert own.handlers == [given]
    assert given.format(record) == "said: hello\nyou"
    monkeypatch.setattr(own, "handlers", [])
    logs.install()
    assert own.handlers[0].format(record) == "hello\nyou"


def test_a_signal_is_handed_on_and_the_process_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Any] = []

    def timer(*given: Any) -> SimpleNamespace:
        ended.append(given)
        return SimpleNamespace(start=lambda: None)

    monkeypatch.setattr(stopping.threading, "Timer", timer)
    before, told = signal.getsignal(signal.SIGUSR1), []
    try:
        for own in (lambda number, _: told.append(number), signal.SIG_DFL):
            stopping._wrap(signal.SIGUSR1, own, 3.0)
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert told == [signal.SIGUSR1]
    assert ended == [(3.0, os._exit, [0])] * 2


# --- shown ---------------------------------------------------------------------------------------------------------


def _chips(count: int, note: str) -> None:
    from kbdash.web import chips

    chips.show([chips.Chip(f"chip {place}", {"top": None}) for place in range(count)], note)


@pytest.mark.parametrize(("count", "buttons"), [(0, 0), (1, 1), (2, 3)])
def test_many_chips_are_cleared_at_once(count: int, buttons: int) -> None:
    app = AppTest.from_function(_chips, default_timeout=60, args=(count, "3 left out")).run()
    assert not app.exception
    assert len(app.button) == buttons
    assert [caption.value for caption in app.caption] == ["3 left out"] * (count > 0)
    assert not AppTest.from_function(_chips, default_timeout=60, args=(count, "")).run().caption


def _shown() -> None:
    import streamlit as st

    from kbdash.dataset.model import Caveat
    from kbdash.errors import QueryRefused
    from kbdash.web import widgets
    from kbdash.web.content import text_panels

    widgets.caveats((), key="none")
    widgets.caveats((Caveat("one", "a"), Caveat("two", "b")), key="two")
    text_panels._lines(0, [])
    text_panels._lines(1, [4, 5])
    widgets.show_error(QueryRefused("no"))
    widgets.take_theme(True)
    st.text(widgets.theme())
    widgets.take_theme(False)
    st.text(widgets.theme())


def test_small_parts_of_a_page() -> None:
    app = AppTest.from_function(_shown, default_timeout=60).run()
    assert not app.exception
    assert [expander.label for expander in app.expander] == ["one (+1)"]
    assert [caption.value for caption in app.caption] == ["The evidence names no line."]
    assert [button.label for button in app.button] == ["Line 4", "Line 5"]
    assert [text.value for text in app.text] == ["dark", "light"]


def _filters(first, last) -> None:  # (a script of its own, without the names of this file)
    from kbdash.view import CompetitionView
    from kbdash.web import filters

    filters.remarks(CompetitionView(since=first, until=last))


@pytest.mark.parametrize(("last", "warned"), [(date(2025, 1, 1), 1), (date(2025, 1, 2), 0), (date(2025, 1, 3), 0)])
def test_days_that_leave_nothing_are_remarked(last: date, warned: int) -> None:
    app = AppTest.from_function(_filters, default_timeout=60, args=(date(2025, 1, 2), last)).run()
    assert len(app.warning) == warned
