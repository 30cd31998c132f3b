"""The parts that pages are made of, called alone: words, rows, links, and what is missing."""

import threading
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kbdash.database.lookup import placement_of
from kbdash.dataset.catalog import TRIMUL
from kbdash.dataset.model import Board, Caveat, Placement, Standing, Submission
from kbdash.engine import KernelBot
from kbdash.errors import UnknownUser
from kbdash.units import MICROSECONDS as US
from kbdash.units import MINUS, MISSING
from kbdash.view import CompetitionView, LadderView, Ref, SubmissionView
from kbdash.web import answers, board, card, chart, overview, own_time, table, tables
from kbdash.web.cells import Column
from kbdash.web.code import changes, choose, components, facts, ladder_rows, neighbours, resolve, source_text, verdict
from kbdash.web.code.changes import Change, Changes
from kbdash.web.code.facts import Facts
from kbdash.web.content import lineage
from kbdash.web.tabs import hardware, leaderboard, own_row, progression, ranking, submissions, techniques
from tests.unit import chart_frames as frames

ONE = Submission(
    "trimul", "f.parquet", 3, 7, 5, "trimul", "u1", "Ann", None, "a.py", datetime(2025, 12, 1, tzinfo=UTC), "succeeded",
    "leaderboard", True, 2e-5, "A100", "", True, False, True,
)  # fmt: skip
STANDS = Placement(2, 9, 1e-5, 2e-5, True, True, 4e-5, 6, 1)


def of(score: float | None = 2e-5, **more: Any) -> Facts:
    """A submission with this time, and where it stands."""
    return Facts(replace(ONE, score=score), replace(STANDS, **more), US, False)


# --- submissions ---------------------------------------------------------------------------------------------------


def test_a_rank_is_that_of_a_submission_which_the_rule_lets_be_a_best() -> None:
    board = pd.DataFrame({"user_id": ["u1", "u2"], "score": [2e-5, 1e-5], "ratio": [2.0, 1.0]})
    assert facts.own_rank(ONE, board) == 2
    assert facts.own_rank(replace(ONE, eligible=False), board) is None
    earlier = {"best": 4e-5, "best_id": 6, "attempts": 1}
    ranked = board.assign(runner="A100", submission_id=[7, 8], rank=[2, 1])
    assert placement_of(ONE, ranked, earlier).is_personal_best
    assert not placement_of(replace(ONE, eligible=False), ranked, earlier).is_personal_best


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


def test_users_in_a_link_are_found_by_name_or_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def user_ids(texts: tuple[str, ...], _: str) -> tuple[str, ...]:
        if texts != ("Ann",):
            raise UnknownUser("Nobody has that name.", advice="Look again.")
        return ("u1",)

    monkeypatch.setattr(answers, "user_ids", user_ids)
    view, notes = board.named(CompetitionView(users=("Ann", "Bob"), find="Ann"), "trimul")
    assert (view.users, view.find, notes) == (("u1",), "u1", ("Nobody has that name. Look again.",))
    view, notes = board.named(CompetitionView(find="Bob"), "trimul")
    assert (view.find, len(notes)) == ("", 1)
    view, notes = board.named(CompetitionView(find="Bob", tab="submissions"), "trimul")
    assert (view.find, notes) == ("Bob", ())


def test_a_chart_opens_what_is_clicked_only_if_something_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(chart, "_link", lambda **given: told.append(given["data"]))
    source = SimpleNamespace(kind="hub", commit="0123456789", version="", licence="mit")
    monkeypatch.setattr(chart, "engine", lambda: SimpleNamespace(source=source))
    monkeypatch.setattr(chart.widgets, "theme", lambda: "light")
    for opens in (None, lambda _: None):
        chart._pictures("key", "title", None, opens)
    assert [data["opens"] for data in told] == [False, True]
    assert "commit 0123456 ·" in told[0]["source"]


def test_what_a_board_can_compare_and_look_for() -> None:
    def offered(runners: int = 1, twin: str | None = None, shapes: bool = False) -> bool:
        here, competition = SimpleNamespace(twin=twin), SimpleNamespace(has_shapes=shapes)
        scene: Any = SimpleNamespace(runners=("A100",) * runners, board=here, competition=competition)
        return hardware.offered(scene)

    assert [offered(), offered(2), offered(twin="other"), offered(shapes=True)] == [False, True, True, True]
    assert [leaderboard.question(CompetitionView(find=text))["find"] for text in ("", "u1")] == [None, "u1"]
    gains = {column.name: column.places for column in progression.record_columns(US, 1e-6)}
    assert gains["gain"] == 1
    assert progression.gain_places(pd.DataFrame({"gain": [0.1, 0.0004]})) == 2


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_twin_boards_keep_their_machines_whatever_they_are_called(names: tuple[str, str]) -> None:
    first, second = names
    boards = (
        Board(1, first, "x", "", (), twin=second, machines="on-prem"),
        Board(2, "other", "o", "", ()),
        Board(3, second, "y", "", (), twin=first, machines="Modal"),
    )
    competition = replace(TRIMUL, boards=boards)
    for one in (boards[0], boards[2]):
        twins = hardware.twins_of(competition, one)
        assert [twin.name for twin in twins] == [first, second]
        assert hardware.machines_of(twins) == ("on-prem", "Modal")


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
    assert submissions.caption(CompetitionView(), 5) == "5 submissions that passed."
    assert submissions.caption(CompetitionView(failures=True, users=("u1",)), 1) == "1 submission of the pinned users."
    assert submissions.caption(CompetitionView(), submissions.LARGEST_PAGE + 1).endswith(
        "Files hold the first 100,000."
    )


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


def test_two_users_are_drawn_where_one_of_them_has_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[str, ...]] = []
    monkeypatch.setattr(choose, "_chart", lambda _, users, *__: drawn.append(users))
    monkeypatch.setattr(answers, "personal_bests", lambda *_, **__: frames.bests(3))
    sides = [replace(of(), submission=replace(ONE, user_id=user)) for user in ("u1", "u9", "nobody")]
    for one, other in ((0, 1), (1, 2), (0, 0)):
        choose.histories(sides[one], sides[other])
    assert drawn == [("u1", "u9")]


def test_a_walk_leads_to_the_rows_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    bests = frames.ladder(3).assign(submission_id=[5, 7, 9], runner="A100", passed=True, status="succeeded")
    monkeypatch.setattr(neighbours, "_list", lambda *_: bests)
    found = neighbours.position(ONE, SubmissionView(id=7, walk="bests"), US)
    assert found is not None
    assert (found.place, found.of) == (2, 3)
    assert [stop and stop.ref.id for stop in (found.previous, found.next)] == [5, 9]


def test_a_submission_is_certain_once_its_competition_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(answers, "submission_rows", lambda *_: [ONE])
    monkeypatch.setattr(resolve, "engine", lambda: SimpleNamespace(unavailable={"amd": "The Hub is away."}))
    monkeypatch.setattr(resolve, "_ask", lambda ref, *_, **__: asked.append(ref.id))
    found = [resolve.submission_of(Ref(7), where, key="k", on_pick=print) for where in ("trimul", None)]
    assert (found, asked) == ([ONE, None], [7])


def test_a_text_is_read_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    there = threading.Event()
    kb = SimpleNamespace(
        source=SimpleNamespace(version="v"), index_code=lambda _: None, text_of=lambda _: there.wait(60) and "text"
    )
    monkeypatch.setattr(source_text, "engine", lambda: kb)
    monkeypatch.setattr(source_text.st, "session_state", {})
    reading = source_text.begin(ONE)
    assert not reading.done()
    assert source_text.begin(ONE) is reading
    waited: list[str] = []
    monkeypatch.setattr(source_text, "_wait", lambda slug, _: waited.append(slug) or there.set())
    assert source_text.text_of(ONE) == "text"
    assert source_text.text_of(ONE) == "text"
    assert waited == ["trimul"], "the reader sees that it takes a while, once"


def test_origins_are_told_to_the_viewer_where_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(components, "_viewer", lambda **given: told.append(given["data"]["origins"]))
    monkeypatch.setattr(components, "_text", lambda _: {})
    for origins in (None, lineage.Lineage(("new",), (-1,), (), ())):
        components.viewer(
            None, line=None, origins=origins, find="", link="", label="", key="code", on_line=print, on_find=print
        )  # type: ignore[arg-type]
    assert (told[0], told[1]["kinds"]) == (None, ("new",))


def test_where_the_lines_of_a_text_come_from() -> None:
    origins = pd.DataFrame(
        {"line": list("abcd"), "own": [None, False, True, True], "first_submission_id": [None, 5, 6, 7],
         "first_user_id": ["u0", "u2", "u1", "u1"], "first_user_name": ["", "Bob", "Ann", "Ann"]}
    )  # fmt: skip
    told = lineage.summary(origins, 7)
    assert "Bob" in told
    assert "Ann" not in told
    assert told.count("33.3") == 3
