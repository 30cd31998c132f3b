"""Each chart answers its own question: the numbers in it are those of the frame."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from kbdash import charts
from kbdash.catalog import runner_name
from kbdash.charts import Mark
from kbdash.palette import LIGHT, runner_style, user_style
from kbdash.units import MICROSECONDS as US
from tests.unit import chart_frames as frames

DEADLINE = datetime(2025, 12, 6, 7, 59, tzinfo=UTC)


def texts(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def steps(figure) -> list:
    """The best-so-far lines of a progression."""
    return [trace for trace in figure.data if trace.mode == "lines+markers"]


# Distribution ------------------------------------------------------------------------------------------------------


def test_the_histogram_shows_shares_of_rows_and_of_users():
    figure = charts.distribution(frames.bins("NVIDIA"), US)
    area, front, sentences = figure.data
    assert (area.line.width, area.name, front.name) == (0, "all passing submissions", "each user's best")
    assert max(area.y) == pytest.approx(40 / 95)
    assert max(front.y) == pytest.approx(5 / 12)
    assert front.line.color == runner_style("NVIDIA", LIGHT).color
    assert sum(row[0] for row in sentences.customdata) == 12
    assert list(sentences.customdata[0]) == [1, 5, "8.3\u2009%", "5.3\u2009%", "10.00\u2009µs", "17.78\u2009µs"]


def test_the_outline_falls_to_zero_where_bins_are_missing():
    front = charts.distribution(frames.bins("NVIDIA"), US).data[1]
    assert front.line.shape == "hv"
    zeros = [x for x, y in zip(front.x, front.y, strict=True) if y == 0]
    edges = np.geomspace(10, 1000, 9)
    assert zeros == pytest.approx([edges[0], edges[3], edges[5], edges[6], edges[8]])


def test_the_time_axis_is_logarithmic_in_the_unit_of_the_board():
    axis = charts.distribution(frames.bins("NVIDIA"), US).layout.xaxis
    assert axis.type == "log"
    assert list(axis.ticktext) == ["10\u2009µs", "100\u2009µs", "1,000\u2009µs"]
    assert "lower is better" in axis.title.text


def test_marks_widen_the_axis_and_make_room():
    plain = charts.distribution(frames.bins("NVIDIA"), US)
    marked = charts.distribution(frames.bins("NVIDIA"), US, "light", [Mark("speed of light", 3e-6, "light")])
    assert marked.layout.xaxis.range[0] < np.log10(3) < plain.layout.xaxis.range[0]
    assert marked.layout.height > plain.layout.height
    assert texts(marked) == ["speed of light 3.000\u2009µs"]


def test_a_board_with_one_single_time_is_still_a_visible_bar():
    same = pd.DataFrame({"runner": ["H100"], "lo": [2e-5], "hi": [2e-5 * (1 + 1e-11)], "rows": [3], "users": [1]})
    figure = charts.distribution(same, US)
    low, high = min(figure.data[1].x), max(figure.data[1].x)
    assert low < 20 < high
    assert high / low > 1.003


def test_several_runners_get_a_ridge_each_the_fastest_on_top():
    figure = charts.distribution(frames.bins("B200", "H100"), US)
    assert [text.split("<br>")[0] for text in figure.layout.yaxis.ticktext] == [
        runner_name("H100"),
        runner_name("B200"),
    ]
    assert all("12 users" in text for text in figure.layout.yaxis.ticktext)
    lines = [trace for trace in figure.data if trace.fill == "tonexty" and trace.line.width]
    assert [line.line.color for line in lines] == [runner_style(name, LIGHT).color for name in ("H100", "B200")]
    assert min(lines[1].y) == 1


def test_the_summary_adds_best_and_median_to_the_ridges():
    figure = charts.runner_distributions(frames.bins("B200"), US, "light", frames.summary("B200"))
    assert texts(figure) == ["best 10.00\u2009µs<br>median 40.00\u2009µs"]
    assert list(figure.data[-1].x) == pytest.approx([10, 40])


def test_the_cumulative_share_rises_in_steps_from_nobody_to_all():
    [line] = charts.ecdf(frames.cumulative("NVIDIA"), US).data
    assert line.line.shape == "hv"
    assert list(line.y) == [0, 0.25, 0.5, 0.75, 1, 1]
    assert list(line.x[:5]) == pytest.approx([10, 10, 20, 50, 400])
    assert line.line.dash == "solid"


def test_cumulative_shares_of_several_runners_have_a_legend_and_dashes():
    figure = charts.ecdf(frames.cumulative("H100", "A100"), US)
    assert figure.layout.showlegend
    assert [line.line.dash for line in figure.data] == ["solid", "dash"]


# Progression -------------------------------------------------------------------------------------------------------


def progression(frame: pd.DataFrame, **options):
    return charts.progression(frame, frames.records(frame), US, **options)


def test_best_so_far_is_a_step_line_held_to_the_deadline():
    frame = frames.attempts(2)
    figure = progression(frame, deadline=DEADLINE)
    for line, user in zip(steps(figure), ("u0", "u1"), strict=True):
        bests = frame[(frame["user_id"] == user) & frame["is_best"]]
        assert line.line.shape == "hv"
        assert list(line.y) == pytest.approx([*bests["score"] * 1e6, bests["score"].iloc[-1] * 1e6])
        assert [row[0] for row in line.customdata[:-1]] == list(bests["submission_id"])
        assert str(line.x[-1]) >= "2025-12-06T07:59:00"
        assert list(line.marker.size)[-1] == 0
    assert "deadline 2025-12-06" in texts(figure)


def test_without_a_deadline_lines_end_where_the_attempts_do():
    figure = progression(frames.attempts(2))
    last = frames.attempts(2)["submitted_at"].max().tz_localize(None)
    assert all(pd.Timestamp(line.x[-1]) >= last for line in steps(figure))
    assert figure.layout.shapes == ()


def test_a_deadline_of_the_year_2100_does_not_squeeze_the_chart():
    figure = progression(frames.attempts(2), deadline=datetime(2100, 12, 31, tzinfo=UTC))
    assert pd.Timestamp(figure.layout.xaxis.range[1]).year == 2025
    assert figure.layout.shapes == ()


def test_deadlines_in_other_zones_are_drawn_in_utc():
    local = pd.Timestamp(DEADLINE).tz_convert("Asia/Tokyo").to_pydatetime()
    assert progression(frames.attempts(2), deadline=local) == progression(frames.attempts(2), deadline=DEADLINE)


def test_failures_lie_in_a_lane_per_user_below_the_times():
    figure = progression(frames.attempts(3))
    rugs = [trace for trace in figure.data if trace.yaxis == "y2"]
    assert [set(rug.y) for rug in rugs] == [{0}, {-1}, {-2}]
    assert sum(len(rug.x) for rug in rugs) == (~frames.attempts(3)["passed"]).sum()
    assert rugs[0].customdata[0][2] == "failed"
    assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
    assert list(figure.layout.yaxis2.ticktext) == ["failed"]


def test_the_record_of_the_field_stands_behind_in_grey():
    frame = frames.attempts(3)
    figure = progression(frame)
    record, last = figure.data[0], frames.records(frame).iloc[-1]
    assert record.line.shape == "hv"
    assert record.customdata[-1][0] == last["submission_id"]
    assert record.y[-1] == pytest.approx(last["score"] * 1e6)
    assert "field's record" in texts(figure)


def test_pinned_users_keep_their_colours_and_names():
    figure = progression(frames.attempts(3), users_order=["u2", "nobody", "u0"])
    colors = {line.meta: line.line.color for line in steps(figure)}
    assert colors["&#37;&#123;y&#125; &#38;lt;"] == user_style(0, LIGHT).color
    assert colors["&#60;img src=x&#62;"] == user_style(2, LIGHT).color
    assert {"&#60;img src=x&#62;", "&#60;b&#62;bold&#60;/b&#62;"} <= set(texts(figure))


def test_users_without_a_name_go_by_their_id():
    frame = frames.attempts(1).assign(user_name="", user_id="103906690925649842288")
    assert [line.meta for line in steps(progression(frame))] == ["user 103906690925649842288"]


def test_the_same_user_on_two_runners_has_two_lines():
    frame = pd.concat([frames.attempts(1, runner="A100"), frames.attempts(1, runner="H100")])
    figure = progression(frame)
    assert [line.meta.split(" · ")[1] for line in steps(figure)] == [runner_name("A100"), runner_name("H100")]
    assert len([trace for trace in figure.data if trace.yaxis == "y2"]) == 1
    assert texts(figure).count("field's record") == 2


def crowd(users: int, each: int) -> pd.DataFrame:
    """Many attempts of which one in fifty is a personal best."""
    frame = frames.attempts(users, each)
    number = frame.groupby("user_id").cumcount()
    return frame.assign(is_best=frame["passed"] & (number % 50 == 0))


def test_many_attempts_are_thinned_but_no_personal_best_is_lost():
    frame = crowd(6, 2000)
    figure = progression(frame, deadline=DEADLINE)
    drawn = {row[0] for trace in figure.data for row in trace.customdata}
    assert set(frame.loc[frame["is_best"], "submission_id"]) <= drawn
    assert 4_500 < sum(len(trace.x) for trace in figure.data) <= charts.POINT_LIMIT
    shown_of = figure.layout.title.text
    assert shown_of.endswith("of 12,000 attempts shown")
    assert figure == progression(frame, deadline=DEADLINE)


def test_the_count_is_that_of_all_attempts_also_when_the_query_kept_fewer():
    figure = progression(frames.attempts(2).assign(total=99_999))
    assert figure.layout.title.text == "16 of 99,999 attempts shown"
    assert not progression(frames.attempts(2)).layout.title.text


def test_many_points_are_drawn_by_the_graphics_card():
    kinds = [
        {trace.type for trace in progression(crowd(2, each)).data if trace.mode == "markers"} for each in (100, 600)
    ]
    assert kinds == [{"scatter"}, {"scattergl"}]


def test_impossible_times_do_not_stretch_the_axis_and_are_counted():
    frame = frames.attempts(2)
    frame.loc[1, ["score", "flags", "is_best"]] = [1e-9, "impossible: under 100 ns", False]
    figure = charts.progression(frame, frames.records(frames.attempts(2)), US)
    assert figure.layout.yaxis.range[0] > 0
    assert figure.layout.title.text == "1 impossible not drawn"


def test_flags_are_part_of_the_sentence():
    frame = frames.attempts(1).assign(flags="below floor: <b>")
    assert steps(progression(frame))[0].customdata[0][2] == " Flagged: below floor: &#60;b&#62;."


def test_attempts_without_field_records_are_drawn():
    figure = charts.progression(frames.attempts(2), frames.empty(frames.NO_RECORDS), US)
    assert len(steps(figure)) == 2


def test_a_zoom_is_kept_only_while_the_view_stays_the_same():
    one, other = frames.attempts(2), frames.attempts(2, start=frames.START + pd.Timedelta(days=9))
    assert progression(one).layout.uirevision == progression(one, theme="dark").layout.uirevision
    assert progression(one).layout.uirevision != progression(other).layout.uirevision


# Rank over time ----------------------------------------------------------------------------------------------------


def test_ranks_are_drawn_with_the_best_on_top():
    figure = charts.bump(frames.rank_history(3))
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert [trace.y[-1] for trace in figure.data] == [1, 2, 3]
    assert max(max(trace.y) for trace in figure.data) == 9


def test_at_most_ten_users_are_followed_and_all_are_named_at_the_end():
    figure = charts.bump(frames.rank_history(14))
    assert len(figure.data) == 10
    right = [note.text for note in figure.layout.annotations if note.xanchor == "left"]
    assert [text.split("  ")[0] for text in right] == [str(rank) for rank in range(1, 11)]


def test_lines_that_begin_late_are_named_where_they_begin():
    history = frames.rank_history(2, steps=4)
    history = history[(history["user_id"] == "u0") | (history["at"] > frames.START + pd.Timedelta(days=2))]
    left = [note for note in charts.bump(history).layout.annotations if note.xanchor == "right"]
    assert [str(note.x)[:10] for note in left] == ["2025-12-01", "2025-12-04"]


def test_ranks_too_low_to_draw_share_the_lowest_row_and_keep_their_number():
    history = frames.rank_history(1, steps=5).assign(rank=[1, 40, 50, 2, 1])
    figure = charts.bump(history)
    [line] = figure.data
    assert list(line.y) == [1, 7, 7, 2, 1]
    assert [row[0] for row in line.customdata] == [1, 40, 50, 2, 1]
    assert figure.layout.title.text.endswith("the lowest row is every rank below 6")


def test_equal_ranks_do_not_hide_each_others_names():
    history = frames.rank_history(2).assign(rank=1)
    right = [note.y for note in charts.bump(history).layout.annotations if note.xanchor == "left"]
    assert right[0] != right[1]


# Hardware ----------------------------------------------------------------------------------------------------------


def test_ratios_are_printed_with_their_number_of_pairs():
    [heat] = charts.ratio_heatmap(frames.ratios("A100", "H100")).data
    assert heat.text.tolist() == [["", "<b>0.50\u2009×</b><br>n = 1,234"], ["<b>2.00\u2009×</b><br>n = 1,234", ""]]
    assert heat.z[0][1] == -1
    assert heat.zmin == -heat.zmax
    assert heat.customdata[0][1] == "H100 takes 0.50\u2009× the time of A100 (median of 1,234 pairs, same code)."


def test_a_pair_nobody_ran_stays_blank():
    ratios = frames.ratios("A100", "H100", "B200")
    heat = charts.ratio_heatmap(ratios[(ratios["runner_a"] != "B200") | (ratios["runner_b"] != "A100")]).data[0]
    assert np.isnan(heat.z[2][0])
    assert heat.text[2][0] == ""


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([1, 2, 3, 4], [40, 30, 20, 10], -1.0),
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826817),  # a published worked example with a tie
        ([1, 2, np.nan, 3], [1, 2, 9, 3], 1.0),
    ],
)
def test_rank_correlation_is_spearmans(one, other, expected):
    assert charts.rank_correlation(pd.Series(one, dtype=float), pd.Series(other, dtype=float)) == pytest.approx(
        expected
    )


def test_too_few_or_constant_values_have_no_rank_correlation():
    assert charts.rank_correlation(pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0])) is None
    assert charts.rank_correlation(pd.Series([1.0, 1.0, 1.0]), pd.Series([1.0, 2.0, 3.0])) is None


def test_paired_boards_share_one_scale_and_the_diagonal():
    figure = charts.paired(frames.pairs(), US, ("on-prem", "Modal"), "light", ["u3"])
    diagonal, others, pinned = figure.data
    assert list(diagonal.x) == list(diagonal.y)
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    assert (len(others.x), len(pinned.x)) == (8, 1)
    assert list(pinned.customdata[0][:4]) == [103, "NVIDIA", 903, "B200"]
    assert pinned.marker.color == (user_style(0, LIGHT).color,)
    assert figure.layout.title.text == "9 users, rank correlation 1.00"


def test_two_pairs_are_too_few_to_correlate():
    figure = charts.paired(frames.pairs(2), US, ("a", "b"))
    assert figure.layout.title.text == "2 users, too few for a rank correlation"


def test_thousands_of_pairs_are_thinned_and_said_so():
    figure = charts.paired(frames.pairs(6_000), US, ("a", "b"), "light", ["u5999"])
    assert figure.layout.title.text.startswith("6,000 users, 4,998 drawn")
    assert figure.data[2].customdata[0][0] == 6_099


def test_shapes_are_multiples_of_the_best_of_each_shape():
    figure = charts.shapes(frames.shapes(), US)
    [heat] = figure.data
    assert heat.text.tolist() == [["1.00"] * 4, ["1.50"] * 4, ["2.00"] * 4]
    assert list(figure.layout.xaxis.ticktext) == ["0", "1", "2", "3"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert "50.00\u2009µs ± 0.1000\u2009µs" in heat.customdata[0][0]
    assert "±" not in heat.customdata[1][0]
    assert "1.50\u2009× the best" in heat.customdata[1][0]


def test_a_shape_somebody_did_not_run_stays_blank():
    frame = frames.shapes()
    heat = charts.shapes(frame[(frame["user_id"] != "u1") | (frame["shape"] != 2)], US).data[0]
    assert heat.text[1][2] == ""
    assert np.isnan(heat.z[1][2])


def test_two_users_of_one_name_have_two_rows():
    figure = charts.shapes(frames.shapes().assign(user_name="twin"), US)
    assert list(figure.layout.yaxis.ticktext) == ["twin"] * 3
    assert figure.data[0].z.shape == (3, 4)


# Status ------------------------------------------------------------------------------------------------------------


def test_days_are_stacked_by_status_with_the_pass_rate():
    figure = charts.status(frames.status_days())
    *bars, rate = figure.data
    assert figure.layout.barmode == "stack"
    assert [bar.name for bar in bars] == ["succeeded", "failed", "&#60;img src=x&#62;"]
    assert [list(bar.y) for bar in bars] == [[60] * 5, [30] * 5, [10] * 5]
    assert list(rate.y) == pytest.approx([0.6] * 5)
    assert rate.x[0] == "2025-12-01"
    assert len({bar.marker.pattern.shape for bar in bars}) == 3
    assert figure.layout.yaxis.title.text == "submissions per day"


def test_many_days_become_weeks_that_begin_on_monday():
    figure = charts.status(frames.status_days(200))
    *bars, rate = figure.data
    assert figure.layout.yaxis.title.text == "submissions per week"
    assert all(pd.Timestamp(day).day_name() == "Monday" for day in rate.x)
    assert sum(bars[0].y) == 200 * 60
    assert list(rate.y) == pytest.approx([0.6] * len(rate.x))


def test_a_missing_status_is_unknown():
    frame = frames.status_days(1).assign(status=None)
    assert charts.status(frame).data[0].name == "unknown"
