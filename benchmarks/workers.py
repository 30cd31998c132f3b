"""The ways that are compared. Each runs alone in a process: python -m benchmarks.workers NAME ENDPOINT …

A worker tells of each step in a line of JSON and waits for a line before the next, so that the Hub can be read between.
"""

import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from functools import partial
from importlib import resources
from itertools import count
from pathlib import Path

DATASET = "GPUMODE/kernelbot-data"
FILE = "nvidia_nvfp4_submissions.parquet"
PROBLEM = "nvfp4_gemm"
WARM_RUNS = 25
STARTED = "KBDASH_BENCH_STARTED"
"""The variable with the time at which the process was started."""
# What a leaderboard needs; the footer comes on top.
USED = (
    "submission_id", "leaderboard_id", "problem_name", "user_id", "user_name", "submission_time", "score", "passed",
    "mode", "runner",
)  # fmt: skip


def step(name: str, work: Callable[[], object]) -> object:
    """Do it, tell what it took, wait for the parent."""
    begin = time.perf_counter()
    result = work()
    tell(name, time.perf_counter() - begin, result)
    return result


def warm(name: str, work: Callable[[], object]) -> None:
    """Do it often and tell the median."""
    times = []
    for _ in range(WARM_RUNS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    tell(name, statistics.median(times), f"median of {WARM_RUNS}")


def tell(name: str, seconds: float, result: object) -> None:
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    whole = time.time() - float(os.environ[STARTED])
    told = {"name": name, "seconds": seconds, "peak_mb": peak_mb, "result": str(result)[:80], "whole": whole}
    print(json.dumps(told), flush=True)
    sys.stdin.readline()


def pandas_leaderboard(endpoint: str) -> None:
    """The way of the dataset's helper script: download the file, load all of it, group."""
    import pandas as pd
    from huggingface_hub import hf_hub_download

    def first() -> pd.DataFrame:
        with tempfile.TemporaryDirectory() as folder:
            path = hf_hub_download(DATASET, FILE, repo_type="dataset", endpoint=endpoint, cache_dir=folder)
            return pd.read_parquet(path)

    rows: list[pd.DataFrame] = []

    def cold() -> int:
        rows.append(first())
        return len(_board(rows[0]))

    step("first leaderboard", cold)
    warm("the same again", lambda: _board(rows[0]))


def pandas_columns_leaderboard(endpoint: str) -> None:
    """A careful user of pandas: only the columns that a leaderboard needs, straight from the Hub."""
    import pandas as pd
    from huggingface_hub import HfFileSystem

    rows: list[pd.DataFrame] = []

    def cold() -> int:
        files = HfFileSystem(endpoint=endpoint)
        with files.open(f"datasets/{DATASET}/{FILE}") as opened:
            rows.append(pd.read_parquet(opened, columns=list(USED)))
        return len(_board(rows[0]))

    step("first leaderboard", cold)
    warm("the same again", lambda: _board(rows[0]))


def duckdb_leaderboard(endpoint: str, commit: str) -> None:
    """Plain DuckDB over httpfs, default settings."""
    connection = _duckdb()
    question = f"""
        select user_id, runner, min(score) as score, rank() over (partition by runner order by min(score)) as rank
        from read_parquet('{_url(endpoint, commit)}')
        where problem_name = '{PROBLEM}' and mode = 'leaderboard' and passed and score > 0 and isfinite(score)
        group by user_id, runner"""
    step("first leaderboard", lambda: len(connection.execute(question).fetchall()))
    warm("the same again", lambda: connection.execute(question).fetchall())


def kbdash_leaderboard(endpoint: str, cache: str) -> None:
    """kbdash from nothing."""
    import kbdash  # noqa: F401  (like the rivals: what is measured begins after the imports)

    engines: list[object] = []

    def cold() -> int:
        engines.append(_kbdash(endpoint, cache))
        return len(engines[0].leaderboard(PROBLEM))  # type: ignore[attr-defined]

    step("first leaderboard", cold)
    warm("the same again", lambda: engines[0].leaderboard(PROBLEM))  # type: ignore[attr-defined]
    step("all problems of all competitions", lambda: len(engines[0].overview()))  # type: ignore[attr-defined]


def pandas_columns_first(endpoint: str) -> None:
    """The careful user of pandas, once."""
    import pandas as pd
    import pyarrow.dataset  # (pandas imports these with its first file; kbdash has them imported too)
    import pyarrow.pandas_compat
    import pyarrow.parquet  # noqa: F401
    from huggingface_hub import HfFileSystem

    def cold() -> int:
        with HfFileSystem(endpoint=endpoint).open(f"datasets/{DATASET}/{FILE}") as opened:
            return len(_board(pd.read_parquet(opened, columns=list(USED))))

    step("first leaderboard", cold)


def kbdash_first(endpoint: str, cache: str) -> None:
    """kbdash from nothing, once."""
    import kbdash  # noqa: F401  (like the rivals: what is measured begins after the imports)

    step("first leaderboard", lambda: len(_kbdash(endpoint, cache).leaderboard(PROBLEM)))  # type: ignore[attr-defined]


def kbdash_overview(endpoint: str, cache: str, competition: str | None = None) -> None:
    """kbdash from nothing to the state of every problem, or of those of one competition."""
    import kbdash  # noqa: F401

    def cold() -> str:
        kb = _kbdash(endpoint, cache)
        frame = kb.frame("overview", competition=competition, order=None) if competition else kb.overview()  # type: ignore[attr-defined]
        return " ".join(frame["competition"].unique())

    step("overview", cold)


def kbdash_warm(endpoint: str, cache: str) -> None:
    """Many questions again and again, their rows kept in memory."""
    kb = _kbdash(endpoint, cache)
    user = kb.leaderboard(PROBLEM)["user_id"].tolist()[0]  # type: ignore[attr-defined]
    names = ("summary", "submissions", "records", "distribution", "status_over_time")
    questions = {name: partial(getattr(kb, name), PROBLEM) for name in names}
    questions["progression"] = partial(kb.progression, PROBLEM, user)  # type: ignore[attr-defined]
    questions["overview"] = kb.overview  # type: ignore[attr-defined]
    for ask in questions.values():
        with suppress(Exception):  # told below, if it still fails then
            ask()
    kb._database._materialiser.wait(600)  # type: ignore[attr-defined]
    days = count()

    def board() -> object:
        return kb.leaderboard(PROBLEM, since=date(2025, 11, 1) + timedelta(next(days)))  # type: ignore[attr-defined]

    warm("leaderboard, any period", board)
    for name, ask in questions.items():
        try:
            warm(name, ask)
        except Exception as error:
            tell(name, 0.0, f"failed: {error}")


def duckdb_code(endpoint: str, commit: str, submission: str) -> None:
    """Plain DuckDB asked for one source text."""
    connection = _duckdb()
    question = f"select code from read_parquet('{_url(endpoint, commit)}') where submission_id = {submission}"
    step("one source text", lambda: _length(connection.execute(question).fetchall()))


def pyarrow_code(endpoint: str, submission: str) -> None:
    """pyarrow reading the whole column through the Hub's file system."""
    import pyarrow.parquet as pq
    from huggingface_hub import HfFileSystem

    def read() -> int:
        files = HfFileSystem(endpoint=endpoint)
        with files.open(f"datasets/{DATASET}/{FILE}", block_size=64 << 20) as opened:
            table = pq.ParquetFile(opened).read(columns=["submission_id", "code"])
        ids = table.column("submission_id").to_pylist()
        return len(table.column("code")[ids.index(int(submission))].as_py())

    step("one source text", read)


def kbdash_code(endpoint: str, cache: str, submission: str) -> None:
    """kbdash: directory cold, directory known, page already there, then fifty texts all over the file."""
    kb = _kbdash(endpoint, cache)
    wanted = kb.submission(int(submission), competition="nvfp4")
    tell("find its row", 0.0, "")
    step("page directory of the file", lambda: _index(kb))
    step("one source text, directory known", lambda: kb.text_of(wanted).size_bytes)
    neighbour = _neighbour(kb, wanted)
    step("a neighbour in the same page", lambda: kb.text_of(neighbour).size_bytes)
    rows = kb.sql(f"select submission_id from submissions where competition = 'nvfp4' and problem = '{PROBLEM}'")
    chosen = random.Random(7).sample(rows["submission_id"].tolist(), 50)
    step(
        "fifty random source texts", lambda: sum(kb.source_text(int(i), competition="nvfp4").size_bytes for i in chosen)
    )
    for slug in kb.readable():
        kb.frame("overview", competition=slug, order=None)
    tell("and every competition opened", 0.0, "")


def _board(frame: object) -> object:
    """The leaderboard of the problem, by pandas."""
    good = frame[  # type: ignore[index]
        (frame["problem_name"] == PROBLEM) & (frame["mode"] == "leaderboard") & (frame["passed"] == True)  # type: ignore[index]  # noqa: E712
    ]
    best = good.sort_values(["score", "submission_time", "submission_id"]).groupby(["runner", "user_id"]).head(1)
    return best.assign(rank=best.groupby("runner")["score"].rank(method="min"))


def _index(kb: object) -> str:
    while True:
        state = kb.index_code("nvfp4")  # type: ignore[attr-defined]
        if state.complete or state.problem:
            return f"{state.known} rows {state.problem or ''}"
        time.sleep(0.02)


def _neighbour(kb: object, of: object) -> object:
    """The submission in the row beside `of`, in the same page of 1,024 rows."""
    row = of.file_row  # type: ignore[attr-defined]
    beside = row + 1 if row % 1024 < 1023 else row - 1
    found = kb.sql(  # type: ignore[attr-defined]
        f"select submission_id from submissions where competition = 'nvfp4' and file_row = {beside}"
    )
    return kb.submission(int(found["submission_id"].iat[0]), competition="nvfp4")  # type: ignore[attr-defined]


def _kbdash(endpoint: str, cache: str) -> object:
    from kbdash import connect
    from kbdash.dataset.config import Settings

    return connect(settings=Settings(source=DATASET, endpoint=endpoint, cache=Path(cache)))


def _duckdb() -> object:
    import duckdb

    binary = resources.files("duckdb_extension_httpfs") / "extensions" / f"v{duckdb.__version__}"
    connection = duckdb.connect()
    connection.execute(f"load '{binary / 'httpfs.duckdb_extension'}'")
    return connection


def _url(endpoint: str, commit: str) -> str:
    return f"{endpoint}/datasets/{DATASET}/resolve/{commit}/{FILE}"


def _length(rows: list[tuple[str]]) -> int:
    return len(rows[0][0])


WORKERS = {
    worker.__name__: worker
    for worker in (
        pandas_leaderboard, pandas_columns_leaderboard, duckdb_leaderboard, kbdash_leaderboard, duckdb_code,
        pyarrow_code, kbdash_code, pandas_columns_first, kbdash_first, kbdash_overview, kbdash_warm,
    )
}  # fmt: skip

if __name__ == "__main__":
    WORKERS[sys.argv[1]](*sys.argv[2:])
