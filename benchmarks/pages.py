"""What a page costs: script runs against the real server at full scale, points and bytes sent, memory."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.places import Place, atlas
from benchmarks.readers import Reader, Run, tab
from benchmarks.report import milliseconds, table, verdict
from benchmarks.serving import Server, serving

RERUNS = 15
HEAD = (
    "page", "addresses", "first visit", "median", "p95", "processor", "sent first", "sent again",
    "points, largest chart", "kB, largest chart",
)  # fmt: skip
HOW = (
    "`streamlit run app.py` over the folder at full scale, in a process of its own, driven over its websocket by one "
    "reader that speaks Streamlit's messages as a browser does and keeps what a browser keeps. Each address is opened "
    "in a new tab (first visit: nothing was asked about it before), then run again {reruns} times as a whole. A run "
    "lasts from the message that asks for it to the one that says it is finished; processor is what the server's "
    "process used per run, which a busy machine changes less. Where a page has several problems, each column shows "
    "the worst. Bytes are those of the messages, uncompressed; what the reader already has is not sent again."
)


@dataclass(frozen=True)
class Visit:
    """One address opened once, then run again and again; `cpu` is the server's processor time per further run."""

    place: Place
    first: Run
    again: tuple[Run, ...]
    cpu: float

    @property
    def median(self) -> float:
        """Seconds of a warm run, median."""
        return float(np.median([run.seconds for run in self.again]))

    @property
    def p95(self) -> float:
        """Seconds of a warm run that 95 % stay below."""
        return float(np.percentile([run.seconds for run in self.again], 95))

    @property
    def largest(self) -> tuple[int, str]:
        """Points of the chart that has most, and its key."""
        return max(((count, key) for key, count in self.first.points.items()), default=(0, ""))

    @property
    def heaviest(self) -> tuple[int, str]:
        """Bytes of the chart that takes most, and its key."""
        return max(((len(spec.encode()), key) for key, spec in self.first.charts.items()), default=(0, ""))

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed on the page, in any run."""
        return tuple(failure for run in (self.first, *self.again) for failure in run.failures)


def measure(source: str | Path, reruns: int = RERUNS) -> str:
    """The section of the report."""
    found = atlas(source)
    with serving(source) as server:
        seen = asyncio.run(visits(server, found.pages, reruns))
        after_pages = server.peak_mb()
        seen += asyncio.run(visits(server, found.texts, reruns))
        peak, tracebacks = server.peak_mb(), server.tracebacks()
    failures = sorted({f"{visit.place.address}: {failure}" for visit in seen for failure in visit.failures})
    parts = (
        HOW.format(reruns=reruns),
        table(HEAD, rows(seen)),
        f"Peak memory of the server: {after_pages:,.0f} MB after all pages, {peak:,.0f} MB after {len(found.texts)} "
        "source texts.",
        table(("budget", "measured", ""), budgets(seen, peak, tracebacks)),
        "\n".join(f"- failed: {failure}" for failure in failures),
    )
    return "\n\n".join(part for part in parts if part)


async def visits(server: Server, places: Sequence[Place], reruns: int) -> list[Visit]:
    """Each place in a tab of its own, one after the other."""
    found = []
    for place in places:
        async with tab(server.port) as reader:
            visit = await _visit(server, reader, place, reruns)
        print(
            f"{place.address}: {milliseconds(visit.first.seconds)}, then {milliseconds(visit.median)} "
            f"({milliseconds(visit.cpu)} of processor) {visit.failures or ''}",
            file=sys.stderr,
        )
        found.append(visit)
    return found


async def _visit(server: Server, reader: Reader, place: Place, reruns: int) -> Visit:
    first = await reader.open(place.path, place.query)
    if reader.path != place.path:
        raise SystemExit(f"The app has no page /{place.path}")
    begin = server.cpu_seconds()
    again = tuple([await reader.rerun() for _ in range(reruns)])
    return Visit(place, first, again, (server.cpu_seconds() - begin) / reruns)


def rows(seen: Sequence[Visit]) -> list[tuple[object, ...]]:
    """One row per name of a place, with the worst of its addresses."""
    names = dict.fromkeys(visit.place.name for visit in seen)
    return [_row([visit for visit in seen if visit.place.name == name]) for name in names]


def budgets(seen: Sequence[Visit], peak: float, tracebacks: int) -> list[tuple[str, str, str]]:
    """What was promised and what was measured."""
    slowest = max(seen, key=lambda visit: visit.median)
    fullest = max(seen, key=lambda visit: visit.largest)
    heaviest = max(seen, key=lambda visit: visit.heaviest)
    drawn = max(seen, key=lambda visit: visit.median if visit.first.charts else 0.0)
    failed = sum(bool(visit.failures) for visit in seen)
    return [
        verdict(slowest.median * 1e3, 150, f"slowest page, warm, median ms ({slowest.place.name})"),
        verdict(drawn.median * 1e3, 60, f"slowest page with a chart, warm, median ms ({drawn.place.name})"),
        verdict(fullest.largest[0], 5000, f"points of any chart ({fullest.place.name})"),
        verdict(heaviest.heaviest[0] / 1e3, 200, f"kB of any chart ({heaviest.place.name})"),
        verdict(peak, 700, "peak MB of the server with every page opened and the source texts viewed"),
        verdict(failed, 0, f"addresses that showed a failure, of {len(seen)}"),
        verdict(tracebacks, 0, "errors in the server's log"),
    ]


def _row(same: Sequence[Visit]) -> tuple[object, ...]:
    slowest = max(same, key=lambda visit: visit.median)
    count, chart = max(visit.largest for visit in same)
    size, heavy = max(visit.heaviest for visit in same)
    return (
        slowest.place.name,
        len(same),
        milliseconds(max(visit.first.seconds for visit in same)),
        milliseconds(slowest.median),
        milliseconds(slowest.p95),
        milliseconds(max(visit.cpu for visit in same)),
        _kilobytes(max(visit.first.bytes for visit in same)),
        _kilobytes(max(run.bytes for visit in same for run in visit.again)),
        f"{count:,} ({chart})" if chart else "",
        f"{size / 1e3:,.0f} ({heavy})" if heavy else "",
    )


def _kilobytes(size: float) -> str:
    return f"{size / 1e3:,.0f} kB"
