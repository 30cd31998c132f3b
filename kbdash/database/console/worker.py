"""One statement in a process limited by the operating system; started by `asking`, never imported.

It knows nothing of kbdash: it reads one JSON line (the snapshot and the statement), writes the answer as an Arrow
stream to standard output and its outcome as a JSON line to standard error. DuckDB's own memory limit does not count
what list functions allocate, and its interrupt waits for them; the limits set here do count it and do not wait.
"""

import json
import resource
import sys
from typing import TypedDict

# pyarrow imports numpy if it can; nothing here needs it, and it takes a third of the time until this process is ready.
sys.modules["numpy"] = None  # type: ignore[assignment]

import duckdb  # noqa: E402
import pyarrow as pa  # noqa: E402

BATCH_ROWS = 2_048
LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "threads": "1",
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "allow_persistent_secrets": "false",
}


class Request(TypedDict):
    """What to run, on which file, within which limits."""

    statement: str
    snapshot: str
    folders: list[str]
    views: list[str]
    rows: int
    bytes: int
    memory_limit: str
    address_space: int
    cpu_seconds: int


def limit(kind: int, value: int) -> None:
    """Lower a limit of this process for good; keeps a limit that is lower already."""
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def answer(request: Request, out: pa.NativeFile) -> dict[str, object]:
    """Write the rows of the statement, up to the limit; returns the outcome."""
    config = {**LOCKED, "memory_limit": request["memory_limit"]}
    connection = duckdb.connect(request["snapshot"], read_only=True, config=config)
    connection.execute("set global TimeZone = 'UTC'")
    connection.execute("set allowed_directories = $folders", {"folders": request["folders"]})
    connection.execute("set enable_external_access = false")
    for view in request["views"]:
        connection.execute(view)
    connection.execute("set lock_configuration = true")
    reader = connection.execute(request["statement"]).to_arrow_reader(BATCH_ROWS)
    rows, size = 0, 0
    with pa.ipc.new_stream(out, reader.schema) as stream:
        for batch in reader:
            room = request["rows"] - rows
            stream.write_batch(batch.slice(0, room))
            rows, size = rows + min(batch.num_rows, room), size + batch.nbytes
            if batch.num_rows > room or size > request["bytes"]:
                return {"truncated": True}
    return {"truncated": False}


def main() -> None:
    """Wait for the request, then lower the limits and answer it."""
    request: Request | None = json.loads(sys.stdin.readline() or "null")
    if request is None:  # the parent no longer needs this process
        return
    limit(resource.RLIMIT_AS, request["address_space"])
    limit(resource.RLIMIT_CPU, request["cpu_seconds"])
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)
    try:
        out = pa.PythonFile(sys.stdout.buffer, "w")
        ending = answer(request, out)
        sys.stdout.flush()
    except MemoryError:
        ending = {"error": "OutOfMemoryException", "message": "out of memory"}
    # DuckDB runs on while the answer is written; Arrow passes on an error from then as an OSError with its text.
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError) as error:
        ending = {"error": type(error).__name__, "message": str(error)[:4000]}
    sys.stderr.write("\n" + json.dumps(ending) + "\n")


if __name__ == "__main__":
    main()
