"""Twenty readers at once on a server that has just started and reads from the Hub: is each thing fetched once?"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.crowd import Plan, Report, crowd
from benchmarks.places import Atlas, Place
from benchmarks.report import megabytes, milliseconds, table, verdict
from benchmarks.serving import serving
from kbdash.dataset.config import DATASET
from tests.hub import LoopbackHub

LINKS = 20
LATENCY = 0.05
QUIET_SECONDS = 2.0

Ranges = Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class Started:
    """What the readers saw and what the Hub was asked: questions about the dataset, and (first, last) byte by file."""

    report: Report
    questions: int
    ranges: Ranges
    bytes: int
    tracebacks: int

    @property
    def repeated(self) -> dict[str, int]:
        """By file: how often a range was fetched that had been fetched before."""
        counted = {name: len(fetched) - len(set(fetched)) for name, fetched in self.ranges.items()}
        return {name: times for name, times in counted.items() if times}

    @property
    def bytes_again(self) -> int:
        """Bytes that had been fetched before, also as part of another range."""
        return sum(overlap(fetched) for fetched in self.ranges.values())


def measure(folder: Path, found: Atlas) -> str:
    """The paragraph and the table of the report."""
    links = deep_links(found)
    started = start(folder, links)
    count = sum(len(fetched) for fetched in started.ranges.values())
    longest = milliseconds(max((each.seconds for each in started.report.happenings), default=0.0))
    budgets = [
        verdict(len(started.report.errors), 0, f"failures on the {len(links)} pages"),
        verdict(started.tracebacks, 0, "errors in the server's log"),
        verdict(started.questions, 1, "questions to the Hub about the dataset"),
        verdict(sum(started.repeated.values()), 0, f"ranges fetched again, of {count:,}"),
        verdict(started.bytes_again / started.bytes, 0.0, "share of the bytes that were fetched before"),
    ]
    repeated = "\n".join(f"- {name}: {times} ranges fetched again" for name, times in started.repeated.items())
    errors = "\n".join(f"- {times} × {error}" for error, times in Counter(started.report.errors).most_common(10))
    parts = (
        f"Cold start: a new server over the Hub on loopback ({LATENCY * 1e3:.0f} ms per request) and {len(links)} deep "
        f"links into all competitions, people and source texts, opened at once as soon as it answers. "
        f"{megabytes(started.bytes)} moved; the last page was complete after {longest}.",
        table(("budget", "measured", ""), budgets),
        repeated,
        errors,
    )
    return "\n\n".join(part for part in parts if part)


def start(folder: Path, links: Sequence[Place]) -> Started:
    """Start a server over this folder on a Hub, and open all the links as soon as it answers."""
    with LoopbackHub(folder) as hub:
        hub.faults.latency = LATENCY
        with serving(DATASET, HF_ENDPOINT=hub.endpoint) as server:
            with crowd(server.port, Plan(tuple(links), len(links), seconds=0.0)) as readers:
                report = readers.report()
            _quiet(hub)
            tracebacks = server.tracebacks()
        questions = sum(exchange.path.startswith("/api/datasets/") for exchange in hub.counts.log)
        ranges = {name: count.ranges for name, count in hub.counts.files.items()}
        return Started(report, questions, ranges, hub.counts.bytes, tracebacks)


def _quiet(hub: LoopbackHub) -> None:
    """Wait until the Hub is left alone: the directory of source texts is built behind the readers' backs."""
    asked = -1
    while asked != hub.counts.requests:
        asked = hub.counts.requests
        time.sleep(QUIET_SECONDS)


def deep_links(found: Atlas) -> tuple[Place, ...]:
    """Links as people share them, spread over all pages; a third lead to source texts of one file."""
    texts = found.texts[: LINKS // 3]
    step = len(found.pages) / (LINKS - len(texts))
    return (*(found.pages[int(i * step)] for i in range(LINKS - len(texts))), *texts)


def overlap(ranges: Sequence[tuple[int, int]]) -> int:
    """Bytes that ranges of one file, first and last byte each, have in common with those before them."""
    again, reached = 0, -1
    for first, last in sorted(ranges):
        again += max(0, min(last, reached) - first + 1)
        reached = max(reached, last)
    return again
