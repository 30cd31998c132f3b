"""The rules behind the charts, against rows counted by hand: axis end, dates, record holders, clipping, sparklines."""

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest

from kbdash import charts
from kbdash.charts.ladder import records_then
from kbdash.charts.palette import theme_of, user_style
from kbdash.charts.record_strip import reigns
from kbdash.charts.shapes import column_names
from kbdash.charts.span import axis_end
from kbdash.charts.sparkline import REACH
from kbdash.charts.timespan import window_of
from kbdash.database.standings import rank_changes, ranks_then
from kbdash.dataset.credit import DATASET_PAGE
from kbdash.dataset.source import Source
from kbdash.units import MICROSECONDS as US
from kbdash.web.chart import source_line
from tests.unit import chart_frames as frames

EVEN = [1 + place / 100 for place in range(20)]  # 1.00 to 1.19


@pytest.mark.parametrize(
    ("scores", "ratio", "beyond"),
    [
        (EVEN, 1.19, 0),
        # The last is more than twice as far as the 90 % user (the 19th of 21, at 1.18): the axis ends there.
        ([*EVEN, 3.0], 1.18, 2),
        ([*EVEN, 1.5], 1.18, 2),
        # Just within twice as far (1.18² = 1.392): only the gap before it ends the axis.
        ([*EVEN, 1.39], 1.19, 1),
        # Not so much further is still shown.
        ([*EVEN, 1.24], 1.24, 0),
        # A gap of more than a third of the axis ends it, here before the last two of 21.
        ([*EVEN[:19], 1.32, 1.33], 1.18, 2),
        # The first ten are never cut, however far.
        ([1.0, *[1000.0 * place for place in range(1, 10)]], 9000.0, 0),
        ([1.0, *[1000.0 * place for place in range(1, 10)], 1e9], 9000.0, 1),
        ([*[1.0] * 9, 50.0], 50.0, 0),
        # Half of the users are never cut where that is more than ten.
        ([*[1.0] * 14, *[50.0] * 16], 50.0, 0),
        # Nor does an axis end below 1.05 times the best.
        ([1.0] * 19 + [1.01] + [7.0], 1.05, 1),
        ([2.0], 1.05, 0),
        ([], 1.05, 0),
        ([1.0, 1.2, math.nan, -3.0, math.inf], 1.2, 0),
    ],
)
def test_an_axis_ends_at_the_field(scores: list[float], ratio: float, beyond: int):
    end = axis_end(scores)
    assert (end.ratio, end.beyond) == (pytest.approx(ratio), beyond)
    assert axis_end(reversed(scores)).ratio == end.ratio, "in any order"


def test_what_an_axis_leaves_out_is_said_and_can_be_had():
    scores = [score * 1e-5 for score in [*EVEN, 3.0]]
    assert axis_end(scores).words(US) == "2 slower, up to 30.00\u2009µs ▸"
    whole = axis_end(scores, span="all")
    assert (whole.ratio, whole.words(US)) == (pytest.approx(3.0), "")


def texts(figure) -> str:
    axes = [figure.layout[name].title.text or "" for name in ("xaxis", "yaxis")]
    return "\n".join([*(note.text for note in figure.layout.annotations), *axes])


def test_the_field_draws_or_counts_every_ranked_user():
    ranked = frames.ranked([score * 1e-5 for score in [*EVEN, 3.0]])
    impossible = ranked.tail(1).assign(rank=22, score=5e-8, ratio=math.nan, gap=math.nan, user_id="odd")
    said = texts(charts.field(pd.concat([ranked, impossible]), US))
    assert "2 slower, up to 30.00\u2009µs ▸" in said
    assert "1 impossible time ranked last and not drawn" in said
    dots = charts.field(ranked, US).data[1]
    assert len(dots.x) == 19
    blocks = charts.field(ranked, US).data[2:]
    assert [int(sum(bar.y)) for bar in blocks] == [19, 2]


def test_a_tick_of_the_field_says_the_rank_that_ties_share():
    axis = charts.field(frames.ranked([1e-5, 1e-5, 1e-5, 2e-5]), US).layout.yaxis
    assert (axis.tickvals, axis.ticktext) == ((1, 2, 3, 4), ("=1", "=1", "=1", "4"))
    crowd = charts.field(frames.ranked(np.linspace(1e-5, 2e-5, 3_000)), US).layout.yaxis
    assert crowd.ticktext[:3] == ("1", "500", "1,000")


def test_no_dot_of_the_field_is_cut_at_the_edge():
    for count in (1, 20, 3_000):
        figure = charts.field(frames.ranked(np.linspace(1e-5, 2e-5, count)), US)
        low, high = figure.layout.yaxis.range
        margin = figure.layout.margin
        ranks = figure.layout.yaxis.domain[1] * (figure.layout.height - margin.t - margin.b)
        assert min(low - count, 1 - high) * ranks / (low - high) >= 5.5


def test_a_time_of_ones_own_crosses_to_its_rank():
    ranked = frames.ranked([1e-5, 2e-5, 2e-5, 3e-5])
    for mine, words in ((2e-5, "rank =2 of 5"), (2.5e-5, "rank 4 of 5"), (9e-5, "rank 5 of 5, outside of this axis")):
        assert words in texts(charts.field(ranked, US, mine=mine))
    level = next(line for line in charts.field(ranked, US, mine=2.5e-5).layout.shapes if line.yref == "y")
    assert (level.y0, level.y1) == (3.5, 3.5)


HOUR = np.timedelta64(3600, "s")
FIRST = np.datetime64("2025-12-01T00:00:00")
HUNDRED = FIRST + HOUR * np.arange(101)


def window(last_record: int = 100, **more):
    return window_of(HUNDRED, FIRST + HOUR * last_record, **more)


def test_dates_span_the_passing_runs():
    assert window().end == FIRST + HOUR * 103
    near = datetime(2025, 12, 5, 10, tzinfo=UTC)  # hour 106, within a tenth of the span
    assert window(deadline=near).deadline_inside
    far = datetime(2026, 1, 5, tzinfo=UTC)
    assert window(deadline=far).end == FIRST + HOUR * 103
    assert window(deadline=far).ahead
    assert window(deadline=datetime(2100, 1, 1, tzinfo=UTC)).deadline is None


def test_dates_never_go_beyond_the_last_day_asked_for():
    asked = window(deadline=datetime(2025, 12, 5, 10, tzinfo=UTC), until=date(2025, 12, 5))
    assert asked.end <= np.datetime64("2025-12-06T00:00:00")
    until = frames.bests()["submitted_at"].max().date()
    figure = charts.progression(frames.bests(), US, deadline=datetime(2030, 1, 1, tzinfo=UTC), until=until)
    ends = [str(max(trace.x)) for trace in figure.data if trace.type == "scatter" and trace.mode == "lines+markers"]
    assert max(ends) <= (pd.Timestamp(until) + pd.Timedelta(days=1)).isoformat()


def test_the_final_is_the_time_around_the_last_record():
    final = window(80, span="final")
    assert (
        final.start == pytest.approx(FIRST + HOUR * 56 - np.timedelta64(1584, "s")) or final.start < FIRST + HOUR * 57
    )
    assert FIRST + HOUR * 55 < final.start <= FIRST + HOUR * 56
    assert FIRST + HOUR * 100 <= final.end < FIRST + HOUR * 103


def bests(*rows: tuple[str, int, float]) -> pd.DataFrame:
    """Personal bests as (user, hour, score)."""
    frame = pd.DataFrame(rows, columns=["user_id", "hour", "score"])
    return frame.assign(
        user_name=frame["user_id"], runner="H100", submission_id=range(len(frame)),
        previous=frame.groupby("user_id")["score"].shift(),
        submitted_at=[frames.START + pd.Timedelta(hours=hour) for hour in frame["hour"]],
    )  # fmt: skip


def test_the_record_strip_names_each_holder_once_per_reign():
    told = bests(("a", 0, 5.0), ("b", 1, 6.0), ("a", 2, 4.0), ("b", 3, 3.0), ("c", 4, 3.0), ("a", 5, 2.0))
    start = frames.START.tz_localize(None).to_datetime64().astype("datetime64[s]")
    shown = window_of(start + HOUR * np.arange(6), start + HOUR * 5)
    held = reigns(told, shown)
    assert [(reign.user_id, reign.score) for reign in held] == [("a", 4.0), ("b", 3.0), ("a", 2.0)]
    assert [(reign.until - reign.since) / HOUR for reign in held[:2]] == [3, 2]
    assert held[-1].until == shown.end
    # An axis that begins within the reign of b: who held the record before is not drawn, and b from there on.
    late = reigns(told, replace(shown, start=start + HOUR * 4))
    assert [(reign.user_id, (reign.since - start) / HOUR) for reign in late] == [("b", 4), ("a", 5)]


def test_the_progression_says_what_it_does_not_show():
    told = frames.bests()
    figure = charts.progression(told, US, pinned=("u0",), attempts=frames.attempts())
    high = 10 ** figure.layout.yaxis.range[1] / 1e6
    slower = int((told["score"] > high).sum())
    assert slower
    assert f"▲ {slower} slower bests not shown" in texts(figure)
    assert "4 failed attempts" in texts(figure)
    assert "not shown" not in texts(charts.progression(told, US, span="all"))


def others(figure) -> list[str]:
    """Names in the trace of those without a colour."""
    return list(dict.fromkeys(row[1] for row in figure.data[1].customdata))


def test_those_too_slow_for_the_axis_have_no_line():
    """The sixth is above the axis all the time; the seventh comes into it."""
    told = bests(
        *((user, hour, 1.0 + hour / 100) for hour, user in enumerate("abcde")), ("f", 6, 50.0), ("g", 7, 1.045)
    )
    figure = charts.progression(ranks_then(told.assign(score=told["score"] * 1e-5)), US)
    assert others(figure) == ["g"]
    assert len(figure.data[1].x) == 3
    alone = charts.progression(ranks_then(told[:6].assign(score=told["score"] * 1e-5)), US, span="final")
    assert len(alone.data[1].x) == 0
    assert "▲ 1 slower best not shown" in texts(alone)


def test_users_without_room_for_a_line_are_counted():
    crowd = frames.bests(900, 4)
    figure = charts.progression(crowd, US, span="all")
    drawn = len(figure.data[1].x)
    [words] = [note.text for note in figure.layout.annotations if "have a line" in note.text]
    assert max(map(len, words.split("<br>"))) <= 58, "longer lines are cut off on a phone"
    first = int(words.split("only the first ")[1].split(" of 900 users")[0])
    ids = list(dict.fromkeys(row[0] for row in figure.data[1].customdata))
    users = crowd.set_index("submission_id").loc[[int(ref.split("@")[0]) for ref in ids], "user_id"].nunique()
    assert (users + 5, drawn <= 1_800) == (first, True)
    assert "have a line" not in texts(charts.progression(frames.bests(), US))


def test_pinned_users_are_there_whatever_their_rank_and_keep_their_colour():
    told = frames.bests(30)
    last = told.groupby("user_id")["score"].min().idxmax()
    figure = charts.bump(told, pinned=(last, "u1"))
    bold = [trace for trace in figure.data if trace.line.width == 3]
    assert len(bold) == 2
    styled = charts.progression(told, US, pinned=(last, "u1"))
    colors = {trace.line.color for trace in styled.data if trace.type == "scatter" and trace.mode == "lines+markers"}
    assert {trace.line.color for trace in bold} == colors


def test_the_ladder_knows_the_record_of_the_moment():
    then = records_then(frames.ladder(4), frames.records())
    assert then.tolist() == [1.1e-5, 1.1e-5, 0.97e-5, 0.97e-5]
    assert np.isnan(records_then(frames.ladder(2), frames.records()[:0])).all()
    assert "▲ above: step 1: 100.0\u2009µs" in texts(charts.ladder(frames.ladder(15), frames.records(), US))


def test_status_bars_are_days_weeks_or_months_and_skip_what_is_empty():
    for days, word in ((40, "day"), (100, "week"), (600, "month")):
        figure = charts.status(frames.status_days(days))
        assert f"a bar is a {word}" in texts(figure)
    two = frames.status_days(200)
    gap = two[[day.month not in (2, 3) for day in two["day"]]]
    months = {str(at)[:7] for trace in charts.status(gap).data for at in trace.x}
    assert not {"2026-02"} & months
    few = pd.DataFrame({"day": [frames.START.date()] * 2, "status": ["succeeded", "failed"], "rows": [2, 1]})
    assert "2 of 3 submissions passed" in texts(charts.status(few.assign(passed=[2, 0])))


def test_pairs_are_ranked_among_themselves():
    figure = charts.dumbbell(frames.pairs(40), US, ("on-prem", "Modal"))
    assert len(figure.data[2].x) == charts.MOST_ROWS
    words = [note.text for note in figure.layout.annotations if "%" in note.text]
    assert any("▲" in text for text in words)
    assert any("▼" in text for text in words)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pinned_users_are_marked_among_the_pairs_in_their_colour(theme: str):
    """In the order of the pins, as in every other chart; nobody else's name is coloured."""
    names = [note.text for note in charts.dumbbell(frames.pairs(), US, ("a", "b"), theme).layout.annotations]
    pinned = charts.dumbbell(frames.pairs(), US, ("a", "b"), theme, pinned=("u1", "u0")).layout.annotations
    marked = [note.text for note in pinned if note.text not in names]
    inks = [user_style(place, theme_of(theme)).ink for place in (0, 1)]
    assert sorted(ink for ink in inks for text in marked if f"color:{ink}" in text) == sorted(inks)
    assert len(marked) == 2


def test_pinned_users_beyond_the_first_thirty_are_paired_too():
    """With their rank among all, and their times in words where the axis ends before."""
    pairs = frames.pairs(40)
    pairs.loc[38, ["score_a", "score_b"]] = [4e-5, 5e-5]
    figure = charts.dumbbell(pairs, US, ("on-prem", "Modal"), pinned=("u38",))
    last = [data.customdata[-1] for data in figure.data[2:]]
    assert [(ref, rank) for ref, _, _, rank in last] == [("138@NVIDIA", 40), ("938@B200", 40)]
    assert len(figure.data[2].x) == charts.MOST_ROWS + 1
    assert "40.00\u2009µs → 50.00\u2009µs ▸" in texts(figure)
    marked = [note for note in figure.layout.annotations if "<b>" in note.text]
    assert [note.y for note in marked] == [figure.data[2].y[-1]]


def test_boards_far_off_are_told_as_a_number():
    assert "9.0× ▸" in texts(charts.contested(frames.contested(), (("one", "One"), ("<b>two</b>", "Two")), ()))
    assert "8.00\u2009× the best ▸" in texts(charts.person_strips(frames.user_field()))


def test_sparklines_share_one_scale():
    assert charts.sparkline([2e-5, 1.1e-5, 1e-5], 1e-5) == [round(REACH, 4), round(math.log(1.1), 4), 0]
    assert charts.sparkline([1.1e-5] * 24, 1e-5) == [], "a single best, however long it stands"
    assert charts.sparkline([5e-5, 3e-5, 2e-5], 1e-5) == [], "always beyond the scale: flat would mean no progress"
    assert charts.sparkline([1e-5], 1e-5) == charts.sparkline(None, 1e-5) == charts.sparkline([], math.nan) == []


@pytest.mark.parametrize(("count", "narrow", "numbers"), [(7, True, True), (10, True, False), (18, False, True)])
def test_cells_have_numbers_where_there_is_room(count: int, narrow: bool, numbers: bool):
    heat = charts.shapes(frames.shapes(count=count), US, narrow=narrow).data[0]
    assert bool(heat.texttemplate) is numbers
    assert "1.50" in heat.text.ravel(), "a hover and the table know them in any case"


def test_who_is_beyond_the_axis_of_a_runner_is_told_in_a_line_of_its_own():
    times = [1e-5 * (1 + place / 100) for place in range(20)]
    assert "20 users" in texts(charts.runner_strips(frames.ranked(times), US))
    assert "21 users<br>2 slower, up to 100.0" in texts(charts.runner_strips(frames.ranked([*times, 1e-4]), US))


def test_heads_of_the_forest_too_long_for_a_phone_are_broken():
    pairs = ("H100", "L4"), ("B200", "NVIDIA")
    short, long = (texts(charts.forest(frames.ratios(*pair), pair)) for pair in pairs)
    assert "L4 against H100  <b>" in short
    assert "B200 (on-prem) against B200 (Modal)<br><b>" in long


def test_a_phone_names_fewer_of_those_who_passed():
    """So that names do not overlap; all are in the hover texts and in the table."""
    wide, narrow = (charts.passed_by(frames.bests(30, each=8), "u3", narrow=narrow) for narrow in (False, True))
    named, few = ([note for note in figure.layout.annotations if note.yshift == -13] for figure in (wide, narrow))
    assert 0 < len(few) < len(named)
    assert [len(trace.x) for trace in narrow.data] == [len(trace.x) for trace in wide.data]


@pytest.mark.parametrize(("name", "side"), [("ann", "right"), ("a name of sixteen", "left")])
def test_names_in_the_field_are_left_of_their_dots_only_where_they_fit(name, side):
    """The second is at four tenths of the axis: 120 pixels on a phone."""
    ranked = frames.ranked([1e-5, 1.32e-5, 2e-5]).assign(user_name=["one", name, "three"])
    notes = {note.y: note for note in charts.field(ranked, US).layout.annotations if name[:3] in note.text}
    assert notes[2].xanchor == side


@pytest.mark.parametrize(("apart", "named"), [("9D", ["u3", "u2", "u1"]), ("1h", ["u3"])])
def test_names_of_those_who_passed_do_not_cover_signs_on_a_phone(apart, named):
    """Three pass the first, then nothing for a month: within hours their signs stand one below the other."""
    rows = [("u0", 9.0), ("u1", 8.0), ("u2", 7.0), ("u3", 6.0)]
    moments = [frames.START + place * pd.Timedelta(apart) for place in range(4)]
    late = [("u3", 5.9, moments[3] + pd.Timedelta("30D"))]
    listed = [(user, score, at) for (user, score), at in zip(rows, moments, strict=True)] + late
    bests = pd.DataFrame(listed, columns=["user_id", "score", "submitted_at"])
    bests = ranks_then(
        bests.assign(user_name=bests["user_id"], runner="B200", submission_id=range(5), previous=[np.nan] * 4 + [6.0])
    )
    narrow, wide = (charts.passed_by(bests, "u0", narrow=narrow).layout.annotations for narrow in (True, False))
    assert [note.text for note in narrow if note.yshift == -13] == named
    assert [note.text for note in wide if note.yshift == -13] == ["u3", "u2", "u1"]


def test_signs_on_a_phone_do_not_touch_and_the_larger_changes_have_theirs():
    """Every change keeps its hover text; how many have no sign is said."""
    bests = frames.bests(120, each=12)
    user = bests.sort_values("submitted_at")["user_id"].iloc[0]
    changes = rank_changes(bests, [user])
    narrow, wide = (charts.passed_by(bests, user, narrow=narrow) for narrow in (True, False))
    signed = [
        (pd.Timestamp(at), int(rank))
        for trace in narrow.data[-2:]
        for at, rank, size in zip(trace.x, trace.y, trace.marker.size, strict=True)
        if size
    ]
    assert 20 < len(signed) < len(changes) == sum(len(trace.x) for trace in narrow.data[-2:])
    assert f"signs at {len(signed)} of {len(changes)} changes" in texts(narrow)
    assert "signs" not in texts(wide)
    start, end = (pd.Timestamp(side) for side in narrow.layout.xaxis.range)
    low, high = narrow.layout.yaxis.range
    row = (narrow.layout.height - narrow.layout.margin.t - narrow.layout.margin.b) / (low - high)
    spots = [((at - start) / (end - start) * 190, rank * row) for at, rank in signed]
    assert not [
        (one, two) for one, two in combinations(spots, 2) if abs(one[0] - two[0]) < 11 and abs(one[1] - two[1]) < 11
    ]
    largest = changes.loc[(changes["rank"] - changes["before"]).abs().idxmax()]
    assert (largest["at"].tz_localize(None).floor("s"), int(largest["rank"])) in signed


def test_many_changes_of_a_rank_are_cut_and_said():
    """The axis begins with the first that is drawn."""
    bests = frames.bests(340, each=1)
    first = bests.sort_values("submitted_at")["user_id"].iloc[0]
    bests.loc[bests["user_id"] == first, "score"] = bests["score"].max() * 2
    figure = charts.passed_by(bests, first)
    assert "<br>the last 300 of 340 changes" in texts(figure)
    assert sum(len(trace.x) for trace in figure.data[-2:]) == 300
    assert figure.layout.xaxis.range[0] > str(bests["submitted_at"].min())[:10]
    assert figure.layout.yaxis.range[0] == 340 + 21 + 0.6  # a name below the last rank does not reach the dates
    assert "changes" not in texts(charts.passed_by(frames.bests(9), "u3"))


def test_shapes_are_named_by_what_differs():
    assert column_names({0: "k: 1; m: 2; seed: 3", 1: "k: 1; m: 4; seed: 5"}, [0, 1]) == ("m", ["2", "4"])
    assert column_names({0: "seed: 3", 1: "seed: 5"}, [0, 1]) == ("by number", ["0", "1"])


def ends_of(figure) -> dict[str, float]:
    """The names beside a chart of ranks and their height."""
    return {note.text: note.y for note in figure.layout.annotations}


def test_names_beside_ranks_stand_at_their_line_or_not_at_all():
    told = frames.bests(60, 2)
    order = told.groupby("user_id")["score"].min().sort_values().index.tolist()
    figure = charts.bump(told, pinned=(order[50], order[58], order[1]))
    plot = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    heights = sorted(ends_of(figure).values())
    assert all(later - earlier >= 14.9 / plot for earlier, later in pairwise(heights))
    low, high = (next(y for text, y in ends_of(figure).items() if f"{rank} " in text) for rank in (59, 51))
    assert low < high, "below each other in the order of their ranks"
    assert 30 not in figure.layout.yaxis.tickvals, "no room right above the band"
    second = next(y for text, y in ends_of(figure).items() if text.startswith("<b>2 "))
    assert second == pytest.approx(1 - 1.6 / 31.2, abs=0.001), "where the axis has the second rank"


def test_ticks_of_ratios_are_halves_and_doubles_first():
    pair = frames.ratios("B200", "A100").assign(low=0.4, ratio=1.9, high=3.1)
    assert {"0.5×", "1×", "2×"} <= set(charts.forest(pair, ("B200", "A100")).layout.xaxis.ticktext)


def test_the_word_deadline_has_room_above_the_bars():
    days = frames.status_days()
    figure = charts.status(days, deadline=datetime(2025, 12, 5, tzinfo=UTC))
    assert figure.layout.yaxis.range[1] >= 1.1 * max(figure.data[0].y)


def test_names_of_drifters_do_not_overlap():
    frame = frames.pairs(40)
    same = charts.drift(frame.assign(score_a=1e-5, score_b=1.1e-5), US, ("a", "b"))
    assert len(same.layout.annotations) == 2, "the caption and one name of all that are in one place"
    up = charts.drift(frame.assign(score_b=frame["score_a"] * 1.1), US, ("a", "b")).layout.yaxis.range
    assert -up[0] < up[1] / 4, "no room for changes that nobody has"


def test_a_board_of_few_has_no_rows_for_ranks_that_nobody_has():
    figure = charts.bump(frames.bests(3))
    assert figure.layout.yaxis.ticktext == ("1", "2", "3")
    assert not figure.layout.shapes
    assert charts.bump(frames.bests(11)).layout.yaxis.ticktext[-1] == ">10"


def test_a_single_run_has_an_hour_around_it():
    alone = window_of(HUNDRED[:1], HUNDRED[0])
    assert alone.end - HUNDRED[0] == HOUR


def test_a_picture_names_its_source_commit_and_licence():
    hub = Source("hub", "the Hub", {}, "", commit="0123456789abcdef", licence="a licence")
    line = source_line(hub)
    assert all(part in line for part in ("GPU Mode and the KernelBot dataset", DATASET_PAGE, "commit 0123456 "))
    assert "licence: a licence" in line
    assert "synthetic sample" in source_line(Source("sample", "the sample", {}, ""))
    folder = source_line(Source("folder", "a folder", {}, ""))
    assert "commit" not in folder
    assert "licence: see the dataset" in folder


def test_counts_of_one_are_singular_and_none_is_no_share():
    one = pd.DataFrame({"day": [frames.START.date()], "status": ["succeeded"], "rows": [1], "passed": [1]})
    said = texts(charts.status(one))
    assert "1 of 1 submission passed" in said
    assert "%" not in said
