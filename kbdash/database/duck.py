"""The DuckDB connection: opened once, configured, locked down."""

from collections.abc import Sequence
from datetime import date, datetime

import duckdb

from kbdash.dataset.config import Settings
from kbdash.dataset.http.filesystem import SourceFileSystem
from kbdash.dataset.source import Source

MATERIALISED = "materialised"
"""An in-memory database for copies of rows; compressed, half a million rows take ten megabytes."""


def fresh_connection() -> duckdb.DuckDBPyConnection:
    """A connection to an empty database, with all settings that need no source."""
    connection = duckdb.connect(":memory:")
    connection.execute(f"attach ':memory:' as {MATERIALISED} (compress)")
    _set(
        connection,
        TimeZone="'UTC'",
        threads="1",  # most files have one row group, so a second thread would have nothing to do
        enable_external_file_cache="false",  # our filesystem caches the bytes, and can drop damaged ones
        parquet_metadata_cache="true",
        temp_directory="''",
        allow_persistent_secrets="false",
        autoinstall_known_extensions="false",
        autoload_known_extensions="false",
        python_enable_replacements="false",
    )
    return connection


def lock(connection: duckdb.DuckDBPyConnection, source: Source, settings: Settings) -> None:
    """Restrict the connection to reading this source, and lock its configuration for good."""
    connection.register_filesystem(SourceFileSystem(source.bytes))
    addresses = ", ".join(quoted(address) for address in source.bytes.addresses)
    _set(
        connection,
        memory_limit=quoted(settings.memory_limit),
        allowed_paths=f"[{addresses}]",
        enable_external_access="false",
        lock_configuration="true",
    )


def _set(connection: duckdb.DuckDBPyConnection, **values: str) -> None:
    """Set these, in this order, for all sessions: every question runs on a cursor, which is a session of its own."""
    connection.execute(";".join(f"set global {name} = {value}" for name, value in values.items()))


def quoted(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def literal(value: object) -> str:
    """A value as SQL writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date | datetime):
        return quoted(value.isoformat())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(literal(item) for item in value)}]"
    return quoted(str(value))
