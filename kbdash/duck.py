"""DuckDB as we use it: opened once, set, locked; its errors in a reader's words."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

import duckdb

from kbdash import hub
from kbdash.config import Settings
from kbdash.errors import CorruptData, DataUnavailable, KbdashError, QueryRefused, QueryTimeout
from kbdash.source import Source

# All that may stand in FROM with arguments: rows made of nothing, and the macros of ranking.sql. Whatever else DuckDB
# offers there reads files (and curl resolves the dots of "<dataset>/../..", so the Hub's token would go along), runs
# text as SQL, or changes the process.
TABLE_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "submissions_of", "judged", "entries", "bests", "ranking"}
)
KEPT = "kept"
"""A database in memory for rows worth keeping; compressed, half a million take ten megabytes."""
_LOOK_SECONDS = 0.1
_IDLE_SECONDS = 30.0
_ADDRESS = re.compile(r"'([^']+)'")
# Errors of curl reach us as bare text; these words are in the texts of those that mean a lost connection.
_CURL = re.compile(r"connect|resolve|peer|partial file|timeout|SSL|HTTP|server|receiv|send", re.IGNORECASE)
_PASSING = {408, 429, 500, 502, 503, 504}


class Deadlines:
    """Interrupts statements that take too long. One thread watches them all: one for each took longer to start than
    many a statement to answer."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: dict[int, tuple[float, duckdb.DuckDBPyConnection]] = {}
        self._lock = threading.Lock()
        self._watching = False

    @contextmanager
    def watch(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Let the cursor run for so long."""
        with self._lock:
            self._running[id(cursor)] = (time.monotonic() + self._seconds, cursor)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, daemon=True, name="kbdash-deadlines").start()
        try:
            yield
        finally:
            with self._lock:
                del self._running[id(cursor)]

    def _watch(self) -> None:
        """Look now and then; the thread ends when there was nothing to watch for a while."""
        idle = 0.0
        while idle < _IDLE_SECONDS:
            time.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            with self._lock:
                for end, cursor in self._running.values():
                    if now > end:
                        cursor.interrupt()
                idle = 0.0 if self._running else idle + _LOOK_SECONDS
                self._watching = idle < _IDLE_SECONDS


def open_connection(source: Source, settings: Settings) -> duckdb.DuckDBPyConnection:
    """A connection that can read this source and nothing else, its configuration locked for good."""
    connection = duckdb.connect(":memory:")
    if source.kind == "hub":
        _load_httpfs(connection)
        for name, value in (
            ("enable_http_metadata_cache", "true"),
            ("httpfs_connection_caching", "true"),
            ("http_timeout", "5"),  # without a byte; a slow answer may take longer
            ("http_retries", "3"),
        ):
            connection.execute(f"set {name} = {value}")
    connection.execute("set allow_persistent_secrets = false")
    connection.execute(f"attach ':memory:' as {KEPT} (compress)")
    if source.kind == "hub" and source.token:
        connection.execute(
            f"create secret hub (type http, bearer_token {quoted(source.token)}, scope {quoted(source.prefix)})"
        )
    # The source is pinned to a commit, so what was read once need never be checked again.
    for name, value in (
        ("TimeZone", "'UTC'"),
        ("validate_external_file_cache", "'NO_VALIDATION'"),
        ("parquet_metadata_cache", "true"),
        ("memory_limit", quoted(settings.memory_limit)),
        ("temp_directory", "''"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
        ("python_enable_replacements", "false"),
        ("allowed_directories", f"[{quoted(source.prefix)}]"),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"set {name} = {value}")
    return connection


def _load_httpfs(connection: duckdb.DuckDBPyConnection) -> None:
    """Load the signed binary of the pinned wheel; without one for this platform ask DuckDB's own repository."""
    package = resources.files("duckdb_extension_httpfs")
    binary = package.joinpath("extensions", f"v{duckdb.__version__}", "httpfs.duckdb_extension")
    if binary.is_file():
        connection.execute(f"load {quoted(str(binary))}")
    else:
        connection.execute("install httpfs; load httpfs")


def quoted(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def reason_to_refuse(syntax_tree: str) -> str | None:
    """Why a reader's statement, as json_serialize_sql() parsed it, may not run; None for one harmless SELECT."""
    reached: list[str] = []

    def note(node: dict[str, Any]) -> dict[str, Any]:
        match node:
            case {"type": "TABLE_FUNCTION", "function": {"function_name": name}} if name.lower() not in TABLE_FUNCTIONS:
                reached.append(f"{name}()")
            case {"type": "BASE_TABLE", "table_name": name} if "/" in name or "\\" in name:
                reached.append(name)
        return node

    try:
        tree = json.loads(syntax_tree, object_hook=note)
    except RecursionError:
        return "That statement is nested too deeply."
    if tree["error"] and tree["error_type"] == "parser":
        return f"That is not valid SQL: {tree['error_message']}"
    if tree["error"] or len(tree["statements"]) != 1:
        return "Only one SELECT statement can be run here."
    return f"{reached[0]} cannot be read here, only the data of this source." if reached else None


def asked_to_wait(error: duckdb.HTTPException) -> float | None:
    """Seconds to wait before asking again, or None when asking again is useless."""
    if getattr(error, "status_code", 0) not in _PASSING:
        return None
    headers = {str(key).lower(): value for key, value in dict(getattr(error, "headers", {})).items()}
    asked = str(headers.get("retry-after", ""))
    return float(asked) if asked.isdigit() else None


def explained(error: duckdb.Error, source: Source) -> KbdashError:
    """What a reader should know about a DuckDB error."""
    first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    match error:
        case duckdb.InterruptException():
            return QueryTimeout("The question took too long and was stopped.", advice="Narrow it down.")
        case duckdb.PermissionException():
            return QueryRefused(first_line, advice="Only the dataset itself can be read.")
        case duckdb.OutOfMemoryException():
            return QueryTimeout("The question needs more memory than allowed.", advice="Narrow it down.")
        case duckdb.HTTPException():
            return _http_failure(error, source)
        case duckdb.ParserException() | duckdb.BinderException() | duckdb.CatalogException():
            return QueryRefused(str(error), advice="Mend the statement and run it again.")
        case duckdb.DataError():
            return QueryRefused(first_line, advice="Change the statement so that every value fits.")
        case duckdb.InvalidInputException() if ".parquet" not in first_line:
            return QueryRefused(first_line, advice="Mend the statement and run it again.")
        case duckdb.InvalidInputException():
            return damaged(first_line)
        case duckdb.IOException():
            return _lost_connection(first_line, source)
    return _lost_connection(first_line, source) if _CURL.search(first_line) else damaged(first_line)


def _lost_connection(what: str, source: Source) -> DataUnavailable:
    """What to say when no (whole) answer came; DuckDB passes on the words of curl."""
    where = source.endpoint or source.label
    if "Timeout was reached" in what:
        what = f"{where} did not answer in time."
    elif "partial file" in what:
        what = f"{where} broke off in the middle of an answer."
    elif _CURL.search(what):
        what = f"{where} cannot be reached."
    return DataUnavailable(what, advice="Check the network and retry in a moment.")


def damaged(what: str) -> CorruptData:
    """What to say about bytes that are not what a parquet file has there."""
    reason = re.sub(r"\s*(['\"]).+?\1", "", what.removeprefix("Invalid Input Error: "))
    return CorruptData(
        f"The file is not parquet, or not a whole one ({reason}).",
        advice="Retry; if it stays, the file itself is damaged.",
    )


def _http_failure(error: duckdb.HTTPException, source: Source) -> DataUnavailable:
    where = source.endpoint or source.label
    status, by_hub = getattr(error, "status_code", 0), True
    if "ETag" in str(error):
        return DataUnavailable(
            f"{where} replaced the file while it was open.", advice="Reload to open the newest revision."
        )
    address = _ADDRESS.search(str(error))
    if status in (0, 401, 403) and address and address[1].startswith(source.prefix):
        # DuckDB does not tell who refused, and keeps the number of some refusals to itself.
        status, by_hub = hub.answer_for(address[1], source.token)
    if 200 <= status < 400:
        return DataUnavailable(f"{where} failed to answer, and answers again now.", advice="Retry.")
    if status in (401, 403) and by_hub:
        return DataUnavailable(f"{where} refused access ({status}).", advice=hub.TOKEN_ADVICE)
    if status in (401, 403):
        return DataUnavailable(
            f"The signed link that {where} gave is refused ({status}).",
            advice="Retry in a moment; a proxy in between may also be the reason.",
        )
    if status == 404:
        return DataUnavailable(f"{where} no longer has this file (404).", advice="Reload to open the newest revision.")
    if status == 429:
        return DataUnavailable(
            f"{where} asks to slow down (429).", advice="Wait a minute, or set HF_TOKEN for a higher limit."
        )
    return DataUnavailable(f"{where} failed to answer ({status or 'no status'}).", advice="Retry in a moment.")
