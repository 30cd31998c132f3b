"""Values that honest and hostile files hold, on every page: shown as well as can be, and no page fails or dawdles."""

import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from kbdash.view import TABS
from tests.app.conftest import open_app, words

FILE = "odd_submissions.parquet"
LONG = "N" * 1_000_000
ROWS = 60


def put(table: pa.Table, **columns: list[object]) -> pa.Table:
    """The table with these columns in the place of its own."""
    for name, values in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values, table.schema.field(name).type))
    return table


def nobody_ran(table: pa.Table) -> pa.Table:
    """A board that has submissions and no run yet."""
    none = [None] * len(table)
    return put(table, runner=none, score=none, passed=none, status=["pending"] * len(table))


def no_times(table: pa.Table) -> pa.Table:
    """Submissions without any time of day."""
    return put(table, submission_time=[None] * len(table))


def huge_scores(table: pa.Table) -> pa.Table:
    """Every other score near the largest number there is, which overflows in the unit of the others."""
    return put(table, score=[1e-5 if number % 2 else 1e302 * (1 + number) for number in range(len(table))])


def null_ids(table: pa.Table) -> pa.Table:
    """Every other submission without an id."""
    ids = table["submission_id"].to_pylist()
    return put(table, submission_id=[None if number % 2 else id_ for number, id_ in enumerate(ids)])


def long_names(table: pa.Table) -> pa.Table:
    """Names and ids of a megabyte."""
    few = [LONG if number < 3 else f"user-{number % 7}" for number in range(len(table))]
    return put(table, user_name=few, user_id=few, file_name=few)


def null_names(table: pa.Table) -> pa.Table:
    """Users without name and id."""
    none = [None] * len(table)
    return put(table, user_name=none, user_id=none, file_name=none)


ODD: dict[str, Callable[[pa.Table], pa.Table]] = {
    function.__name__: function for function in (nobody_ran, no_times, huge_scores, null_ids, long_names, null_names)
}


@pytest.fixture(scope="module")
def rows(sample_folder: Path) -> pa.Table:
    """A few ordinary rows of one problem."""
    return pq.read_table(sample_folder / "trimul_submissions.parquet").slice(0, ROWS)


@pytest.fixture
def dataset(environment: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[pa.Table], None]:
    """Makes a file of these rows the whole dataset."""

    def write(table: pa.Table) -> None:
        pq.write_table(table, tmp_path / FILE)
        environment.setenv("KBDASH_SOURCE", str(tmp_path))

    return write


def unbroken(app: AppTest) -> bool:
    """Whether the program itself did not fail."""
    return not app.exception and "Something went wrong" not in words(app)


@pytest.mark.filterwarnings("error:overflow")  # a chart of infinities is no failure, and no chart
@pytest.mark.parametrize("kind", ODD)
def test_no_page_fails(kind: str, rows: pa.Table, dataset: Callable[[pa.Table], None]) -> None:
    dataset(ODD[kind](rows))
    begin = time.process_time()
    assert unbroken(open_app())
    for tab in TABS:
        assert unbroken(open_app("odd", tab=tab)), tab
    assert unbroken(open_app("odd", tab="distribution", chart="ecdf", mine="30us"))
    first = rows["user_id"][0].as_py()
    for page, params in (
        ("user", {"user": first}),
        ("user", {"find": "a"}),
        ("user", {"find": "N"}),
        ("user", {"find": "user"}),
        ("submission", {"id": str(rows["submission_id"][0].as_py())}),
        ("ladder", {"user": first, "problem": "trimul", "competition": "odd"}),
        ("compare", {"a": str(rows["submission_id"][0].as_py()), "b": "1"}),
    ):
        assert unbroken(open_app(page, **params)), (page, params)
    assert time.process_time() - begin < 60


@pytest.mark.parametrize("column", ["problem_name", "runner"])
def test_a_hundred_thousand_problems_or_runners_do_not_hold_up_a_page(
    column: str, rows: pa.Table, dataset: Callable[[pa.Table], None]
) -> None:
    ordinary = rows.slice(0, 10)
    many = pa.concat_tables([ordinary] * 5000)
    names: list[object] = [f"{number:06}{'x' * 90}" for number in range(len(many))]
    ids: list[object] = list(range(len(many)))
    dataset(
        put(
            many,
            submission_id=ids,
            leaderboard_id=ids if column == "problem_name" else [1] * len(many),
            **{column: names},
        )
    )
    assert unbroken(open_app())  # opens the file
    for page, params in (("", {}), ("odd", {}), ("odd", {"problem": str(names[-1])}), ("submission", {"id": "17"})):
        begin = time.process_time()
        app = open_app(page, **params)
        assert unbroken(app), (page, params)
        assert time.process_time() - begin < 10, (page, params)


def test_a_time_with_an_endless_exponent_is_no_time(sample: Callable[..., AppTest]) -> None:
    for text in ("1e1000001", "1e-1000001", "1e99999999999999999999us", "9" * 5000):
        app = sample("nvfp4", tab="distribution", mine=text)
        assert unbroken(app), text[:20]
        assert "mine=" in words(app).replace("\\", "").replace("\u2060", "")
