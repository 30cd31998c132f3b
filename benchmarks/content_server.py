"""A real server that answers questions about all texts of every competition: its script runs and its memory."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from benchmarks import pages
from benchmarks.places import Place
from benchmarks.report import table, verdict
from benchmarks.serving import serving
from kbdash.view import CompetitionView, SearchView, StepsView, SubmissionView, TrustView, View

SLUG, PROBLEM = "nvfp4", "nvfp4_gemm"
RERUNS = 7


@dataclass(frozen=True)
class Served:
    """What was seen on the pages over stores, the most resident memory of their server and its private one at the end.

    Memory is in MB. Pages of mapped files are resident, but not private.
    """

    visits: list[pages.Visit]
    peak_mb: float
    private_mb: float

    def budgets(self) -> list[tuple[str, str, str]]:
        """What was promised for these pages, and what was measured."""
        slowest = max(self.visits, key=lambda visit: visit.median)
        busiest = max(self.visits, key=lambda visit: visit.cpu)
        return [
            verdict(slowest.median * 1e3, 150, f"slowest page over a store, warm, median ms ({slowest.place.name})"),
            verdict(busiest.cpu * 1e3, 150, f"the same, ms of processor ({busiest.place.name})"),
            verdict(self.peak_mb, 1200, "peak memory of a server with all stores in use, MB"),
            verdict(self.private_mb, 1200, "its memory at the end without mapped files, MB"),
        ]

    def table(self) -> str:
        """The pages one by one."""
        return table(pages.HEAD, pages.rows(self.visits))


def served(source: str | Path, submission: int, reruns: int = RERUNS, **environ: str) -> Served:
    """Each page that needs a store, opened once and then run again; a failure on any of them ends the benchmark."""
    with serving(source, **environ) as server:
        seen = asyncio.run(pages.visits(server, places(submission), reruns))
        failures = [failure for visit in seen for failure in visit.failures]
        if failures or server.tracebacks():
            raise SystemExit(f"The server failed: {failures} {server.log.read_text(encoding='utf-8')[-2000:]}")
        return Served(seen, server.peak_mb(), server.private_mb())


def places(submission: int) -> Sequence[Place]:
    """The pages over stores: searches everywhere and on a board, every panel of a text, techniques, steps, trust."""
    text = SubmissionView(submission, None, SLUG)
    asked: list[tuple[str, str, View]] = [
        *((f"search everywhere: {word}", "search", SearchView(q=word)) for word in ("cp.async.bulk", "swizzle_tile")),
        ("search, regex", "search", SearchView(q=r"\bconst int barrier_\w+ = ", regex=True)),
        ("search on a board", "search", SearchView(q="swizzle_tile", problem=PROBLEM)),
        ("search, opened", "search", SearchView(q="swizzle_tile", problem=PROBLEM, opened=1)),
        *((f"submission, {show}", "submission", SubmissionView(text.id, None, SLUG, show=show))
          for show in ("origins", "relatives", "rules")),
        ("techniques", SLUG, CompetitionView(problem=PROBLEM, tab="techniques")),
        ("leaderboard, narrowed", SLUG, CompetitionView(problem=PROBLEM, facets=("tma", "!triton"))),
        ("steps", "steps", StepsView()),
        ("steps on a board", "steps", StepsView(problem=PROBLEM)),
        ("trust", "trust", TrustView()),
        ("trust of a board", "trust", TrustView(problem=PROBLEM)),
    ]  # fmt: skip
    return [Place(name, path, urlencode(view.query(), doseq=True)) for name, path, view in asked]
