"""How soon the first answer is there, the whole overview, and any board again; each against its budget."""

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.generate import NVFP4_ROWS, generate, nvfp4_size
from benchmarks.report import megabytes, milliseconds, table, verdict
from benchmarks.stepper import Step, run_worker
from benchmarks.workers import FILE
from tests.hub import LoopbackHub

RUNS = 3
"""Series, the ways taken in turn; medians are compared."""
CAREFUL, OURS, AGAIN = "pandas, told which columns", "kbdash", "kbdash, started again with its cache folder"
# (latency of a request, of a new connection on top; budget of ours / pandas): TLS costs two more round trips.
NETWORKS = ((0.05, 0.0, 0.5), (0.1, 0.0, 0.5), (0.05, 0.1, 0.75))


@contextmanager
def hub_over(folder: Path, latency: float, connection: float = 0.0) -> Iterator[LoopbackHub]:
    """The Hub on loopback, with these seconds before each answer and before the first on a connection."""
    with LoopbackHub(folder) as hub:
        hub.faults.latency, hub.faults.connection_latency = latency, connection
        yield hub


def first(folder: Path) -> str:
    """The first leaderboard with all files in the dataset, against pandas that is told which columns."""
    rows, budgets = [], []
    for latency, connection, budget in NETWORKS:
        ways = _first_ways(folder, latency, connection)
        network = f"{latency * 1e3:.0f} ms" + (f", {connection * 1e3:.0f} ms more per connection" if connection else "")
        seconds, whole = (
            {name: statistics.median(getattr(step, part) for step in steps) for name, steps in ways.items()}
            for part in ("seconds", "whole")
        )
        for name, steps in ways.items():
            cells = [cell for each in (seconds, whole) for cell in _against(each[name], each[CAREFUL])]
            rows.append((network, name, *cells, max(step.requests for step in steps), megabytes(steps[0].bytes)))
        budgets += [
            verdict(seconds[OURS] / seconds[CAREFUL], budget, f"{network}: first leaderboard / pandas"),
            verdict(max(step.requests for step in ways[OURS]), 8, f"{network}: requests of it, the API's included"),
            verdict(seconds[AGAIN] / seconds[CAREFUL], 0.3, f"{network}: started again / pandas"),
            verdict(max(step.requests for step in ways[AGAIN]), 1, f"{network}: requests of it"),
        ]
    head = ("network", "way", "median", "x pandas", "with imports", "x pandas", "requests", "bytes")
    return "\n\n".join(
        (
            f"The NVFP4 file at full scale among all others; {RUNS} runs of each way in turn, each in a new process. "
            "The time begins when all that a way needs is imported; with imports, when the process is started.",
            table(head, rows),
            table(("budget", "measured", ""), budgets),
        )
    )


def overview(folder: Path, latency: float = 0.05) -> str:
    """The cold overview, against the same question to each competition alone."""
    whole, slowest = [], []
    for _ in range(RUNS):
        with hub_over(folder, latency) as hub, tempfile.TemporaryDirectory() as cache:
            step = next(iter(_all(hub, "kbdash_overview", cache)))
            whole.append(step)
        alone = {}
        for slug in step.result.split():
            with hub_over(folder, latency) as hub, tempfile.TemporaryDirectory() as cache:
                alone[slug] = _all(hub, "kbdash_overview", cache, slug)[0]
        slowest.append(max(alone.items(), key=lambda item: item[1].seconds))
    seconds = statistics.median(step.seconds for step in whole)
    longest = statistics.median(step.seconds for _, step in slowest)
    budgets = [
        verdict(seconds / longest, 1.5, f"cold overview / its slowest file alone ({slowest[-1][0]})"),
        verdict(max(step.requests for step in whole), 80, "requests of a cold overview"),
    ]
    rows = [("all", milliseconds(seconds), whole[-1].requests, megabytes(whole[-1].bytes))]
    rows += [(slug, milliseconds(one.seconds), one.requests, megabytes(one.bytes)) for slug, one in alone.items()]
    return "\n\n".join(
        (
            f"From a new process to all problems of all competitions; {latency * 1e3:.0f} ms per request.",
            table(("competitions", "time", "requests", "bytes"), rows),
            table(("budget", "measured", ""), budgets),
        )
    )


def warm(folder: Path) -> str:
    """Boards of many periods once everything is kept in memory, at today's rows and at sixteen times as many."""
    rows, budgets = [], []
    for scale, budget in ((1, 10), (16, 25)):
        steps = _all_of_folder(narrow(folder.parent, scale))
        rows += [(f"{scale} ×", step.name, milliseconds(step.seconds), f"{step.peak_mb:,.0f} MB") for step in steps]
        board = next(step for step in steps if step.name == "leaderboard, any period")
        budgets.append(verdict(board.seconds * 1e3, budget, f"leaderboard of any period at {scale} × rows, median ms"))
        failed = sum("failed" in step.result for step in steps)
        budgets.append(verdict(failed, 0, f"questions that failed at {scale} × rows"))
    head = ("rows", "question", "median", "peak memory of the process")
    return f"{NVFP4_ROWS:,} rows are 1 ×.\n\n{table(head, rows)}\n\n{table(('budget', 'measured', ''), budgets)}"


def narrow(parent: Path, scale: int) -> Path:
    """The folder with so many times the rows and hardly any source text, made when it is not there."""
    home = parent / f"narrow-{scale}"
    if not (home / FILE).exists():
        generate(home, nvfp4_size(NVFP4_ROWS, NVFP4_ROWS * 20 / 1e6, scale))
    return home


def _against(seconds: float, rival: float) -> tuple[str, str]:
    return milliseconds(seconds), f"{seconds / rival:.2f}"


def _first_ways(folder: Path, latency: float, connection: float) -> dict[str, list[Step]]:
    ways: dict[str, list[Step]] = {CAREFUL: [], OURS: [], AGAIN: []}
    for _ in range(RUNS):
        with hub_over(folder, latency, connection) as hub, tempfile.TemporaryDirectory() as cache:
            ways[CAREFUL] += _all(hub, "pandas_columns_first")
            ways[OURS] += _all(hub, "kbdash_first", cache)
            ways[AGAIN] += _all(hub, "kbdash_first", cache)
    return ways


def _all_of_folder(folder: Path) -> list[Step]:
    with hub_over(folder, 0.0) as hub, tempfile.TemporaryDirectory() as cache:
        return _all(hub, "kbdash_warm", cache)


def _all(hub: LoopbackHub, worker: str, *arguments: str) -> list[Step]:
    return list(run_worker(hub, worker, *arguments))
