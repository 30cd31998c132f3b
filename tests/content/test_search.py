"""Search against Python's own `re` over every line of every text."""

import re
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.content.search.lines import COLUMNS, Place, search
from kbdash.content.search.patterns import BadPattern, parse_pattern
from kbdash.content.search.scan import Deadline, LineScanner
from kbdash.content.store.text_rows import Filters
from kbdash.errors import QueryTimeout
from tests.content.files import DAY_US, START_US, Made, Sent
from tests.examples import examples

Asked = tuple[str, bool, bool]  # pattern, whether it is an expression, whether case matters

WORDS = ["aa", "ab", "Ab", "b.c", "(x", "é", "  ab", "aab", "\u0085", "", " x = y", "tl.dot(a, b)", "ab\r"]
LINES = st.lists(st.sampled_from(WORDS), min_size=0, max_size=3).map(" ".join)
ROWS = st.lists(
    st.tuples(
        st.lists(LINES, min_size=1, max_size=6).map("\n".join),
        st.sampled_from("uvw"),
        st.sampled_from(["p", "q"]),
        st.sampled_from(["B200", "H100", None]),
        st.integers(0, 5),
        st.sampled_from([True, False, None]),
        st.sampled_from([None, 1.0, 2.0, 3.0]),
    ),
    min_size=1,
    max_size=14,
)
PATTERNS = st.sampled_from(
    [
        ("ab", False, True), ("aa", False, True), ("AB", False, False), ("(x", False, True), ("b.c", False, True),
        (r"a+b", True, True), (r"^\s*ab", True, True), (r"b$", True, True), (r"[^a]b", True, True),
        (r"\bab\b", True, False), (r"tl\.dot\(", True, True), ("  ab", False, True), ("ab a", False, True),
    ]
)  # fmt: skip
DAY0 = datetime.fromtimestamp(START_US / 1e6, UTC).date()
FILTERS = st.fixed_dictionaries(
    {
        "problem": st.sampled_from([None, "p"]),
        "runner": st.sampled_from([None, "B200"]),
        "users": st.sampled_from([None, ("u",), ("u", "w")]),
        "passed": st.sampled_from([None, True, False]),
        "since": st.sampled_from([None, DAY0 + timedelta(2)]),
        "until": st.sampled_from([None, DAY0 + timedelta(3)]),
    }
)


def chosen(rows: Sequence[Sent], wanted: dict[str, object]) -> list[int]:
    """The rows that pass the filters, the slow way."""

    def passes(row: Sent) -> bool:
        day = datetime.fromtimestamp((START_US + row.at * DAY_US) / 1e6, UTC).date()
        users, since, until = wanted["users"], wanted["since"], wanted["until"]
        return (
            wanted["problem"] in (None, row.problem)
            and wanted["runner"] in (None, row.runner)
            and (not isinstance(users, tuple) or row.user in users)
            and (wanted["passed"] is None or row.passed is wanted["passed"])
            and (not isinstance(since, date) or day >= since)
            and (not isinstance(until, date) or day <= until)
        )

    return [at for at, row in enumerate(rows) if passes(row)]


def rank_of(rows: Sequence[Sent], at: int) -> int | None:
    """The rank that a row's user would have with it."""
    row = rows[at]
    if not row.ranked or row.score is None:
        return None
    bests: dict[str, float] = {}
    for other in rows:
        if other.ranked and other.score is not None and (other.problem, other.runner) == (row.problem, row.runner):
            bests[other.user] = min(bests.get(other.user, other.score), other.score)
    return 1 + sum(best < row.score for user, best in bests.items() if user != row.user)


@given(made=ROWS, questions=st.lists(st.tuples(PATTERNS, FILTERS), min_size=6, max_size=6))
@examples(15)
def test_search_is_re_over_all_lines(made: list[tuple], questions: list[tuple[Asked, dict[str, object]]]) -> None:
    rows = [Sent(n, each[0].encode(), *each[1:]) for n, each in enumerate(made)]
    with tempfile.TemporaryDirectory() as folder:
        place = Made(rows).place(Path(folder))
        for asked, wanted in questions:
            check_search(place, rows, asked, wanted)


def check_search(place: Place, rows: Sequence[Sent], asked: Asked, wanted: dict[str, object]) -> None:
    """One search over a store of these rows."""
    pattern, regex, case = asked
    expression = re.compile(pattern if regex else re.escape(pattern), 0 if case else re.IGNORECASE)
    expected: dict[str, set[int]] = {}
    for at in chosen(rows, wanted):
        for line in rows[at].code.decode().split("\n"):
            if expression.search(line):
                expected.setdefault(line.strip(), set()).add(at)
    parsed = parse_pattern(pattern, regex=regex, case=case)
    found = search([place], parsed, [Filters(**wanted)], limit=1000, seconds=60)
    assert tuple(found.columns) == COLUMNS
    assert found.attrs["total"] == len(expected)
    assert set(found["line"]) == set(expected)
    for row in found.to_dict("records"):
        holders = expected[row["line"]]
        assert row["users"] == len({rows[at].user for at in holders})
        assert row["submissions"] == len({rows[at].id for at in holders})
        first = min(holders, key=lambda at: (rows[at].at, rows[at].id))
        assert row["first_submission_id"] == rows[first].id
        ranks = [rank for at in holders if (rank := rank_of(rows, at)) is not None]
        assert (row["best_rank"] if ranks else None) == (min(ranks) if ranks else None)
        best = int(row["best_submission_id"])
        assert best in holders
        assert rank_of(rows, best) == (min(ranks) if ranks else None)
        assert rows[best].code.decode().split("\n")[row["line_no"] - 1].strip() == row["line"]


def test_the_best_rank_comes_first_then_the_most_users(tmp_path: Path) -> None:
    rows = [
        Sent(1, b"int a;\nint common;", "u", score=3.0),
        Sent(2, b"int b;\nint common;", "v", score=1.0),
        Sent(3, b"int failed;", "w", passed=False, score=None),
        Sent(4, b"int two;\nint b2;", "x", score=2.0),
    ]
    found = search([Made(rows).place(tmp_path)], parse_pattern("int "), [Filters()], limit=100, seconds=60)
    assert found["line"].tolist() == ["int common;", "int b;", "int two;", "int b2;", "int a;", "int failed;"]
    assert found["best_rank"].tolist()[:5] == [1, 1, 2, 2, 3]
    assert found["best_rank"].isna().tolist() == [False] * 5 + [True]


def test_a_limit_cuts_the_rows_and_not_the_total(tmp_path: Path) -> None:
    rows = [Sent(n, b"int v%d;" % n, f"u{n}", score=float(n + 1)) for n in range(30)]
    place = Made(rows).place(tmp_path)
    whole = search([place], parse_pattern("int"), [Filters()], limit=1000, seconds=60)
    some = search([place], parse_pattern("int"), [Filters()], limit=7, seconds=60)
    assert some["line"].tolist() == whole["line"].tolist()[:7]
    assert some.attrs["total"] == 30
    none = search([place], parse_pattern("int"), [Filters()], limit=0, seconds=60)
    assert none.empty
    assert none.attrs == {"total": 30, "places": []}


def test_whoever_is_faster_without_a_text_is_ahead_all_the_same(tmp_path: Path) -> None:
    rows = [Sent(1, None, "ann", score=1.0), Sent(2, b"slow line", "bob", score=2.0)]
    found = search([Made(rows).place(tmp_path)], parse_pattern("slow"), [Filters()], limit=9, seconds=60)
    assert found["best_rank"].tolist() == [2]


def test_one_submission_on_two_runners_is_one_submission(tmp_path: Path) -> None:
    rows = [Sent(1, b"only line", runner="B200"), Sent(1, b"only line", runner="H100")]
    found = search([Made(rows).place(tmp_path)], parse_pattern("only"), [Filters()], limit=9, seconds=60)
    assert found[["users", "submissions"]].to_numpy().tolist() == [[1, 1]]


def test_two_places_are_searched_as_one(tmp_path: Path) -> None:
    one = Made([Sent(1, b"shared x\nmine x", "u", at=3)]).place(tmp_path / "a")
    two = Made([Sent(2, b"  shared x", "u", at=1), Sent(3, b"shared x", "v", at=2, score=0.5)]).place(tmp_path / "b")
    found = search([one, two], parse_pattern(" x"), [Filters()] * 2, limit=9, seconds=60).set_index("line")
    assert found.loc["shared x", ["users", "submissions", "first_submission_id"]].tolist() == [2, 3, 2]
    assert found.loc["mine x", "submissions"] == 1


@pytest.mark.parametrize("lines_per_find", [0, 1000])
def test_a_text_in_very_many_places_is_found_as_well(
    lines_per_find: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_LINES_PER_FIND", "_LINES_PER_PART"):
        monkeypatch.setattr(f"kbdash.content.search.scan.{name}", lines_per_find)
    monkeypatch.setattr("kbdash.content.search.scan._LOOK_EVERY", 4)
    store = Made([Sent(1, b"\n".join(b"needle %d needle" % n for n in range(50)) + b"\nhay")]).store(tmp_path)
    scanner = LineScanner(*store.line_bytes)
    one_by_one: list[str] = []
    match = scanner._match
    monkeypatch.setattr(
        scanner, "_match", lambda wanted, deadline: one_by_one.append(wanted) or match(wanted, deadline)
    )
    assert scanner.matching(parse_pattern("needle"), Deadline(60)).tolist() == list(range(50))
    assert len(scanner.matching(parse_pattern(r"needle \d\b", regex=True), Deadline(60))) == 10
    assert len(one_by_one) == (2 if lines_per_find else 0)


def test_bytes_that_are_no_utf8_are_searched_as_they_are_shown(tmp_path: Path) -> None:
    place = Made([Sent(1, b"caf\xff bar\nplain bar"), Sent(2, b"caf\xff bar")]).place(tmp_path)
    found = search([place], parse_pattern("caf\ufffd"), [Filters()], limit=9, seconds=60)
    assert found[["line", "submissions"]].to_numpy().tolist() == [["caf\ufffd bar", 2]]


def test_a_search_ends_at_its_deadline(tmp_path: Path) -> None:
    place = Made([Sent(1, b"some line")]).place(tmp_path)
    with pytest.raises(QueryTimeout):
        search([place], parse_pattern("some"), [Filters()], limit=9, seconds=-1)


@pytest.mark.parametrize(
    ("pattern", "regex", "position"),
    [("a(b", True, 1), ("a[b", True, 1), ("ab*+*", True, None), ("(?=x)y", True, 0), ("*ab", True, 0)],
)
def test_a_bad_expression_is_refused_with_its_place(pattern: str, regex: bool, position: int | None) -> None:
    with pytest.raises(BadPattern) as caught:
        parse_pattern(pattern, regex=regex)
    assert caught.value.advice
    if position is not None:
        assert caught.value.position == position


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        ("", False),
        (" ", False),
        ("a", False),
        ("x", True),
        ("a\nb", False),
        (r"a\nb", True),
        ("a*", True),
        ("\ud800x", False),
    ],
)
def test_patterns_that_say_nothing_get_a_hint(pattern: str, regex: bool) -> None:
    with pytest.raises(BadPattern) as caught:
        parse_pattern(pattern, regex=regex)
    assert caught.value.advice


def test_a_backslash_before_an_n_is_no_newline() -> None:
    assert parse_pattern(r"a\\nb", regex=True).expression == r"a\\nb"


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        (r"tl\.load\(\w+_ptr \+ warp", "_ptr + warp"), (r"\bconst int b_\w+ = ", "const int b_"), ("abcde?f", "abcd"),
        ("abcd|efgh", None), ("(abcd)+", None), ("abc{,3}defg", "defg"), ("(?i)hello", None), (r"\Qa.b.c\E", None),
        ("x(?i:abcd)yzzz", "yzzz"), ("a.c", None), ("abcde|abcdf", "abcd"), ("(?:abcd)?efgh", "efgh"),
        ("[abcd]efg", None), ("w\u00f6rter.", "w\u00f6rter"), ("(?:abcd){0}efghi", "efghi"),
    ],
)  # fmt: skip
def test_the_part_that_every_match_contains(pattern: str, part: str | None) -> None:
    assert parse_pattern(pattern, regex=True).part == part
    assert parse_pattern(pattern, regex=True, case=False).part is None


def test_expressions_with_a_part_find_what_re_finds() -> None:
    lines = [b"load(a_ptr + warp)", b"load(a_ptr - warp)", b"_ptr + warp", b"LOAD(a_ptr + warp)", b"", b"abcd{,3}efgh"]
    scanner = LineScanner(b"".join(lines), pa.array(lines, pa.large_binary()))
    for pattern in (r"load\(\w+_ptr \+ warp", r"^_ptr \+", r"_ptr \+ warp$", "abcde?f?", r"warp\)?$"):
        found = scanner.matching(parse_pattern(pattern, regex=True), Deadline(60)).tolist()
        assert found == [at for at, line in enumerate(lines) if re.search(pattern, line.decode())]
