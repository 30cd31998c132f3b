"""Lines, programs and techniques over a few numbers, each part asked alone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kbdash.content.building.numbering import LineNumbers
from kbdash.content.measures.program import Programs
from kbdash.content.store.layout import table_path
from kbdash.content.store.runs import Runs
from kbdash.content.store.spans import Spans, before, counts_of_groups
from kbdash.content.techniques.lexer import START, State, read_line
from kbdash.content.techniques.rules import alternatives
from kbdash.content.techniques.table import TABLE, current_facets
from tests.content.files import Made, Sent


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def test_a_line_keeps_its_number() -> None:
    numbers = LineNumbers.of(4)
    found = [numbers.number(ints(*places)).tolist() for places in ((2, 0, 2), (2, 1), (0, 2, 3))]
    assert (found, numbers.order.tolist()) == ([[0, 1, 0], [0, 2], [1, 0, 3]], [2, 0, 1, 3])


def test_the_rows_of_spans_are_counted_by_group() -> None:
    spans = Spans(np.array([0, 1, 1]), np.array([1, 0, 3]), np.array([3, 1, 4]))
    assert counts_of_groups(spans, before(np.array([True, True, False, True])), 3).tolist() == [1, 2, 0]


def test_a_program_is_the_same_wherever_its_lines_stand() -> None:
    """The lines 0 1 2 twice among others: in one run, and as two runs of which each begins elsewhere."""
    programs = Programs(ints(7, 8, 9, 5, 8, 9, 7))
    runs = Runs(ints(0, 6, 4, 1), ints(3, 1, 2, 2), np.array([0, 1, 3]))
    whole, pieces, other = programs.of_texts(runs).tolist()
    assert whole == pieces != other


def test_every_expression_is_in_one_alternative() -> None:
    expressions = [f"word{number}" for number in range(100)]
    assert "|".join(alternatives(expressions)) == "|".join(f"(?:{each})" for each in expressions)
    assert alternatives([]) == []


def test_a_table_of_the_current_rules_is_taken_as_it_is(tmp_path: Path) -> None:
    store = Made([Sent(1, b"y = a @ b")]).store(tmp_path)
    path = table_path(store.folder, TABLE)
    pq.write_table(current_facets(store.folder).slice(0, 0), path)
    assert current_facets(store.folder).num_rows == 0
    pq.write_table(pa.table(pq.read_table(path).replace_schema_metadata(None)), path)
    assert current_facets(store.folder).num_rows > 0


def test_whatever_is_given_to_an_assembler_is_assembly() -> None:
    state = read_line("import a", START)[1]
    assert "anything; else" in read_line('inline_asm_elementwise("anything; else")', state)[0]["asm"]
    assert "anything; else" not in read_line('elsewhere("anything; else")', state)[0]["asm"]
    inside = State(mode="cpp", quote='"""')
    assert "anything" in read_line('asm volatile("anything");', inside)[0]["asm"]
    assert "mov.u32 a, b;" in read_line('x = "mov.u32 a, b;";', inside)[0]["asm"]
    assert "anything" not in read_line('x = "anything";', inside)[0]["asm"]
    assert "mov.u32 a, b;" not in read_line('printf("mov.u32 a, b;");', inside)[0]["asm"]


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_texts_come_back_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    codes = [b"first\nline", None, b"second", b"", b"first\nline"]
    layout = {"use_dictionary": False, "column_encoding": {"code": encoding}}
    store = Made([Sent(number, code, at=number) for number, code in enumerate(codes)], layout).store(tmp_path)
    assert [store.cell(row, row) for row in range(len(codes))] == codes
