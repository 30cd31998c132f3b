"""The SQL console: a link runs a statement, within bounds, and says what it left out."""

import io
import json

import pandas as pd
import pytest

from kbdash.database.console.tables import EXAMPLES, TABLES
from kbdash.errors import QueryRefused
from kbdash.view import MAX_STATEMENT
from kbdash.web import console, share
from tests.app.conftest import Open, healthy, link, opened_engine, words


def test_a_link_runs_its_statement_and_a_long_answer_is_cut(sample: Open) -> None:
    app = sample("sql", q="select range as n, n % 3 as third from range(4000)", x="n", y="third")
    assert healthy(app)
    assert app.dataframe[0].value["n"].tolist() == list(range(1000))
    assert "Truncated" in words(app)
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert len(figure["data"][0]["y"]) == 1000 or figure["data"][0]["y"]
    assert 'kb.sql("""select range' in next(block.value for block in app.code if "import kbdash" in block.value)


def test_what_is_typed_goes_into_the_link_and_what_is_too_long_does_not(sample: Open) -> None:
    app = sample("sql")
    app.text_area[0].set_value("select 41 + 1 as a")
    app.button[0].click().run()
    assert link(app)["q"] == ["select 41 + 1 as a"]
    assert app.dataframe[0].value["a"].tolist() == [42]
    app.text_area[0].set_value(f"select 7 as a -- {'x' * MAX_STATEMENT}")
    app.button[0].click().run()
    assert "q" not in link(app)
    assert app.dataframe[0].value["a"].tolist() == [7]
    assert "too long for a link" in words(app)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("drop table submissions", "Only one SELECT"),
        ("from read_parquet('/etc/passwd')", "cannot be read here"),
        ("select code from submissions", "code"),
        ("selct 1", "not valid SQL"),
    ],
)
def test_what_is_refused_is_refused_with_the_reason(sample: Open, text: str, said: str) -> None:
    app = sample("sql", q=text)
    assert not app.exception
    assert not app.dataframe
    assert said in words(app)


def test_every_example_gives_rows_and_every_column_is_there(sample: Open) -> None:
    sample("sql")
    kb = opened_engine()
    for text in EXAMPLES.values():
        assert len(kb.sql(text))
    for table in TABLES:
        described = kb.sql(f"select * from {table.call or table.name} limit 1")
        assert set(described.columns) == {column.name for column in table.columns}, table.name


def test_files_hold_the_whole_answer_or_are_refused(sample: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    sample("sql")
    kb = opened_engine()
    text = "select range as n from range(3000)"
    whole = pd.DataFrame({"n": range(3000)})
    pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(console.answer_file(kb, text, share.csv))), whole)
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(console.answer_file(kb, text, share.parquet))), whole)
    monkeypatch.setattr(console, "TAKEN", console.Bounds(2999))
    with pytest.raises(QueryRefused, match="larger"):
        console.answer_file(kb, text, share.csv)


def test_copies_hold_the_statement_whatever_it_quotes(sample: Open) -> None:
    sample("sql")
    said = {}
    odd = "select '\"\"\"' as a, '\\n' as b -- \""
    program = console.python_text(odd, opened_engine())
    exec(program.replace("import kbdash", "").replace("print(", "said.update(a="), {"kbdash": _Asked, "said": said})
    assert said["a"] == odd
    assert console.shell_text("select 1\nSQL\nfrom x") == "duckdb <<'SQL_'\nselect 1\nSQL\nfrom x\nSQL_\n"


class _Asked:
    """Says what it was asked."""

    @classmethod
    def connect(cls, *_: str) -> "type[_Asked]":
        return cls

    @staticmethod
    def sql(text: str) -> str:
        return text
