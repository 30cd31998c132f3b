"""The content store against its budgets: python -m benchmarks.content [--rows N] [--folder FOLDER].

The file's texts are histories of edits (`benchmarks.histories`). Building and the plain way run in processes
of their own over the Hub on loopback, without latency; searching runs warm beside DuckDB over the local file.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow.parquet as pq
from platformdirs import user_cache_path

import kbdash
from benchmarks import content_server
from benchmarks.generate import NVFP4_ROWS
from benchmarks.histories import write_history_file
from benchmarks.report import megabytes, milliseconds, replace_section, table, verdict
from benchmarks.workers import FILE
from kbdash.content.building.build import Build
from kbdash.content.building.jobs import Opened
from kbdash.content.building.pages import PageStream
from kbdash.content.building.progress import Progress
from kbdash.content.building.read_ahead import ReadAhead
from kbdash.content.store.decoded import as_texts
from kbdash.content.store.finished import Store
from kbdash.content.store.layout import NO_TEXT, Manifest
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.sample import ensure_sample
from kbdash.dataset.source import open_source
from tests.hub import LoopbackHub

SLUG = "nvfp4"
QUESTIONS: tuple[tuple[str, dict[str, bool]], ...] = (
    ("cp.async.bulk", {}),
    ("swizzle_tile", {}),
    ("no_such_word_anywhere", {}),
    ("EPILOGUE_STAGE", {"case": False}),
    (r"tl\.load\(\w+_ptr \+ warp", {"regex": True}),
    (r"\bconst int barrier_\w+ = ", {"regex": True}),
    (r"0x[0-9a-f]{3}\)?;$", {"regex": True}),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=NVFP4_ROWS)
    parser.add_argument("--folder", type=Path, default=user_cache_path("kbdash") / "bench" / "full")
    parser.add_argument("--print", action="store_true", help="only print; leave RESULTS.md alone")
    parser.add_argument("--worker", nargs=3, metavar=("WAY", "ENDPOINT", "CACHE"), help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.worker:
        print(json.dumps(_measured(WAYS[args.worker[0]], *args.worker[1:])))
        return
    text = measure(args.folder, args.rows)
    if args.print:
        print(text)
    else:
        replace_section("Content store", text)


def measure(folder: Path, rows: int = NVFP4_ROWS) -> str:
    """The section of RESULTS.md; the file is made under the folder when it is not there."""
    path = folder / str(rows) / FILE
    if not path.exists():
        write_history_file(path.parent, rows)
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as cache:
        # The other competitions are those of the sample, so that every one has a store.
        for each in ensure_sample(Path(cache) / "sample").iterdir():
            (Path(home) / each.name).symlink_to(path if each.name == FILE else each)
        with LoopbackHub(Path(home)) as hub:
            plain, built = (_worker(way, hub.endpoint, cache) for way in ("plain", "build"))
            kb = kbdash.connect(settings=_settings(hub.endpoint, cache))
            try:
                findings = _findings(kb, hub, path)
            finally:
                kb.close()
            _worker("others", hub.endpoint, cache)
            environ = {"HF_ENDPOINT": hub.endpoint, "KBDASH_CACHE": cache}
            inside = content_server.served(DATASET, findings.longest, **environ)
    return _section(plain, built, findings, inside)


class Cost(NamedTuple):
    """Seconds of time and of processor."""

    wall: float
    cpu: float


class Searched(NamedTuple):
    """A search: its pattern, the median of seven warm ones, DuckDB over the file, how many lines were found.

    `by_re` is how many lines Python's `re` finds among all lines of all texts.
    """

    pattern: str
    warm: Cost
    slow: Cost
    lines: int
    by_re: int

    @property
    def ratios(self) -> Cost:
        """How much slower DuckDB is."""
        return Cost(self.slow.wall / self.warm.wall, self.slow.cpu / self.warm.cpu)


@dataclass(frozen=True)
class Findings:
    """What was measured on the finished store; `longest` is the id of the submission with the longest text."""

    size: int
    file_size: int
    facts: Manifest
    inexact: int
    searches: list[Searched]
    text_ms: float
    origins_ms: float
    requests: int
    longest: int


def _findings(kb: kbdash.KernelBot, hub: LoopbackHub, path: Path) -> Findings:
    store = kb._content.store(SLUG)
    assert store is not None
    searches = [_search(kb, path, pattern, options) for pattern, options in QUESTIONS]
    longest, text_ms, origins_ms, requests = _one_text(kb, hub)
    return Findings(
        store.size_bytes, path.stat().st_size, store.manifest, _inexact(store, path), searches, text_ms, origins_ms,
        requests, longest,
    )  # fmt: skip


def _inexact(store: Store, path: Path) -> int:
    """Rows whose text in the store is not what pyarrow reads; the store checks the sha256 of each text it returns."""
    known = store.texts.column("sha256").to_pylist()
    for text in range(len(known)):
        store.text(text)
    row = wrong = 0
    for batch in pq.ParquetFile(path).iter_batches(4096, columns=["code"]):
        for value in batch.column(0):
            text = int(store.text_of_row[row])
            found = sha256(value.as_buffer()).digest() if value.is_valid else None
            wrong += found != (None if text == NO_TEXT else known[text])
            row += 1
    return wrong + abs(row - len(store.text_of_row))


def _section(plain: dict[str, float], built: dict[str, float], found: Findings, inside: content_server.Served) -> str:
    searches, facts = found.searches, found.facts
    budgets = [
        verdict(found.size / found.file_size, 0.10, "store / data file"),
        verdict(found.inexact, 0, f"texts that differ from what pyarrow reads, of {facts.rows:,} rows"),
        verdict(built["seconds"] / plain["seconds"], 3, "building / (fetch, decode, sha256), wall time"),
        verdict(built["cpu"] / plain["cpu"], 3, "the same, processor time of both cores"),
        verdict(built["rss_mb"], 2000, "memory of the building process, MB"),
        verdict(statistics.median(each.warm.wall for each in searches) * 1e3, 300, "a search, warm, median ms"),
        verdict(statistics.median(each.warm.cpu for each in searches) * 1e3, 300, "the same, ms of processor"),
        verdict(max(each.warm.cpu for each in searches) * 1e3, 300, "the slowest of the searches, ms of processor"),
        verdict(sum(each.lines != each.by_re for each in searches), 0, "searches that find other lines than `re`"),
        verdict(50, min(each.ratios.wall for each in searches), "50 x faster than DuckDB; the least of all is"),
        verdict(50, min(each.ratios.cpu for each in searches), "the same in processor time"),
        verdict(found.text_ms, 20, "the longest source text, ms"),
        verdict(found.requests, 0, "requests for it"),
        verdict(found.origins_ms, 300, "origins of the longest text, ms"),
        *inside.budgets(),
    ]
    rows = [
        (f"`{each.pattern}`", each.lines, milliseconds(each.warm.wall), milliseconds(each.warm.cpu),
         milliseconds(each.slow.wall), milliseconds(each.slow.cpu), f"{each.ratios.wall:,.0f}",
         f"{each.ratios.cpu:,.0f}")
        for each in searches
    ]  # fmt: skip
    return "\n\n".join(
        (
            f"{facts.rows:,} rows, {megabytes(found.file_size)}; {facts.texts:,} texts, {megabytes(facts.text_bytes)} "
            f"as {facts.lines:,} lines in {megabytes(found.size)}. Plain way {plain['seconds']:.1f} s "
            f"({plain['cpu']:.1f} s of processor), building {built['seconds']:.1f} s ({built['cpu']:.1f} s): "
            f"{built['reading']:.1f} s until all texts were read and split, then tables and techniques. "
            f"Load average of the machine at the end: {os.getloadavg()[2]:.1f}.",
            table(("budget", "measured", ""), budgets),
            table(
                (
                    "search",
                    "lines",
                    "warm",
                    "processor",
                    "DuckDB `regexp_matches`",
                    "processor",
                    "ratio",
                    "of processor",
                ),
                rows,
            ),
            "Pages over stores, each opened once and then run again as a whole:",
            inside.table(),
        )
    )


def _settings(endpoint: str, cache: str) -> Settings:
    return Settings(source=DATASET, endpoint=endpoint, cache=Path(cache), hub_seconds=60.0, query_seconds=600.0)


def _worker(way: str, endpoint: str, cache: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.content", "--worker", way, endpoint, cache]
    answer: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    )
    return answer


def _measured(way: Callable[[Settings], float], endpoint: str, cache: str) -> dict[str, float]:
    settings = _settings(endpoint, cache)
    wall, cpu = time.perf_counter(), time.process_time()
    read_at = way(settings)
    return {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "reading": read_at - wall,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def _plain(settings: Settings) -> float:
    """Fetch the pages, decode them, take the sha256 of every text; returns when it was done."""
    opened = Opened(open_source(settings), settings)
    [order] = opened.jobs([SLUG], settings.cache / "content")
    stream = PageStream(order.bytes, "code")
    with ReadAhead(order.bytes, stream.end) as reader:
        for raw in stream.pages(reader):
            values, _ = stream.decode(raw)
            for value in values:
                if value.is_valid:
                    sha256(value.as_buffer()).digest()
    opened.close()
    return time.perf_counter()


def _build(settings: Settings) -> float:
    return _build_some(settings, [SLUG])


def _others(settings: Settings) -> float:
    return _build_some(settings, [])


def _build_some(settings: Settings, slugs: Sequence[str]) -> float:
    """Build these stores, or all, but not those that are there; returns when the last one had all its texts read."""
    read_at = [time.perf_counter()]

    def note(progress: Progress) -> None:
        if progress.phase == "numbering":
            read_at.append(time.perf_counter())

    opened = Opened(open_source(settings), settings)
    for order in opened.jobs(slugs, settings.cache / "content"):
        Build(order, note).run()
    opened.close()
    return read_at[-1]


WAYS: dict[str, Callable[[Settings], float]] = {"plain": _plain, "build": _build, "others": _others}


def _search(kb: kbdash.KernelBot, path: Path, pattern: str, options: dict[str, bool]) -> Searched:
    found = kb.search(pattern, competition=SLUG, **options)
    costs = [_cost(lambda: kb.search(pattern, competition=SLUG, **options)) for _ in range(7)]
    wanted = pattern if options.get("regex") else duckdb.execute("select regexp_escape(?)", [pattern]).fetchone()[0]
    flags = "" if options.get("case", True) else "i"
    sql = "select count(*) from read_parquet(?) where regexp_matches(code, ?, ?)"
    slow = _cost(lambda: duckdb.connect().execute(sql, [str(path), wanted, flags or "c"]).fetchall())
    warm = Cost(*(statistics.median(each) for each in zip(*costs, strict=True)))
    return Searched(pattern, warm, slow, found.attrs["total"], _by_re(kb, wanted, options))


def _by_re(kb: kbdash.KernelBot, wanted: str, options: dict[str, bool]) -> int:
    """The different lines that match, apart from outer space, one after the other."""
    store = kb._content.store(SLUG)
    assert store is not None
    matches = re.compile(wanted, 0 if options.get("case", True) else re.IGNORECASE).search
    lines = as_texts(store.lines)
    return len({line.strip() for line in map(str, lines.to_pylist()) if matches(line)})


def _cost(work: Callable[[], object]) -> Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


def _one_text(kb: kbdash.KernelBot, hub: LoopbackHub) -> tuple[int, float, float, int]:
    """The submission with the longest text, milliseconds for the text and for its origins, the requests it took."""
    store = kb._content.store(SLUG)
    assert store is not None
    longest = int(store.texts.column("lines").to_numpy().argmax())
    row = int((store.text_of_row == longest).nonzero()[0][0])
    submission = kb.submission(int(store.submission_of_row[row]), competition=SLUG)
    kb.text_of(submission), kb.origins(submission.submission_id, competition=SLUG)
    before = hub.counts.requests
    text = statistics.median(_seconds(lambda: store.cell(row, submission.submission_id)) for _ in range(7))
    kb.text_of(submission)
    requests = hub.counts.requests - before
    origins = statistics.median(_seconds(lambda: kb._content.origins(submission)) for _ in range(7))
    return submission.submission_id, text * 1e3, origins * 1e3, requests


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
