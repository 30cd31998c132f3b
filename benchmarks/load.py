"""What many readers at once cost: fifty for minutes, then two hundred for one, then a single one again."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
import numpy.typing as npt

from benchmarks import coldstart
from benchmarks.crowd import THINK_SECONDS, Address, Plan, Report, crowd
from benchmarks.places import TEXT_COMPETITION, Atlas, atlas
from benchmarks.readers import tab
from benchmarks.report import milliseconds, table, verdict
from benchmarks.serving import Server, serving

MINUTES = 10.0
ALONE_RUNS = 40
HOW = (
    "`streamlit run app.py` over the folder at full scale, warmed by one reader who opened every page once. The "
    "readers are websocket clients in one process of their own on the same machine, so they take processor time from "
    "the server. Each arrives by a link, thinks for {think:.0f} s on average (half to one and a half of it), then does "
    "something the page offers: another tab, problem, runner or page, a filter, a row's source code, Back; seeded. A "
    "time is from the message that asks for a script run to the one that says it is finished. A run is warm "
    "when the view it shows, which is all in the address, was shown before to anybody; filters and source texts make "
    "many that were not. Memory is the median of the first, the middle and the last tenth of the time."
)
HEAD = (
    "readers", "script runs", "per second", "p50", "p95", "longest", "errors", "server's processor",
    "readers' processor", "memory at the start", "middle", "end",
)  # fmt: skip
PROCESSES = (
    "The many readers on one process, and on two behind HAProxy (`make serve WORKERS=2`); two cores, which the readers "
    "share:"
)
PROCESSES_HEAD = ("processes", "script runs per second", "p50", "p95", "longest", "errors")


@dataclass(frozen=True)
class Sizes:
    """How many read, and for how long."""

    readers: int = 50
    seconds: float = MINUTES * 60
    many: int = 200
    many_seconds: float = 60.0


@dataclass(frozen=True)
class Moment:
    """The server at one time: monotonic seconds, MB, seconds of processor so far."""

    at: float
    memory_mb: float
    cpu_seconds: float


@dataclass(frozen=True)
class Observed:
    """A crowd, and the server under it once a second."""

    readers: int
    report: Report
    moments: tuple[Moment, ...]

    @property
    def seconds(self) -> npt.NDArray[np.float64]:
        """Seconds of each script run."""
        return np.array([each.seconds for each in self.report.happenings])

    def seconds_of(self, *, warm: bool) -> npt.NDArray[np.float64]:
        """Seconds of the script runs that showed a view seen before, or of those that did not."""
        return np.array([each.seconds for each in self.report.happenings if each.warm == warm])

    @property
    def server_cpu(self) -> float:
        """Cores the server kept busy."""
        first, last = self.moments[0], self.moments[-1]
        return (last.cpu_seconds - first.cpu_seconds) / (last.at - first.at)

    @property
    def memory_mb(self) -> tuple[float, float, float]:
        """Memory of the server at the start, in the middle and at the end: medians of a tenth of the time each.

        A single second says little: a source text takes some ten megabytes while it is read.
        """
        memory = [moment.memory_mb for moment in self.moments]
        tenth = max(1, len(memory) // 10)
        middle = (len(memory) - tenth) // 2
        start, between, end = memory[:tenth], memory[middle : middle + tenth], memory[-tenth:]
        return median(start), median(between), median(end)


@dataclass(frozen=True)
class Measured:
    """Everything that was measured on one server."""

    some: Observed
    many: Observed
    alone_before: Sequence[float]
    alone_after: Sequence[float]
    tracebacks: int


def measure(folder: Path, sizes: Sizes | None = None) -> str:
    """The section of the report."""
    found, sizes = atlas(folder), sizes or Sizes()
    with serving(folder) as server:
        measured = _measured(server, found, sizes)
    two = many_on(2, folder, sizes)
    processes = table(PROCESSES_HEAD, [_processes_row(1, measured.many.report), _processes_row(2, two)])
    return "\n\n".join((_told(measured), PROCESSES, processes, coldstart.measure(folder, found)))


def many_on(workers: int, folder: Path, sizes: Sizes) -> Report:
    """What the many readers met on several processes behind HAProxy."""
    found = atlas(folder)
    links = tuple(Random(1).sample(found.pages, len(found.pages)))
    with serving(folder, workers) as server:
        shown, *_ = [asyncio.run(_warm(server, found)) for _ in range(workers)]  # HAProxy gives each a turn
        with crowd(server.port, Plan(links, sizes.many, sizes.many_seconds, seed=2, shown=shown)) as readers:
            while not readers.left(1.0):
                pass
            return readers.report()


def _processes_row(workers: int, report: Report) -> tuple[object, ...]:
    seconds = [each.seconds for each in report.happenings]
    return workers, f"{len(seconds) / report.seconds:.1f}", *_times(seconds), len(report.errors)


def _measured(server: Server, found: Atlas, sizes: Sizes) -> Measured:
    links = tuple(Random(1).sample(found.pages, len(found.pages)))
    shown = asyncio.run(_warm(server, found))
    some = _observed(server, Plan(links, sizes.readers, sizes.seconds, shown=shown))
    before = asyncio.run(_alone(server))
    many = _observed(server, Plan(links, sizes.many, sizes.many_seconds, seed=2, shown=shown))
    after = asyncio.run(_alone(server))
    return Measured(some, many, before, after, server.tracebacks())


async def _warm(server: Server, found: Atlas) -> tuple[Address, ...]:
    """Open every page once; the addresses that were shown."""
    shown = []
    async with tab(server.port) as reader:
        for place in (*found.pages, *found.texts[:1]):
            await reader.open(place.path, place.query)
            shown.append(reader.address)
    return tuple(shown)


async def _alone(server: Server) -> list[float]:
    """Seconds of script runs while nobody else reads."""
    async with tab(server.port) as reader:
        await reader.open(TEXT_COMPETITION)
        return [(await reader.rerun()).seconds for _ in range(ALONE_RUNS)]


def _observed(server: Server, plan: Plan) -> Observed:
    """Let the crowd in and look at the server once a second until all have left."""
    with crowd(server.port, plan) as readers:
        moments = [_moment(server)]
        while not readers.left(1.0):
            moments.append(_moment(server))
        moments.append(_moment(server))
        return Observed(plan.readers, readers.report(), tuple(moments))


def _moment(server: Server) -> Moment:
    return Moment(time.monotonic(), server.memory_mb(), server.cpu_seconds())


def _told(measured: Measured) -> str:
    some, many = measured.some, measured.many
    alone = (
        f"One reader alone on a board: {_spread(measured.alone_before)} before the {many.readers}, "
        f"{_spread(measured.alone_after)} right after they left."
    )
    parts = (
        HOW.format(think=THINK_SECONDS),
        table(HEAD, [_row(some), _row(many)]),
        f"What the {some.readers} did:",
        table(("deed", "script runs", "p50", "p95", "longest"), [*_kinds(some), *_warmth(some)]),
        alone,
        table(("budget", "measured", ""), _budgets(measured)),
        _errors(some, many),
    )
    return "\n\n".join(part for part in parts if part)


def _row(observed: Observed) -> tuple[object, ...]:
    report = observed.report
    return (
        observed.readers,
        f"{len(report.happenings):,}",
        f"{len(report.happenings) / report.seconds:.1f}",
        *_times(observed.seconds),
        len(report.errors),
        f"{observed.server_cpu:.2f} cores",
        f"{report.cpu_seconds / report.seconds:.2f} cores",
        *(f"{memory:,.0f} MB" for memory in observed.memory_mb),
    )


def _kinds(observed: Observed) -> list[tuple[object, ...]]:
    kinds: dict[str, list[float]] = {}
    for each in observed.report.happenings:
        kinds.setdefault(each.kind, []).append(each.seconds)
    return [(kind, f"{len(seconds):,}", *_times(seconds)) for kind, seconds in sorted(kinds.items())]


def _warmth(observed: Observed) -> list[tuple[object, ...]]:
    parts = {"**all warm runs**": observed.seconds_of(warm=True), "**all new views**": observed.seconds_of(warm=False)}
    return [(name, f"{len(seconds):,}", *_times(seconds)) for name, seconds in parts.items() if len(seconds)]


def _times(seconds: Sequence[float] | npt.NDArray[np.float64]) -> tuple[str, str, str]:
    """Median, 95th percentile and longest."""
    p50, p95, longest = np.percentile(seconds, (50, 95, 100))
    return milliseconds(p50), milliseconds(p95), milliseconds(longest)


def _spread(seconds: Sequence[float]) -> str:
    p50, p95, _ = _times(seconds)
    return f"median {p50}, p95 {p95}"


def _budgets(measured: Measured) -> list[tuple[str, str, str]]:
    some, many = measured.some, measured.many
    _, middle, end = some.memory_mb
    every = np.percentile(some.seconds, 95) * 1e3
    slower = float(np.percentile(measured.alone_after, 95) / np.percentile(measured.alone_before, 95))
    return [
        verdict(
            float(np.percentile(some.seconds_of(warm=True), 95)) * 1e3,
            200,
            f"{some.readers} readers: p95 of a warm run, ms (of all runs: {every:,.0f})",
        ),
        verdict(len(some.report.errors), 0, f"{some.readers} readers: errors"),
        verdict(end / middle, 1.05, f"{some.readers} readers: memory at the end / in the middle"),
        verdict(len(many.report.errors), 0, f"{many.readers} readers: errors"),
        verdict(slower, 1.5, f"p95 of a single reader after the {many.readers} / before"),
        verdict(measured.tracebacks, 0, "errors in the server's log"),
    ]


def _errors(*crowds: Observed) -> str:
    counted = Counter(error for crowd in crowds for error in crowd.report.errors)
    return "\n".join(f"- {times} × {error}" for error, times in counted.most_common(10))
