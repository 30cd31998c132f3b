"""Many readers from one process: python -m benchmarks.crowd PORT, with the plan as JSON on standard input.

What happened comes out as JSON: one entry per script run, one per error, and this process's own processor time.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from random import Random
from typing import IO

from benchmarks.people import Deed, Person
from benchmarks.places import Place
from benchmarks.readers import ReadFailed, tab

THINK_SECONDS = 5.0
Address = tuple[str, str]


@dataclass(frozen=True)
class Plan:
    """`readers` people who arrive by one of the links and stay for `seconds`; 0 seconds: they only arrive.

    `shown` are the addresses (path, query) that the server has shown before.
    """

    links: tuple[Place, ...]
    readers: int
    seconds: float
    think: float = THINK_SECONDS
    seed: int = 1
    shown: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Happening:
    """A script run as the reader saw it; `at` is seconds since the beginning.

    `warm`: it ended at an address that had been shown before, to anybody. An address holds the whole view.
    """

    kind: str
    at: float
    seconds: float
    bytes: int
    warm: bool


@dataclass
class Report:
    """All that happened."""

    happenings: list[Happening] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0
    seconds: float = 0.0


async def gather(port: int, plan: Plan) -> Report:
    """Let them all read at once."""
    report, begin, shown = Report(), time.perf_counter(), set(plan.shown)
    async with asyncio.TaskGroup() as group:
        for number in range(plan.readers):
            group.create_task(_stay(port, plan, number, begin, report, shown))
    report.seconds = time.perf_counter() - begin
    usage = resource.getrusage(resource.RUSAGE_SELF)
    report.cpu_seconds = usage.ru_utime + usage.ru_stime
    return report


@dataclass(frozen=True)
class Crowd:
    """The readers in a process of their own, already reading."""

    process: "subprocess.Popen[str]"
    told: IO[str]

    def left(self, seconds: float) -> bool:
        """Wait so long at most; whether all have left."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def report(self) -> Report:
        """What happened, when all have left."""
        if self.process.wait():
            raise SystemExit("The readers' process failed.")
        self.told.seek(0)
        told = json.load(self.told)
        return Report(**{**told, "happenings": [Happening(**each) for each in told["happenings"]]})


@contextmanager
def crowd(port: int, plan: Plan) -> Iterator[Crowd]:
    """Let the readers in; at the end of the block they are gone."""
    command = [sys.executable, "-m", "benchmarks.crowd", str(port)]
    # Into a file, because a pipe that nobody reads until the end would fill and stop them.
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as told,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=told, text=True) as process,
    ):
        assert process.stdin
        process.stdin.write(json.dumps(asdict(plan)))
        process.stdin.close()
        try:
            yield Crowd(process, told)
        finally:
            process.terminate()


async def _stay(port: int, plan: Plan, number: int, begin: float, report: Report, shown: set[Address]) -> None:
    """One reader, from arrival to the end; who is thrown out comes back, as people do."""
    random = Random(f"{plan.seed}-{number}")
    end = begin + plan.seconds
    if plan.seconds:
        await asyncio.sleep(random.random() * plan.think)
    while True:
        try:
            async with tab(port, number=number) as reader:
                link = plan.links[number % len(plan.links)]
                person = Person(reader, random)
                _note(report, begin, await person.arrive(link.path, link.query), reader.address, shown)
                while await _thought(random, plan.think, end):
                    _note(report, begin, await person.act(), reader.address, shown)
        except ReadFailed as error:
            report.errors.append(f"reader {number}: {error}")
            if await _thought(random, plan.think, end):
                continue
        return


async def _thought(random: Random, think: float, end: float) -> bool:
    """Think for a while; whether there is time for another deed."""
    await asyncio.sleep(min(random.uniform(0.5, 1.5) * think, max(0.0, end - time.perf_counter())))
    return time.perf_counter() < end


def _note(report: Report, begin: float, deed: Deed, address: Address, shown: set[Address]) -> None:
    at = time.perf_counter() - begin
    report.happenings.append(Happening(deed.kind, at, deed.run.seconds, deed.run.bytes, address in shown))
    shown.add(address)
    report.errors.extend(f"{deed.kind}: {failure}" for failure in deed.run.failures)


def _plan(told: dict[str, object]) -> Plan:
    links: Sequence[dict[str, str]] = told.pop("links")  # type: ignore[assignment]
    shown: Sequence[Sequence[str]] = told.pop("shown")  # type: ignore[assignment]
    addresses = tuple((path, query) for path, query in shown)
    return Plan(tuple(Place(**link) for link in links), shown=addresses, **told)  # type: ignore[arg-type]


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(gather(int(sys.argv[1]), _plan(json.load(sys.stdin)))))))
