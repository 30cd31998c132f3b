"""The tables of content stores in readers' SQL: views over their parquet files, read in place."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from kbdash.database.console.tables import Column, Table

PREFIX = "content_"
_COMPETITION = Column("competition", "varchar", "slug of the competition")
_LINE = Column("line_id", "integer", "number of the line")
_TEXT = Column("text_id", "integer", "number of the text")
CONTENT = (
    Table(
        "content_rows",
        "the text of each row of a data file; this and the next tables exist once a content store is at hand",
        (
            _COMPETITION,
            Column("file_row", "bigint", "row of the file: joins with submissions"),
            Column("submission_id", "bigint", "its submission"),
            Column("runner", "varchar", "the machine"),
            _TEXT,
        ),
    ),
    Table(
        "content_texts",
        "the distinct source texts",
        (
            _COMPETITION,
            _TEXT,
            Column("bytes", "bigint", "its length"),
            Column("lines", "integer", "how many lines it has"),
            Column("program", "bigint", "equal for texts that differ only in comments and blank lines"),
            Column("code_lines", "integer", "lines that do something"),
            Column("kernels", "integer", "lines that begin a kernel"),
            Column("num_warps", "integer", "the largest given in Triton; 0: none"),
            Column("num_stages", "integer", "the same"),
        ),
    ),
    Table(
        "content_facets",
        "the techniques that a text holds",
        (_COMPETITION, _TEXT, Column("facet", "varchar", "name of the technique")),
    ),
    Table(
        "content_lines",
        "the distinct lines of all texts",
        (_COMPETITION, _LINE, Column("line", "varchar", "the line; null if it is not UTF-8")),
    ),
    Table(
        "content_line_use",
        "which texts hold a line: the texts text_id to text_id + length - 1",
        (_COMPETITION, _LINE, _TEXT, Column("length", "integer", "how many texts")),
    ),
    Table(
        "content_origins",
        "who wrote a line first",
        (
            _COMPETITION,
            _LINE,
            Column("first_submission_id", "bigint", "the earliest submission that holds it"),
            Column("first_user_id", "varchar", "its user"),
            Column("first_at", "timestamp with time zone", "when it was sent (UTC)"),
            Column("users", "integer", "how many users hold it"),
            Column("submissions", "integer", "how many submissions hold it"),
        ),
    ),
    Table(
        "content_verdicts",
        "the rules of KernelGuard that match a text, of the texts it was asked about; no judgement",
        (
            _COMPETITION,
            _TEXT,
            Column("version", "varchar", "version of KernelGuard"),
            Column("status", "varchar", "clean, matched or timed out"),
            Column("rule", "varchar", "name of the rule; null if none matches"),
            Column("severity", "varchar", "how much the rule means"),
            Column("evidence", "varchar", "why it matches"),
            Column("lines", "integer[]", "lines that the evidence names"),
        ),
    ),
)


def content_views(stores: Mapping[str, Path]) -> list[str]:
    """The statements that define the tables over the stores of some competitions."""
    return [f"create temp view {table.name} as {body}" for table in CONTENT if (body := _body(table, stores))]


def _body(table: Table, stores: Mapping[str, Path]) -> str:
    name = f"{table.name.removeprefix(PREFIX)}.parquet"
    there = {slug: folder / name for slug, folder in stores.items() if (folder / name).exists()}
    return " union all ".join(_select(table, slug, path) for slug, path in there.items())


def _select(table: Table, slug: str, path: Path) -> str:
    columns = ", ".join(_read(table.columns[1:]))
    return f"select {_quoted(slug)} as competition, {columns} from read_parquet({_quoted(str(path))})"


def _read(columns: Iterable[Column]) -> Iterable[str]:
    """The columns; lines are stored as bytes."""
    return ("try(decode(line)) as line" if column.name == "line" else column.name for column in columns)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
