"""Charts at the edges of what they are drawn from: nothing to draw, exactly at a bound, many boards, other runners."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kbdash import charts
from kbdash.charts import person
from kbdash.charts.canvas import rows_of
from kbdash.charts.palette import LIGHT
from kbdash.charts.progression import _own
from kbdash.charts.progression_lines import Stage, board_of
from kbdash.charts.timespan import window_of
from kbdash.engine import KernelBot
from kbdash.units import MICROSECONDS as US
from kbdash.units import unit_for
from tests.unit import chart_frames as frames


def notes(figure) -> str:
    return "\n".join(note.text for note in figure.layout.annotations)


def test_nothing_is_rows_of_no_height_and_as_many_columns() -> None:
    assert rows_of([[], []]).shape == (0, 2)
    assert (rows_of([[1], ["a"]]).tolist(), rows_of([[1, 2]]).tolist()) == ([[1, "a"]], [[1], [2]])


@pytest.mark.parametrize(("letters", "breaks"), [(60, False), (61, True)])
def test_a_head_of_sixty_letters_is_the_longest_in_one_line(letters: int, breaks: bool) -> None:
    head = "x against H1002.00\u2009× (n 7) | 2.00\u2009× (n 3) · 2 beyond"
    pair = ("H100", "x" * (1 + letters - len(head)))
    told = charts.forest(frames.ratios(*pair), pair).layout.annotations[1].text
    assert told.replace("<br>", "").replace("  ", "").replace("<b>", "").replace("</b>", "") == pair[1] + head[1:]
    assert ("<br>" in told) is breaks


@pytest.mark.parametrize(("boards", "ticks"), [(1, 4), (2, 4), (4, 4), (9, 9)])
def test_boards_share_the_ticks_and_each_has_one(monkeypatch: pytest.MonkeyPatch, boards: int, ticks: int) -> None:
    monkeypatch.setattr(person, "_TICKS", 4)
    known = pd.DataFrame({"ratios": [list(np.linspace(1, 2, 8))] * boards})
    assert len(person._everybody(known, 4.0, LIGHT)["x"]) == ticks


@pytest.mark.parametrize(("part", "lines"), [(0.999, 0), (1.0, 1), (1.5, 1), (2.0, 1), (2.001, 0)])
def test_a_time_of_ones_own_crosses_an_axis_that_reaches_to_it(part: float, lines: int) -> None:
    board = board_of(frames.bests())
    window = window_of(board.at, board.at[-1], None, None, "field")
    stage = Stage(board, US, LIGHT, window, 1.0, 2.0, {}, part)
    assert [len(drawn) for drawn in _own(stage, 0.1)] == [lines, lines]
    assert _own(replace(stage, mine=None), 0.1) == ([], [])


def test_first_ranks_without_a_known_technique_are_told_in_words() -> None:
    board = frames.ranked([1e-5, 2e-5])
    assert "No best of the first ranks" in notes(charts.technique_field(board, [None, ()], ["tma"], US))
    assert "No best of the first ranks" not in notes(charts.technique_field(board, [None, ("tma",)], ["tma"], US))


def test_a_chart_of_the_hardware_and_one_of_all_runs_have_every_runner(kb: KernelBot) -> None:
    ranked = kb.leaderboard("trimul", runner=None)
    unit = unit_for(ranked.loc[ranked["runner"] == "A100", "score"].min())
    drawn = kb.chart("hardware", "trimul", runner="A100")
    assert drawn.to_json() == charts.runner_strips(ranked, unit).to_json()
    counts = kb.status_over_time("trimul", runner=None)
    assert kb.chart("submissions", "trimul", runner="A100").to_json() == (
        charts.status(counts, deadline=kb.board("trimul").deadline).to_json()
    )


def test_a_ladder_is_in_the_unit_of_its_times(kb: KernelBot) -> None:
    user = str(kb.leaderboard("trimul", runner="A100")["user_id"].iloc[0])
    steps = kb.ladder("trimul", user, runner="A100")
    expected = charts.ladder(steps, kb.records("trimul", runner="A100"), unit_for(steps["score"].min()))
    assert kb.chart("ladder", "trimul", runner="A100", users=[user]).to_json() == expected.to_json()
    assert unit_for(steps["score"].min()) != unit_for(None), "else this would not tell"
