"""Numbers as words: one unit per board, four digits, and a dash for whatever is missing."""

import math
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.units import (
    MICROSECONDS,
    MILLISECONDS,
    MISSING,
    NANOSECONDS,
    SECONDS,
    bytes_text,
    count_text,
    day_text,
    duration_text,
    gain_text,
    gap_text,
    minute_text,
    parse_time,
    person,
    plural,
    rank_text,
    rank_texts,
    ratio_text,
    share_text,
    signed,
    time_text,
    unit_for,
)

EMPTY = [None, math.nan, np.nan, pd.NaT, pd.NA, math.inf, -math.inf]


@pytest.mark.parametrize(
    ("best", "unit"),
    [
        (9.99e-7, NANOSECONDS),
        (1e-6, MICROSECONDS),
        (9.954e-6, MICROSECONDS),
        (9.99e-4, MICROSECONDS),
        (1e-3, MILLISECONDS),
        (0.999, MILLISECONDS),
        (1.0, SECONDS),
        (250.0, SECONDS),
        (0.0, MICROSECONDS),
        (-1.0, MICROSECONDS),
        *((missing, MICROSECONDS) for missing in EMPTY),
    ],
)
def test_the_best_time_chooses_the_unit(best, unit):
    assert unit_for(best) == unit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (9.953781736809782e-06, "9.954\u2009µs"),
        (1.0e-5, "10.00\u2009µs"),
        (9.9996e-6, "10.00\u2009µs"),
        (3.1e-5, "31.00\u2009µs"),
        (1.23456e-4, "123.5\u2009µs"),
        (1.23456e-2, "12,350\u2009µs"),
        (1.2e-9, "0.001200\u2009µs"),
        (1.2e-20, "1.200e-14\u2009µs"),
        (0.0, "0\u2009µs"),
        (-2e-6, "−2.000\u2009µs"),
    ],
)
def test_times_have_four_significant_digits(seconds, text):
    assert time_text(seconds, MICROSECONDS) == text


@given(st.floats(1e-10, 1e4), st.sampled_from([NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS]))
def test_a_time_read_back_is_the_same_in_four_digits(seconds, unit):
    read = parse_time(time_text(seconds, unit), unit)
    assert read == pytest.approx(seconds, rel=5.001e-4)


@pytest.mark.parametrize(
    "text_of",
    [
        lambda nothing: time_text(nothing, MICROSECONDS),
        lambda nothing: gap_text(nothing, MICROSECONDS),
        rank_text,
        ratio_text,
        gain_text,
        share_text,
        count_text,
        duration_text,
        bytes_text,
    ],
)
@pytest.mark.parametrize("nothing", EMPTY, ids=repr)
def test_missing_numbers_are_a_dash(text_of, nothing):
    assert text_of(nothing) == MISSING == "–"


def test_missing_moments_are_a_dash():
    assert [day_text(None), minute_text(pd.NaT), duration_text(pd.NaT)] == ["–"] * 3


def test_gaps_carry_a_sign_and_no_unit():
    assert gap_text(1.06e-7, MICROSECONDS) == "+0.106"
    assert gap_text(0.0, MICROSECONDS) == "+0"
    assert gap_text(-1.5e-6, MICROSECONDS) == "−1.50"
    assert gap_text(1.2345e-3, MICROSECONDS) == "+1,230"


def test_shared_ranks_are_marked():
    assert rank_texts([1, 2, 3, 3, 5, None]) == ["1", "2", "=3", "=3", "5", "–"]
    assert rank_text(1234, tied=True) == "=1,234"
    assert rank_texts([]) == []


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "1.00\u2009×"),
        (3.269, "3.27\u2009×"),
        (99.994, "99.99\u2009×"),
        (100, "100\u2009×"),
        (1234.5, "1,234\u2009×"),
    ],
)
def test_ratios(ratio, text):
    assert ratio_text(ratio) == text


@pytest.mark.parametrize(
    ("gain", "text"),
    [
        (0.124, "−12.4\u2009%"),
        (-0.031, "+3.1\u2009%"),
        (0.0, "0.0\u2009%"),
        (0.0004, "0.0\u2009%"),
        (-12.5, "+1,250.0\u2009%"),
        (1 - 66.13e-6 / 225.7e-3, "−99.97\u2009%"),
        (0.9999999, "−99.99999\u2009%"),
        (-1.0, "+100.0\u2009%"),
        (1.0, "−100.0\u2009%"),
    ],
)
def test_a_gain_is_time_saved(gain, text):
    assert gain_text(gain) == text


def test_counts_and_shares():
    assert count_text(231_307) == "231,307"
    assert count_text(np.int64(0)) == "0"
    assert share_text(0.5366) == "53.7\u2009%"
    assert share_text(-0.1) == "−10.0\u2009%"
    assert signed(-0.004, 2) == "0.00"


def test_a_noun_follows_its_count():
    assert [plural(1, "user"), plural(2, "user"), plural(0, "try", "tries")] == ["1 user", "2 users", "0 tries"]


@pytest.mark.parametrize(
    ("name", "user_id", "shown"),
    [
        ("ada", "7", "ada"),
        ("n" * 80, "7", "n" * 80),
        ("n" * 81, "7", "n" * 80 + "…"),
        (None, "123456789", "unnamed …6789"),
        ("  ", "9", "unnamed …9"),
        (math.nan, None, "unnamed"),
    ],
)
def test_a_person_has_a_name_or_the_end_of_an_id(name, user_id, shown):
    assert person(name, user_id) == shown


def test_moments_are_utc_whatever_zone_they_come_in():
    tokyo = datetime(2026, 2, 21, 8, 30, tzinfo=timezone(timedelta(hours=9)))
    assert day_text(tokyo) == "2026-02-20"
    assert minute_text(tokyo) == "2026-02-20 23:30 UTC"
    assert minute_text(pd.Timestamp("2026-02-21 07:30", tz="UTC")) == "2026-02-21 07:30 UTC"
    assert minute_text(datetime(2026, 2, 21, 7, 30, tzinfo=UTC)) == "2026-02-21 07:30 UTC"
    assert day_text(date(2026, 2, 21)) == "2026-02-21"
    assert minute_text(pd.Timestamp("2026-02-21 07:30")) == "2026-02-21 07:30 UTC"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (-0.5, "0 s"),
        (-0.6, "−1 s"),
        (45, "45 s"),
        (60, "1 min"),
        (3_600, "1 h"),
        (720, "12 min"),
        (754, "12 min 34 s"),
        (7_500, "2 h 5 min"),
        (86_400, "1 d"),
        (3 * 86_400 + 4 * 3_600 + 59, "3 d 4 h"),
        (86_400 + 59 * 60, "1 d"),
        (1_234 * 86_400, "1,234 d"),
        (-90, "−1 min 30 s"),
    ],
)
def test_durations_name_their_two_largest_parts(seconds, text):
    spoken = duration_text(seconds)
    assert spoken.replace("\u2009", " ") == text
    assert duration_text(timedelta(seconds=seconds)) == spoken


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (11_300_000, "11.3 MB"),
        (999.5, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2.24e9, "2.2 GB"),
        (5e15, "5,000.0 TB"),
        (-1, "–"),
    ],
)
def test_bytes(size, text):
    assert bytes_text(size).replace("\u2009", " ") == text


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("30 µs", 30e-6),
        ("30 μs", 30e-6),
        ("30us", 30e-6),
        ("30 US", 30e-6),
        ("0.03ms", 30e-6),
        ("3e-5 s", 30e-6),
        ("3E-5s", 30e-6),
        ("30000 ns", 30e-6),
        ("30,000 ns", 30e-6),
        ("30\u202f000 ns", 30e-6),
        ("0,03 ms", 30e-6),
        (".03 ms", 30e-6),
        ("30", 30e-6),
        ("  30\u2009µs ", 30e-6),
        ("1,234.5", 1234.5e-6),
    ],
)
def test_times_are_read_as_people_write_them(typed, seconds):
    assert parse_time(typed, MICROSECONDS) == pytest.approx(seconds)


def test_a_long_text_is_no_time():
    assert parse_time("3".rjust(60, "0"), MICROSECONDS) == 3e-6
    assert parse_time("3".rjust(61, "0"), MICROSECONDS) is None


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "µs",
        "fast",
        "-3 µs",
        "0",
        "0 s",
        "nan",
        "inf",
        "1e999 s",
        "1e-999 s",
        "3 h",
        "1.2.3",
        "1,2,3",
        "3 µs 4",
        "٣٠",
        "9" * 80,
    ],
)
def test_what_is_no_time_is_none(typed):
    assert parse_time(typed, MICROSECONDS) is None


@given(st.text(max_size=80))
def test_any_text_is_a_positive_time_or_none(typed):
    seconds = parse_time(typed, MICROSECONDS)
    assert seconds is None or 0 < seconds < math.inf
