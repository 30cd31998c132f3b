"""The tool behind `make mutants`: it changes one thing at a time, and the forked process sees the change."""

import tomllib
from pathlib import Path

import pytest

from tests import workers
from tests.mutants import runs
from tests.mutants.__main__ import known_equal, targets
from tests.mutants.changes import of_python, of_sql

TESTS = Path(__file__).resolve().parents[1]
SQL_FILES = TESTS.parent / "kbdash/database/sql"
SQL = "-- min(x) and max(y)\nselect min(a) over (partition by u, r order by t desc) from b where c and d < 2 -- 1 + 1"


def test_every_rule_changes_one_place_of_sql() -> None:
    became = {(change.kind, change.became.partition(" --")[0]) for change in of_sql(SQL)}
    rest = " over (partition by u, r order by t desc) from b"
    assert became == {
        ("extreme", f"select max(a){rest} where c and d < 2"),
        ("partition key", "select min(a) over (partition by  r order by t desc) from b where c and d < 2"),
        ("partition key", "select min(a) over (partition by u order by t desc) from b where c and d < 2"),
        ("order key", "select min(a) over (partition by u, r  ) from b where c and d < 2"),
        ("order", "select min(a) over (partition by u, r order by t) from b where c and d < 2"),
        ("condition", f"select min(a){rest} where true and d < 2"),
        ("logic", f"select min(a){rest} where c or d < 2"),
        ("condition", f"select min(a){rest} where c and true"),
        ("bound", f"select min(a){rest} where c and d <= 2"),
        ("number", f"select min(a){rest} where c and d < 3"),
    }


@pytest.mark.parametrize(
    ("was", "became"),
    [
        ("coalesce(f(a, b), 0) = c", {"(f(a, b)) = c", "coalesce(f(a, b), 1) = c", "coalesce(f(a, b), 0) <> c"}),
        ("coalesce(a ^ 'x, y', 'z')", {"(a ^ 'x, y')"}),
        ("coalesce(a and b, 'z')", {"(a and b)", "coalesce(a or b, 'z')", "coalesce(a and true, 'z')"}),
        ("select * from t", set()),
        ("(order by a range between x)", {"( range between x)"}),
        ("case when a then b end", {"case when true then b end"}),
        ("a left join b using (x)", {"a join b using (x)"}),
        ("'1 < 2 and 3' || \"a * b\"", set()),
        ("$limit", set()),
    ],
)
def test_changes_of_an_expression(was: str, became: set[str]) -> None:
    assert {change.text for change in of_sql(was)} == became


def test_changes_of_python() -> None:
    changes = {change.text for change in of_python("x = a if a < 1 and not b else max(c, d)")}
    assert changes == {
        "x = a if False else max(c, d)",
        "x = a if True else max(c, d)",
        "x = a if a < 1 and (not b) else min(c, d)",
        "x = a if a < 1 or not b else max(c, d)",
        "x = a if not b else max(c, d)",
        "x = a if a < 1 else max(c, d)",
        "x = a if a <= 1 and (not b) else max(c, d)",
        "x = a if a < 2 and (not b) else max(c, d)",
        "x = a if a < 1 and (not not b) else max(c, d)",
    }


@pytest.mark.parametrize(("text", "is_noticed"), [("answer = 42", False), ("answer = 43", True)])
def test_a_process_sees_the_changed_module_and_nobody_else(tmp_path: Path, text: str, is_noticed: bool) -> None:
    module = tmp_path / "changed_module.py"
    module.write_text("answer = 42")
    test = tmp_path / "test_it.py"
    test.write_text("import changed_module\n\ndef test_it():\n    assert changed_module.answer == 42\n")
    assert runs.is_noticed(module, text, [str(test)]) == is_noticed
    assert module.read_text() == "answer = 42"


def test_the_tests_of_every_target_exist() -> None:
    found = tomllib.loads((TESTS / "mutants" / "targets.toml").read_text())["target"]
    assert [name for target in found for name in target["files"] if not list(TESTS.parent.glob(name))] == []
    for test in (test for target in found for test in target["tests"]):
        file, _, name = test.partition("::")
        assert f"def {name}" in (TESTS.parent / file).read_text(), test


def test_a_file_belongs_to_the_first_target_that_names_it() -> None:
    files = [file for target in targets([]) for file in target.files]
    assert len(files) == len(set(files))
    views, questions, *_ = targets(["/sql/"])
    assert {file.name for file in views.files} == {"ranking.sql"} | {file.name for file in SQL_FILES.glob("view_*.sql")}
    assert set(views.files) | set(questions.files) == set(SQL_FILES.glob("*.sql"))


def test_every_change_that_is_equal_in_effect_can_be_made() -> None:
    made = {
        (file, change.was, change.became)
        for file in {file for file, *_ in known_equal()}
        for change in (of_sql if file.endswith(".sql") else of_python)((TESTS.parent / file).read_text())
    }
    assert known_equal() - made == set()


def test_a_folder_that_nobody_listed_comes_last() -> None:
    assert workers.turn("elsewhere", "test_x.py") > workers.turn("unit", "test_x.py") > workers.turn("e2e", "test_x.py")


def test_the_files_that_workers_know_exist() -> None:
    named = [TESTS / folder / file for folder, files in workers.FIRST.items() for file in files]
    named += [TESTS / "unit" / file for file in workers.SLOW]
    assert [path.name for path in named if not path.is_file()] == []
