"""Origins, relatives, families and steps against plain computations over all texts."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.content.findings.origins import COLUMNS, origins
from kbdash.content.findings.relatives import relatives
from kbdash.content.findings.steps import personal_bests, steps
from kbdash.content.measures import trivial
from kbdash.content.measures.program import program_lines
from kbdash.content.measures.trivial import telling_lines
from kbdash.content.search.lines import Place
from tests.content.files import Made, Sent
from tests.examples import examples

LINES = st.sampled_from(
    ["", "}", "import torch", "alpha one", "  alpha one", "beta two", "gamma three", "delta", "x = 1", "\u2028wide"]
)
ROWS = st.lists(
    st.tuples(st.lists(LINES, min_size=1, max_size=6).map("\n".join), st.sampled_from("uvw"), st.integers(0, 4)),
    min_size=1,
    max_size=12,
)


def at_noon(rows: list[tuple[str, str, int]]) -> list[Sent]:
    """Rows for submissions with these texts, users and days; ids run against time."""
    return [Sent(100 - n, text.encode(), user, at=day) for n, (text, user, day) in enumerate(rows)]


@given(made=ROWS)
@examples(15)
def test_origins_are_the_earliest_of_all_texts(made: list[tuple[str, str, int]]) -> None:
    rows = at_noon(made)
    with tempfile.TemporaryDirectory() as folder:
        place = Made(rows).place(Path(folder))
        table = place.store.table("origins").to_pandas()
        stored = {place.store.lines[n].as_py().decode(): table.iloc[n] for n in range(len(table))}
        for at, row in enumerate(rows):
            found = origins(place.store, place.held, int(place.store.text_of_row[at]), row.user)
            lines = made[at][0].split("\n")
            assert tuple(found.columns) == COLUMNS
            assert found["line"].tolist() == lines
            assert found["line_no"].tolist() == list(range(1, len(lines) + 1))
            for line, origin in zip(lines, found.to_dict("records"), strict=True):
                holders = [n for n, each in enumerate(made) if line in each[0].split("\n")]
                first = min(holders, key=lambda n: (rows[n].at, rows[n].id))
                assert origin["users"] == stored[line]["users"] == len({rows[n].user for n in holders})
                assert stored[line]["submissions"] == len(holders)
                assert stored[line]["first_submission_id"] == rows[first].id
                assert stored[line]["first_user_id"] == rows[first].user
                if plainly_trivial(line):
                    assert pd.isna(origin["first_submission_id"])
                    assert pd.isna(origin["own"])
                else:
                    assert origin["first_submission_id"] == rows[first].id
                    assert origin["first_user_id"] == rows[first].user
                    assert origin["first_user_name"] == rows[first].user.title()
                    assert origin["own"] == (rows[first].user == row.user)


def plainly_trivial(line: str) -> bool:
    """The rule of `trivial` for the few lines of these tests, which too few users hold to be common."""
    return len(re.findall(r"[A-Za-z0-9_]", line)) < trivial.LEAST_LETTERS or line.startswith("import ")


def telling(line: bytes, users: int = 1, of: int = 30) -> bool:
    return bool(telling_lines(pa.array([line], pa.large_binary()), np.array([users], np.int32), of)[0])


@pytest.mark.parametrize(
    "line",
    [b"", b"    ", b"}", b"  });", b"import torch", b"  from x import y", b"#include <cuda.h>", b"# include <x>",
     b"else:",
     b"    return", b"#!POPCORN gpus B200", b"i++;", b"using namespace cute;"],
)  # fmt: skip
def test_lines_that_are_trivial_by_themselves(line: bytes) -> None:
    assert not telling(line)


@pytest.mark.parametrize(
    "line", [b"acc = tl.dot(a, b)", b"return x + y", b"elsewhere = 3", b"\xff\xfe abcd", b"#define TILE 64"]
)
def test_lines_that_tell_something(line: bytes) -> None:
    assert telling(line)


@pytest.mark.parametrize(
    ("users", "of", "expected"), [(10, 30, True), (11, 30, False), (99, 2000, True), (100, 2000, False), (5, 6, True)]
)
def test_lines_that_many_users_hold_are_trivial(users: int, of: int, expected: bool) -> None:
    assert telling(b"acc = tl.dot(a, b)", users, of) is expected


def program(*lines: bytes) -> list[int]:
    return [n for n in program_lines(pa.array(lines, pa.large_binary())).tolist() if n >= 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([b"a = 1", b"# said"], [b"a = 1"]),
        ([b"a = 1  ", b"", b"   "], [b"a = 1"]),
        ([b"a = 1  # why"], [b"a = 1"]),
        ([b"int a;  // why"], [b"int a;"]),
        ([b"// all of it", b"/* all */", b"int a;"], [b"int a;"]),
    ],
)
def test_comments_and_blank_lines_are_no_part_of_a_program(one: list[bytes], other: list[bytes]) -> None:
    both = program_lines(pa.array([*one, *other], pa.large_binary())).tolist()
    assert [n for n in both[: len(one)] if n >= 0] == [n for n in both[len(one) :] if n >= 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"#define A 1", b"#define A 2"),
        (b"  a = 1", b"a = 1"),
        (b'a = "# one"', b'a = "# two"'),
        (b"#pragma unroll 4", b"#pragma unroll 8"),
        (b"a = 7 // 2", b"a = 7"),
        (b"    // 2)", b"    // 4)"),
    ],
)
def test_what_may_matter_is_part_of_a_program(one: bytes, other: bytes) -> None:
    numbers = program_lines(pa.array([one, other], pa.large_binary())).tolist()
    assert numbers[0] != numbers[1]


BODY = [f"value_{n} = compute({n})" for n in range(20)]


def text(*changes: str, drop: int = 0) -> bytes:
    return "\n".join([*BODY[drop:], *changes]).encode()


@pytest.fixture
def kin(tmp_path: Path) -> Place:
    rows = [
        Sent(1, text(), "ann", at=1),
        Sent(2, text("more_of_it = 1"), "bob", at=2),
        Sent(3, text(drop=6), "cid", at=3),
        Sent(4, b"\n".join(b"other_%d = call(%d)" % (n, n) for n in range(20)), "dan", at=4),
        Sent(5, text(), "eve", at=5),
        Sent(6, text("# a remark that says nothing"), "fay", at=0),
        Sent(7, text("another_line = 2"), "ann", at=6),
    ]
    return Made(rows).place(tmp_path)


def test_relatives_are_named_by_how_close_they_are(kin: Place) -> None:
    at = kin.held.rows.loc[kin.held.rows["submission_id"] == 1, "submitted_at"].iloc[0]
    found = relatives(kin.store, kin.held, int(kin.store.text_of_row[0]), user_id="ann", at=at, least=0.5)
    assert found["user_name"].tolist()[0] == "Eve"
    named = found.set_index("user_name")
    assert "Ann" not in named.index
    assert "Dan" not in named.index
    assert named["kind"].to_dict() == {"Eve": "exact copy", "Fay": "same program", "Bob": "similar", "Cid": "similar"}
    assert named.loc["Eve", "similarity"] == 1.0
    assert named.loc["Eve", "shared_lines"] == 20
    assert named.loc["Cid", "shared_lines"] == 14
    assert 0.6 < named.loc["Cid", "similarity"] < 0.7
    assert named["earlier"].to_dict() == {"Eve": False, "Fay": True, "Bob": False, "Cid": False}


def test_an_equal_program_with_other_remarks_is_no_nearer_than_its_lines(tmp_path: Path) -> None:
    remarks = [f"# remark number {n} about nothing" for n in range(60)]
    place = Made([Sent(1, text(), "ann", at=1), Sent(2, text(*remarks), "bob", at=2)]).place(tmp_path)
    found = {
        least: relatives(place.store, place.held, int(place.store.text_of_row[0]), user_id="ann", at=None, least=least)
        for least in (0.1, 0.5)
    }
    assert found[0.1]["kind"].tolist() == ["same program"]
    assert 0.1 < found[0.1]["similarity"].iloc[0] < 0.5
    assert found[0.5].empty


def test_similarity_is_the_weighted_share_of_telling_lines(kin: Place) -> None:
    users: dict[str, set[str]] = {}
    texts = {
        row.submission_id: kin.store.text(int(kin.held.text[n])).decode().split("\n")
        for n, row in kin.held.rows.iterrows()
    }
    for _, row in kin.held.rows.iterrows():
        for line in set(texts[row.submission_id]):
            users.setdefault(line, set()).add(row.user_id)
    weight = {line: np.log2(1 + 6 / len(held)) for line, held in users.items()}
    found = relatives(kin.store, kin.held, int(kin.store.text_of_row[0]), user_id="ann", at=None, least=0.0)
    for row in found.itertuples():
        one, other = set(texts[1]), set(texts[row.submission_id])
        expected = sum(weight[line] for line in one & other) / sum(weight[line] for line in one | other)
        assert row.similarity == pytest.approx(expected, abs=1e-5)


def test_families_hold_what_is_alike_and_nothing_else(kin: Place) -> None:
    family = dict(
        zip(
            kin.held.rows["submission_id"],
            kin.store.table("families").column("family").to_numpy()[kin.held.text],
            strict=True,
        )
    )
    assert len({family[n] for n in (1, 2, 3, 5, 6, 7)}) == 1
    assert family[4] != family[1]


def test_steps_are_pairs_of_personal_bests(tmp_path: Path) -> None:
    rows = [
        Sent(1, b"a\nb\nc", "ann", at=1, score=10.0),
        Sent(2, b"a\nB\nc", "ann", at=2, score=11.0),
        Sent(3, b"a\nB\nc\nd", "ann", at=3, score=5.0),
        Sent(4, b"zz", "ann", at=4, score=4.9),
        Sent(5, b"zz", "ann", at=5, score=1.0, runner="H100"),
        Sent(6, b"q", "bob", at=1, score=8.0),
        Sent(7, b"q\nr", "bob", at=2, score=6.0),
        Sent(8, b"never", "bob", at=3, score=0.1, passed=False),
        Sent(9, None, "bob", at=4, score=4.8),
        Sent(10, b"q\nr\ns", "bob", at=5, score=2.4),
    ]
    place = Made(rows).place(tmp_path)
    every = place.held.on_board(None, None, None)
    found = steps([(place.store, every)], least_gain=0.1, limit=10)
    shown = found[["user_name", "before_id", "after_id", "gain"]].to_numpy().tolist()
    assert shown == [["Ann", 1, 3, 0.5], ["Bob", 9, 10, 0.5], ["Bob", 6, 7, 0.25], ["Bob", 7, 9, pytest.approx(0.2)]]
    # A best without a text is a best all the same; only what changed is not known.
    assert found["changed_lines"].tolist() == [2, pd.NA, 1, pd.NA]
    assert len(personal_bests(every)) == 5
    assert set(place.held.on_board("gemm", "B200", ("bob",))["submission_id"]) == {6, 7, 8, 9, 10}
