"""Every question, in every format, through the real server: the rows are those of the library."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_httpfs
import httpx2
import pandas as pd
import pyarrow.parquet as pq
import pytest

from kbdash.api import address
from kbdash.database.questions import EVERY_QUESTION
from kbdash.engine import KernelBot
from tests.api import asked
from tests.api.conftest import Ask


@pytest.fixture(params=asked.NAMES, scope="module")
def told(request: pytest.FixtureRequest, kb: KernelBot, store: None) -> tuple[Any, dict[str, Any], pd.DataFrame]:
    """A question, its arguments, and what the library answers."""
    question = EVERY_QUESTION[request.param]
    arguments = asked.arguments(kb, question)
    frame = kb.ask(question.name, **arguments)
    assert len(frame)
    return question, arguments, frame


def get(ask: Ask, question: Any, arguments: dict[str, Any], format_: str) -> httpx2.Response:
    answer = ask(address.path(question, arguments, format_))
    assert answer.status_code == 200, answer.text
    return answer


def test_links_equal_the_librarys_frame(ask: Ask, kb: KernelBot, told: Any) -> None:
    question, arguments, frame = told
    expected = asked.rows(frame, question)
    names = [column.name for column in question.columns]

    body = get(ask, question, arguments, "json").json()
    assert body["rows"] == expected
    assert [column["name"] for column in body["columns"]] == names
    assert body["source"] == {
        "dataset": kb.source.dataset, "commit": kb.source.commit, "licence": kb.source.licence, "sample": False,
    }  # fmt: skip

    file = pq.read_table(io.BytesIO(get(ask, question, arguments, "parquet").content))
    assert file.column_names == names
    assert asked.rows(file.to_pandas(), question) == expected
    assert file.schema.metadata[b"kbdash.commit"].decode() == kb.source.commit

    text = get(ask, question, arguments, "csv").content
    cells = pd.read_csv(io.BytesIO(text), dtype=str, keep_default_na=False)
    assert list(cells.columns) == names
    read = [{c.name: asked.cell(row[c.name], c) for c in question.columns} for row in cells.to_dict("records")]
    # An empty text and a missing one are the same in CSV.
    assert read == [{name: None if value == "" else value for name, value in row.items()} for row in expected]


def test_headers_tell_commit_rows_and_file_name(ask: Ask, kb: KernelBot, told: Any) -> None:
    question, arguments, frame = told
    for format_ in address.FORMATS:
        headers = get(ask, question, arguments, format_).headers
        assert headers["kbdash-commit"] == kb.source.commit
        assert headers["kbdash-rows"] == str(len(frame))
        assert headers["content-disposition"].endswith(f'_{kb.source.version[:7]}.{format_}"')
        assert "kbdash-sample" not in headers
        assert "kbdash-truncated" not in headers


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of somebody else, which can read over HTTP."""
    with duckdb.connect() as connection:
        package = Path(duckdb_extension_httpfs.__file__).parent
        connection.execute(f"load '{next(package.rglob('httpfs.duckdb_extension'))}'")
        yield connection


def test_duckdb_reads_them_over_http(server: str, told: Any, elsewhere: duckdb.DuckDBPyConnection) -> None:
    question, arguments, frame = told
    for reader, format_ in (("read_parquet", "parquet"), ("read_csv", "csv")):
        link = server + address.path(question, arguments, format_)
        answer = elsewhere.execute(f"from {reader}($link)", {"link": link})
        assert [column[0] for column in answer.description] == [column.name for column in question.columns]
        assert len(answer.to_arrow_table()) == len(frame)


def test_synthetic_rows_say_so_in_every_body(ask_sample: Ask, told: Any) -> None:
    question, arguments, frame = told
    json_answer = get(ask_sample, question, arguments, "json")
    assert json_answer.headers["kbdash-sample"] == "synthetic"
    assert json_answer.json()["source"]["sample"] is True
    assert {row["sample"] for row in json_answer.json()["rows"]} == {"synthetic"}
    for format_, reader in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        answer = get(ask_sample, question, arguments, format_)
        read = reader(io.BytesIO(answer.content))
        assert read["sample"].tolist() == ["synthetic"] * len(frame)
        assert answer.headers["content-disposition"].endswith(f'_sample.{format_}"')
