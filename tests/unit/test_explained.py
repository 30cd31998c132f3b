"""What is said of an error of DuckDB: only what concerns the bytes of a file blames the file."""

import duckdb
import pytest

from kbdash.database.failures import NeedsMemory, explained, of_file
from kbdash.errors import CorruptData, KbdashError, QueryRefused, QueryTimeout

STATEMENTS: dict[str, type[KbdashError]] = {
    "select timezone('X', now())": QueryRefused,
    "select 'x'::int": QueryRefused,
    "select x": QueryRefused,
    "selec 1": QueryRefused,
    "from read_parquet('/no/such/file.parquet')": CorruptData,
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_fails_is_not_a_damaged_file(statement: str) -> None:
    with pytest.raises(duckdb.Error) as failure:
        duckdb.connect().execute(statement).fetchall()
    told = explained(failure.value)
    assert type(told) is STATEMENTS[statement]
    assert ("not parquet" in str(told)) == isinstance(told, CorruptData)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(duckdb.InterruptException("x"), QueryTimeout), (duckdb.OutOfMemoryException("x"), NeedsMemory)],
)
def test_time_and_memory_are_no_fault_of_the_file(error: duckdb.Error, kind: type[KbdashError]) -> None:
    told = explained(error)
    assert type(told) is kind
    assert not isinstance(of_file(told, "a.parquet"), CorruptData)


def test_a_value_of_a_file_that_breaks_a_question_of_ours_is_told_as_its_own() -> None:
    told = of_file(explained(duckdb.ConversionException("Conversion Error: no number")), "a.parquet")
    assert isinstance(told, CorruptData)
    assert "a.parquet holds values that cannot be read (Conversion Error: no number)" in str(told)
