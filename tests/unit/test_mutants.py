"""The tool behind `make mutants`: it changes one thing at a time, and the forked process sees the change."""

import gc
import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests import workers
from tests.mutants import runs, seen
from tests.mutants.__main__ import known_equal, named_tests, targets
from tests.mutants.changes import of_python, of_sql, places_of
from tests.mutants.functions import rebound_of, swap_of
from tests.mutants.kept import Kept
from tests.mutants.seen import Seen

TESTS = Path(__file__).resolve().parents[1]
HERE = "tests/unit/test_mutants.py"
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
def test_a_process_sees_the_changed_module_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_noticed: bool
) -> None:
    module = tmp_path / "changed_module.py"
    module.write_text("answer = 42")
    test = tmp_path / "test_it.py"
    test.write_text("import changed_module\n\ndef test_it():\n    assert changed_module.answer == 42\n")
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    runs.copied.cache_clear()
    assert runs.is_noticed(module, text, ["test_it.py"]) == is_noticed
    assert (runs.copied() / module.name).read_text() == module.read_text() == "answer = 42"
    runs.copied.cache_clear()


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    file, changes = Path("a.sql"), of_sql("select min(a) from b where c < 2")
    kept = Kept(tmp_path, is_resumed=False)
    kept.keep(file, changes[0], noticed=True)
    kept.keep(file, changes[1], noticed=False)
    mutants = [(file, change) for change in changes]
    known, rest = Kept(tmp_path, is_resumed=True).split(mutants)
    assert known == [(file, changes[0], True), (file, changes[1], False)]
    assert rest == mutants[2:]
    known, rest = Kept(tmp_path, is_resumed=True, is_again=True).split(mutants)
    assert (known, rest) == ([(file, changes[0], True)], mutants[1:])
    assert Kept(tmp_path, is_resumed=False).split([(file, changes[0])])[0] == []


def test_the_tests_that_call_a_function_come_quickest_first_and_not_without_end(tmp_path: Path) -> None:
    here, there = ("x.py", "f"), ("y.py", "g")
    notes = tmp_path / "seen.pickle"
    entries = {
        "a": (20.0, {here}),
        "b": (1.0, {here, there}),
        "c": (15.0, {here}),
        "d": (0.1, {there}),
        "e": (0.1, None),
    }
    (tmp_path / "cut").write_bytes(pickle.dumps(("z", Seen(1.0, frozenset()))))
    with notes.open("wb") as file:
        for name, (seconds, called) in entries.items():
            file.write(pickle.dumps((seen.mark(f"{HERE}::{name}"), Seen(seconds, called and frozenset(called)))))
        file.write((tmp_path / "cut").read_bytes()[:-5])
    book, names = seen.read(notes), [f"{HERE}::{name}" for name in "abcdef"]
    assert len(book) == 5
    assert seen.read(notes) == book
    assert [name[-1] for name in seen.telling(book, names, here)] == ["b", "c"]
    whole = seen.telling(book, names, TESTS.parent / "y.py")
    assert [name[-1] for name in whole] == ["d", "b", "c"], "a class needs no call"


def test_a_constant_changes_wherever_it_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    from kbdash.web.server import limits

    file = Path(limits.__file__)
    changed = file.read_text().replace("DESCRIPTORS_APART = 96", "DESCRIPTORS_APART = 97")
    monkeypatch.setattr(limits, "DESCRIPTORS_APART", limits.DESCRIPTORS_APART)  # put back afterwards
    rebound = rebound_of(file, changed)
    assert rebound
    rebound.make()
    assert limits.DESCRIPTORS_APART == 97
    assert rebound_of(file, file.read_text().replace("per_second: float", "per_second: int")) is None


def test_the_named_tests_every_target_exist() -> None:
    found = tomllib.loads((TESTS / "mutants" / "targets.toml").read_text())["target"]
    assert [name for target in found for name in target["files"] if not list(TESTS.parent.glob(name))] == []
    for test in (test for target in found for test in (*named_tests(target), *target.get("without", ()))):
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
        for change in (of_sql if file.endswith(".sql") else places_of)((TESTS.parent / file).read_text())
    }
    assert known_equal() - made == set()


def test_a_folder_that_nobody_listed_comes_last() -> None:
    assert workers.turn("elsewhere", "test_x.py") > workers.turn("unit", "test_x.py") > workers.turn("e2e", "test_x.py")


def test_tests_that_share_something_dear_go_to_one_worker() -> None:
    first, second = ({workers.scope(f"tests/{name}::test_x[a/b::c]") for name in files} for files in workers.SERVED)
    assert len(first) == len(second) == len(first - second) == 1
    assert workers.scope("tests/app/test_links.py::test_x") == "tests/app/test_links.py", "another file of that name"
    assert workers.scope("tests/e2e/test_code.py::test_x") == "tests/e2e/test_code.py::test_x"
    assert workers.scope(f"tests/e2e/{workers.TOGETHER[0]}::test_x") == f"tests/e2e/{workers.TOGETHER[0]}"


def test_the_files_and_tests_that_workers_know_exist() -> None:
    named = [TESTS / folder / file for folder, files in workers.FIRST.items() for file in files]
    named += [TESTS / "unit" / name for name in workers.SLOW if name.endswith(".py")]
    named += [TESTS / name for files in workers.SERVED for name in files]
    assert [path.name for path in named if not path.is_file()] == []
    texts = "".join(file.read_text() for file in (TESTS / "unit").glob("test_*.py"))
    assert [name for name in workers.SLOW if not name.endswith(".py") and f"def {name}(" not in texts] == []


def test_a_function_is_changed_also_where_garbage_collection_leaves_it_out(tmp_path: Path) -> None:
    """As in every run of the tests: what was made before the first of them is frozen."""
    file = tmp_path / "one.py"
    file.write_text("def one():\n    return 1\n")
    loaded: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), loaded)
    gc.freeze()
    try:
        swap = swap_of(file, "def one():\n    return 2\n")
        assert swap is not None
        swap.make()
    finally:
        gc.freeze()
    assert loaded["one"]() == 2
