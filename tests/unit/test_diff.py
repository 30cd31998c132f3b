"""Diffs: applying one to the left text gives the right one, counts add up, and hard cases stay bounded."""

import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbdash.code.diff import Diff, compare, unified
from kbdash.code.matching import WORK_LIMIT, common_lines

FEW_LINES = st.lists(st.sampled_from(["", "a", "b", "  c", "d"]), max_size=30)
ANY_TEXT = st.text(max_size=200)
MANY = 10_000


def text_of(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def applied(diff: Diff, left: list[str]) -> list[str]:
    """The right text, made from the left one and the diff alone; the diff must tell the truth about the left one."""
    result: list[str] = []
    taken = 0
    for line in diff.lines:
        if line.kind != "added":
            assert line.left_no == taken + 1
            taken += line.count
        if line.kind in ("same", "removed"):
            assert left[line.left_no - 1] == line.text
        if line.kind == "fold":
            assert line.right_no == len(result) + 1
            result += left[line.left_no - 1 : line.left_no - 1 + line.count]
        elif line.kind != "removed":
            assert line.right_no == len(result) + 1
            result.append(line.text)
    assert taken == len(left)
    return result


@given(FEW_LINES, FEW_LINES, st.integers(0, 4))
@example([], [], 3)
@example(["a"], [], 3)
@example([], ["a"], 0)
def test_applying_the_diff_gives_the_right_text_and_the_counts_add_up(left, right, context):
    diff = compare(text_of(left), text_of(right), context)
    assert applied(diff, left) == right
    kinds = [line.kind for line in diff.lines]
    assert (diff.removed, diff.added) == (kinds.count("removed"), kinds.count("added"))
    assert len(left) - diff.removed == len(right) - diff.added
    assert (diff.added + diff.removed == 0) == (left == right)
    assert not diff.coarse


@given(ANY_TEXT, ANY_TEXT)
def test_any_two_texts_can_be_compared(left, right):
    diff = compare(left, right)
    plain = [text.replace("\r\n", "\n").replace("\r", "\n") for text in (left, right)]
    lines = [text.removesuffix("\n").split("\n") if text else [] for text in plain]
    assert applied(diff, lines[0]) == lines[1]


@pytest.mark.parametrize(
    ("left", "right", "kinds"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", ["same", "removed", "added", "same"]),
        ("a\n", "a\nb\n", ["same", "added"]),
        ("a\nb\n", "b\n", ["removed", "same"]),
        ("", "a\n", ["added"]),
        (None, None, []),
    ],
)
def test_small_changes(left, right, kinds):
    assert [line.kind for line in compare(left, right).lines] == kinds


def test_a_moved_unique_line_anchors_the_diff():
    left = ["{", "one()", "}", "{", "two()", "}"]
    right = ["{", "zero()", "}", *left]
    diff = compare(text_of(left), text_of(right))
    assert (diff.added, diff.removed) == (3, 0)


def test_a_unique_line_counts_more_than_many_repeated_ones():
    assert common_lines(["only", "x", "x", "x"], ["x", "x", "x", "only"]).pairs == [(0, 3)]


def test_unchanged_runs_are_folded_beyond_the_context():
    left = [f"line {number}" for number in range(100)]
    right = [*left[:50], "changed", *left[51:]]
    diff = compare(text_of(left), text_of(right))
    folds = [line for line in diff.lines if line.kind == "fold"]
    assert [fold.text for fold in folds] == ["… 47 unchanged lines", "… 46 unchanged lines"]
    assert [(fold.left_no, fold.right_no, fold.count) for fold in folds] == [(1, 1, 47), (55, 55, 46)]
    assert len(diff.lines) == 2 + 6 + 2


def test_a_single_line_is_not_folded_away():
    left = [f"line {number}" for number in range(5)]
    diff = compare(text_of(left), text_of([*left[:4], "end"]))
    assert [line.kind for line in diff.lines] == ["same"] * 4 + ["removed", "added"]


def test_equal_texts_fold_to_one_line():
    diff = compare("a\n" * 214, "a\n" * 214)
    assert [line.text for line in diff.lines] == ["… 214 unchanged lines"]
    assert unified(diff) == ""


def test_line_ends_alone_are_a_note_and_no_change():
    diff = compare("a\r\nb\r\n", "a\nb\n")
    assert (diff.added, diff.removed) == (0, 0)
    assert diff.notes == ("the line ends differ (CRLF and LF), which is not shown as a change",)


def test_missing_texts_and_missing_last_line_ends_are_noted():
    assert compare(None, "a\n").notes == ("there is no left text",)
    assert compare("a", "a\n").notes == ("the left text has no line end after its last line",)
    assert compare("", "").notes == compare("", "a\r\n").notes == compare("a\r\n", "").notes == ()


def test_only_line_ends_separate_lines():
    """An editor and the code view do not count form feeds or Unicode separators as line ends either."""
    assert compare("a\x0cb\u2028c\n", "").removed == 1


def test_very_long_lines_are_compared_whole():
    long = "x" * 400_000
    changed, same = compare(f"{long}1\n", f"{long}2\n"), compare(f"{long}\n", f"{long}\n")
    assert (changed.added, changed.removed) == (1, 1)
    assert (same.added, same.removed) == (0, 0)


@pytest.mark.parametrize("context", [0, 1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_unified_diff_is_a_patch_that_works(tmp_path: Path, seed: int, context: int):
    chance = random.Random(seed)
    left = [chance.choice(["a", "b", "", "unique " + str(number)]) for number in range(60)]
    right = [line if chance.random() < 0.8 else f"new {line}" for line in left if chance.random() < 0.9]
    (tmp_path / "code").write_text(text_of(left))
    patch = "--- code\n+++ code\n" + unified(compare(text_of(left), text_of(right), context))
    git = shutil.which("git")
    assert git is not None
    command = [git, "apply", "--unidiff-zero", "-p0", "-"]
    subprocess.run(command, input=patch, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "code").read_text() == text_of(right)


@pytest.mark.parametrize(
    ("left", "right", "head"),
    [
        ("a\nb\nc\nd\n", "a\nb\nx\nc\nd\n", "@@ -2,0 +3,1 @@"),
        ("a\nb\nx\nc\nd\n", "a\nb\nc\nd\n", "@@ -3,1 +2,0 @@"),
        ("", "a\n", "@@ -0,0 +1,1 @@"),
    ],
)
def test_an_empty_range_names_the_line_before_it(left: str, right: str, head: str):
    assert unified(compare(left, right, 0)).splitlines()[0] == head


def hard_cases() -> dict[str, tuple[list[str], list[str]]]:
    chance = random.Random(3)
    unique = [f"line {number}" for number in range(MANY)]
    few, other = ([chance.choice("abcdefghij") for _ in range(MANY)] for _ in range(2))
    return {
        "nothing in common": (unique, [f"other {number}" for number in range(MANY)]),
        "all the same": (["x"] * MANY, ["x"] * (MANY - 1)),
        "reversed": (unique, unique[::-1]),
        "shuffled": (unique, chance.sample(unique, MANY)),
        "few different lines": (few, other),
        "few different lines reversed": (few, few[::-1]),
        "periodic": (["a", "b"] * (MANY // 2), ["b", "a", "a"] * (MANY // 3)),
        "no line unique": (unique[: MANY // 2] * 2, unique[: MANY // 2][::-1] * 2),
    }


@pytest.mark.parametrize("case", hard_cases())
def test_hard_cases_take_bounded_work(case: str):
    left, right = hard_cases()[case]
    common = common_lines(left, right)
    # The bound is looked at after each step; a step takes at most a look at every line.
    assert common.work <= WORK_LIMIT + 4 * MANY
    assert [left[at] for at, _ in common.pairs] == [right[at] for _, at in common.pairs]
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(common.pairs))


def test_repeated_lines_that_one_side_alone_has_are_no_work():
    many, one = ["a", *["x"] * 1200, "b"], ["c", "x", "d"]
    assert not common_lines(many, one).coarse
    assert not common_lines(one, many).coarse


def test_long_texts_of_repeated_lines_that_differ_little_are_no_work():
    common = common_lines(["a", *["x", "y"] * 600, "b"], ["c", *["y", "x"] * 600, "d"])
    assert (len(common.pairs), common.coarse) == (1199, False)


def test_what_is_too_much_work_is_said_to_be_coarse():
    left, right = hard_cases()["few different lines"]
    diff = compare(text_of(left), text_of(right))
    assert diff.coarse
    assert "the texts differ too much to line up all of them" in diff.notes
    assert applied(diff, left) == right


def test_scattered_edits_in_a_large_text_are_found_exactly():
    left = [f"line {number}" for number in range(MANY)]
    right = ["new" if number % 50 == 0 else line for number, line in enumerate(left)]
    diff = compare(text_of(left), text_of(right))
    assert (diff.added, diff.removed, diff.coarse) == (200, 200, False)
