"""Load the ranking rule, and what it needs of the catalog, into a fresh connection."""

from collections.abc import Iterator, Sequence

import duckdb

from kbdash.database.competition_views import EMPTY, empty_rule_views, empty_runs, sql_text, view_of
from kbdash.database.duck import fresh_connection, literal
from kbdash.dataset import catalog
from kbdash.dataset.model import Board, FlagCase


def prepared_connection() -> duckdb.DuckDBPyConnection:
    """A connection with the catalog and the ranking rule. It needs no source, so it is made while one is opened."""
    connection = fresh_connection()
    for statement in catalog_statements():
        connection.execute(statement)
    return connection


def catalog_statements() -> Iterator[str]:
    """The SQL of the ranking rule, and of what it needs of the catalog."""
    boards = [board for competition in catalog.COMPETITIONS for board in competition.boards]
    yield from rule_statements(boards, catalog.FLAG_CASES)


def rule_statements(boards: Sequence[Board], reported: Sequence[FlagCase]) -> Iterator[str]:
    """The SQL of the ranking rule, and of what it needs to know about these boards and cases."""
    yield sql_text("view_values")
    yield "create or replace table boards (leaderboard_id bigint, name varchar, runner varchar)"
    yield from _rows("boards", [(b.id, b.name, b.runners[0]) for b in boards])
    yield "create or replace table other_hardware (gpu varchar, own_runner varchar, runner varchar)"
    yield from _rows("other_hardware", catalog.OTHER_HARDWARE)
    yield (f"create or replace macro is_impossible(score) as coalesce(score < {catalog.IMPOSSIBLE_SECONDS!r}, false)")
    # A macro, not a table: a join with every row would cost more than the question.
    floors = " ".join(f"when board = {board.id} then {board.floor!r}" for board in boards if board.floor)
    yield f"create or replace macro floor_of(board) as {f'case {floors} end' if floors else 'null::double'}"
    yield from _reports(reported)
    yield sql_text("view_submissions")
    # A table, because the view `submissions` gets its branches later.
    yield f"create or replace table {view_of('submissions', EMPTY)} as from submissions"
    yield from empty_runs()
    yield sql_text("ranking")
    yield from empty_rule_views()


def _reports(reported: Sequence[FlagCase]) -> Iterator[str]:
    """What is known about single submissions, one row each, so that joining it to the ranking adds no rows."""
    yield (
        "create or replace table known_flags (leaderboard_id bigint, submission_id bigint, runner varchar, "
        "kind varchar, reason varchar, source varchar)"
    )
    cases = [
        (case.leaderboard_id, case.submission_id, case.runner, case.kind, case.reason, case.source) for case in reported
    ]
    yield from _rows("known_flags", cases)
    yield (
        "create or replace table reports as select leaderboard_id, submission_id, "
        "list({runner: runner, kind: kind, reason: reason, source: source} order by kind, reason) as reports "
        "from known_flags group by all"
    )


def _rows(table: str, rows: Sequence[tuple[object, ...]]) -> Iterator[str]:
    """All rows in one statement: a statement per row took most of the time to open a source."""
    if rows:
        places = ",\n    ".join(f"({', '.join(literal(value) for value in row)})" for row in rows)
        yield f"insert into {table} values\n    {places}"
