"""`make bench`: make the files once, measure, write RESULTS.md. Parts: python -m benchmarks.run engine growth code …

Everything goes over HTTP to the Hub on loopback, which answers each request after a set latency and counts.
Each way runs alone in a process of its own; ratios within a run mean more than seconds across runs.
The parts `pages` and `load` drive the real server instead, over its websocket.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
from platformdirs import user_cache_path

from benchmarks import answers as answers_part
from benchmarks import content as content_part
from benchmarks import load as load_part
from benchmarks import pages as pages_part
from benchmarks.generate import NVFP4_CODE_MB, NVFP4_ROWS, generate, nvfp4_size
from benchmarks.report import machine, megabytes, milliseconds, replace_section, table, verdict
from benchmarks.stepper import Step, run_worker
from benchmarks.workers import FILE, PROBLEM, USED
from tests.hub import LoopbackHub

LATENCY = 0.05


def full_scale(folder: Path) -> Path:
    """The folder with all files at the real size, made when it is not there."""
    if not (folder / "leaderboards.parquet").exists():
        generate(folder, nvfp4_size(NVFP4_ROWS, NVFP4_CODE_MB, 1), everything=True)
    return folder


def engine(folder: Path) -> str:
    """Bytes, requests and time to a leaderboard, three ways."""
    with _hub(full_scale(folder)) as hub, tempfile.TemporaryDirectory() as cache:
        ways = {
            "pandas, as the dataset's helper": list(run_worker(hub, "pandas_leaderboard")),
            "pandas, told which columns": list(run_worker(hub, "pandas_columns_leaderboard")),
            "plain DuckDB over httpfs": list(run_worker(hub, "duckdb_leaderboard", hub.commit)),
            "kbdash": list(run_worker(hub, "kbdash_leaderboard", cache)),
        }
    ours = {step.name: step for step in ways["kbdash"]}
    first, again = ours["first leaderboard"], ours["the same again"]
    columns, footer = _column_bytes(folder / FILE)
    only_board = _first_board_alone(folder)
    budgets = [
        verdict(only_board.bytes / (columns + footer), 1.2, "bytes to the first leaderboard / (its columns + footer)"),
        verdict(only_board.requests, 7, "requests to the first leaderboard (HEAD, redirects and ranges of its file)"),
        verdict(again.requests, 0, "requests for the same again"),
    ]
    slowest = ways["pandas, as the dataset's helper"][0]
    return "\n\n".join(
        (
            f"{NVFP4_ROWS:,} rows, {megabytes((folder / FILE).stat().st_size)}; "
            f"{LATENCY * 1e3:.0f} ms latency per request. "
            "All open the one file they need.",
            _steps(ways),
            f"Against pandas kbdash moves {slowest.bytes / first.bytes:,.0f} times fewer bytes and is "
            f"{slowest.seconds / first.seconds:,.0f} times faster to the first answer.",
            table(("budget", "measured", ""), budgets),
        )
    )


def growth(folder: Path) -> str:
    """Time and bytes as the narrow columns grow."""
    rows = []
    for scale in (1, 4, 16):
        with _hub(answers_part.narrow(folder.parent, scale)) as hub, tempfile.TemporaryDirectory() as cache:
            first, again, *_ = run_worker(hub, "kbdash_leaderboard", cache)
        rows.append(
            (f"{scale} ×", f"{NVFP4_ROWS * scale:,}", megabytes(first.bytes), first.requests,
             milliseconds(first.seconds), milliseconds(again.seconds))
        )  # fmt: skip
    head = ("scale", "rows", "bytes", "requests", "first leaderboard", "the same again (median)")
    return "Hardly any source text, so only the narrow columns grow.\n\n" + table(head, rows)


def code(folder: Path) -> str:
    """Bytes, requests and time for one source text, three ways, and memory after many."""
    with _hub(full_scale(folder)) as hub, tempfile.TemporaryDirectory() as cache:
        submission = str(_some_submission(folder))
        ways = {
            "plain DuckDB over httpfs": list(run_worker(hub, "duckdb_code", hub.commit, submission)),
            "pyarrow, the whole column": list(run_worker(hub, "pyarrow_code", submission)),
            "kbdash": list(run_worker(hub, "kbdash_code", cache, submission)),
        }
    ours = {step.name: step for step in ways["kbdash"]}
    known = ours["one source text, directory known"]
    largest = _largest_page(folder / FILE)
    budgets = [
        verdict(known.bytes / largest, 1.0, "bytes for one text / the largest page of the file"),
        verdict(ours["a neighbour in the same page"].bytes, 0, "bytes for a neighbour in the same page"),
        verdict(ours["fifty random source texts"].peak_mb, 700, "peak MB of the process after fifty random texts"),
        verdict(ours["and every competition opened"].peak_mb, 700, "peak MB with every competition opened too"),
    ]
    worst = ways["plain DuckDB over httpfs"][0]
    return "\n\n".join(
        (
            f"Submission {submission} of {megabytes((folder / FILE).stat().st_size)}; {LATENCY * 1e3:.0f} ms latency.",
            _steps(ways),
            f"With the directory known kbdash moves {worst.bytes / known.bytes:,.0f} times fewer bytes than DuckDB.",
            table(("budget", "measured", ""), budgets),
        )
    )


def pages(folder: Path) -> str:
    """Script runs, points and bytes of every page, and the server's memory."""
    return pages_part.measure(full_scale(folder))


def load(folder: Path, minutes: float = load_part.MINUTES) -> str:
    """Many readers at once, and a cold start with twenty."""
    return load_part.measure(full_scale(folder), load_part.Sizes(seconds=minutes * 60))


def first(folder: Path) -> str:
    """The first answer, on three networks."""
    return answers_part.first(full_scale(folder))


def overview(folder: Path) -> str:
    """The cold overview."""
    return answers_part.overview(full_scale(folder))


def content(folder: Path) -> str:
    """The content store of a file with texts that change as real ones do."""
    return content_part.measure(folder)


PARTS: dict[str, tuple[str, Callable[..., str]]] = {
    "first": ("First answer", first),
    "overview": ("Cold overview", overview),
    "warm": ("Warm answers", answers_part.warm),
    "engine": ("A leaderboard", engine),
    "growth": ("Growth", growth),
    "code": ("One source text", code),
    "pages": ("Pages", pages),
    "load": ("Load", load),
    "content": ("Content store", content),
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; everything by default")
    parser.add_argument("--folder", type=Path, default=user_cache_path("kbdash") / "bench" / "full")
    parser.add_argument("--minutes", type=float, default=load_part.MINUTES, help="how long the readers of load stay")
    arguments = parser.parse_args()
    replace_section("Machine", machine())
    for name in arguments.parts or PARTS:
        title, measure = PARTS[name]
        text = measure(arguments.folder, **({"minutes": arguments.minutes} if name == "load" else {}))
        print(f"## {title}\n\n{text}\n")
        replace_section(title, text)


@contextmanager
def _hub(folder: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(folder) as hub:
        hub.faults.latency = LATENCY
        yield hub


def _steps(ways: dict[str, list[Step]]) -> str:
    head = ("way", "step", "bytes", "requests", "time", "peak memory")
    rows = [
        (way, step.name, megabytes(step.bytes), step.requests, milliseconds(step.seconds), f"{step.peak_mb:,.0f} MB")
        for way, steps in ways.items()
        for step in steps
    ]
    return table(head, rows)


def _column_bytes(path: Path) -> tuple[int, int]:
    """Compressed bytes of the columns a leaderboard uses, and of the footer."""
    metadata = pq.ParquetFile(path).metadata
    group = metadata.row_group(0)
    columns = (group.column(i) for i in range(group.num_columns))
    return sum(c.total_compressed_size for c in columns if c.path_in_schema in USED), metadata.serialized_size + 8


def _first_board_alone(folder: Path) -> Step:
    """The first leaderboard of a dataset that has only the NVFP4 file, so that only its own requests count."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as cache:
        (Path(home) / FILE).symlink_to(folder / FILE)
        with _hub(Path(home)) as hub:
            step = next(iter(list(run_worker(hub, "kbdash_leaderboard", cache))))
    # One request asks the Hub for the commit and the list of files; the rest are of the file.
    return Step(step.name, step.seconds, step.requests - 1, step.bytes, step.peak_mb, step.result)


def _some_submission(folder: Path) -> int:
    """Id of the best submission of the problem: where most readers start."""
    from kbdash import connect

    kb = connect(folder)
    found: int = kb.leaderboard(PROBLEM, top=1)["submission_id"].tolist()[0]
    kb.close()
    return found


def _largest_page(path: Path) -> int:
    """Bytes of the largest page of the code column, header included."""
    from kbdash.code.parquet import LocalBytes, PageDirectories

    directory = PageDirectories().build(LocalBytes(path), "code")
    return max(page.total for group in directory.groups for page in group.pages)


if __name__ == "__main__":
    main()
