"""Translate DuckDB's errors for readers: what happened, and what to do about it."""

import re
from collections.abc import Mapping

import duckdb

from kbdash.dataset.http.client import closed_source
from kbdash.errors import CorruptData, DataUnavailable, KbdashError, QueryRefused, QueryTimeout

_DAMAGED_ADVICE = "Retry. If it fails again, the file itself is damaged."


class NeedsMemory(QueryTimeout):
    """The statement needs more memory than is free now."""


def explained(error: duckdb.Error) -> KbdashError:
    """The reader's error for a DuckDB error."""
    first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    match error:
        case duckdb.InterruptException():
            return QueryTimeout("The question took too long and was stopped.", advice="Narrow it down.")
        case duckdb.PermissionException():
            return QueryRefused(first_line, advice="Only the dataset itself can be read.")
        case duckdb.OutOfMemoryException():
            return NeedsMemory("The question needs more memory than allowed.", advice="Narrow it down.")
        case duckdb.ParserException() | duckdb.BinderException() | duckdb.CatalogException():
            return QueryRefused(str(error), advice="Correct the statement and run it again.")
        case duckdb.ConnectionException():
            return closed_source()
        case duckdb.IOException():
            return damaged(first_line)
        case duckdb.InvalidInputException() if ".parquet" in first_line:
            return damaged(first_line)
        case duckdb.DatabaseError():
            return QueryRefused(first_line, advice="Correct the statement so that every value fits, and run it again.")
    return damaged(first_line)


def check_texts(parameters: Mapping[str, object]) -> None:
    """Raise QueryRefused for a text that cannot be bound (lone surrogates), so that no file is blamed for it."""
    for name, value in parameters.items():
        texts = value if isinstance(value, list | tuple) else [value]
        try:
            for text in texts:
                _ = text.encode() if isinstance(text, str) else b""
        except UnicodeEncodeError as error:
            raise QueryRefused(
                f"{name} contains characters that are not valid text (lone surrogates).", advice="Leave them out."
            ) from error


def of_file(error: KbdashError, name: str) -> DataUnavailable:
    """The error for a question of our own: its SQL is correct, so the file's values must be the cause."""
    if isinstance(error, DataUnavailable):
        return error if name in str(error) else type(error)(f"{name} cannot be read: {error}", advice=error.advice)
    if isinstance(error, QueryTimeout):
        what = str(error).removeprefix("The question ").removesuffix(".")
        return DataUnavailable(f"{name} cannot be read: a question about it {what}.", advice=error.advice)
    first_line = str(error).splitlines()[0]
    return CorruptData(f"{name} holds values that cannot be read ({first_line}).", advice=_DAMAGED_ADVICE)


def damaged(what: str) -> CorruptData:
    """The error for bytes that are not valid parquet."""
    reason = re.sub(r"\s*(['\"]).+?\1", "", what.removeprefix("Invalid Input Error: "))
    return CorruptData(
        f"The file is not parquet, or it is incomplete ({reason}).",
        advice=_DAMAGED_ADVICE,
    )
