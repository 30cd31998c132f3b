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
    """A connection to an empty database."""
    connection = duckdb.connect(":memory:")
    connection.execute(f"attach ':memory:' as {MATERIALISED} (compress)")
    return connection


def lock(connection: duckdb.DuckDBPyConnection, source: Source, settings: Settings) -> None:
    """Restrict the connection to reading this source, and lock its configuration for good."""
    connection.register_filesystem(SourceFileSystem(source.bytes))
    addresses = ", ".join(quoted(address) for address in source.bytes.addresses)
    for name, value in (
        ("TimeZone", "'UTC'"),
        # Most files have one row group, so a second thread would have nothing to do.
        ("threads", "1"),
        # Our filesystem caches the bytes, and can drop damaged ones.
        ("enable_external_file_cache", "false"),
        ("parquet_metadata_cache", "true"),
        ("memory_limit", quoted(settings.memory_limit)),
        ("temp_directory", "''"),
        ("allow_persistent_secrets", "false"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
        ("python_enable_replacements", "false"),
        ("allowed_paths", f"[{addresses}]"),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        # Every question runs on a cursor, which is a new session and sees only global settings.
        connection.execute(f"set global {name} = {value}")


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
